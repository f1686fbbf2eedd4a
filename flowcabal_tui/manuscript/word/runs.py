"""The text of one paragraph of a Word document: tracked changes are accepted, other elements counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.manuscript import FileComment
from flowcabal_tui.manuscript.blocks import bracketed
from flowcabal_tui.manuscript.word.styles import Styles, child, form_of, is_on
from flowcabal_tui.manuscript.xml_input import Element, attribute, local

_SKIPPED: Final = frozenset(
    ["pPr", "rPr", "sdtPr", "sdtEndPr", "rubyPr", "rt", "instrText", "delText", "delInstrText", "smartTagPr"]
)
_SYMBOLS: Final = {
    0xB7: "•",
    0xA7: "▪",
    0x6C: "●",
    0x6E: "■",
    0x71: "□",
    0x75: "◆",
    0xAB: "★",
    0xB5: "☆",
    0x4A: "☺",
    0x4C: "☹",
    0xE0: "→",
    0xDF: "←",
    0xFC: "✓",
    0xFB: "✗",
    0xD8: "➢",
    0x28: "☎",
    0x2A: "✉",
    0xBE: "—",
    0x2D: "−",
    0xD3: "©",
}
"""The usual ones of Wingdings and Symbol, by their codes without the offset F000."""
_CHARACTERS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}
_PRIVATE: Final = range(0xE000, 0xF900)
_LONGEST_ANCHOR: Final = 300


class CommentWords:
    """The words that comments are about, gathered while the text is read."""

    def __init__(self, comments: dict[str, FileComment]) -> None:
        self._comments = comments
        self._open: dict[str, tuple[list[str], int]] = {}
        """For each open comment its text so far, and the offset in the current line at which it continues."""
        self._anchors: dict[str, str] = {}

    def begin(self, name: str | None, at: int) -> None:
        """Starts a comment's range at a piece of the line."""
        if name is not None and name in self._comments and name not in self._anchors:
            self._open[name] = ([], at)

    def end(self, name: str | None, pieces: list[str]) -> None:
        """Ends a comment's range."""
        found = self._open.pop(name or "", None)
        if found is not None and name is not None:
            self._anchors[name] = "".join([*found[0], *pieces[found[1] :]])[:_LONGEST_ANCHOR]

    def line_ended(self, pieces: list[str]) -> None:
        """Continues open anchors in the next line, unless they are long enough."""
        for name, (gathered, at) in list(self._open.items()):
            gathered += [*pieces[at:], "\n"]
            if sum(map(len, gathered)) > _LONGEST_ANCHOR:
                del self._open[name]
                self._anchors[name] = "".join(gathered)[:_LONGEST_ANCHOR]
            else:
                self._open[name] = (gathered, 0)

    def all(self) -> tuple[FileComment, ...]:
        """Comments in the order of the text; those without a place come last."""
        for name in list(self._open):
            self.end(name, [])
        placed = [replace(self._comments[name], anchor=text.strip()) for name, text in self._anchors.items()]
        return (*placed, *(one for name, one in self._comments.items() if name not in self._anchors))


