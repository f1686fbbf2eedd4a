"""Rule: a direction or a side contradicts an earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_event, unmistakable
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _

_LEAST: Final = {"zh": 8.0, "en": 6.0}
_WORDS: Final = word_table("rules", "sides")
_ZH: Final = late(
    rf"(?P<compass>[东西][南北]|[东西南北](?=[{_WORDS['ends_zh']}]))|(?P<side>[左右])(?P<part>[{_WORDS['parts_zh']}])"
)
_EN: Final = late(
    r"\b(?P<compass>(?:north|south)(?:-?(?:east|west))?|east|west)(?:ern|erly|ward)?\b"
    rf"|\b(?P<side>left|right) (?P<part>{alternatives(_WORDS['parts_en'])})\b",
    re.IGNORECASE,
)
_LETTERS: Final = {"东": "e", "西": "w", "南": "s", "北": "n"}


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per direction."""
    for clash in clashes(draft, book, sides, frozenset.isdisjoint, _LEAST[book.language[:2]], same_event):
        message = _("This direction or side does not agree with the one given before.")
        yield clash.finding("geographical contradiction", message)


def sides(narrated: NarratedText) -> Sequence[NarratedValue]:
    """Points of the compass, and sides of the body, that the narration names.

    A sentence with two of one set is skipped: it describes a battle, a town, or the actions of both hands.
    """
    return unmistakable(narrated, _directions(narrated))


def _directions(narrated: NarratedText) -> Iterator[NarratedValue]:
    for match in (_ZH if narrated.language.startswith("zh") else _EN).finditer(narrated.narration):
        if match["compass"]:
            words = match["compass"].lower()
            points = frozenset(_LETTERS[char] for char in words) if words[0] in _LETTERS else _points(words)
            yield NarratedValue("compass", points, *match.span())
        else:
            yield NarratedValue(match["part"].lower(), frozenset([match["side"].lower()]), *match.span())


def _points(words: str) -> frozenset[str]:
    return frozenset(point[0] for point in ("north", "south", "east", "west") if point in words)
