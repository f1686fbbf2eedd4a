"""Queries from the user's own manuscript, without a model; the labels come from its own index.

Each treats a written chapter as if it were not written: people who return after a long absence (callback), rare names
of the rest of the chapter (continue), two people who meet again (relation). The labels depend on the names that the
project knows: they measure how well a context contains what the book's index knows, not how well names are found.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Final, TypeVar

from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Chapter, Passage
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.bench_report import LabelledQueries
from flowcabal_tui.project.bench.bench_scores import CharacterSpan, Labels
from flowcabal_tui.project.bench.context_bench import BenchBook, BenchQuery
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.store import Store

T = TypeVar("T")
ABSENT: Final = 15
"""Least number of chapters after which the return of a person counts as a callback."""
_NEAR: Final = 4
"""Least distance, in chapters, of the chapters that a continuation needs."""
_RARE: Final = 0.15
_MOST_GOLD: Final = 5
_CAST: Final = 5
_HEAD: Final = {"zh": 300, "en": 800}
_WORDS: Final = {
    "cast": ("写第{n}章：{title}。出场：{cast}。", "Write chapter {n}: {title}. Characters: {cast}. "),
    "callback": ("本章会再次写到{name}。", "{name} comes back in this chapter. "),
    "opens": ("开头：{head}", "It opens: {head}"),
    "relation": ("写第{n}章里{one}与{other}的一场戏。", "A scene between {one} and {other} in chapter {n}."),
}


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query with the labels of its context."""

    query: BenchQuery
    labels: Labels


@dataclass(frozen=True, slots=True)
class _Written:
    """A chapter with the counts of its names, in the whole and in each passage."""

    chapter: Chapter
    text: str
    names: Counter[EntityId]
    passages: tuple[tuple[Passage, Counter[EntityId]], ...]

    def best(self, wanted: Iterable[EntityId]) -> CharacterSpan:
        """The first passage with most of the names, and most occurrences of them."""
        every = tuple(wanted)

        def order(each: tuple[Passage, Counter[EntityId]]) -> tuple[int, int, int]:
            passage, names = each
            return -sum(one in names for one in every), -sum(names[one] for one in every), passage.start

        passage, _names = min(self.passages, key=order)
        return CharacterSpan(self.chapter.position, passage.start, passage.end)


async def own_queries(folder: Path, most: int) -> list[LabelledQueries]:
    """Queries of a project, at most `most` of each kind. Raises ProjectError, or ManuscriptError when there are
    none."""
    language = load_project(folder).project.language
    async with await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language=language) as store:
        book = OwnQueries(await store.memory.view(None), folder.name)
        await book.read()
    made = book.queries(most)
    if not made:
        raise ManuscriptError(
            _("No queries can be made from this book."),
            _("No character returns in it: it is short, or its names are not indexed yet."),
        )
    labels = {each.query.id: each.labels for each in made}
    return [LabelledQueries(BenchBook(folder), tuple(each.query for each in made), labels, book.lengths)]


