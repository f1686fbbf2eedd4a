"""Reads a novel from a file or a folder of files into a preview; nothing is stored here."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import ImportedChapter, ImportPreview, ImportReport
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean
from flowcabal_tui.headings.numerals import chinese_number
from flowcabal_tui.headings.rules import LONGEST_MARKED, heading_of
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.chapters import language_of, named, oddities, split_chapters
from flowcabal_tui.manuscript.encoding import Decoded, decode

SUFFIXES: Final = (".txt", ".md", ".markdown", ".docx", ".epub")
_LARGEST: Final = 256 << 20
"""Bytes of a DOCX or EPUB: the pictures in it are not read."""
_LARGEST_TEXT: Final = 64 << 20
"""Bytes of any other file. The longest novels of the web have 20 million characters, 60 MB in UTF-8."""
_MOST_LINES: Final = 1_000_000
_ORDER: Final = re.compile(
    r"(\d+|(?<=[第卷])[零〇一二三四五六七八九十百千两兩廿卅卌]+|[上中下](?=[卷部篇册冊集])|(?<=[卷集])[上中下])"
)
_THIRDS: Final = {"上": 1, "中": 2, "下": 3}


def read_manuscript(path: Path) -> ImportPreview:
    """The chapters of a file or folder; files of a folder come in natural order, then those of its subfolders.

    Raises ManuscriptError: missing, unreadable, empty, not text, or damaged.
    """
    if os.path.isdir(path):  # Path.is_dir raises OSError for a name that is too long
        return _read_folder(path)
    file = read_text(path)
    chapters, warnings = split_chapters(file.text, path.stem)
    report = _with_rule(file, len(chapters))
    return ImportPreview(chapters, file.encoding, language_of(file.text), (*_warnings(file), *warnings), report=report)


def read_text(path: Path) -> Decoded:
    """The cleaned text of one file and its encoding ("docx" and "epub" for those). Raises ManuscriptError."""
    try:
        if "\0" in str(path):  # `open` raises ValueError for it
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        with open(path, "rb", opener=_without_waiting) as opened:
            found = os.fstat(opened.fileno())
            if not stat.S_ISREG(found.st_mode):  # to read a pipe or a device would never end
                raise ManuscriptError(
                    _("This file cannot be read: {name}").format(name=path.name),
                    _("It is not a regular file."),
                    _("Choose another file."),
                )
            largest = _LARGEST if path.suffix.lower() in (".docx", ".epub") else _LARGEST_TEXT
            if found.st_size > largest:
                raise _too_large(path, _("It is larger than {n} MB.").format(n=largest >> 20))
            file = _read(opened, path)
    except OSError as error:
        raise _unreadable(path, error) from error
    file = replace(file, text=clean(file.text))
    if not file.text.strip():
        raise ManuscriptError(_("The file is empty: {name}").format(name=path.name), "", _("Choose another file."))
    if file.text.count("\n") > _MOST_LINES:
        raise _too_large(path, _("It has more than {n} lines.").format(n=f"{_MOST_LINES:,}"))
    return file


def _too_large(path: Path, reason: str) -> ManuscriptError:
    return ManuscriptError(
        _("This file is too large for a novel: {name}").format(name=path.name),
        reason,
        _("Split it, or choose another file."),
    )


def _unreadable(path: Path, error: OSError) -> ManuscriptError:
    return ManuscriptError(
        _("This file cannot be read: {name}").format(name=path.name),
        os_reason(error),
        _("Check the path and its permissions."),
    )


def _without_waiting(path: str, flags: int) -> int:
    """Opens even a pipe at once, without waiting for its other end."""
    return os.open(path, flags | os.O_NONBLOCK)


def _read(opened: BinaryIO, path: Path) -> Decoded:
    suffix = path.suffix.lower()
    if suffix == ".docx":
        from flowcabal_tui.manuscript.word.reader import docx_text

        text, report = docx_text(opened, path.name)
        return Decoded(text, "docx", report=report)
    if suffix == ".epub":
        from flowcabal_tui.manuscript.epub.reader import epub_text  # text files are read sooner without

        text, report = epub_text(opened, path.name)
        return Decoded(text, "epub", report=report)
    return decode(opened.read(), path.name)


def language_at(path: Path) -> str | None:
    """The language of a manuscript by its first file; None when the file cannot be read."""
    try:
        first = next(_files(path), None) if os.path.isdir(path) else path
        return None if first is None else language_of(read_text(first).text)
    except (ManuscriptError, OSError):
        return None


def natural_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key in which 第十章 and 10 come after 第九章 and 9, and 下卷 after 上卷."""
    pieces = _ORDER.split(unicodedata.normalize("NFKC", name))
    numbers = [_THIRDS.get(piece, chinese_number(piece)) if i % 2 else None for i, piece in enumerate(pieces)]
    return tuple((1, 0, p.casefold()) if n is None else (0, n, "") for p, n in zip(pieces, numbers, strict=True) if p)


