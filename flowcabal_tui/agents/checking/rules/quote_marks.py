"""Quotation marks without their partner, in English text.

A speech may span paragraphs: each of them begins with a mark, and only the last one ends with one. Verse, a letter or a
list inside a speech has no marks of its own, and the lines of one stanza are one paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.rules.finding import RuleFinding
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.locale import _

NAME: Final[RuleName] = "quote-marks"
_MOST: Final = 3
_LINE: Final = re.compile(r"[^\n]+")
_BEGINS: Final = ("“", '"', "‘“", "‘ “")
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
    found = 0
    for line in _unpaired(draft.text):
        if found < _MOST:
            found += 1
            span = draft.around(line.start() + max(map(line[0].rfind, '“”"')))
            said = _("A quotation mark here is unpaired in its paragraph.")
            start, end = max(span.start, line.start()), min(span.end, line.end())
            yield RuleFinding(NAME, "style shift", said, draft.quoted(start, end))


def is_paired(paragraph: str) -> bool:
    """True when as many marks open as close, and none closes before one opens."""
    depth = 0
    for mark in re.findall("[“”]", paragraph):
        depth += 1 if mark == "“" else -1
        if depth not in (0, 1):
            return False
    return depth == 0


def _unpaired(text: str) -> Iterator[re.Match[str]]:
    """The lines with a speech that never ends, or that ends without a beginning."""
    lines = [match for match in _LINE.finditer(text) if match[0].strip()]
    speech: _Open | None = None
    for number, line in enumerate(lines):
        if not any(mark in line[0] for mark in '“”"'):
            continue
        more = _more(line[0])
        if speech is not None:
            again = line[0].lstrip().startswith(_BEGINS)
            ends = not again and not _opens_first(line[0], more)
            if not ends and not (again and _continues(text, speech, line, number)):
                yield speech.line
            elif ends:
                more = more + 1 if "”" in line[0] else 0
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
    opens, closes = line.find("“"), line.find("”")
    return more == 0 if opens < 0 and closes < 0 else opens >= 0 and not 0 <= closes < opens


def _more(line: str) -> int:
    """The number of opening marks minus the number of closing ones."""
    if "“" in line or "”" in line:
        return line.count("“") - line.count("”")
    return line.count('"') % 2
