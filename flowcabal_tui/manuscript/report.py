"""Describes an import report in the reader's words."""

from __future__ import annotations

from flowcabal_tui.domain.manuscript import FileComment, ImportReport
from flowcabal_tui.domain.quoting import quotable
from flowcabal_tui.locale import _, ngettext


def report_lines(report: ImportReport) -> tuple[str, ...]:
    """The contents of the file and how they were imported, one sentence each; () only for a text file."""
    if not report.paragraphs and not report.rule:
        return ()
    rules = {
        "headings": _("Chapters begin at the headings of the document."),
        "contents": _("Chapters begin where the table of contents says."),
        "lines": _("The document has no headings; chapters begin at lines such as “Chapter 1” or 第一章."),
        "none": _("The document has no headings, and no line looks like one: it is imported as one chapter."),
        "": _("The documents differ in how they mark chapters."),
    }
    n = report.paragraphs
    paragraphs = ngettext("{n} paragraph was read.", "{n} paragraphs were read.", n).format(n=f"{n:,}")
    first = _("{paragraphs} {rule}").format(paragraphs=paragraphs, rule=rules[report.rule])
    return (first, *_counted(report))


def comment_line(comment: FileComment) -> str:
    """A comment with its author and the commented words, on one line."""
    about = _("on “{words}”").format(words=quotable(" ".join(comment.anchor.split()))) if comment.anchor else ""
    words = " ".join(part for part in (comment.author, about) if part)
    line = _("{who}: {words}").format(who=words, words=" ".join(comment.text.split()))
    return _("{comment} (resolved)").format(comment=line) if comment.resolved else line


def _counted(report: ImportReport) -> list[str]:
    """A sentence with the number of each kind of content that the file contains, and how it was imported."""
    counted = (
        (report.insertions, _("Tracked insertions accepted: {n}.")),
        (report.moves, _("Moved passages, read at their new places: {n}.")),
        (report.notes, _("Footnotes and endnotes, put in brackets where they are referred to: {n}.")),
        (report.tables, _("Tables, read row by row: {n}.")),
        (report.text_boxes, _("Text boxes, read after their paragraphs: {n}.")),
        (report.fields, _("Fields replaced by the text they last showed: {n}.")),
        (report.numbered_headings, _("Headings numbered by Word, their numbers written out: {n}.")),
        (len(report.comments), _("Comments: {n}.")),
        (report.deletions, _("Tracked deletions left out: {n}.")),
        (report.hidden, _("Hidden passages left out: {n}.")),
        (report.ruby, _("Reading aids above characters (ruby) left out: {n}.")),
        (report.italics, _("Passages in italics, read as plain text: {n}.")),
        (report.symbols, _("Symbols without a known character, shown as “?”: {n}.")),
        (report.list_items, _("List items without their numbers or bullets: {n}.")),
        (report.contents_lines, _("Lines of a table of contents left out: {n}.")),
        (report.margins, _("Headers and footers left out: {n}.")),
        (report.pictures, _("Pictures left out: {n}.")),
        (report.embedded, _("Embedded objects left out: {n}.")),
        (report.pages_left_out, _("Pages without text of the book (cover, title, contents) left out: {n}.")),
        (report.pages_missing, _("Pages that are listed but missing or unreadable: {n}.")),
    )
    return [words.format(n=f"{n:,}") for n, words in counted if n]
