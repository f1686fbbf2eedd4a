"""Search over the whole project: the text, names, story records, profiles, summaries; and by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import META_NAMES, Level
from flowcabal_tui.domain.search import Occurrence, SearchAnswer, SearchHit, SearchKind, TextPlace
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, StoryRecord
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.matching import Page, SearchedText, around, best, places
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.sources import Sources, entity_text
from flowcabal_tui.project.words import META
from flowcabal_tui.store import Store
from flowcabal_tui.store.memory.view import View

_LEVELS: Final[tuple[Level, ...]] = ("L2", "L1", "L0")
_LINE: Final = 160
"""Characters shown of a passage that was found by its meaning."""


class BookSearch:
    """Searches the project. Reads only; lives on the engine's loop. A text is prepared once, until it changes."""

    def __init__(self, store: Store, queries: Sources, knowledge: KnowledgeConnection, kinds: ProfileKinds) -> None:
        self._store, self._queries, self._knowledge, self._kinds = store, queries, knowledge, kinds
        self._chapters: dict[tuple[ChapterId, Digest, str, int], Page] = {}
        self._memory: tuple[Generation, list[Page]] = (Generation(-1), [])

    async def find(self, query: str, kinds: Sequence[SearchKind], limit: int) -> SearchAnswer:
        """The best `limit` places of each kind. Finds nothing by meaning while the knowledge server is down."""
        query = clean(query).strip()
        hits: list[SearchHit] = []
        counts: list[tuple[SearchKind, int]] = []
        chapters = await self._store.book.chapters()
        pages = [*await self._texts(chapters), *await self._remembered(chapters)]
        for kind in kinds if query else ():
            if kind == "similar":
                found, number = await self._similar(query, limit)
            else:
                of_kind = [page for page in pages if page.document.kind == kind]
                found, number = await asyncio.to_thread(best, of_kind, query, limit)
            hits += found
            counts.append((kind, number))
        return SearchAnswer(query, tuple(hits), tuple(counts))

    async def occurrences(self, words: str) -> tuple[Occurrence, ...]:
        """Every place of exactly these words in the manuscript, as whole words, in story order."""
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.digest and words]
        texts = await self._store.journal.texts(tuple({chapter.digest for chapter in chapters if chapter.digest}))
        written = [(chapter, texts[chapter.digest]) for chapter in chapters if chapter.digest]
        return await asyncio.to_thread(
            lambda: tuple(found for chapter, text in written for found in _occurrences(chapter, text, words))
        )

    async def _texts(self, chapters: Sequence[Chapter]) -> list[Page]:
        """The written chapters in story order; only those that changed are read."""
        keys = {(at.id, at.digest, at.title, at.position): at for at in chapters if at.digest}
        missing = [key for key in keys if key not in self._chapters]
        texts = await self._store.journal.texts(tuple({name for _id, name, _title, _position in missing}))
        new = [_of_chapter("text", keys[key], texts[key[1]]) for key in missing]
        made = await asyncio.to_thread(lambda: [Page(document) for document in new])
        known = self._chapters | dict(zip(missing, made, strict=True))
        self._chapters = {key: known[key] for key in keys}
        return list(self._chapters.values())

    async def _remembered(self, chapters: Sequence[Chapter]) -> list[Page]:
        """All texts besides chapters; read again when the memory has changed."""
        generation = await self._store.memory.generation()
        if self._memory[0] != generation:
            documents = await self._documents(chapters)
            self._memory = generation, await asyncio.to_thread(lambda: [Page(document) for document in documents])
        return self._memory[1]

    async def _documents(self, chapters: Sequence[Chapter]) -> list[SearchedText]:
        view = await self._store.memory.view(None)
        titles = {f"manuscript/{chapter.id}": chapter for chapter in chapters}
        names = {entity.id: entity.name for entity in await self._store.memory.names()}
        found = [_of_chapter("chapters", chapter, chapter.title) for chapter in chapters]
        for entity in await view.entities():
            found.append(SearchedText("entities", f"entities/{entity.id}", entity.name, entity_text(entity)))
        found += await self._story(view, titles, names)
        kinds = {kind.name: kind.title for kind in self._kinds.all()}
        in_full: set[str] = set()
        for level in _LEVELS:
            for derived in await view.derived_under("profiles/", level):
                if level == "L0" or derived.uri not in in_full:  # the L2 contains the L1
                    in_full.add(derived.uri)
                    _profiles, kind, subject = derived.uri.split("/", 2)
                    name = names.get(EntityId(subject)) or kinds.get(kind, kind)
                    found.append(SearchedText("profiles", derived.uri, name, derived.text, level, derived.position))
            for derived in await view.derived_under("manuscript/", level):
                if (chapter := titles.get(derived.uri)) is not None:
                    found.append(replace(_of_chapter("summaries", chapter, derived.text), level=level))
        for name in META_NAMES:
            found.append(SearchedText("meta", f"meta/{name}", _(META[name]), await self._store.book.meta_text(name)))
        return found

    async def _story(
        self, view: View, chapters: Mapping[str, Chapter], names: Mapping[EntityId, str]
    ) -> list[SearchedText]:
        """Relations, facts, promises and moments; each opens at the words that state it, else at its chapter."""
        found = []
        for record in (await view.story()).records:
            evidence = record.evidence[0] if record.evidence else None
            place = evidence.chapter if evidence else _since(record)
            if (chapter := chapters.get(f"manuscript/{place}")) is not None:
                document = _of_chapter("story", chapter, _words(record, names))
                cited = Span(evidence.start, evidence.end) if evidence else document.cited
                found.append(replace(document, cited=cited))
        return found

    async def _similar(self, query: str, limit: int) -> tuple[tuple[SearchHit, ...], int]:
        """Passages that the knowledge server finds by meaning; none while it is down."""
        if not self._knowledge.is_up:
            return (), 0
        generation = await self._store.memory.generation()
        finder = RememberingFinder(self._knowledge, self._store, self._queries, generation, remember=False)
        try:
            found = await finder.find(query, len(await self._store.book.chapters()) + 1, limit)
        except KnowledgeError:
            return (), 0
        hits = tuple(_by_meaning(each) for each in found)
        return hits, len(hits)


