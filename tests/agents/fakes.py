"""A book and models in memory."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.domain.answer_schema import StructuredAnswer
from flowcabal_tui.domain.context import NO_SCENE, Scene
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter, Passage, PassageHit, PassagePlace, Postings
from flowcabal_tui.domain.memory import Derived, Entity, Level, Mention, MetaName
from flowcabal_tui.domain.model_calls import (
    Answer,
    ModelEvent,
    ModelRequest,
    Usage,
)
from flowcabal_tui.domain.outline import BookOutline, OutlineLink
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, Story
from flowcabal_tui.domain.text import digest, han_count
from flowcabal_tui.headings.assigning import assigned
from flowcabal_tui.headings.outline import read_outline

T = TypeVar("T", bound=BaseModel)


class FakeTokens:
    """One token a Chinese character, a quarter for others."""

    def __init__(self) -> None:
        self.calls = 0

    def count(self, text: str) -> int:
        self.calls += 1
        han = han_count(text)
        return han + (len(text) - han + 3) // 4


@dataclass
class FakeBook:
    """All state of a book; `before(n)` is the view of it before chapter position n."""

    texts: list[tuple[str, str]]
    people: tuple[Entity, ...] = ()
    meta: tuple[tuple[MetaName, str], ...] = ()
    derived: list[Derived] = field(default_factory=list)
    waived: frozenset[tuple[str, str]] = frozenset()
    language: str = "zh"
    passage_size: int = 800
    story: Story = Story()
    scenes: dict[ChapterId, Scene] = field(default_factory=dict)
    links: tuple[OutlineLink, ...] = ()

    def __post_init__(self) -> None:
        self.passages = {
            chapter.id: self._passages(chapter, text)
            for chapter, (_title, text) in zip(self.chapters(), self.texts, strict=True)
        }
        index = NameIndex(self.people)
        self.mentions = [
            mention
            for chapter, (_title, text) in zip(self.chapters(), self.texts, strict=True)
            for mention in index.mentions(chapter.id, chapter.position, text)
        ]
        self._terms: dict[str, list[tuple[Passage, int]]] = {}

    def chapters(self) -> list[Chapter]:
        return [
            Chapter(ChapterId(f"c{n}"), n, title, version=1, digest=digest(text), length=len(text))
            for n, (title, text) in enumerate(self.texts, start=1)
        ]

    def _passages(self, chapter: Chapter, text: str) -> tuple[Passage, ...]:
        cuts = [0]
        for match in re.finditer(r"\n+|[。！？]", text):
            if match.end() - cuts[-1] >= self.passage_size:
                cuts.append(match.end())
        bounds = list(zip(cuts, [*cuts[1:], len(text)], strict=True))
        return tuple(
            Passage(chapter.id, chapter.position, n, start, end, text[start:end])
            for n, (start, end) in enumerate(bounds)
            if end > start
        )

    def found(self, term: str) -> list[tuple[Passage, int]]:
        if term not in self._terms:
            self._terms[term] = [
                (passage, n) for each in self.passages.values() for passage in each if (n := passage.text.count(term))
            ]
        return self._terms[term]

    def before(self, position: int) -> FakeView:
        return FakeView(self, position)

    async def view(self, chapter: ChapterId | None, generation: Generation) -> FakeView:
        return self.before(int(chapter[1:]) if chapter else len(self.texts) + 1)

    async def scene(self, chapter: ChapterId, generation: Generation) -> Scene:
        return self.scenes.get(chapter, NO_SCENE)


@dataclass
class FakeView:
    """The MemoryView of a FakeBook."""

    book: FakeBook
    before: int
    generation: Generation = Generation(1)

    @property
    def language(self) -> str:
        return self.book.language

    @property
    def target(self) -> Chapter | None:
        return next((each for each in self.book.chapters() if each.position == self.before), None)

    async def meta(self) -> tuple[tuple[MetaName, str], ...]:
        return self.book.meta

    async def outline(self) -> BookOutline:
        text = dict(self.book.meta).get("outline", "")
        return assigned(read_outline(text), self.book.chapters(), self.book.links)

    async def entities(self) -> tuple[Entity, ...]:
        return self.book.people

    async def chapters(self) -> tuple[Chapter, ...]:
        return tuple(each for each in self.book.chapters() if each.position < self.before)

    async def chapter_text(self, chapter: ChapterId) -> str:
        return self.book.texts[int(chapter[1:]) - 1][1]

    async def chapter_texts(self, chapters: Sequence[ChapterId]) -> dict[ChapterId, str]:
        return {chapter: await self.chapter_text(chapter) for chapter in chapters}

    async def passages(self, chapter: ChapterId) -> tuple[Passage, ...]:
        return self.book.passages[chapter]

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        return tuple(each for each in self.book.mentions if each.entity == entity and each.position < self.before)

    async def mentions_in(self, chapter: ChapterId) -> tuple[Mention, ...]:
        return tuple(each for each in self.book.mentions if each.chapter == chapter and each.position < self.before)

    async def chapters_with(self, entity: EntityId) -> tuple[ChapterId, ...]:
        return tuple(dict.fromkeys(each.chapter for each in await self.mentions(entity)))

    async def named_by_passage(self) -> Sequence[frozenset[EntityId]]:
        found = []
        for chapter in await self.chapters():
            mentions = await self.mentions_in(chapter.id)
            for passage in await self.passages(chapter.id):
                found.append(frozenset(each.entity for each in mentions if passage.start <= each.start < passage.end))
        return found

    async def passages_naming(self, entities: Collection[EntityId]) -> Mapping[EntityId, Sequence[int]]:
        named = await self.named_by_passage()
        return {entity: [at for at, each in enumerate(named) if entity in each] for entity in entities}

    async def offsets_of(
        self, entities: Collection[EntityId], chapters: Collection[ChapterId]
    ) -> Mapping[ChapterId, Sequence[tuple[int, EntityId]]]:
        return {
            chapter: [(each.start, each.entity) for each in await self.mentions_in(chapter) if each.entity in entities]
            for chapter in chapters
        }

    async def mention_counts(self) -> tuple[tuple[EntityId, int], ...]:
        counts = Counter(each.entity for each in self.book.mentions if each.position < self.before)
        return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

    async def derived(self, uri: str, level: Level) -> Derived | None:
        states = [each for each in self.book.derived if each.uri == uri and each.level == level]
        return max(
            (each for each in states if each.position < self.before), key=lambda each: each.position, default=None
        )

    async def derived_of(self, uris: Sequence[str], level: Level) -> tuple[Derived, ...]:
        found = [each for uri in uris if (each := await self.derived(uri, level))]
        return tuple(sorted(found, key=lambda each: (each.position, each.uri)))

    async def derived_under(self, prefix: str, level: Level) -> tuple[Derived, ...]:
        uris = sorted({each.uri for each in self.book.derived if each.uri.startswith(prefix)})
        found = [each for uri in uris if (each := await self.derived(uri, level))]
        return tuple(sorted(found, key=lambda each: (each.position, each.uri)))

    async def relations(self) -> tuple[Relation, ...]:
        return self.book.story.relations

    async def facts(self) -> tuple[Fact, ...]:
        return self.book.story.facts

    async def promises(self) -> tuple[Promise, ...]:
        return self.book.story.promises

    async def moments(self) -> tuple[Moment, ...]:
        return self.book.story.moments

    async def search(self, terms: Sequence[str], limit: int) -> tuple[PassageHit, ...]:
        total = sum(len(each) for chapter, each in self.book.passages.items() if int(chapter[1:]) < self.before)
        scores: dict[tuple[int, int], float] = {}
        hits: dict[tuple[int, int], tuple[Passage, list[str]]] = {}
        for term in terms:
            seen = [(passage, n) for passage, n in self.book.found(term) if passage.position < self.before]
            for passage, n in seen:
                key = (passage.position, passage.start)
                weight = math.log(1 + (total - len(seen) + 0.5) / (len(seen) + 0.5))
                scores[key] = scores.get(key, 0.0) + weight * n * 2.2 / (n + 1.2)
                hits.setdefault(key, (passage, []))[1].append(term)
        best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return tuple(PassageHit(hits[key][0], scores[key], tuple(hits[key][1])) for key in best)

    async def postings(self, terms: Sequence[str]) -> Postings:
        seen = [each for of in self.book.passages.values() for each in of if each.position < self.before]
        places = tuple(PassagePlace(each.chapter, each.position, each.index, each.start, each.end) for each in seen)
        found = (tuple(at for at, each in enumerate(seen) if term.lower() in each.text.lower()) for term in terms)
        return Postings(places, tuple(found))

    async def waived(self) -> frozenset[tuple[str, str]]:
        return self.book.waived


class FakeAnswers:
    """An AnswerStore in memory."""

    def __init__(self) -> None:
        self.kept: dict[Digest, str] = {}

    async def get(self, key: Digest) -> str | None:
        return self.kept.get(key)

    async def put(self, key: Digest, text: str, model: str, usage: Usage) -> None:
        self.kept[key] = text


class FakeModel:
    """Answers with what `reply` makes of a request: a text, a value as plain data, or an exception to raise."""

    def __init__(self, reply: Callable[[ModelRequest], Any], endpoint: Endpoint | None = None) -> None:
        self._reply = reply
        self.endpoint = endpoint or Endpoint(provider="offline", model="fake")
        self.requests: list[ModelRequest] = []

    def _replied(self, request: ModelRequest) -> Any:
        self.requests.append(request)
        reply = self._reply(request)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        raise AssertionError("agents do not stream")
        yield

    async def answer(self, request: ModelRequest) -> Answer:
        return Answer(self._replied(request), "stop", Usage(10, 5), "fake")

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        value = shape.model_validate(self._replied(request))
        whole = not (isinstance(value, StructuredAnswer) and value.unread)
        return value, Answer(value.model_dump_json(), "stop", Usage(10, 5), "fake", whole=whole)


def person(name: str, *aliases: str, note: str = "", kind: Any = "character") -> Entity:
    return Entity(EntityId(f"e-{name}"), kind, name, aliases, note, "hand", 1)


_IDS = re.compile(r'<(?:statement|doubt) id="(\w+)"')


def as_checker(
    reply: Callable[[ModelRequest], Any], confidence: float = 0.9, verdict: str = "contradiction"
) -> Callable[[ModelRequest], Any]:
    """A checker that calls all pairs compatible beside what `reply` finds, and finds no other reading of that."""

    def answer(request: ModelRequest) -> Any:
        ids = _IDS.findall(request.messages[1].content)
        if request.purpose == "monitor.defence":
            return {"readings": [{"doubt": each, "verdict": verdict, "confidence": confidence} for each in ids]}
        said = reply(request)
        return {"verdicts": [], "compatible": ids, **said} if isinstance(said, dict) else said

    return answer