class OwnQueries:
    """Queries from a view of the whole book; call `read` first."""

    def __init__(self, view: MemoryView, novel: str) -> None:
        self._view, self._novel, self._language = view, novel, "zh" if view.language.startswith("zh") else "en"
        self._book: list[_Written] = []
        self._names: dict[EntityId, str] = {}
        self._people: set[EntityId] = set()
        self._in: defaultdict[EntityId, list[int]] = defaultdict(list)

    async def read(self) -> None:
        """Reads texts, passages and mentions."""
        for entity in await self._view.entities():
            self._names[entity.id] = entity.name
            if entity.kind == "character":
                self._people.add(entity.id)
        for at, chapter in enumerate(await self._view.chapters()):
            mentions = await self._view.mentions_in(chapter.id)
            named = [
                (passage, Counter(each.entity for each in mentions if passage.start <= each.start < passage.end))
                for passage in await self._view.passages(chapter.id)
            ]
            names = Counter(each.entity for each in mentions if each.entity in self._names)
            text = await self._view.chapter_text(chapter.id)
            self._book.append(_Written(chapter, text, names, tuple(named)))
            for entity_id in names:
                self._in[entity_id].append(at)

    @property
    def lengths(self) -> Mapping[int, int]:
        """Characters of each chapter, by position."""
        return {each.chapter.position: len(each.text) for each in self._book}

    def queries(self, most: int) -> tuple[LabelledQuery, ...]:
        """At most `most` queries of each kind, spread evenly over the book."""
        return (*spread(self._callbacks(), most), *spread(self._continues(), most), *spread(self._relations(), most))

    def _callbacks(self) -> list[LabelledQuery]:
        """For each chapter, the rarest name that returns."""
        found = []
        for at, written in enumerate(self._book):
            absent = [
                (len(earlier), self._names[name], name, earlier)
                for name in written.names
                if (earlier := [place for place in self._in[name] if place < at]) and at - earlier[-1] >= ABSENT
            ]
            if absent:
                _count, title, name, earlier = min(absent)
                text = (
                    self._plan(written)
                    + self._say("callback", name=title)
                    + self._say("opens", head=self._head(written, 3))
                )
                found.append(self._labelled("callback", at, text, {(name,): earlier}))
        return found

    def _continues(self) -> list[LabelledQuery]:
        """For each chapter, the rare names of the text after its beginning."""
        found = []
        for at, written in enumerate(self._book):
            head = self._head(written, 1)
            rest = {name for passage, names in written.passages if passage.start >= len(head) for name in names}
            rare: dict[tuple[EntityId, ...], list[int]] = {
                (name,): earlier
                for name in sorted(rest & self._names.keys())
                if (earlier := [place for place in self._in[name] if place <= at - _NEAR])
                and len(earlier) <= max(1, _RARE * at)
            }
            if rare:
                found.append(self._labelled("continue", at, self._plan(written) + self._say("opens", head=head), rare))
        return found

    def _relations(self) -> list[LabelledQuery]:
        """Two people of a chapter who occurred in one passage before: the pair that did so in fewest chapters."""
        found = []
        met: defaultdict[tuple[EntityId, EntityId], list[int]] = defaultdict(list)
        for at, written in enumerate(self._book):
            pairs = {
                pair
                for _passage, names in written.passages
                for pair in combinations(sorted(self._people & names.keys()), 2)
            }
            if known := [(len(met[pair]), pair) for pair in pairs if len(met[pair]) > 1]:
                _count, pair = min(known)
                one, other = (self._names[each] for each in pair)
                text = self._say("relation", n=written.chapter.position, one=one, other=other)
                found.append(self._labelled("relation", at, text, {pair: list(met[pair])}))
            for pair in pairs:
                met[pair].append(at)
        return found

    def _labelled(
        self, kind: str, at: int, text: str, wanted: Mapping[tuple[EntityId, ...], Sequence[int]]
    ) -> LabelledQuery:
        """A query labelled with the chapters that contain most of the names, the rarest first, and the best passage of
        each."""
        weights: defaultdict[int, float] = defaultdict(float)
        names: defaultdict[int, set[EntityId]] = defaultdict(set)
        for together, places in wanted.items():
            for place in places:
                often = min(self._book[place].names[name] for name in together)
                weights[place] += math.log(1 + at / len(places)) * often / (often + 1)
                names[place] |= set(together)
        best = sorted(weights, key=lambda place: (-weights[place], -place))[:_MOST_GOLD]
        top = weights[best[0]]
        written = self._book[at].chapter
        return LabelledQuery(
            BenchQuery(f"{kind}-{written.position}", self._language, self._novel, written.position, text),
            Labels(
                kind,
                {self._book[each].chapter.position: 1 + round(2 * weights[each] / top) for each in best},
                tuple(self._book[each].best(sorted(names[each])) for each in best if self._book[each].passages),
            ),
        )

    def _plan(self, written: _Written) -> str:
        cast = [self._names[name] for name, _n in sorted(written.names.items(), key=lambda each: (-each[1], each[0]))]
        joined = ("、" if self._language == "zh" else ", ").join(cast[:_CAST])
        return self._say("cast", n=written.chapter.position, title=written.chapter.title, cast=joined)

    def _head(self, written: _Written, part: int) -> str:
        return written.text[: _HEAD[self._language] // part]

    def _say(self, key: str, **values: object) -> str:
        return _WORDS[key][0 if self._language == "zh" else 1].format(**values)


def spread(each: Sequence[T], most: int) -> list[T]:
    """At most `most` items, evenly spaced."""
    return [each[at * len(each) // most] for at in range(most)] if len(each) > most else list(each)
