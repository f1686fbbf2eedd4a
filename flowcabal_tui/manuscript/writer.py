"""Writes novels: exports to TXT, Markdown, DOCX and EPUB, and files that are there whole or not at all."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.errors import DiskFull, ManuscriptError
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.locale import _


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path` by a file that is complete on disk; the old one stays until then. Raises DiskFull."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise DiskFull(
            _("This file could not be written: {name}").format(name=path.name),
            _("{reason}. The file that was there is as it was.").format(reason=os_reason(error)),
            _("Make room, or choose another folder."),
        ) from error


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text: separated by blank lines, or one a line where there are none (Chinese)."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def _volume_starts(chapters: Sequence[ImportedChapter]) -> list[bool]:
    """For each chapter: does a volume with a name begin here?"""
    names = ["", *(chapter.volume for chapter in chapters)]
    return [bool(name) and name != before for before, name in pairwise(names)]


def _txt(title: str, language: str, chapters: Sequence[ImportedChapter]) -> bytes:
    parts = [title]
    for chapter, starts in zip(chapters, _volume_starts(chapters), strict=True):
        parts += [chapter.volume] * starts + [chapter.title, chapter.text]
    return ("\n\n".join(parts) + "\n").encode()


def _markdown(title: str, language: str, chapters: Sequence[ImportedChapter]) -> bytes:
    volumes = any(chapter.volume for chapter in chapters)
    parts = [] if volumes else [f"# {title}"]
    for chapter, starts in zip(chapters, _volume_starts(chapters), strict=True):
        parts += [f"# {chapter.volume}"] * starts + [f"## {chapter.title}", chapter.text]
    return ("\n\n".join(parts) + "\n").encode()


def _docx(title: str, language: str, chapters: Sequence[ImportedChapter]) -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.title = title
    document.core_properties.language = language
    document.add_heading(title, level=0)
    for chapter, starts in zip(chapters, _volume_starts(chapters), strict=True):
        if starts:
            document.add_heading(chapter.volume, level=1)
        document.add_heading(chapter.title, level=2)
        for paragraph in paragraphs(chapter.text):
            document.add_paragraph(paragraph)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _epub(title: str, language: str, chapters: Sequence[ImportedChapter]) -> bytes:
    from ebooklib import epub

    book = epub.EpubBook()
    book.set_identifier(f"urn:flowcabal:{digest_of([title, *(c.title for c in chapters)])}")
    book.set_title(title)
    book.set_language(language)
    toc: list[Any] = []
    pages: list[Any] = []
    for number, (chapter, starts) in enumerate(zip(chapters, _volume_starts(chapters), strict=True), start=1):
        page = epub.EpubHtml(title=chapter.title, file_name=f"chapter-{number:04}.xhtml", lang=language)
        volume = f"<h1>{escape(chapter.volume)}</h1>" if starts else ""
        body = "".join(f"<p>{escape(p)}</p>" for p in paragraphs(chapter.text))
        page.content = f"<html><body>{volume}<h2>{escape(chapter.title)}</h2>{body}</body></html>"
        book.add_item(page)
        pages.append(page)
        if starts:
            toc.append((epub.Section(chapter.volume), [page]))
        elif chapter.volume:
            toc[-1][1].append(page)
        else:
            toc.append(page)
    book.toc = toc
    book.spine = ["nav", *pages]
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    out = io.BytesIO()
    epub.write_epub(out, book)
    return out.getvalue()


_FORMATS: Final[dict[str, Callable[[str, str, Sequence[ImportedChapter]], bytes]]] = {
    ".txt": _txt,
    ".md": _markdown,
    ".docx": _docx,
    ".epub": _epub,
}
EXPORT_SUFFIXES: Final = tuple(_FORMATS)


def export_manuscript(path: Path, title: str, language: str, chapters: Sequence[ImportedChapter]) -> int:
    """Writes the book in the format of the path's suffix and returns its size in bytes.

    Raises ManuscriptError (unknown format, no chapters) and DiskFull.
    """
    render = _FORMATS.get(path.suffix.lower())
    if render is None:
        raise ManuscriptError(
            _("Unknown format: {name}").format(name=path.name),
            "",
            _("Use one of: {formats}.").format(formats=", ".join(EXPORT_SUFFIXES)),
        )
    if not chapters:
        raise ManuscriptError(_("There is no chapter to export."), "", _("Write or import one first."))
    content = render(clean(title), language, chapters)
    write_atomically(path, content)
    return len(content)
