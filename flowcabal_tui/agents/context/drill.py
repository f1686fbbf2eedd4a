"""Drill-down: opens earlier chapters whose L0 or L1 matches the prompt.

A summary names only the subjects of a chapter, not names that are mentioned in passing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.context.intent import SceneReading
from flowcabal_tui.agents.context.things import ABSENCE, RARITY, rarity
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived, Level
from flowcabal_tui.locale import _

OPENED: Final = 3
LOOKED_AT: Final = 200
"""Number of chapters whose summaries are read, which bounds the time of an assembly."""
_WORD_RARITY: Final = 1.3
_WORDS: Final = 0.7
_LEAST_WORDS: Final = 2
"""Least matching words that open a chapter whose summary has no name of the prompt."""
_MOST_FOUND: Final = 4


@dataclass(frozen=True, slots=True)
class Opened:
    """A chapter chosen by its summary: the names and words found in it, the level that has the first, its text."""

    chapter: ChapterId
    found: tuple[str, ...]
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The L0 and the L1 of a chapter; "" for one that does not exist."""

    chapter: ChapterId
    position: int
    line: str
    overview: str

    @property
    def text(self) -> str:
        return f"{self.line}\n{self.overview}"


def reason(opened: Opened) -> str:
    """The reason for a passage, as shown in the receipt."""
    words = _("opened from its overview: {terms}") if opened.level == "L1" else _("opened from its line: {terms}")
    return words.format(terms=_(", ").join(opened.found))


def looked_at(chapters: Sequence[Chapter], ranked: Sequence[ChapterId], taken: Iterable[ChapterId]) -> list[ChapterId]:
    """The chapters whose summaries are read, without those that are `taken`: the `ranked` first, then the newest."""
    out, known = frozenset(taken), {chapter.id for chapter in chapters}
    order = dict.fromkeys([*(each for each in ranked if each in known), *(each.id for each in reversed(chapters))])
    return [each for each in order if each not in out][:LOOKED_AT]


def summaries_of(lines: Iterable[Derived], overviews: Iterable[Derived], places: Mapping[str, int]) -> list[Summary]:
    """The summaries in story order. `places` are the positions of the chapters, by uri."""
    of_line, of_overview = {each.uri: each.text for each in lines}, {each.uri: each.text for each in overviews}
    return [
        Summary(ChapterId(uri.removeprefix("manuscript/")), at, of_line.get(uri, ""), of_overview.get(uri, ""))
        for uri, at in sorted(places.items(), key=lambda each: each[1])
        if uri in of_line or uri in of_overview
    ]


def opened(summaries: Sequence[Summary], reading: SceneReading, before: int) -> tuple[Opened, ...]:
    """The best few chapters by the prompt's names and words in their summaries; rare, long absent names weigh more."""
    texts = [each.text.lower() for each in summaries]
    starts, joined = [], ""
    for text in texts:
        starts.append(len(joined))
        joined += f"{text}\0"
    names = {each.name: _having(each.forms, joined, starts) for each in reading.names}
    words = {each: _having((each,), joined, starts) for each in reading.words}
    weights = {
        name: rarity(len(at), len(summaries)) ** RARITY * max(1, before - summaries[max(at)].position) ** ABSENCE
        for name, at in names.items()
        if at
    }
    of_words = {word: rarity(len(at), len(summaries)) ** _WORD_RARITY for word, at in words.items() if at}
    scores = [0.0] * len(summaries)
    for share, group, places in ((1.0, weights, names), (_WORDS, of_words, words)):
        total = sum(group.values()) or 1.0
        for text, weight in group.items():
            for at in places[text]:
                scores[at] += share * weight / total
    best = sorted(range(len(summaries)), key=lambda at: (-round(scores[at], 9), -summaries[at].position))
    chosen = []
    for at in best:
        named = [name for name in weights if at in names[name]]
        worded = [word for word in of_words if at in words[word]]
        if named or len(worded) >= _LEAST_WORDS:
            found = sorted(named, key=lambda each: -weights[each]) + sorted(worded, key=lambda each: -of_words[each])
            forms = next((each.forms for each in reading.names if each.name == found[0]), (found[0],))
            chosen.append(_opened(summaries[at], tuple(found[:_MOST_FOUND]), forms))
    return tuple(chosen[:OPENED])


def _opened(summary: Summary, found: tuple[str, ...], forms: Iterable[str]) -> Opened:
    in_line = any(form.lower() in summary.line.lower() for form in forms)
    return Opened(summary.chapter, found, "L0" if in_line else "L1", summary.text)


def _having(forms: Iterable[str], joined: str, starts: Sequence[int]) -> frozenset[int]:
    """The summaries with any of the forms, as indexes into `starts`."""
    found = set()
    for form in forms:
        at = joined.find(form.lower())
        while at >= 0:
            number = bisect_right(starts, at) - 1
            found.add(number)
            if number + 1 == len(starts):
                break
            at = joined.find(form.lower(), starts[number + 1])
    return frozenset(found)
