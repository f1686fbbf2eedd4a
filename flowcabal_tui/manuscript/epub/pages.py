"""One page of an EPUB book as lines of text, with the targets of links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from lxml import etree

from flowcabal_tui.manuscript.blocks import bracketed
from flowcabal_tui.manuscript.epub.package import target
from flowcabal_tui.manuscript.xml_input import Element, attribute, local

_LEVELS: Final = {f"h{n}": n for n in range(1, 7)}
_SECTIONS: Final = frozenset(["div", "section", "article", "aside", "body", "blockquote", "figure", "header", "footer"])
_LISTS: Final = frozenset(["ul", "ol", "dl", "li", "dt", "dd", "table", "tr"])
_BLOCKS: Final = _SECTIONS | _LISTS | {"p", "pre", "hr", "figcaption"} | _LEVELS.keys()
_UNSEEN: Final = frozenset(["style", "script", "head", "title", "rt", "rp", "svg", "math", "template"])
_PICTURES: Final = frozenset(["img", "image", "svg"])
_NOTE_TYPES: Final = frozenset(
    ["footnote", "endnote", "rearnote", "note", "doc-footnote", "doc-endnote", "duokan-footnote-item"]
)
_REFERENCE_TYPES: Final = frozenset(["noteref", "doc-noteref", "duokan-footnote"])
_SCENE_BREAK: Final = "***"
_LONGEST_BACKLINK: Final = 5
_ITALICS: Final = frozenset({"em", "i"})


class PageText:
    """The lines of a page with their heading level (0: none); `anchors` gives the line that follows each id."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int]] = []
        self.anchors: dict[str, int] = {}
        self.notes = self.tables = self.pictures = self.ruby = self.italics = 0
        self._pieces: list[str] = []
        self._level = 0

    def begin(self, level: int = 0) -> None:
        """Ends the line if it has text, and sets the heading level."""
        if self._pieces:
            self.lines.append((" ".join("".join(self._pieces).split("\n")).rstrip(), self._level))
            self._pieces, self._level = [], 0
        self._level = level or self._level

    def end(self) -> None:
        """Ends the line and resets its level."""
        self.begin()
        self._level = 0

    def add(self, text: str | None) -> None:
        """Adds text as a browser displays it: line ends are spaces."""
        if text and not self._pieces:
            text = text.lstrip("\n\t \r")
        if text:
            self._pieces.append(text)

    def break_line(self) -> None:
        """Adds a line end inside a paragraph; a heading stays on one line."""
        if self._level:
            self.add(" ")
        else:
            self.begin()


def note_references(root: Element, part: str) -> set[tuple[str, str]]:
    """The places (part, id) of the notes of a page."""
    return {
        target(part, attribute(link, "href") or "")
        for link in root.iter("{*}a")
        if _kinds(link) & _REFERENCE_TYPES or _is_superscript(link)
    }


def notes_of(root: Element, wanted: set[str]) -> dict[str, str]:
    """The texts of the notes with these ids, without the links back."""
    found: dict[str, str] = {}
    for element in root.iter():
        name = attribute(element, "id") if isinstance(element.tag, str) else None
        if name in wanted and (local(element) in ("aside", "li", "p", "div", "dd") or _kinds(element) & _NOTE_TYPES):
            found.setdefault(name, " ".join("".join(_without_backlinks(element)).split()))
    return found


def page_text(root: Element, part: str, take_note: Callable[[str, str], str], used: set[str]) -> PageText:
    """The text of a page. `take_note` returns the text of a note at its first reference, "" later; `used` are the ids
    of notes shown at their references, which are therefore not repeated."""
    text = PageText()
    skipped: Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = local(element)
        if skipped is not None:
            if event == "end" and element is skipped:
                skipped = None
                text.add(element.tail)
            continue
        if event == "start":
            if _starts(text, element, name, part, take_note, used):
                skipped = element
            else:
                text.add(element.text)
        else:
            if name in _BLOCKS:
                text.end()
            elif name in ("td", "th"):
                text.add("\t")
            text.add(element.tail)
    text.end()
    return text


def _starts(
    text: PageText, element: Element, name: str, part: str, take_note: Callable[[str, str], str], used: set[str]
) -> bool:
    """Enters an element. Returns whether its contents are left out."""
    if name in _BLOCKS:
        text.begin(_LEVELS.get(name, 0))
    elif name == "br":
        text.break_line()
    identifier = attribute(element, "id")
    if identifier:
        text.anchors.setdefault(identifier, len(text.lines))
    text.pictures += name in _PICTURES
    text.tables += name == "table"
    text.ruby += name == "ruby"
    text.italics += name in _ITALICS
    if name == "hr":
        text.add(_SCENE_BREAK)
    if name == "a" and (_kinds(element) & _REFERENCE_TYPES or _is_superscript(element)):
        note = take_note(*target(part, attribute(element, "href") or ""))
        text.notes += bool(note)
        if note:
            text.add(bracketed(note))
        return bool(note) or bool(_kinds(element) & _REFERENCE_TYPES)
    return name in _UNSEEN or bool(identifier and identifier in used)


def _kinds(element: Element) -> set[str]:
    return set(
        " ".join(filter(None, (attribute(element, "type"), attribute(element, "role"), element.get("class")))).split()
    )


def _is_superscript(link: Element) -> bool:
    """True for a superscript link to a place: books without `epub:type` mark notes this way."""
    if "#" not in (attribute(link, "href") or ""):
        return False
    parent = link.getparent()
    inside = len(link) == 1 and local(link[0]) == "sup"
    return inside or (parent is not None and local(parent) == "sup")


def _without_backlinks(element: Element) -> Iterator[str]:
    skipped: Element | None = None
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if skipped is None and event == "start":
            is_link = local(inner) == "a" and "#" in (attribute(inner, "href") or "")
            if (is_link and len("".join(inner.itertext()).strip()) <= _LONGEST_BACKLINK) or local(inner) in _UNSEEN:
                skipped = inner
            elif inner.text:
                yield inner.text
        elif event == "end" and (skipped is None or inner is skipped):
            skipped = None
            if inner is not element and inner.tail:
                yield inner.tail