class RunReader:
    """Reads paragraphs one after the other; a field may begin in one and end in another."""

    def __init__(self, styles: Styles, notes: dict[str, str], comments: CommentWords) -> None:
        """`notes` are texts of foot- and endnotes by kind and id; each is taken out at its first reference."""
        self.counts: Counter[str] = Counter()
        self.boxes: list[Element] = []
        """Text boxes of the paragraphs read since this was emptied."""
        self._styles, self._notes, self._comments = styles, notes, comments
        self._fields: list[bool] = []
        """For each open field, True while its result is being read."""
        self._in_italics = False
        """True if the previous run was in italics."""
        self._runs: dict[str, Callable[[Element, list[str]], None]] = {
            "t": self._text,
            "sym": self._symbol,
            "ruby": self._ruby,
            "fldChar": self._field,
            "drawing": self._drawing,
            "pict": self._drawing,
            "object": self._drawing,
            "footnoteReference": self._note,
            "endnoteReference": self._note,
            "AlternateContent": self._alternative,
        }

    def text(self, paragraph: Element) -> str:
        """The text of a paragraph."""
        pieces: list[str] = []
        self._in_italics = False
        self._inside(paragraph, pieces)
        self._comments.line_ended(pieces)
        self._fields = [shown for shown in self._fields if shown]  # an instruction never hides more than its paragraph
        return "".join(pieces)

    def range_mark(self, element: Element) -> None:
        """Handles a comment range that begins or ends between two paragraphs."""
        self._range(element, local(element), [])

    def _inside(self, element: Element, pieces: list[str]) -> None:
        for one in element:
            name = local(one)
            if name == "r":
                self._run(one, pieces)
            elif name in _SKIPPED:
                continue
            elif name in ("del", "moveFrom"):
                self.counts["deletions"] += name == "del"
            elif name in ("commentRangeStart", "commentRangeEnd"):
                self._range(one, name, pieces)
            elif name == "sdt" and is_on(child(child(one, "sdtPr"), "showingPlcHdr")):
                self.counts["hidden"] += 1
            elif name in self._runs:
                self._runs[name](one, pieces)
            elif name in _CHARACTERS:
                self._add(pieces, _CHARACTERS[name])
            else:
                self.counts["insertions"] += name == "ins"
                self.counts["moves"] += name == "moveTo"
                self.counts["fields"] += name == "fldSimple"
                self._inside(one, pieces)

    def _run(self, run: Element, pieces: list[str]) -> None:
        properties = run[0] if len(run) and local(run[0]) == "rPr" else None
        if any(local(one) == "t" and one.text for one in run):
            before, self._in_italics = self._in_italics, bool(is_on(child(properties, "i")))
            self.counts["italics"] += self._in_italics and not before
        if properties is not None and self._is_hidden(properties):
            self.counts["hidden"] += any(local(one) == "t" and bool(one.text) for one in run)
            for one in run:
                if local(one) == "fldChar":
                    self._field(one, pieces)
            return
        self._inside(run, pieces)

    def _is_hidden(self, properties: Element) -> bool:
        inherited = False
        for one in properties:
            name = local(one)
            if name == "vanish":
                return bool(is_on(one))
            if name == "rStyle":
                inherited = self._styles.of(attribute(one, "val")).hidden
        return inherited

    def _add(self, pieces: list[str], text: str) -> None:
        if all(self._fields):
            pieces.append(text)

    def _text(self, element: Element, pieces: list[str]) -> None:
        text = element.text
        if text:
            self._add(pieces, text if "\n" not in text else " ".join(text.split("\n")))

    def _symbol(self, element: Element, pieces: list[str]) -> None:
        try:
            code = int(attribute(element, "char") or "", 16)
        except ValueError:
            code = 0xFFFFFF
        known = _SYMBOLS.get(code & 0xFFF) if code in _PRIVATE else chr(code) if 0x20 <= code < 0xD800 else None
        self.counts["symbols"] += known is None
        self._add(pieces, known or "?")

    def _ruby(self, element: Element, pieces: list[str]) -> None:
        self.counts["ruby"] += 1
        base = child(element, "rubyBase")
        if base is not None:
            self._inside(base, pieces)

    def _field(self, element: Element, pieces: list[str]) -> None:
        kind = attribute(element, "fldCharType")
        if kind == "begin":
            self.counts["fields"] += 1
            self._fields.append(False)
        elif kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _note(self, element: Element, pieces: list[str]) -> None:
        kind = "endnote" if local(element).startswith("end") else "footnote"
        note = self._notes.pop(f"{kind} {attribute(element, 'id')}", "")
        if note:
            self.counts["notes"] += 1
            self._add(pieces, bracketed(note))

    def _range(self, element: Element, name: str, pieces: list[str]) -> None:
        if name == "commentRangeStart":
            self._comments.begin(attribute(element, "id"), len(pieces))
        else:
            self._comments.end(attribute(element, "id"), pieces)

    def _alternative(self, element: Element, pieces: list[str]) -> None:
        if (chosen := form_of(element)) is not None:
            self._inside(chosen, pieces)

    def _drawing(self, element: Element, pieces: list[str]) -> None:
        found: list[Element] = []
        _boxes(element, found)
        self.boxes += found
        self.counts["text_boxes"] += len(found)
        if not found:
            names = {local(one) for one in element.iter()}
            self.counts["pictures" if names & {"blip", "imagedata"} else "embedded"] += 1


def _boxes(element: Element, found: list[Element]) -> None:
    """The contents of text boxes, those inside others left to the reading of the outer one."""
    for one in element:
        name = local(one)
        if name == "txbxContent":
            found.append(one)
        elif name == "AlternateContent":
            if (chosen := form_of(one)) is not None:
                _boxes(chosen, found)
        else:
            _boxes(one, found)
