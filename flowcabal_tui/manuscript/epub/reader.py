"""EPUB 2 and 3 to plain text with headings marked as in Markdown, and a report of the contents."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import ChapterRule, ImportReport
from flowcabal_tui.headings.rules import LONGEST_MARKED, heading_of
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.archive import Archive
from flowcabal_tui.manuscript.epub.package import Entry, Package, read_package
from flowcabal_tui.manuscript.epub.pages import PageText, note_references, notes_of, page_text
from flowcabal_tui.manuscript.xml_input import Element, attribute, local, page

_DEEPEST: Final = 3
_LINES_OF_A_TITLE: Final = 4
_NO_TEXT: Final = frozenset({"cover", "titlepage", "toc"})
_LONGEST_NOTE: Final = 20_000


def epub_text(file: BinaryIO, name: str) -> tuple[str, ImportReport]:
    """The text in reading order; titles come from the table of contents if it lists the chapters, else from the
    headings.

    Raises ManuscriptError: not an EPUB, copy-protected, damaged, or too large.
    """
    with closing(Archive(file, name)) as archive:
        package = read_package(archive)
        book = _Book(archive, package)
        for part in package.pages:
            book.read(part)
    return book.text()


@dataclass(slots=True)
class _Notes:
    """The notes of one file, each given once."""

    texts: dict[str, str]
    used: set[str]


class _Book:
    """Gathers the pages."""

    def __init__(self, archive: Archive, package: Package) -> None:
        self._archive, self._package = archive, package
        self._notes: dict[str, _Notes] = {}
        self._pages: list[tuple[str, PageText]] = []
        self._seen: set[str] = set()
        self._report = ImportReport()

    def read(self, part: str) -> None:
        """Adds a page; one that only presents the book is left out and counted."""
        if part in self._seen:
            return
        self._seen.add(part)
        is_front = part in self._package.front
        root = page(self._archive, part) if part in self._archive and not is_front else None
        if (is_front and part in self._archive) or (root is not None and _presents(root)):
            self._report += ImportReport(pages_left_out=1)
            return
        if root is None:
            self._report += ImportReport(pages_missing=1)
            return
        self._find_notes(root, part)
        used = self._notes[part].used if part in self._notes else set[str]()
        found = page_text(root, part, self._note, used)
        self._report += ImportReport(
            notes=found.notes, tables=found.tables, pictures=found.pictures, ruby=found.ruby, italics=found.italics
        )
        self._pages.append((part, found))

    def _find_notes(self, root: Element, part: str) -> None:
        """Reads the notes that a page refers to: those of this page and of other files."""
        wanted: dict[str, set[str]] = {}
        for path, name in note_references(root, part):
            wanted.setdefault(path, set()).add(name)
        for path, names in wanted.items():
            if path in self._notes:
                continue  # a file is read once for its notes: a book may not make us read it for every page
            elsewhere = path != part and path in self._archive and path not in self._seen
            source = root if path == part else page(self._archive, path) if elsewhere else None
            if source is None:
                continue
            every = (
                names
                if path == part
                else {attribute(el, "id") or "" for el in source.iter("{*}aside", "{*}li", "{*}p")}
            )
            texts = {key: text for key, text in notes_of(source, every).items() if len(text) <= _LONGEST_NOTE}
            self._notes[path] = _Notes(texts, names & texts.keys())

    def _note(self, part: str, name: str) -> str:
        notes = self._notes.get(part)
        if notes is None:
            return ""
        notes.used.add(name)
        return notes.texts.pop(name, "")

    def text(self) -> tuple[str, ImportReport]:
        """The whole text and the report. Raises ManuscriptError when there is no text."""
        entries = [entry for entry in self._package.contents if entry.file in self._seen - self._package.front]
        by_contents = self._contents_lead(entries)
        by_file: dict[str, list[Entry]] = {}
        for entry in self._with_parents(entries) if by_contents else entries:
            by_file.setdefault(entry.file, []).append(entry)
        parts: list[str] = []
        for part, found in self._pages:
            parts += _marked(found, by_file.get(part, ())) if by_contents else _titled(found, by_file.get(part, ()))
        paragraphs = sum(not line.startswith("#") for line in parts)
        headed = len(parts) - paragraphs
        rule: ChapterRule = "contents" if by_contents else "headings" if headed else ""
        if not paragraphs:
            raise ManuscriptError(
                _("The book has no text: {name}").format(name=self._archive.name),
                _("Its pages may be pictures."),
                _("Choose another file."),
            )
        return "\n\n".join(parts), replace(self._report, paragraphs=paragraphs, rule=rule)

    def _contents_lead(self, entries: Sequence[Entry]) -> bool:
        """True when the table of contents lists the chapters, and not only the volumes or the front matter."""
        listed = {_norm(entry.title) for entry in entries}
        unlisted = sum(
            bool(level) and _norm(line) not in listed and _is_chapter(line)
            for _part, found in self._pages
            for line, level in found.lines
        )
        return len(entries) > 1 and unlisted <= len(entries)

    def _with_parents(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries, and before the first of its children each caption that leads nowhere (a volume)."""
        known, result, waiting = set(entries), list[Entry](), list[Entry]()
        for entry in self._package.contents:
            if entry in known:
                result += [replace(caption, file=entry.file, fragment=entry.fragment) for caption in waiting]
                waiting = []
                result.append(entry)
            else:
                waiting = [caption for caption in waiting if caption.depth < entry.depth]
                waiting += [] if entry.file else [entry]
        return result


