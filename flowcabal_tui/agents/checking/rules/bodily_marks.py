"""Rule: a scar or a mole is in another place than before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.locale import _

_LEAST: Final = 4.0


def _named(table: str) -> re.Pattern[str]:
    """A pattern whose groups are the keys of a table."""
    groups = (f"(?P<{name}>{alternatives(words)})" for name, words in word_table("rules", table).items())
    return re.compile("|".join(groups), re.IGNORECASE)


_MARKS: Final = _named("marks")
_PLACES: Final = _named("body")
_REACH: Final = {"zh": 14, "en": 110}


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per mark."""
    for clash in clashes(draft, book, marks, frozenset.isdisjoint, _LEAST):
        message = _("This mark was in another place before.")
        yield clash.finding("appearance mismatch", message)


def marks(narrated: NarratedText) -> Sequence[NarratedValue]:
    """Bodily marks, each with the first part of the body that the clause names after the mark, else before it."""
    reach = _REACH["zh" if narrated.language.startswith("zh") else "en"]
    found = []
    for match in _MARKS.finditer(narrated.narration):
        span = narrated.around(match.start())
        after = _PLACES.search(narrated.narration, match.end(), min(span.end, match.end() + reach))
        before = list(_PLACES.finditer(narrated.narration, max(span.start, match.start() - reach), match.start()))
        place = before[-1] if before and (reach < 20 or not after) else after
        if place is not None and match.lastgroup and place.lastgroup:
            start, end = min(match.start(), place.start()), max(match.end(), place.end())
            found.append(NarratedValue(match.lastgroup, frozenset([place.lastgroup]), start, end))
    return tuple(found)
