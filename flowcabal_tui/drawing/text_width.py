"""The width of a text: an upper estimate for the usual sans-serif fonts, exact for Chinese."""

from __future__ import annotations

import unicodedata
from typing import Final

from flowcabal_tui.domain.text import clean

_THIN: Final = frozenset("iljtfrI.,:;'|!()[]{}` -/\\\"")
_BROAD: Final = frozenset("mwMW@%&—…<>=+~#")
_XML_FORBIDDEN: Final = str.maketrans("", "", "\ufffe\uffff")


def one_line(text: str) -> str:
    """`text` on one line, without control characters and characters that XML cannot contain."""
    return " ".join(clean(text).translate(_XML_FORBIDDEN).split())


def text_width(text: str, size: float) -> float:
    """The width in pixels at a font size in pixels."""
    return size * sum(map(_ems, text))


def crop(text: str, size: float, width: float) -> str:
    """The part of `text` that fits into `width` pixels, with `…` at the end if something was left out."""
    if text_width(text, size) <= width:
        return text
    space = width / size - _ems("…")
    for at, char in enumerate(text):
        space -= _ems(char)
        if space < 0:
            return text[:at].rstrip() + "…"
    return text


def _ems(char: str) -> float:
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    if unicodedata.east_asian_width(char) in {"W", "F"}:
        return 1
    if char in _THIN:
        return 0.42
    if char in _BROAD or not char.isascii():
        return 0.98
    return 0.74 if char.isupper() else 0.62
