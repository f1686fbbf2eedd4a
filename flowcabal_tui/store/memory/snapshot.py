"""Data shared by all views of one generation: read once, in story order; an earlier chapter sees a prefix of it."""

from __future__ import annotations

import asyncio
import json
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity, Mention
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.story import Story
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.memory.ranking import IndexedPassage
from flowcabal_tui.store.memory.story import Parsed, StoryIndex, Texts, story_before, story_index
from flowcabal_tui.store.rows.entities import FIELDS, entity_of
from flowcabal_tui.store.rows.texts import CHAPTERS, chapter_of
from flowcabal_tui.store.rows.tokens import match
from flowcabal_tui.store.rows.withdrawn import Withdrawn, withdrawn

ENTITIES: Final = f"""SELECT {FIELDS} FROM entity WHERE NOT removed AND generation=
    (SELECT max(generation) FROM entity AS other WHERE other.id=entity.id AND generation<=?)"""
HOLDS: Final = "born<=:as_of AND (died IS NULL OR died>:as_of)"
_META: Final = """SELECT substr(subject, 6), digest FROM version WHERE subject>='meta/' AND subject<'meta0' AND number=
    (SELECT max(number) FROM version AS other WHERE other.subject=version.subject AND generation<=?)"""
_CHANGED: Final = """SELECT coalesce(max(at), 0) FROM (
    SELECT max(generation) AS at FROM place WHERE generation<=:as_of
    UNION ALL SELECT max(generation) FROM version WHERE generation<=:as_of
    UNION ALL SELECT max(generation) FROM entity WHERE generation<=:as_of
    UNION ALL SELECT max(generation) FROM record WHERE generation<=:as_of
    UNION ALL SELECT max(born) FROM passage WHERE born<=:as_of
    UNION ALL SELECT max(died) FROM passage WHERE died<=:as_of
    UNION ALL SELECT max(born) FROM mention WHERE born<=:as_of
    UNION ALL SELECT max(died) FROM mention WHERE died<=:as_of)"""
_OF_ENTITIES: Final = "entity IN (SELECT value FROM json_each(:entities))"
_IN_CHAPTERS: Final = "chapter IN (SELECT value FROM json_each(:chapters))"
_HAVING: Final = """SELECT wanted.key, (SELECT json_group_array(rowid) FROM passage_words
    WHERE passage_words MATCH wanted.value) FROM json_each(?) AS wanted"""
"""The rows of the passages for each search term, as one JSON text, which is faster than a row for each."""
_AT_ONCE: Final = 200
"""Terms per query."""
_TERMS_KEPT: Final = 4_000

Spans = list[tuple[int, int]]
"""Characters of a chapter that name an entity, as stored."""


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """All passages in story order. `positions` are those of their chapters, `starts` their offsets in these, `numbers`
    their indexes by row."""

    passages: tuple[IndexedPassage, ...]
    positions: Sequence[int]
    starts: Sequence[int]
    numbers: Mapping[int, int]
    of_chapter: Mapping[ChapterId, tuple[int, int]]

    def before(self, position: int) -> int:
        """The number of passages before a chapter position."""
        return bisect_left(self.positions, position)

    def holding(self, chapter: ChapterId, offsets: Iterable[int]) -> Iterator[int]:
        """The passages of a chapter that hold these offsets; those between two passages have none."""
        first, last = self.of_chapter.get(chapter, (0, 0))
        for offset in offsets:
            at = bisect_right(self.starts, offset, first, last) - 1
            if at >= first and offset < self.passages[at].end:
                yield at


@dataclass(frozen=True, slots=True)
class Named:
    """The chapters that name an entity, by position, and the number of mentions in each."""

    positions: Sequence[int]
    counts: Sequence[int]


async def changed(database: Database, generation: Generation) -> Generation:
    """The last generation up to this one that changed the contents of a snapshot: most only add derived texts."""
    ((found,),) = await database.rows(_CHANGED, {"as_of": generation})
    return Generation(found)


