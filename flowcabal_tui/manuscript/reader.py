"""Reads a novel from a file or a folder of files into a preview; nothing is stored here."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import ImportedChapter, ImportPreview
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.chapters import language_of, oddities, split_chapters
from flowcabal_tui.manuscript.documents import docx_text, epub_text
from flowcabal_tui.manuscript.encoding import decode
from flowcabal_tui.manuscript.headings import chinese_number, heading_of

SUFFIXES: Final = (".txt", ".md", ".markdown", ".docx", ".epub")
_LARGEST: Final = 256 * 1024 * 1024
_ORDER: Final = re.compile(r"(\d+|(?<=第)[零〇一二三四五六七八九十百千两兩廿卅]+)")


def read_manuscript(path: Path) -> ImportPreview:
    """The chapters of a file, or of a folder (a chapter a file, in natural order of the names).

    Raises ManuscriptError: not there, not readable, empty, no text, damaged.
    """
    if path.is_dir():
        return _read_folder(path)
    text, encoding = read_text(path)
    chapters, warnings = split_chapters(text, path.stem)
    return ImportPreview(chapters, encoding, language_of(text), warnings)


def read_text(path: Path) -> tuple[str, str]:
    """The cleaned text of one file and its encoding ("docx" and "epub" for those). Raises ManuscriptError."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ManuscriptError(
                _("This file is too large for a novel: {name}").format(name=path.name),
                _("More than 256 MB."),
                _("Split it, or choose another file."),
            )
        data = path.read_bytes()
    except OSError as error:
        raise ManuscriptError(
            _("This file cannot be read: {name}").format(name=path.name),
            error.strerror or str(error),
            _("Check the path and its permissions."),
        ) from error
    suffix = path.suffix.lower()
    if suffix == ".docx":
        text, encoding = docx_text(data, path.name), "docx"
    elif suffix == ".epub":
        text, encoding = epub_text(data, path.name), "epub"
    else:
        text, encoding = decode(data, path.name)
    text = clean(text)
    if not text.strip():
        raise ManuscriptError(_("The file is empty: {name}").format(name=path.name), "", _("Choose another file."))
    return text, encoding


def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key in which 第十章 and 10 come after 第九章 and 9."""
    pieces = _ORDER.split(unicodedata.normalize("NFKC", name))
    numbers = [chinese_number(piece) if i % 2 else None for i, piece in enumerate(pieces)]
    return tuple((1, 0, p.casefold()) if n is None else (0, n, "") for p, n in zip(pieces, numbers, strict=True) if p)


def _read_folder(folder: Path) -> ImportPreview:
    files = [f for f in folder.iterdir() if f.is_file() and f.suffix.lower() in SUFFIXES and not f.name.startswith(".")]
    if not files:
        raise ManuscriptError(
            _("No novel in this folder: {name}").format(name=folder.name),
            _("There is no TXT, MD, DOCX or EPUB file in it."),
            _("Choose a file, or a folder with a file for each chapter."),
        )
    chapters: list[ImportedChapter] = []
    encodings: list[str] = []
    for file in sorted(files, key=lambda f: (natural_order(f.stem), f.name)):
        text, encoding = read_text(file)
        chapters.append(_one_chapter(text, file.stem))
        encodings.append(encoding)
    language = language_of("\n".join(c.text[:2000] for c in chapters))
    return ImportPreview(tuple(chapters), ", ".join(sorted(set(encodings))), language, tuple(oddities(chapters)))


def _one_chapter(text: str, stem: str) -> ImportedChapter:
    """The file as one chapter: its title is the first line if that is a heading, else the file's name."""
    first, _newline, rest = text.lstrip("\n").partition("\n")
    bare = first.lstrip("#").strip() if first.startswith("#") else first.strip()
    heading = heading_of(bare)
    named = heading_of(stem)
    if heading or (first.startswith("#") and bare):
        title, body = bare, rest
    else:
        title, body = stem, text
    chapter = ImportedChapter(title, body.strip("\n").rstrip())
    number = heading.number if heading else named.number if named else None
    return replace(chapter, number=number)
