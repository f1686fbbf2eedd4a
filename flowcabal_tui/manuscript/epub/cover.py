"""The cover of an exported book: the writer's own picture, or the title drawn as SVG."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from html import escape
from typing import Final

_JPEG: Final = b"\xff\xd8\xff"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
MOST_BYTES: Final = 10 << 20
"""A larger picture is not used as a cover: shops accept up to 5 MB."""
_WIDTH: Final = 1200
_HEIGHT: Final = 1600
_LINE_CELLS: Final = 16
_MOST_LINES: Final = 6


@dataclass(frozen=True, slots=True)
class Cover:
    """A cover picture for the package."""

    name: str
    media_type: str
    content: bytes


def cover_of(picture: bytes, title: str, author: str, language: str) -> Cover:
    """The picture if it is a JPEG or PNG of a suitable size, else a drawn one."""
    if len(picture) <= MOST_BYTES and picture.startswith(_JPEG):
        return Cover("cover.jpg", "image/jpeg", picture)
    if len(picture) <= MOST_BYTES and picture.startswith(_PNG):
        return Cover("cover.png", "image/png", picture)
    return Cover("cover.svg", "image/svg+xml", _drawn(title, author, language).encode())


def _drawn(title: str, author: str, language: str) -> str:
    lines = _wrapped(title)
    top = 560 - 60 * len(lines)
    words = "".join(
        f'<text x="600" y="{top + 130 * at}" font-size="100" font-weight="bold">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    byline = "".join(
        f'<text x="600" y="{1300 + 80 * at}" font-size="56">{escape(line)}</text>'
        for at, line in enumerate(_wrapped(author)[:2])
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'xml:lang="{language}">\n<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#22303c"/>\n'
        '<rect x="60" y="60" width="1080" height="1480" fill="none" stroke="#d9c7a0" stroke-width="6"/>\n'
        f'<g fill="#f5efe0" text-anchor="middle" font-family="serif">{words}{byline}</g>\n</svg>\n'
    )


def _wrapped(text: str) -> list[str]:
    """Lines of at most 16 cells: broken at spaces, and anywhere in Chinese or in a long word."""
    lines = [""]
    for word in _words(text):
        if _cells(lines[-1] + word.rstrip()) > _LINE_CELLS and lines[-1]:
            lines.append("")
        lines[-1] += word if lines[-1] else word.lstrip()
    lines = [line.strip() for line in lines if line.strip()]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1]}…"]
    return lines


def _words(text: str) -> list[str]:
    pieces: list[str] = []
    for character in " ".join(text.split()):
        wide = _cells(character) > 1
        joins = pieces and not wide and not pieces[-1].endswith(" ") and _cells(pieces[-1]) < _LINE_CELLS
        if joins and _cells(pieces[-1][-1]) < 2:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
