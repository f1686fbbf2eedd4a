"""Rule: a direction or a side contradicts an earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.finding import RuleFinding
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_event
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.locale import _

NAME: Final[RuleName] = "sides"
_LEAST: Final = {"zh": 8.0, "en": 6.0}
_ZH: Final = late(
    r"(?P<compass>[东西][南北]|[东西南北](?=[边面头侧首角门]))|(?P<side>[左右])(?P<part>[手臂腿脚眼耳腮颊肩膝])"
)
_EN: Final = late(
    r"\b(?P<compass>(?:north|south)(?:-?(?:east|west))?|east|west)(?:ern|erly|ward)?\b"
    rf"|\b(?P<side>left|right) (?P<part>{alternatives(word_table('rules', 'sides')['parts_en'])})\b",
    re.IGNORECASE,
)
_LETTERS: Final = {"东": "e", "西": "w", "南": "s", "北": "n"}


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per direction."""
    for clash in clashes(draft, book, sides, frozenset.isdisjoint, _LEAST[book.language[:2]], same_event):
        message = _("This direction or side does not agree with the one given before.")
        mine = draft.quoted(clash.value.start, clash.value.end)
        yield RuleFinding(NAME, "geographical contradiction", message, mine, clash.source)


def sides(narrated: NarratedText) -> Sequence[NarratedValue]:
    """Points of the compass, and sides of the body, that the narration names.

    A sentence with two of one set is skipped: it describes a battle, a town, or the actions of both hands.
    """
    found: dict[tuple[str, int], list[NarratedValue]] = {}
    for match in (_ZH if narrated.language.startswith("zh") else _EN).finditer(narrated.narration):
        if match["compass"]:
            words = match["compass"].lower()
            points = frozenset(_LETTERS[char] for char in words) if words[0] in _LETTERS else _points(words)
            value = NarratedValue("compass", points, *match.span())
        else:
            value = NarratedValue(match["part"].lower(), frozenset([match["side"].lower()]), *match.span())
        found.setdefault((value.part, narrated.sentence_number(match.start())), []).append(value)
    return tuple(values[0] for values in found.values() if len({value.value for value in values}) == 1)


def _points(words: str) -> frozenset[str]:
    return frozenset(point[0] for point in ("north", "south", "east", "west") if point in words)
