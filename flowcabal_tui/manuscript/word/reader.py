"""DOCX to plain text with headings marked as in Markdown, and a report of the contents that lists every loss."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import FileComment, ImportReport
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.headings.rules import LONGEST_MARKED, heading_of
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.archive import Archive, too_large
from flowcabal_tui.manuscript.word.runs import CommentWords, RunReader
from flowcabal_tui.manuscript.word.styles import Numbering, Styles, child, form_of, number, numbering_of, read_styles
from flowcabal_tui.manuscript.xml_input import Element, attribute, events, local, tree

_TYPES: Final = "[Content_Types].xml"
_MAIN: Final = ("document.main+xml", "template.main+xml")


@dataclass(frozen=True, slots=True)
class WordParts:
    """The main part, and the others by the last word of their relationship type; `margins` are headers and footers."""

    main: str
    related: Mapping[str, str]
    margins: tuple[str, ...]


def find_parts(archive: Archive) -> WordParts:
    """The parts of an archive. Raises ManuscriptError: not a Word document, or damaged."""
    if _TYPES not in archive:
        raise _no_document(archive, _("{part} is missing.").format(part=_TYPES))
    main = next((path for kind, path in _relations(archive, "") if kind == "officeDocument"), "")
    if main not in archive:
        raise _no_document(archive, _("It does not say where its text is."))
    kinds = {
        (attribute(one, "PartName") or "").lstrip("/"): attribute(one, "ContentType") or ""
        for one in tree(archive, _TYPES)
        if local(one) == "Override"
    }
    if not kinds.get(main, _MAIN[0]).endswith(_MAIN):
        raise _no_document(archive, _("Its content type is {name}.").format(name=kinds[main][:100]))
    relations = _relations(archive, main)
    margins = tuple(path for kind, path in relations if kind in ("header", "footer") and path in archive)
    return WordParts(main, {kind: path for kind, path in relations if path in archive}, margins)


def _relations(archive: Archive, part: str) -> list[tuple[str, str]]:
    """Kind and path of the parts that a part ("" for the package) refers to inside the package."""
    folder, name = posixpath.split(part)
    listed = posixpath.join(folder, "_rels", f"{name}.rels")
    if listed not in archive:
        return []
    return [
        ((attribute(one, "Type") or "").rpartition("/")[2], _target(folder, attribute(one, "Target") or ""))
        for one in tree(archive, listed)
        if local(one) == "Relationship" and attribute(one, "TargetMode") != "External"
    ]


def _target(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _no_document(archive: Archive, reason: str) -> ManuscriptError:
    return ManuscriptError(
        _("This is not a Word document: {name}").format(name=archive.name),
        reason,
        _("Save it as DOCX again, or as TXT, and import that."),
    )


_NAMESPACES: Final = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_FOLLOWED: Final = ("p", "tbl", "tr", "altChunk", "commentRangeStart", "commentRangeEnd")
_TAGS: Final = (*(f"{{{space}}}{name}" for space in _NAMESPACES for name in _FOLLOWED), _FALLBACK)
_DEEPEST: Final = 3
_BODY: Final = 9
_MOST_COMMENTS: Final = 10_000
_MOST_INSIDE: Final = 50_000
"""Paragraphs inside of one paragraph or one row: all of them are held until it ends."""
_MARGINS_READ: Final = 20


def docx_text(file: BinaryIO, name: str) -> tuple[str, ImportReport]:
    """The text of a DOCX file, and a report. Raises ManuscriptError: no document, encrypted, damaged, too large."""
    with closing(Archive(file, name)) as archive:
        parts = find_parts(archive)
        document = _Document(archive, parts)
        document.read(parts.main)
        return document.text()


class _Document:
    """Reads the paragraphs as they are parsed, and releases each."""

    def __init__(self, archive: Archive, parts: WordParts) -> None:
        self._archive, self._parts = archive, parts
        self._styles = read_styles(archive, parts.related.get("styles"))
        self._numbering = Numbering(archive, parts.related.get("numbering"))
        self._comments = CommentWords(_comments(archive, parts, self._styles))
        self._runs = RunReader(self._styles, _notes(archive, parts, self._styles), self._comments)
        self._lines: list[str] = []
        self._titles: list[int] = []
        """Lines in the style of a title: the book's if there is one, else chapters'."""
        self._carried = ""
        """The text before a paragraph mark that was deleted: it belongs to the next paragraph."""
        self._headed = 0
        self._is_title = False
        """True if the last paragraph has the style of a title."""

    def read(self, part: str) -> None:
        """Follows the blocks of the body: paragraphs, rows of tables, marks of comments."""
        paragraphs = tables = skipped = inside = 0
        for event, element in events(self._archive, part, ("start", "end"), _TAGS):
            name, begins = local(element), event == "start"
            if name == "p":
                paragraphs += 1 if begins else -1
                inside += 1
            elif name == "tbl" and not paragraphs:
                tables += 1 if begins else -1
                self._runs.counts["tables"] += begins and tables == 1 and not skipped
            elif name == "Fallback" and not (paragraphs or tables):
                skipped += 1 if begins else -1
            elif name == "altChunk" and begins:
                self._runs.counts["embedded"] += 1
            elif name.startswith("comment") and begins and not (paragraphs or tables):
                self._runs.range_mark(element)
            if inside > _MOST_INSIDE:
                raise too_large(self._archive.name, _("A paragraph or table row is too long."))
            done = (name == "p" and not (paragraphs or tables)) or (name == "tr" and tables == 1 and not paragraphs)
            if not begins and done:
                if not skipped:
                    self._lines += self._row(element) if name == "tr" else self._block(element)
                _let_go(element)
                inside = 0
        if self._carried.strip():
            self._lines.append(self._carried)

    def text(self) -> tuple[str, ImportReport]:
        """The lines and the report."""
        if len(self._titles) > 1:
            for at in self._titles:
                self._lines[at] = f"# {self._lines[at]}"
            self._headed += len(self._titles)
        counts = self._runs.counts
        report = ImportReport(
            paragraphs=sum(bool(line.strip()) for line in self._lines) - self._headed,
            rule="headings" if self._headed else "",
            comments=self._comments.all(),
            margins=sum(_has_text(self._archive, part) for part in self._parts.margins[:_MARGINS_READ]),
            **counts,
        )
        return "\n".join(self._lines), report

    def _block(self, paragraph: Element) -> list[str]:
        lines = self._paragraph(paragraph)
        if self._is_title and len(lines) == 1 and lines[0].strip() and not lines[0].startswith("#"):
            self._titles.append(len(self._lines))
            lines = [" ".join(lines[0].split())]
        return lines + self._boxes()

    def _boxes(self) -> list[str]:
        lines: list[str] = []
        while self._runs.boxes:
            box = self._runs.boxes.pop(0)
            lines += [line for line in self._blocks(box) if line.strip()]
        return lines

    def _blocks(self, container: Element) -> list[str]:
        """The lines of a text box or a cell."""
        lines: list[str] = []
        for one in container:
            name = local(one)
            if name == "p":
                lines += self._paragraph(one)
            elif name == "tbl":
                self._runs.counts["tables"] += 1
                for row in one:
                    lines += self._row(row) if local(row) == "tr" else []
            elif name == "AlternateContent":
                chosen = form_of(one)
                lines += [] if chosen is None else self._blocks(chosen)
            elif not name.endswith("Pr"):
                lines += self._blocks(one)
        return lines

    def _row(self, row: Element) -> list[str]:
        """A line with a tab between the cells; a line for each cell when one of them holds several."""
        if child(child(row, "trPr"), "del") is not None:
            self._runs.counts["deletions"] += 1
            return []
        cells = ["\n".join(line for line in self._blocks(cell) if line.strip()) for cell in _cells(row)]
        if any("\n" in cell for cell in cells):
            return [line for cell in cells for line in cell.split("\n") if line] + self._boxes()
        return [line for line in ["\t".join(cells)] if line.strip()] + self._boxes()

    def _paragraph(self, paragraph: Element) -> list[str]:
        has_properties = len(paragraph) > 0 and local(paragraph[0]) == "pPr"
        properties = {local(one): one for one in paragraph[0]} if has_properties else {}
        style = self._styles.of(_value(properties, "pStyle"))
        self._is_title = style.title
        text = self._carried + self._runs.text(paragraph)
        self._carried = ""
        if style.contents or style.hidden:
            self._runs.counts["contents_lines" if style.contents else "hidden"] += bool(text.strip())
            return []
        place = numbering_of(properties.get("numPr")) or style.numbering
        label = self._numbering.next(place) if place is not None else ""
        if "rPr" in properties and any(local(one) in ("del", "moveFrom") for one in properties["rPr"]):
            self._carried = text
            return []
        own = number(_value(properties, "outlineLvl"), _BODY)
        level = style.level if own is None else None if own == _BODY else own
        if level is None or not text.strip():
            self._runs.counts["list_items"] += place is not None and place[0] != "0" and bool(text.strip())
            return text.split("\n")
        title = " ".join(text.split())
        if label:
            self._runs.counts["numbered_headings"] += 1
            title = title if title.startswith(label) else f"{label} {title}"
        marked = f"{'#' * min(level + 1, _DEEPEST)} {title}"
        if len(marked) > LONGEST_MARKED or (level >= _DEEPEST and not _is_chapter(title)):
            return [title]
        self._headed += 1
        return [marked]


def _is_chapter(title: str) -> bool:
    heading = heading_of(title)
    return heading is not None and heading.trust == "sure"


def _value(properties: Mapping[str, Element], name: str) -> str | None:
    found = properties.get(name)
    return None if found is None else attribute(found, "val")


def _cells(row: Element) -> Iterator[Element]:
    """The cells of a row, also those in content controls."""
    for one in row:
        if local(one) == "tc":
            yield one
        elif local(one) in ("sdt", "sdtContent", "customXml", "ins", "moveTo"):
            yield from _cells(one)


def _let_go(element: Element) -> None:
    """Frees a block that was read and everything before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and parent[0] is not element:
        del parent[0]