def _marked(found: PageText, entries: Sequence[Entry]) -> list[str]:
    """The lines of a page with the titles of the table of contents at their places; other headings are text."""
    places: dict[int, list[Entry]] = {}
    for entry in entries:
        places.setdefault(found.anchors.get(entry.fragment, 0) if entry.fragment else 0, []).append(entry)
    result: list[str] = []
    left_out = 0
    for at, (line, _level) in enumerate(found.lines):
        for entry in places.pop(at, ()):
            title, left_out = _fuller(entry.title, found.lines[at : at + _LINES_OF_A_TITLE])
            left_out += at
            result.append(f"{'#' * min(entry.depth, _DEEPEST)} {title}")
        if at >= left_out:
            result.append(line)
    for waiting in places.values():  # of a page without text after them
        result += [f"{'#' * min(entry.depth, _DEEPEST)} {entry.title}" for entry in waiting]
    return [line for line in result if line.strip()]


def _fuller(title: str, lines: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """The title, or the longer heading of the page that contains it; and the number of lines that only repeat it."""
    short, fuller, repeated = _norm(title), title, 0
    for line, level in lines:
        one = _norm(line)
        if one == short or (level and one and one in short):
            repeated += 1
        elif level and short and short in one and not repeated:
            fuller, repeated = " ".join(line.split()), 1
        else:
            break
    return fuller, repeated


def _titled(found: PageText, entries: Sequence[Entry]) -> list[str]:
    """The lines with the page's own headings; a page without one gets its title from the table of contents."""
    lines = [marked for line, level in found.lines if (marked := _line(line, level)).strip(" #\t")]
    if lines and entries and not lines[0].startswith("#"):
        title = entries[0].title
        lines = [f"# {title}", *(lines[1:] if _norm(lines[0]) == _norm(title) else lines)]
    return lines


def _line(line: str, level: int) -> str:
    """A line of a page, with a Markdown mark if it is a heading."""
    marked = f"{'#' * level} {' '.join(line.split())}"
    return marked if 0 < level <= _DEEPEST and len(marked) <= LONGEST_MARKED else line


def _presents(root: Element) -> bool:
    """True for a cover, a title page or a table of contents, by the type of the body or of everything in it."""
    body = next((el for el in root.iter() if local(el) == "body"), None)
    if body is None:
        return False
    around = [body, *(body if len(body) == 1 else ())]
    return any(set((attribute(el, "type") or "").split()) & _NO_TEXT for el in around)


def _is_chapter(line: str) -> bool:
    heading = heading_of(" ".join(line.split()))
    return heading is not None and heading.kind == "chapter" and heading.trust == "sure"


def _norm(text: str) -> str:
    return "".join(text.split()).casefold()
