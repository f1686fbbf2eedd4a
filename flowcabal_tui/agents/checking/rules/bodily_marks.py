"""A scar or a mole that is elsewhere than before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.finding import RuleFinding
from flowcabal_tui.agents.checking.rules.material import EarlierBook, Told
from flowcabal_tui.agents.checking.rules.values import Value, clashes
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.locale import _

NAME: Final[RuleName] = "bodily-marks"
_LEAST: Final = 4.0
_MARKS: Final = re.compile(
    r"(?P<scar>刀疤|伤疤|疤痕|疤|\bscars?\b)|(?P<mole>朱砂痣|黑痣|痣|\bmoles?\b|\bbirthmarks?\b|胎记)|(?P<freckles>雀斑|雀瘢|麻子|\bfreckles?\b)",
    re.IGNORECASE,
)
_PLACES: Final = re.compile(
    r"(?P<brow>额头?|眉心?|\bforehead\b|\bbrow\b|\btemple\b)|(?P<mouth>嘴角|唇|嘴|\bmouth\b|\blips?\b)|(?P<cheek>腮|颊|脸|\bcheeks?\b)"
    r"|(?P<chin>下巴|颏|\bchin\b)|(?P<neck>颈|脖|\bneck\b|\bthroat\b)|(?P<nose>鼻|\bnose\b)|(?P<eye>眼|\beyes?\b|\beyelid\b)"
    r"|(?P<hand>手|腕|\bhands?\b|\bwrist\b)|(?P<arm>臂|\barm\b)|(?P<shoulder>肩|\bshoulder\b)|(?P<leg>腿|膝|\bleg\b|\bknee\b)"
    r"|(?P<chest>胸|\bchest\b|\bbreast\b)|(?P<back>背|\bback\b)",
    re.IGNORECASE,
)
_REACH: Final = {"zh": 14, "en": 110}


def find(draft: Told, book: EarlierBook) -> Iterator[RuleFinding]:
    """One finding a mark."""
    for clash in clashes(draft, book, marks, frozenset.isdisjoint, _LEAST):
        said = _("This mark was in another place before.")
        mine = draft.quoted(clash.value.start, clash.value.end)
        yield RuleFinding(NAME, "appearance mismatch", said, mine, clash.source)


def marks(told: Told) -> Sequence[Value]:
    """Marks of a body, each with the first part of it that the clause names after the mark, else before it."""
    reach = _REACH["zh" if told.language.startswith("zh") else "en"]
    found = []
    for match in _MARKS.finditer(told.narration):
        span = told.around(match.start())
        after = _PLACES.search(told.narration, match.end(), min(span.end, match.end() + reach))
        before = list(_PLACES.finditer(told.narration, max(span.start, match.start() - reach), match.start()))
        place = before[-1] if before and (reach < 20 or not after) else after
        if place is not None and match.lastgroup and place.lastgroup:
            start, end = min(match.start(), place.start()), max(match.end(), place.end())
            found.append(Value(match.lastgroup, frozenset([place.lastgroup]), start, end))
    return tuple(found)
