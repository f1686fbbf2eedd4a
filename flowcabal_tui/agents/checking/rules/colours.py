"""Rule: a thing or an animal has another colour than before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_event
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _

_LEAST: Final = {"zh": 8.0, "en": 6.0}
_COLOURED: Final = word_table("rules", "coloured")
_GROUP: Final = {word: group for group, words in word_table("rules", "colours").items() for word in words.split()}
_COLOURS_EN: Final = "|".join(sorted((word for word in _GROUP if word.isascii()), key=lambda word: -len(word)))
_COLOURS_ZH: Final = "|".join(sorted((word for word in _GROUP if not word.isascii()), key=lambda word: -len(word)))
_BODY: Final = frozenset(_COLOURED["body"].split())
_EN: Final = (
    late(
        rf"\b(?P<colour>{_COLOURS_EN}),? (?:(?:{alternatives(_COLOURED['between'])}) )?"
        r"(?P<noun>[a-z]{3,16})\b",
    ),
    late(
        r"\b(?P<noun>[a-z]{3,16}) (?:was|were) "
        rf"(?:(?:{alternatives(_COLOURED['before'])}) ){{0,3}}(?P<colour>{_COLOURS_EN})\b"
    ),
)
_ZH: Final = (
    late(rf"(?P<colour>{_COLOURS_ZH})[色毛鬃漆]?的?(?:小|大|老)?(?P<noun>{alternatives(_COLOURED['nouns_zh'])})"),
)


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding for each thing whose colour contradicts an earlier one."""
    for clash in clashes(draft, book, colours, str.__ne__, _LEAST[book.language[:2]], same_event):
        message = _("The book gave this a different colour before.")
        yield clash.finding("appearance mismatch", message)


def colours(narrated: NarratedText) -> Sequence[NarratedValue]:
    """Things and animals with a colour, in the narration."""
    return tuple(
        NarratedValue(match["noun"], _GROUP[match["colour"]], *match.span())
        for pattern in (_ZH if narrated.language.startswith("zh") else _EN)
        for match in pattern.finditer(narrated.narration)
        if match["noun"] not in _BODY
    )
