"""Rule: a weapon, animal, material or season differs from the earlier one, in words that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_event, unmistakable
from flowcabal_tui.agents.words import alternatives_of, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _

_LEAST: Final = {"zh": 9.0, "en": 6.0}
_WORDS: Final = alternatives_of("rules", "others")
_ONE_ZH: Final = rf"[一这那两][{_WORDS['measures_zh']}][^，。！？；、\n\0]{{0,4}}?"
_PATTERNS_ZH: Final = (
    late(rf"{_ONE_ZH}(?P<weapon>{_WORDS['weapons_zh']})(?![㐀-鿿]?[法手])"),
    late(rf"{_ONE_ZH}(?P<animal>{_WORDS['animals_zh']})"),
    late(rf"(?P<material>[{_WORDS['materials_zh']}])(?:制|质|打)?的?(?P<of>{_WORDS['things_zh']})"),
    late(r"(?P<season>[春夏秋冬](?=[天日季])|(?<=[隆盛深初暮])[春夏秋冬])"),
    late(rf"(?P<feast>{_WORDS['feasts_zh']})"),
)
_PATTERNS_EN: Final = (
    late(rf"\b(?P<material>{_WORDS['materials_en']}) (?P<of>[a-z]{{3,14}})\b"),
    late(rf"\b(?P<season>{_WORDS['seasons_en']})\b"),
    late(
        rf"\b(?P<month>{_WORDS['months_en']})\b"
        rf"|\b(?P<weekday>(?:{_WORDS['weekdays_en']})day)\b"
    ),
    late(rf"\b(?:{_WORDS['before_en']}) (?:[a-z]+ )?(?P<animal>{_WORDS['animals_en']})\b"),
    late(rf"\b(?:{_WORDS['before_en']}) (?:[a-z]+ )?(?P<weapon>{_WORDS['weapons_en']})\b"),
)
_SAME: Final = word_table("rules", "same")


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per word."""
    for clash in clashes(draft, book, others, str.__ne__, _LEAST[book.language[:2]], same_event):
        message = _("The book gave a different one before.")
        yield clash.finding("memory contradiction", message)


def others(narrated: NarratedText) -> Sequence[NarratedValue]:
    """The words of closed sets in the narration; a sentence with two of one set is skipped."""
    return unmistakable(narrated, _words_of(narrated))


def _words_of(narrated: NarratedText) -> Iterator[NarratedValue]:
    for pattern in _PATTERNS_ZH if narrated.language.startswith("zh") else _PATTERNS_EN:
        for match in pattern.finditer(narrated.narration):
            groups = {kind: word for kind, word in match.groupdict().items() if word}
            thing = groups.pop("of", "")
            ((kind, word),) = groups.items()
            yield NarratedValue(f"{kind} {thing}".strip(), _SAME.get(word, word), *match.span())