def _files(folder: Path) -> Iterator[Path]:
    """The files that can hold a novel, in natural order; those of a folder come at the place of its name.

    Links are left out: the user did not choose their targets.
    """
    there = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    for entry in sorted(there, key=lambda entry: (natural_order(entry.stem), entry.name)):
        if entry.is_dir() and not entry.is_symlink():
            yield from _files(entry)
        elif entry.is_file() and not entry.is_symlink() and entry.suffix.lower() in SUFFIXES:
            yield entry


def _read_folder(folder: Path) -> ImportPreview:
    try:
        files = list(_files(folder))
    except OSError as error:
        raise _unreadable(folder, error) from error
    if not files:
        raise ManuscriptError(
            _("No novel in this folder: {name}").format(name=folder.name),
            _("There is no TXT, MD, DOCX or EPUB file in it."),
            _("Choose a file, or a folder with a file for each chapter."),
        )
    chapters: list[ImportedChapter] = []
    encodings: set[str] = set()
    warnings: list[str] = []
    report = ImportReport()
    for path in files:
        file = read_text(path)
        volume = "" if path.parent == folder else path.parent.name
        found = _chapters_of(file.text, path.stem, volume)
        chapters += found
        report += _with_rule(file, len(found))
        encodings.add(file.encoding)
        warnings += _warnings(file)
    if links := sorted(entry.name for entry in folder.rglob("*") if entry.is_symlink()):
        warnings.append(_("Links were not followed: {names}.").format(names=named(links)))
    if len(encodings) > 1:
        warnings.append(_("The files are in more than one encoding."))
    language = language_of("\n".join(c.text[:2000] for c in chapters))
    warned = (*warnings, *oddities(chapters))
    return ImportPreview(tuple(chapters), _(", ").join(sorted(encodings)), language, warned, report=report)


def _with_rule(file: Decoded, chapters: int) -> ImportReport:
    """For a document without headings, the report with the rule that found its chapters."""
    if file.report.rule or not file.report.paragraphs:
        return file.report
    return replace(file.report, rule="lines" if chapters > 1 else "none")


def _warnings(file: Decoded) -> tuple[str, ...]:
    return (file.warning,) if file.warning else ()


def _chapters_of(text: str, stem: str, volume: str) -> list[ImportedChapter]:
    """A file of a folder: one chapter, or several when it is a volume. Bare numbers in it are those of scenes."""
    found, _warnings = split_chapters(text, stem, bare=False)
    if sum(chapter.number is not None for chapter in found) > 1:
        return [replace(chapter, volume=chapter.volume or volume or stem) for chapter in found]
    return [replace(_one_chapter(text, stem), volume=volume)]


def _one_chapter(text: str, stem: str) -> ImportedChapter:
    """The file as one chapter: its title is the first line if that is a heading, else the file's name."""
    first, _newline, rest = text.lstrip("\n").partition("\n")
    first, rest = (first, rest) if len(first) <= LONGEST_MARKED else ("", text)
    bare = first.lstrip("#").strip() if first.startswith("#") else first.strip()
    heading = heading_of(bare)
    named = heading_of(stem)
    if (heading and heading.trust != "bare") or (first.startswith("#") and bare):
        title, body = heading.title if heading else bare, rest
    else:
        title, body = stem, text
    chapter = ImportedChapter(title, body.strip("\n").rstrip())
    number = heading.number if heading else named.number if named else None
    return replace(chapter, number=number)
