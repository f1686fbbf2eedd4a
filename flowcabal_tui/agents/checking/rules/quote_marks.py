"""Quotation marks without their partner.

Finished Chinese novels often leave marks unpaired, so a Chinese draft is checked only in a book whose earlier chapters
pair them.

A speech may span paragraphs: each of them begins with a mark, and only the last one ends with one. Verse, a letter or a
list inside a speech has no marks of its own, and the lines of one stanza are one paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.locale import _

_MOST: Final = 3
_LINE: Final = re.compile(r"[^\n]+")
_BEGINS: Final = ("“", '"', "‘“", "‘ “", "「")
_MARKS: Final = re.compile('[“”"「」]')
_CHAPTERS: Final = 20
"""The chapters before a Chinese draft that show whether the book pairs its marks."""
_LEAST_CHAPTERS: Final = 3
_MOST_UNPAIRED: Final = 1
"""Unpaired lines in those chapters."""
_LEADS_IN: Final = ("—", ":", ",", "-")
"""The end of a line that leads in to verse or a quoted text."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A line with the beginning of a speech that does not end in it."""

    line: re.Match[str]
    number: int
    leads_in: bool


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields a finding for a line whose marks do not pair, unless a following line continues or ends the speech."""
    if book.language.startswith("zh") and not _pairs_marks(book):
        return
    for line in draft.made(unpaired)[:_MOST]:
        *_earlier, last = _MARKS.finditer(line[0])
        span = draft.around(line.start() + last.start())
        message = _("A quotation mark here is unpaired in its paragraph.")
        start, end = max(span.start, line.start()), min(span.end, line.end())
        yield RuleFinding("style shift", message, draft.quoted(start, end))


def unpaired(narrated: NarratedText) -> tuple[re.Match[str], ...]:
    """The lines with a speech that never ends, or that ends without a beginning."""
    return tuple(_unpaired(narrated.text))


def _pairs_marks(book: EarlierBook) -> bool:
    """True when the last chapters have quotation marks, nearly all of them with their partner."""
    marked = [chapter for chapter in book.chapters[-_CHAPTERS:] if _MARKS.search(chapter.text)]
    return len(marked) >= _LEAST_CHAPTERS and sum(len(each.made(unpaired)) for each in marked) <= _MOST_UNPAIRED


def is_paired(paragraph: str) -> bool:
    """True when as many marks open as close, and none closes before one opens."""
    depth = 0
    for mark in re.findall("[“”]", paragraph):
        depth += 1 if mark == "“" else -1
        if depth not in (0, 1):
            return False
    return depth == 0


def _unpaired(text: str) -> Iterator[re.Match[str]]:
    lines = [match for match in _LINE.finditer(text) if match[0].strip()]
    speech: _Open | None = None
    for number, line in enumerate(lines):
        if not _MARKS.search(line[0]):
            continue
        more = _more(line[0])
        if speech is not None:
            again = line[0].lstrip().startswith(_BEGINS)
            ends = not again and not _opens_first(line[0], more)
            if not ends and not (again and _continues(text, speech, line, number)):
                yield speech.line
            elif ends:
                more = more + 1 if re.search("[”」]", line[0]) else 0
        speech = _Open(line, number, line[0].rstrip().endswith(_LEADS_IN)) if more == 1 else None
        if more not in (0, 1):
            yield line
    if speech is not None:
        yield speech.line


def _continues(text: str, speech: _Open, line: re.Match[str], number: int) -> bool:
    """True when a line that begins with a mark continues the speech: it follows directly, or after verse."""
    between = text[speech.line.end() : line.start()]
    return number == speech.number + 1 or speech.leads_in or not re.search(r"\n\s*\n[^\n]*\S", between)


def _opens_first(line: str, more: int) -> bool:
    """True when the first mark in a line is an opening one."""
    first = re.search("[“”「」]", line)
    return more == 0 if first is None else first[0] in "“「"


def _more(line: str) -> int:
    """The number of opening marks minus the number of closing ones."""
    if marks := re.findall("[“”「」]", line):
        return sum(1 if mark in "“「" else -1 for mark in marks)
    return line.count('"') % 2