def _notes(archive: Archive, parts: WordParts, styles: Styles) -> dict[str, str]:
    """Footnotes and endnotes by kind and id, without the lines that separate them from the page."""
    found: dict[str, str] = {}
    for kind in ("footnote", "endnote"):
        part = parts.related.get(f"{kind}s")
        for note in () if part is None else tree(archive, part):
            if local(note) == kind and attribute(note, "type") in (None, "normal"):
                found[f"{kind} {attribute(note, 'id')}"] = _plain(note, styles)
    return found


def _comments(archive: Archive, parts: WordParts, styles: Styles) -> dict[str, FileComment]:
    part = parts.related.get("comments")
    listed = [] if part is None else [one for one in tree(archive, part) if local(one) == "comment"]
    resolved = _resolved(archive, parts)
    return {
        attribute(one, "id") or "": FileComment(
            clean_line(attribute(one, "author") or "")[:100],
            clean(_plain(one, styles)),
            at=clean_line(attribute(one, "date") or "")[:40],
            resolved=any(attribute(p, "paraId") in resolved for p in one if local(p) == "p"),
        )
        for one in listed[:_MOST_COMMENTS]
    }


def _resolved(archive: Archive, parts: WordParts) -> set[str | None]:
    """The ids of the paragraphs that end a comment marked as done."""
    part = parts.related.get("commentsExtended")
    listed = () if part is None else tree(archive, part)
    return {attribute(one, "paraId") for one in listed if attribute(one, "done") in ("1", "true")} - {None}


def _plain(element: Element, styles: Styles) -> str:
    """The text of a note or comment in one line."""
    runs = RunReader(styles, {}, CommentWords({}))
    lines = [runs.text(one) for one in element.iter() if local(one) == "p"]
    return " ".join(" ".join(lines).split())


def _has_text(archive: Archive, part: str) -> bool:
    return any(local(one) == "t" and bool((one.text or "").strip()) for one in tree(archive, part).iter())
