"""Rule: a sum, distance, duration or count contradicts an earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.checking.rules.quantities import NUMBER_EN, NUMBER_ZH, Range, range_of
from flowcabal_tui.agents.checking.rules.values import NarratedValue, clashes, same_event
from flowcabal_tui.agents.words import alternatives, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.locale import _

_LEAST: Final = {"zh": 8.0, "en": 3.9}
_LEAST_TIME_ZH: Final = 5.2
"""The least score for times, which is lower because few words surround years and months."""
_BEFORE_YEARS: Final = frozenset(word_table("rules", "amounts")["reign"])
"""Characters that may precede a number of years; others are the name of a reign."""
_SHARE: Final = {
    "zh": late(alternatives(word_table("rules", "amounts")["share_zh"])),
    "en": late(rf"\b(?:{alternatives(word_table('rules', 'amounts')['share_en'])})\b", re.IGNORECASE),
}
_PARTS: Final = {"zh": late(r"[。；！？…\n]"), "en": late(r"[.;!?\n]")}
"""The ends of the words to which a share applies."""
_SHARE_AFTER: Final = {"zh": 0, "en": 12}
_REACH: Final = 120
"""Characters before an amount within which the word for its share is searched for."""
_DATE: Final = late(r"[春夏秋冬正腊闰]|[一二三四五六七八九十]{1,2}月")
_TIMES: Final = 1.4
"""The least ratio of the larger amount to the smaller one that counts as a contradiction."""
_UNITS: Final[dict[str, tuple[str, float]]] = {
    unit: (kind, of / sum(parts) if parts else float(of))
    for unit, (kind, of, *parts) in word_table("rules", "units").items()
}
_SMALLEST: Final = {"zh": {"time": 20.0, "way": 40.0}, "en": {"time": 20.0, "way": 3.0}}
"""Smaller amounts are ignored: they are figures of speech, or occur in every chapter."""
_LOOSE_ZH: Final = frozenset(("length", "weight"))
"""Kinds of amounts that are ignored in Chinese, where they are often figures of speech."""
_AROUND: Final = {"zh": 3, "en": 20}
"""Characters before a number that may hold its "nearly"."""
_INDEFINITE: Final = frozenset(("a", "one"))
_ZH: Final = late(
    rf"(?<!第)(?!一[日天年月])(?<![一二两三四五六七八九十])(?P<number>{NUMBER_ZH})(?P<tail>[来余多几]?)"
    rf"(?P<unit>{alternatives(word_table('rules', 'amounts')['zh'])})(?![上中内外方初头纪轻])"
)
_EN: Final = late(
    rf"\b(?P<number>{NUMBER_EN})(?P<tail>(?: odd| or [a-z-]+)?)[- ]"
    rf"(?P<unit>{alternatives(word_table('rules', 'amounts')['en'])})"
    r"(?:e?s)?\b(?![- ](?:old|of age))",
    re.IGNORECASE,
)


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per amount."""
    language = book.language[:2]
    for clash in clashes(draft, book, amounts, _disagree, min(_LEAST[language], _LEAST_TIME_ZH), same_event):
        if language == "zh" and clash.value.part != "time" and clash.weight < _LEAST["zh"]:
            continue
        message = _("This number does not agree with the one given before.")
        yield clash.finding("quantitative mismatch", message)


def _disagree(now: Range, before: Range) -> bool:
    low, high = (now, before) if now.most < before.least else (before, now)
    return low.most * _TIMES < high.least


def amounts(narrated: NarratedText) -> Sequence[NarratedValue]:
    """The amounts with a unit in the narration."""
    language = narrated.language[:2]
    found = []
    for match in (_ZH if language == "zh" else _EN).finditer(narrated.narration):
        kind, scale = _UNITS[match["unit"].lower()]
        least = _SMALLEST[language].get(kind, 0.0)
        if language == "zh" and (kind in _LOOSE_ZH or _is_date(narrated.narration, match)):
            continue
        if least and match["number"].lower() in _INDEFINITE:
            continue
        before = narrated.narration[max(0, match.start() - _AROUND[language]) : match.start()]
        size = range_of(match["number"], f"{before} {match['tail']}", language)
        if size is not None and size.most * scale >= least:
            part = f"{kind} each" if _is_share(narrated.narration, match, language) else kind
            found.append(NarratedValue(part, Range(size.least * scale, size.most * scale), match.start(), match.end()))
    return tuple(found)


def _is_share(text: str, match: re.Match[str], language: str) -> bool:
    """True for the share of each person or day. Such amounts are compared only with each other."""
    before = _PARTS[language].split(text[max(0, match.start() - _REACH) : match.start()])[-1]
    after = _PARTS[language].split(text[match.end() : match.end() + _SHARE_AFTER[language]])[0]
    return any(_SHARE[language].search(words) for words in (before, after))


def _is_date(text: str, match: re.Match[str]) -> bool:
    """True for a year or a calendar date."""
    before, unit = text[max(0, match.start() - 1) : match.start()], match["unit"]
    if unit == "日":
        return before == "月"
    return unit == "年" and bool(before not in _BEFORE_YEARS or _DATE.match(text, match.end()))
