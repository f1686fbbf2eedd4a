"""Rule: an age contradicts an earlier one; somebody became younger, or far older."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.quantities import NUMBER_EN, NUMBER_ZH, Range, range_of
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_named
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _

_LEAST: Final = 4.4
_YOUNGER, _OLDER = 3, 9
"""Years by which an age may be lower or higher than an earlier one: ages are rounded, and stories last."""
_OLDEST: Final = 130
_REMEMBERED: Final = 80
"""Characters before an age in which an earlier time may be named."""
_WORDS: Final = word_table("rules", "ages")
_AGES_ZH: Final = late(
    r"(?P<head>年纪[^，。！？；：\n\0一二三四五六七八九十]{0,5}|年[方已近过逾约才])"
    rf"(?P<number>{NUMBER_ZH})(?P<tail>[来余多几]?岁?(?:{alternatives(_WORDS['after_zh'])})?)"
)
_YEARS_ZH: Final = late(
    rf"(?<!寿)(?<![^今现]年)(?<![大小长少差])(?<![一二三四五六七八九十百])(?P<number>{NUMBER_ZH})(?<!万)"
    rf"(?P<tail>[来余多几]?岁(?:{alternatives(_WORDS['after_zh'])})?)"
)
_ABOUT_EN: Final = rf"(?:(?:{alternatives(_WORDS['about'])}) ){{0,5}}"
_AGES_EN: Final = late(
    rf"\b(?P<head>(?:aged|age of|(?:{alternatives(_WORDS['people'])}),? of) "
    rf"{_ABOUT_EN})(?P<number>{NUMBER_EN})\b"
    rf"(?P<tail>(?: or [a-z-]+)?(?: or so| years(?! (?:{alternatives(_WORDS['since'])})))?)(?=[ ,.;:!?—\n]|$)",
    re.IGNORECASE,
)
"""Not `比他小两岁`, which is no age."""
_YEARS_EN: Final = late(
    rf"\b(?P<number>{NUMBER_EN})(?P<tail>(?: or [a-z-]+)?(?:[- ]years?[- ]old| years of age))\b", re.IGNORECASE
)
_WAS_EN: Final = late(
    rf"\b(?P<head>(?:was|were|is) (?:{alternatives(_WORDS['was'])}) )"
    rf"(?P<number>{NUMBER_EN})(?P<tail>)(?=[,.;:!?—\n]| (?:{alternatives(_WORDS['then'])})\b)",
    re.IGNORECASE,
)
_NO_AGE_EN: Final = late(rf" (?:{alternatives(_WORDS['counted'])})\b")
_OR_EN: Final = late(r" or ([a-z]+(?:-[a-z]+)?)", re.IGNORECASE)

_PAST_ZH: Final = late(rf"(?:{alternatives(_WORDS['past_zh'])})[^。！？；\n]{{0,20}}\Z")
_PAST_EN: Final = late(
    r"\b(?:(?:when|since|while|before|until) (?:he|she|they|i) (?:was|were|had been)|had been|in those days"
    r"|(?:that|the) year|years (?:ago|before|earlier))\b[^.!?;\n]{0,60}\Z",
    re.IGNORECASE,
)
"""Words before an age that place it in an earlier time."""


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per age."""
    for clash in clashes(draft, book, ages, _disagree, _LEAST, same_named):
        message = _("This age does not agree with the one given before.")
        yield clash.finding("quantitative mismatch", message)


def _disagree(now: Range, before: Range) -> bool:
    gap = now.gap_to(before)
    return gap < -_YOUNGER or gap > _OLDER


def ages(narrated: NarratedText) -> Sequence[NarratedValue]:
    """The ages in the narration, except those of an earlier time."""
    chinese = narrated.language.startswith("zh")
    past = _PAST_ZH if chinese else _PAST_EN
    found: dict[int, NarratedValue] = {}
    for pattern in (_AGES_ZH, _YEARS_ZH) if chinese else (_AGES_EN, _YEARS_EN, _WAS_EN):
        for match in pattern.finditer(narrated.narration):
            if not chinese and _NO_AGE_EN.match(narrated.narration, match.end()):
                continue
            if past.search(narrated.narration, max(0, match.start() - _REMEMBERED), match.start("number")):
                continue
            before = narrated.narration[max(0, match.start("number") - (5 if chinese else 24)) : match.start("number")]
            age = range_of(match["number"], f"{before} {match['tail']}", narrated.language)
            other = _OR_EN.match(match["tail"])
            more = range_of(other[1], "", narrated.language) if other and not chinese else None
            if age is not None and age.most <= _OLDEST:
                age = Range(age.least, max(age.most, more.most)) if more else age
                found.setdefault(match.end(), NarratedValue("age", age, match.start(), match.end()))
    return tuple(found.values())
