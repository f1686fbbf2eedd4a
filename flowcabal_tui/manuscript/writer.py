"""Writes novels: exports to TXT, Markdown, DOCX and EPUB. A file is written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment
from flowcabal_tui.domain.errors import DiskFull, ManuscriptError
from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.blocks import paragraphs, volume_starts
from flowcabal_tui.system.files import SHARED, write_whole


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces `path`, which the user named, by a file that is complete on disk; the old one stays until then.

    Its permissions follow the umask, since it is meant for others. Raises DiskFull.
    """
    try:
        write_whole(path, content, SHARED, keep_mode=True)
    except OSError as error:
        raise DiskFull(
            _("This file could not be written: {name}").format(name=path.name),
            _("{reason}. The existing file was not changed.").format(reason=os_reason(error)),
            _("Free some space, or choose another folder."),
        ) from error


Notes = Mapping[int, Sequence[Comment]]
"""Comments by the row of their chapter."""


def _txt(details: BookDetails, chapters: Sequence[ImportedChapter], notes: Notes) -> bytes:
    parts = [details.title]
    for row, (chapter, starts) in enumerate(zip(chapters, volume_starts(chapters), strict=True)):
        parts += [chapter.volume] * starts + [chapter.title, chapter.text]
        parts += ["\n".join(_note_lines(notes.get(row, ())))] if notes.get(row) else []
    return ("\n\n".join(parts) + "\n").encode()


def _markdown(details: BookDetails, chapters: Sequence[ImportedChapter], notes: Notes) -> bytes:
    volumes = any(chapter.volume for chapter in chapters)
    parts = [] if volumes else [f"# {details.title}"]
    for row, (chapter, starts) in enumerate(zip(chapters, volume_starts(chapters), strict=True)):
        parts += [f"# {chapter.volume}"] * starts + [f"## {chapter.title}", _apart(chapter.text)]
        parts += ["\n".join(f"> {line}" for line in _note_lines(notes.get(row, ())))] if notes.get(row) else []
    return ("\n\n".join(parts) + "\n").encode()


def _apart(text: str) -> str:
    """A text without blank lines with one after each paragraph: Markdown joins lines that follow each other."""
    return text if "\n\n" in text else "\n\n".join(paragraphs(text))


def _note_lines(notes: Sequence[Comment]) -> Iterator[str]:
    """A line for each comment: its kind, author, quotation and text."""
    for note in notes:
        about = _("on “{words}”").format(words=quotable(clean_line(note.quotation))) if note.quotation else ""
        who = " ".join(part for part in (_(COMMENT_KINDS[note.kind]), clean_line(note.author), about) if part)
        yield _("[{who}] {words}").format(who=who, words=clean_line(note.words))


def _docx(details: BookDetails, chapters: Sequence[ImportedChapter], notes: Notes) -> bytes:
    from flowcabal_tui.manuscript.word.writer import docx

    return docx(details, chapters, notes)


def _epub(details: BookDetails, chapters: Sequence[ImportedChapter], _notes: Notes) -> bytes:
    from flowcabal_tui.manuscript.epub.writer import epub  # other forms are written sooner without

    return epub(details, chapters)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format of files; without `takes_comments`, `render` gets none."""

    render: Callable[[BookDetails, Sequence[ImportedChapter], Notes], bytes]
    takes_comments: bool = True


EXPORT_FORMATS: Final[dict[str, ExportFormat]] = {
    "md": ExportFormat(_markdown),
    "txt": ExportFormat(_txt),
    "docx": ExportFormat(_docx),
    "epub": ExportFormat(_epub, takes_comments=False),
}
"""In the order of the form; the name of each is the suffix of its files."""


def export_manuscript(
    path: Path, details: BookDetails, chapters: Sequence[ImportedChapter], notes: Notes | None = None
) -> int:
    """Writes the book, with `notes`, in the format of the path's suffix and returns its size in bytes.

    Raises ManuscriptError (unknown format, no chapters, a format that takes no comments) and DiskFull.
    """
    form = EXPORT_FORMATS.get(path.suffix.lower().removeprefix("."))
    if form is None:
        raise ManuscriptError(
            _("Unknown format: {name}").format(name=path.name),
            "",
            _("Use one of: {formats}.").format(formats=_(", ").join(f".{each}" for each in EXPORT_FORMATS)),
        )
    if notes and not form.takes_comments:
        takes = _(", ").join(name for name, each in EXPORT_FORMATS.items() if each.takes_comments)
        raise ManuscriptError(
            _("A file of this format cannot contain comments: {name}").format(name=path.name),
            _("Nothing was written."),
            _("Export it without them, or in another format: {formats}.").format(formats=takes),
        )
    if not chapters:
        raise ManuscriptError(_("There is no chapter to export."), "", _("Write or import one first."))
    content = form.render(_cleaned(details), [_harmless(chapter) for chapter in chapters], notes or {})
    write_atomically(path, content)
    return len(content)


def _harmless(chapter: ImportedChapter) -> ImportedChapter:
    """The chapter without control sequences, because the book may come from a stranger."""
    title, volume = clean_line(chapter.title), clean_line(chapter.volume)
    return replace(chapter, title=title, volume=volume, text=clean(chapter.text))


def _cleaned(details: BookDetails) -> BookDetails:
    return replace(details, title=clean_line(details.title), author=clean_line(details.author))
