"""Quotation marks without their partner, in English text; a speech may continue over paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.agents.checking.rules.finding import RuleFinding
from flowcabal_tui.agents.checking.rules.material import EarlierBook, Told
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.locale import _

NAME: Final[RuleName] = "quote-marks"
_MOST: Final = 3
_PARAGRAPH: Final = re.compile(r"[^\n]+")
_BEGINS: Final = ("“", '"', "‘“")


def find(draft: Told, book: EarlierBook) -> Iterator[RuleFinding]:
    """A finding for a paragraph whose marks do not pair, unless the next one continues or ends the speech."""
    paragraphs = [match for match in _PARAGRAPH.finditer(draft.text) if match[0].strip()]
    found, open_before = 0, False
    for number, paragraph in enumerate(paragraphs):
        rest = paragraphs[number + 1][0].lstrip() if number + 1 < len(paragraphs) else ""
        more = _unpaired(paragraph[0])
        ends, open_before = open_before and more == -1, False
        if not more or ends or (more == 1 and rest.startswith(_BEGINS)):
            continue
        if more == 1 and _unpaired(rest) == -1:
            open_before = True
        elif found < _MOST:
            found += 1
            span = draft.around(paragraph.start() + max(map(paragraph[0].rfind, '“”"')))
            said = _("A quotation mark here is unpaired in its paragraph.")
            start, end = max(span.start, paragraph.start()), min(span.end, paragraph.end())
            yield RuleFinding(NAME, "style shift", said, draft.quoted(start, end))


def is_paired(paragraph: str) -> bool:
    """True when as many marks open as close, and none closes before one opens."""
    depth = 0
    for mark in re.findall("[“”]", paragraph):
        depth += 1 if mark == "“" else -1
        if depth not in (0, 1):
            return False
    return depth == 0


def _unpaired(paragraph: str) -> int:
    """By how many marks more open than close."""
    if "“" in paragraph or "”" in paragraph:
        return paragraph.count("“") - paragraph.count("”")
    return paragraph.count('"') % 2
