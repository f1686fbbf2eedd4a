"""Finds deaths and acts of people in the narration, by the words after and before a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.speech import BLANK
from flowcabal_tui.agents.words import alternatives_of, word_list
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import line_around

_REACH: Final = 150
"""Characters before an act in which a word of memory, dream or ghosts excuses it."""
_AFTER: Final = 40
_DREAM: Final = 600
_WORD_LISTS: Final = alternatives_of("rules", "deaths")
_DREAMS: Final = late(rf"{_WORD_LISTS['dreams_zh']}|\b(?:{_WORD_LISTS['dreams_en']})\b", re.IGNORECASE)
_BEFORE: Final = 60
_ROLES: Final = word_list("roles.zh")
"""Words for roles that are found as names and that many people share."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language for acts and deaths."""

    acts: re.Pattern[str]
    """Words for an act, after a name."""
    dies: re.Pattern[str]
    """Words for dying, after a name."""
    kills: re.Pattern[str]
    """Words for a killing, before the victim's name."""
    killed: re.Pattern[str]
    """Words for a killing, after the victim's name."""
    unreal: re.Pattern[str]
    """Words in the sentence by which a death is not real."""
    excuse: re.Pattern[str]
    """Words by which an act belongs to a memory or a dream."""


def _any(name: str) -> str:
    return "|".join(map(re.escape, sorted(word_list(name), key=lambda word: (-len(word), word))))


_ZH: Final = _Words(
    acts=late(
        rf"(?:(?:{_WORD_LISTS['adverbs_zh']})，?){{0,3}}"
        rf"(?:{_any('acts.zh')})"
    ),
    dies=late(
        rf"[^\n，。！？；：、“”「」\0{_WORD_LISTS['alive_zh']}]{{0,5}}"
        rf"(?:{_any('deaths.zh')})|{_WORD_LISTS['times_zh']}|的?(?:{_WORD_LISTS['remains_zh']})"
    ),
    kills=late(rf"(?:{_WORD_LISTS['kills_zh']})$"),
    killed=late(r"[，。；！于]"),
    unreal=late(_WORD_LISTS["unreal_zh"]),
    excuse=late(_any("memory.zh")),
)
_EN: Final = _Words(
    acts=late(
        rf"(?:,? (?:who|whom|whose) [^,.;:!?\n\0]{{1,90}},)?(?: (?:{_WORD_LISTS['adverbs_en']}))? "
        rf"(?:{_any('acts.en')})\b"
    ),
    dies=late(
        rf" (?:{_WORD_LISTS['is_en']}) (?:(?:{_WORD_LISTS['quite_en']}) )?dead\b"
        rf"(?! (?:{_WORD_LISTS['dead_but_en']}))"
        rf"|,? (?:had )?(?:died|expired|perished)\b(?! (?:of|with) (?:{_WORD_LISTS['died_of_en']}))"
        rf"| (?:had )?breathed his last|[’']s (?:{_WORD_LISTS['remains_en']})\b"
        rf"| (?:was|had been) (?:{_WORD_LISTS['killed_en']})\b"
    ),
    kills=late(
        rf"(?:the (?:{_WORD_LISTS['remains_of_en']}) of )(?:the )?"
        rf"(?:(?:{_WORD_LISTS['before_name_en']}) ){{0,3}}$"
    ),
    killed=late(""),
    unreal=late(rf"\b(?:{_WORD_LISTS['unreal_en']})\b"),
    excuse=late(rf"\b(?:{_any('memory.en')})\b", re.IGNORECASE),
)

_DIES_ZH: Final = late(_any("deaths.zh"))
_CALLED_ZH: Final = late(rf"(?:{_WORD_LISTS['called']})(?P<name>[㐀-鿿]{{2,3}}?)(?:者|的|[，。])")


def deaths(narrated: NarratedText, book: EarlierBook) -> tuple[tuple[str, Span], ...]:
    """The people whose death the narration tells, each with the sentence."""
    words = _words(book)
    hits, found = book.hits(narrated), []
    for hit, then in zip(hits, (*hits, None)[1:], strict=True):
        if narrated.narration[hit.start] == BLANK or book.by_id[hit.entity].kind != "character":
            continue
        dies = words.dies.match(narrated.narration, hit.end, then.start if then else len(narrated.text))
        kills = words.kills.search(narrated.narration, max(0, hit.start - _BEFORE), hit.start)
        if dies or (kills and words.killed.match(narrated.narration, hit.end)):
            span = narrated.around(hit.start)
            if not words.unreal.search(narrated.text, span.start, span.end):
                found.append((narrated.text[hit.start : hit.end], span))
    return tuple(found)


def _excused(text: str, start: int, end: int, words: _Words) -> bool:
    """True when memory, or a dream in this paragraph, excuses an act."""
    begins, ends = line_around(text, start, end)
    around = max(begins, start - _DREAM), min(ends, end + _DREAM)
    near = max(0, start - _REACH), end + _AFTER
    return bool(words.excuse.search(text, *near) or _DREAMS.search(text, *around))


def unlisted_deaths(narrated: NarratedText) -> Sequence[tuple[str, Span]]:
    """Chinese names of people who die in the sentence that introduces them (`名唤瑞珠者，……触柱而亡`), known or not."""
    found = []
    for dies in _DIES_ZH.finditer(narrated.narration):
        span = narrated.around(dies.start())
        named = _CALLED_ZH.search(narrated.narration, span.start, dies.start())
        if named and not _ZH.unreal.search(narrated.text, span.start, span.end):
            found.append((named["name"], span))
    return tuple(found)


def acts_unlisted(name: str, narrated: NarratedText) -> Span | None:
    """The first act of a name that need not be one of the book's entities."""
    for match in re.finditer(re.escape(name), narrated.narration):
        act = _ZH.acts.match(narrated.narration, match.end())
        if act and not _excused(narrated.text, match.start(), act.end(), _ZH):
            return Span(match.start(), act.end())
    return None


def first_acts(narrated: NarratedText, book: EarlierBook) -> Mapping[str, Span]:
    """The first act of each bearer of a name in the narration, except in memories and dreams."""
    words = _words(book)
    found: dict[str, Span] = {}
    for hit in book.hits(narrated):
        name = narrated.text[hit.start : hit.end]
        if name not in found and name not in _ROLES and narrated.narration[hit.start] != BLANK:
            act = words.acts.match(narrated.narration, hit.end)
            if act and not _excused(narrated.text, hit.start, act.end(), words):
                found[name] = Span(hit.start, act.end())
    return found


def act_after(narrated: NarratedText, end: int, book: EarlierBook) -> int | None:
    """The end of an act whose words directly follow a name that ends at `end`; None if there is none."""
    act = _words(book).acts.match(narrated.narration, end)
    return act.end() if act else None


def _words(book: EarlierBook) -> _Words:
    return _ZH if book.language.startswith("zh") else _EN