class Snapshot:
    """The book as of a generation. Made by `Snapshot.read`; the rest is read on first use."""

    def __init__(self, database: Database, generation: Generation, chapters: Iterable[Chapter]) -> None:
        self._database, self.generation = database, generation
        self.chapters = {chapter.id: chapter for chapter in chapters}
        self.outline: BookOutline | None = None
        self._withdrawn: Withdrawn | None = None
        self._meta: dict[str, Digest] | None = None
        self._entities: tuple[Entity, ...] | None = None
        self._passages: PassageIndex | None = None
        self._index: StoryIndex | None = None
        self._story: tuple[int, Story] | None = None
        self._named: dict[EntityId, Named] | None = None
        self._by_passage: tuple[frozenset[EntityId], ...] | None = None
        self._mentions: dict[ChapterId, tuple[Mention, ...]] = {}
        self._naming: dict[EntityId, array[int]] = {}
        self._terms: OrderedDict[str, array[int]] = OrderedDict()

    @classmethod
    async def read(cls, database: Database, generation: Generation) -> Snapshot:
        rows = await database.rows(CHAPTERS, {"as_of": generation})
        return cls(database, generation, map(chapter_of, rows))

    async def withdrawn(self) -> Withdrawn:
        """The texts that left the book."""
        if self._withdrawn is None:
            self._withdrawn = await withdrawn(self._database, self.generation, self.chapters)
        return self._withdrawn

    async def meta(self) -> Mapping[str, Digest]:
        """The digests of the texts about the book, and of the links of the outline."""
        if self._meta is None:
            self._meta = dict(await self._database.rows(_META, (self.generation,)))
        return self._meta

    async def entities(self) -> tuple[Entity, ...]:
        """All entities, by first mention, then id; those that are never mentioned last."""
        if self._entities is None:
            named, found = await self.named(), []
            for entity in self._database.readable(
                mark("names"), entity_of, await self._database.rows(ENTITIES, (self.generation,))
            ):
                places = named.get(entity.id)
                found.append(replace(entity, first_position=places.positions[0] if places else None))
            self._entities = tuple(sorted(found, key=_by_first_mention))
        return self._entities

    async def story(self, before: int, parsed: Parsed, texts: Texts) -> Story:
        """The story before a chapter position. `parsed` is shared by all snapshots, `texts` reads chapters."""
        if self._index is None:
            self._index = await story_index(self._database, parsed, self.generation, self.chapters, texts)
        if self._story is None or self._story[0] != before:
            entities = {entity.id for entity in await self.entities()}
            self._story = before, await asyncio.to_thread(story_before, self._index, before, entities)
        return self._story[1]

    async def passages(self) -> PassageIndex:
        """The passages of all written chapters."""
        if self._passages is None:
            rows = await self._database.rows(
                f"SELECT id, chapter, version, number, start, end, tokens FROM passage WHERE {HOLDS}",
                {"as_of": self.generation},
            )
            found = [
                IndexedPassage(chapter, self.chapters[chapter].position, number, start, end, row, length)
                for row, chapter, version, number, start, end, length in rows
                if self._holds(chapter, version)
            ]
            found.sort(key=lambda passage: (passage.position, passage.index))
            ranges: dict[ChapterId, tuple[int, int]] = {}
            for at, passage in enumerate(found):
                ranges[passage.chapter] = (ranges.get(passage.chapter, (at, at))[0], at + 1)
            self._passages = PassageIndex(
                tuple(found),
                array("l", (passage.position for passage in found)),
                array("l", (passage.start for passage in found)),
                {passage.id: at for at, passage in enumerate(found)},
                ranges,
            )
        return self._passages

    async def named(self) -> Mapping[EntityId, Named]:
        """The chapters that name each entity."""
        if self._named is None:
            rows = await self._database.rows(
                f"SELECT entity, chapter, version, count FROM mention WHERE {HOLDS}", {"as_of": self.generation}
            )
            places: defaultdict[EntityId, list[tuple[int, int]]] = defaultdict(list)
            for entity, chapter, version, count in rows:
                if self._holds(chapter, version):
                    places[entity].append((self.chapters[chapter].position, count))
            self._named = {
                entity: Named(array("l", (at for at, _n in each)), array("l", (n for _at, n in each)))
                for entity, each in ((entity, sorted(found)) for entity, found in places.items())
            }
        return self._named

    async def mentions_in(self, chapter: ChapterId) -> tuple[Mention, ...]:
        """The mentions of all entities in a chapter, in the order of the text."""
        if chapter not in self._mentions:
            rows = await self._database.rows(
                f"SELECT entity, version, spans FROM mention WHERE chapter=:chapter AND {HOLDS}",
                {"chapter": chapter, "as_of": self.generation},
            )
            found = [
                Mention(entity, chapter, self.chapters[chapter].position, start, end)
                for entity, version, spans in rows
                if self._holds(chapter, version)
                for start, end in read_json(Spans, spans)
            ]
            order = sorted(found, key=lambda mention: (mention.start, mention.end, mention.entity))
            self._mentions[chapter] = tuple(order)
        return self._mentions[chapter]

    async def named_by_passage(self) -> Sequence[frozenset[EntityId]]:
        """The entities named in each passage, in story order; a name belongs to the passage in which it begins."""
        if self._by_passage is None:
            index = await self.passages()
            rows = await self._database.rows(
                f"SELECT entity, chapter, version, spans FROM mention WHERE {HOLDS}", {"as_of": self.generation}
            )
            current = [row for row in rows if row[1] in index.of_chapter and self._holds(row[1], row[2])]
            self._by_passage = await asyncio.to_thread(_by_passage, index, current)
        return self._by_passage

    async def passages_naming(self, entities: Collection[EntityId]) -> dict[EntityId, array[int]]:
        """The passages that name each entity, by their indexes in story order, ascending."""
        index = await self.passages()
        if missing := sorted(set(entities) - self._naming.keys()):
            found: dict[EntityId, set[int]] = {entity: set() for entity in missing}
            for entity, chapter, offsets in await self._offsets(_OF_ENTITIES, entities=json.dumps(missing)):
                found[entity].update(index.holding(chapter, offsets))
            self._naming.update({entity: array("I", sorted(at)) for entity, at in found.items()})
        return {entity: self._naming[entity] for entity in entities}

    async def offsets_of(
        self, entities: Collection[EntityId], chapters: Collection[ChapterId]
    ) -> dict[ChapterId, list[tuple[int, EntityId]]]:
        """The offsets at which chapters name these entities, in the order of the text."""
        found: dict[ChapterId, list[tuple[int, EntityId]]] = {chapter: [] for chapter in chapters}
        which = f"{_OF_ENTITIES} AND {_IN_CHAPTERS}"
        wanted = {"entities": json.dumps(sorted(entities)), "chapters": json.dumps(sorted(chapters))}
        for entity, chapter, offsets in await self._offsets(which, **wanted):
            found[chapter] += [(offset, entity) for offset in offsets]
        return {chapter: sorted(each) for chapter, each in found.items()}

    async def _offsets(self, which: str, **wanted: str) -> list[tuple[EntityId, ChapterId, list[int]]]:
        rows = await self._database.rows(
            f"SELECT entity, chapter, version, spans FROM mention WHERE {which} AND {HOLDS}",
            {**wanted, "as_of": self.generation},
        )
        return [
            (entity, chapter, [start for start, _end in read_json(Spans, spans)])
            for entity, chapter, version, spans in rows
            if self._holds(chapter, version)
        ]

    async def postings(self, terms: Iterable[str]) -> dict[str, array[int]]:
        """For each term the passages that contain it, by their indexes in story order, ascending."""
        wanted = dict.fromkeys(terms)
        new = ((text, match(text)) for text in wanted if text not in self._terms)
        missing = [(text, query) for text, query in new if query is not None]
        numbers = (await self.passages()).numbers
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            rows = await self._database.rows(_HAVING, (json.dumps([query for _text, query in part]),))
            self._terms.update({part[at][0]: _numbered(having, numbers) for at, having in rows})
        answer = {text: self._terms[text] for text in wanted if text in self._terms}
        for text in answer:
            self._terms.move_to_end(text)
        while len(self._terms) > _TERMS_KEPT:
            self._terms.popitem(last=False)
        return answer

    def _holds(self, chapter: ChapterId, version: int) -> bool:
        """True when this is the chapter's version as of the generation."""
        known = self.chapters.get(chapter)
        return known is not None and known.digest is not None and known.version == version


def _numbered(having: str, numbers: Mapping[int, int]) -> array[int]:
    """The indexes of the passages in these rows (a JSON list), ascending; rows of former texts are left out."""
    found = [number for number in map(numbers.get, read_json(list[int], having)) if number is not None]
    return array("I", sorted(found))


def _by_passage(
    index: PassageIndex, rows: Iterable[tuple[EntityId, ChapterId, int, str]]
) -> tuple[frozenset[EntityId], ...]:
    """The entities named in each passage. `rows` are entities with a chapter and, as JSON, the offsets of their names
    there."""
    named: list[set[EntityId]] = [set() for _passage in index.passages]
    for entity, chapter, _version, spans in rows:
        for at in index.holding(chapter, (start for start, _end in read_json(Spans, spans))):
            named[at].add(entity)
    return tuple(map(frozenset, named))


def _by_first_mention(entity: Entity) -> tuple[bool, int, str]:
    return entity.first_position is None, entity.first_position or 0, entity.id
