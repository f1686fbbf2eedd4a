"""Styles and numberings of a Word document: the outline level of a paragraph, its number, and whether it is hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from flowcabal_tui.headings.numerals import in_chinese, in_letters, in_roman
from flowcabal_tui.manuscript.archive import Archive
from flowcabal_tui.manuscript.words import word_table
from flowcabal_tui.manuscript.xml_input import Element, attribute, local, tree

_STYLES: Final = word_table("styles")
_HEADING: Final = re.compile(rf"(?:{'|'.join(_STYLES['headings'].split())})\s*([1-9])")
_TITLE: Final = frozenset(_STYLES["titles"].split())
_CONTENTS: Final = re.compile(r"(?:toc|目录|目錄)\s*(?:[1-9]|heading|标题|標題)|contents heading")
_DEEPEST_CHAIN: Final = 20
_BODY: Final = 9
_LEVELS: Final = 9
_LARGEST_START: Final = 100_000


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph or character style with its inherited properties. `level` counts from 0; None is body text."""

    level: int | None = None
    hidden: bool = False
    title: bool = False
    contents: bool = False
    numbering: tuple[str, int] | None = None


@dataclass(slots=True)
class _Written:
    """A style as the file has it; None where it sets nothing. `level` 9 is body text, set explicitly."""

    name: str
    based_on: str
    level: int | None
    hidden: bool | None
    numbering: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class Styles:
    """All styles by id, and the id of the default paragraph style."""

    by_id: Mapping[str, Style] = field(default_factory=dict)
    default: str = ""

    def of(self, name: str | None) -> Style:
        """The style, or a plain one when there is none of this id."""
        return self.by_id.get(name or self.default, _PLAIN)


_PLAIN: Final = Style()


def read_styles(archive: Archive, part: str | None) -> Styles:
    """Reads the styles. Raises ManuscriptError."""
    if part is None:
        return Styles()
    written: dict[str, _Written] = {}
    default = ""
    for element in tree(archive, part):
        if local(element) != "style":
            continue
        name = attribute(element, "styleId") or ""
        written[name] = _written(element)
        if attribute(element, "type") == "paragraph" and attribute(element, "default") in ("1", "true", "on"):
            default = name
    return Styles({name: _resolved(name, written) for name in written}, default)


def is_on(element: Element | None) -> bool | None:
    """The value of a switch: True when it exists without a value; None when it does not exist."""
    return None if element is None else attribute(element, "val") not in ("0", "false", "off")


def child(element: Element | None, name: str) -> Element | None:
    """The first child of this name; None if there is none."""
    for one in () if element is None else element:
        if local(one) == name:
            return one
    return None


def form_of(element: Element) -> Element | None:
    """One of the two forms of an AlternateContent, which have the same contents: the choice, else the fallback."""
    chosen = child(element, "Choice")
    return child(element, "Fallback") if chosen is None else chosen


def value(element: Element | None, name: str) -> str | None:
    """The `val` of the first child of this name; None if there is none."""
    found = child(element, name)
    return None if found is None else attribute(found, "val")


def number(text: str | None, most: int) -> int | None:
    """A number from 0 to `most`; None for anything else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and int(text[:9]) <= most else None


def numbering_of(listed: Element | None) -> tuple[str, int] | None:
    """The list named by a `numPr`, and the level in it; None: no list is named. The id "0" removes a paragraph from its
    list."""
    if listed is None or (name := value(listed, "numId")) is None:
        return None
    return name, number(value(listed, "ilvl"), _LEVELS - 1) or 0


def _written(element: Element) -> _Written:
    paragraph, run = child(element, "pPr"), child(element, "rPr")
    name = (value(element, "name") or "").casefold().strip()
    level = number(value(paragraph, "outlineLvl"), _BODY)
    if level is None:
        found = _HEADING.fullmatch(name) or _HEADING.fullmatch((attribute(element, "styleId") or "").casefold())
        level = int(found[1]) - 1 if found else None
    numbering = numbering_of(child(paragraph, "numPr"))
    return _Written(name, value(element, "basedOn") or "", level, is_on(child(run, "vanish")), numbering)


def _resolved(name: str, written: Mapping[str, _Written]) -> Style:
    """Goes up `basedOn`, never in a circle and never too far."""
    style, own = Style(), written[name]
    style = replace(style, title=own.name in _TITLE, contents=_CONTENTS.fullmatch(own.name) is not None)
    level: int | None = None
    hidden: bool | None = None
    numbering: tuple[str, int] | None = None
    seen: set[str] = set()
    while name in written and name not in seen and len(seen) < _DEEPEST_CHAIN:
        seen.add(name)
        one = written[name]
        level = one.level if level is None else level
        hidden = one.hidden if hidden is None else hidden
        numbering = numbering or one.numbering
        name = one.based_on
    return replace(style, level=None if level == _BODY else level, hidden=bool(hidden), numbering=numbering)


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    text: str


class Numbering:
    """Generates the numbers that Word shows before numbered paragraphs, which are not part of the text."""

    def __init__(self, archive: Archive, part: str | None) -> None:
        self._lists: dict[str, dict[int, _Level]] = {}
        self._of: dict[str, str] = {}
        self._counts: dict[str, list[int | None]] = {}
        root = () if part is None else tree(archive, part)
        for element in root:
            if local(element) == "abstractNum":
                levels = [one for one in element if local(one) == "lvl"]
                self._lists[attribute(element, "abstractNumId") or ""] = {
                    number(attribute(one, "ilvl"), _LEVELS - 1) or 0: _level(one) for one in levels
                }
            elif local(element) == "num":
                self._of[attribute(element, "numId") or ""] = value(element, "abstractNumId") or ""

    def next(self, place: tuple[str, int]) -> str:
        """Advances a list by one. Returns the label of the paragraph ("" for bullets)."""
        name, at = self._of.get(place[0], ""), place[1]
        levels = self._lists.get(name)
        if not levels or at not in levels:
            return ""
        counts = self._counts.setdefault(name, [None] * _LEVELS)
        before = counts[at]
        counts[at] = levels[at].start if before is None else before + 1
        counts[at + 1 :] = [None] * (_LEVELS - at - 1)
        if levels[at].form in ("bullet", "none"):
            return ""
        return re.sub(r"%([1-9])", lambda found: self._shown(levels, counts, int(found[1]) - 1), levels[at].text)

    def _shown(self, levels: Mapping[int, _Level], counts: list[int | None], at: int) -> str:
        level = levels.get(at, _Level(1, "decimal", ""))
        count = counts[at]
        return _formatted(level.start if count is None else count, level.form)


def _level(element: Element) -> _Level:
    start = number(value(element, "start"), _LARGEST_START)
    text = (value(element, "lvlText") or "")[:40]
    return _Level(1 if start is None else start, value(element, "numFmt") or "decimal", text)


_FORMS: Final = {"upperroman": in_roman, "lowerroman": in_roman, "upperletter": in_letters, "lowerletter": in_letters}


def _formatted(count: int, form: str) -> str:
    lowered = form.casefold()
    if "chinese" in lowered or lowered in ("ideographtraditional", "japanesecounting", "ideographdigital"):
        return in_chinese(count)
    shown = _FORMS.get(lowered, str)(count)
    return shown.lower() if lowered.startswith("lower") else shown