def _since(record: StoryRecord) -> ChapterId | None:
    """The chapter from which a record without evidence holds; None if it names no chapter."""
    match record:
        case Promise(planted=chapter) | Moment(chapter=chapter):
            return chapter
        case Fact() | Relation():
            return record.since
    return None


def _of_chapter(kind: SearchKind, chapter: Chapter, text: str) -> SearchedText:
    return SearchedText(kind, f"manuscript/{chapter.id}", chapter.title, text, position=chapter.position)


def _words(record: StoryRecord, names: Mapping[EntityId, str]) -> str:
    if isinstance(record, Relation):
        return f"{names.get(record.source, record.source)} {record.kind} {names.get(record.target, record.target)}"
    if isinstance(record, Moment) and record.when:
        return _("{field}: {value}").format(field=record.when, value=record.text)
    return record.text


def _by_meaning(found: Found) -> SearchHit:
    line = " ".join(found.text[:_LINE].replace(" · ", _(", ")).split())  # the L0 of a name is a chain of names
    return SearchHit("similar", found.uri, found.title, line, (), found.start, found.end, found.level,
                     found.position, round(found.score, 4))  # fmt: skip


def _occurrences(chapter: Chapter, text: str, words: str) -> Iterator[Occurrence]:
    for at in places(text, words, whole=True):
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        line, begin = around(text, start, end if end >= 0 else len(text), at)
        span = Span(at - begin, at - begin + len(words))
        place = TextPlace(chapter.id, chapter.version, at)
        yield Occurrence(place, chapter.position, chapter.title, line, span)
