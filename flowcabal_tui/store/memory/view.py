"""The book as one run sees it: as of a generation, and only the part before its chapter."""

from __future__ import annotations

import asyncio
import json
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter, Passage, PassageHit, Postings
from flowcabal_tui.domain.memory import META_NAMES, Entity, Mention, MetaName
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, Story
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Database
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.memory.cache import MemoryCache
from flowcabal_tui.store.memory.derived import DerivedTexts
from flowcabal_tui.store.memory.ranking import IndexedPassage, count, rank
from flowcabal_tui.store.memory.snapshot import HOLDS, Snapshot, Spans, changed
from flowcabal_tui.store.rows.outline import OUTLINE_LINKS, book_outline
from flowcabal_tui.store.rows.texts import EMPTY
from flowcabal_tui.store.rows.tokens import term

_NONE: Final = array("I")
Companion = tuple[EntityId, int, ChapterId]
"""Another entity, the number of common passages, and the last common chapter."""


class View:
    """Implements the agents' MemoryView. Later changes of the book do not affect its answers."""

    def __init__(
        self,
        database: Database,
        cache: MemoryCache,
        language: str,
        snapshot: Snapshot,
        generation: Generation,
        before: int,
        target: Chapter | None = None,
    ) -> None:
        """`snapshot` is that of the last generation up to this one that changed its contents."""
        self._target = target
        self._database, self._cache, self._language = database, cache, language
        self._snapshot, self._generation, self._before = snapshot, generation, before
        self._placed = snapshot.chapters
        self._seen = {at.id: at for at in self._placed.values() if at.position < before and at.digest}
        texts = DerivedTexts(database, generation, before, snapshot)
        self.derived, self.derived_under, self.derived_of = texts.one, texts.under, texts.of
        self.made, self.made_under = texts.made, texts.made_under
        self.stale, self.pinned = texts.stale, texts.pinned
        self._story: Story | None = None

    @property
    def generation(self) -> Generation:
        return self._generation

    @property
    def before(self) -> int:
        """The first position that is not visible."""
        return self._before

    @property
    def language(self) -> str:
        return self._language

    @property
    def target(self) -> Chapter | None:
        """The chapter before which the book is seen; None: all of the book is."""
        return self._target

    def up_to(self, before: int) -> View:
        """A view of the same generation before another chapter position."""
        return View(self._database, self._cache, self._language, self._snapshot, self._generation, before)

    async def meta(self) -> tuple[tuple[MetaName, str], ...]:
        """The texts about the book that are not empty, in the order of META_NAMES."""
        kept = await self._snapshot.meta()
        texts = await self._load(kept.values())
        return tuple((name, texts[kept[name]]) for name in META_NAMES if name in kept and texts[kept[name]].strip())

    async def outline(self) -> BookOutline:
        """The outline of the whole book, including later parts, with the chapters of each part."""
        if self._snapshot.outline is None:
            kept = await self._snapshot.meta()
            texts = await self._load(kept.values())
            text, links = (texts[kept[name]] if name in kept else "" for name in ("outline", OUTLINE_LINKS))
            chapters = tuple(self._placed.values())
            self._snapshot.outline = await asyncio.to_thread(book_outline, text, links, chapters)
        return self._snapshot.outline

    async def entities(self) -> tuple[Entity, ...]:
        """Entities by hand, and those mentioned before the target, by first mention, then id."""
        entities = await self._snapshot.entities()
        named = [each for each in entities if each.first_position is not None and each.first_position < self._before]
        others = (each for each in entities[len(named) :] if each.by == "hand")
        unnamed = (each if each.first_position is None else replace(each, first_position=None) for each in others)
        return (*named, *sorted(unnamed, key=lambda each: each.id))

    async def chapters(self) -> tuple[Chapter, ...]:
        """Written chapters before the target, in story order."""
        return tuple(self._seen.values())

    async def chapter_text(self, chapter: ChapterId) -> str:
        """The text of a chapter. Raises Gone for a chapter that is not visible."""
        return (await self.chapter_texts([chapter]))[chapter]

    async def passages(self, chapter: ChapterId) -> tuple[Passage, ...]:
        """The passages of a chapter in order; none before it is indexed. Raises Gone for a chapter that is not
        visible."""
        text = await self.chapter_text(chapter)
        index = await self._snapshot.passages()
        first, end = index.of_chapter.get(chapter, (0, 0))
        return tuple(passage.of(text) for passage in index.passages[first:end])

    async def mentions(self, entity: EntityId) -> tuple[Mention, ...]:
        """The mentions of an entity before the target, in story order."""
        rows = await self._database.rows(
            f"SELECT chapter, version, spans FROM mention WHERE entity=:entity AND {HOLDS}",
            {"entity": entity, "as_of": self._generation},
        )
        found = [
            Mention(entity, chapter, self._seen[chapter].position, start, end)
            for chapter, version, spans in rows
            if self._sees(chapter, version)
            for start, end in read_json(Spans, spans)
        ]
        return tuple(sorted(found, key=lambda mention: (mention.position, mention.start, mention.end)))

    async def mentions_in(self, chapter: ChapterId) -> tuple[Mention, ...]:
        """The mentions of all entities, in the order of the text; none for a chapter that is not visible."""
        return await self._snapshot.mentions_in(chapter) if chapter in self._seen else ()

    async def chapters_with(self, entity: EntityId) -> tuple[ChapterId, ...]:
        """The chapters before the target that name the entity, in story order."""
        places = (await self._snapshot.named()).get(entity)
        named = set(places.positions) if places else set()
        return tuple(chapter.id for chapter in self._seen.values() if chapter.position in named)

    async def named_by_passage(self) -> Sequence[frozenset[EntityId]]:
        """The entities named in each passage before the target, in story order."""
        end = (await self._snapshot.passages()).before(self._before)
        return (await self._snapshot.named_by_passage())[:end]

    async def passages_naming(self, entities: Collection[EntityId]) -> Mapping[EntityId, Sequence[int]]:
        """The passages before the target that name each entity, by their indexes in the postings, ascending."""
        end = (await self._snapshot.passages()).before(self._before)
        found = await self._snapshot.passages_naming(entities)
        return {entity: at[: bisect_left(at, end)] for entity, at in found.items()}

    async def offsets_of(
        self, entities: Collection[EntityId], chapters: Collection[ChapterId]
    ) -> Mapping[ChapterId, Sequence[tuple[int, EntityId]]]:
        """The offsets at which chapters name these entities, in the order of the text."""
        return await self._snapshot.offsets_of(entities, [each for each in chapters if each in self._seen])

    async def mention_counts(self) -> tuple[tuple[EntityId, int], ...]:
        """Entities with their numbers of mentions, most first, then by id."""
        named = (await self._snapshot.named()).items()
        counts = ((entity, sum(at.counts[: bisect_left(at.positions, self._before)])) for entity, at in named)
        return tuple(sorted(((entity, n) for entity, n in counts if n), key=lambda one: (-one[1], one[0])))

    async def seen(self) -> tuple[tuple[EntityId, int, int, int], ...]:
        """Each mentioned entity with its number of mentions, and the positions of its first and last chapter."""
        named = (await self._snapshot.named()).items()
        found = ((entity, at, bisect_left(at.positions, self._before)) for entity, at in named)
        return tuple(
            (entity, sum(at.counts[:end]), at.positions[0], at.positions[end - 1]) for entity, at, end in found if end
        )

    async def companions(self, entity: EntityId) -> tuple[Companion, ...]:
        """The entities named in the same passages, most often first, then by id."""
        rows = await self._database.rows(
            f"SELECT chapter, version, entity, spans FROM mention WHERE {HOLDS} AND chapter IN"
            f" (SELECT chapter FROM mention WHERE entity=:entity AND {HOLDS})",
            {"entity": entity, "as_of": self._generation},
        )
        places = [(chapter, who, spans) for chapter, version, who, spans in rows if self._sees(chapter, version)]
        passages = (await self._indexed()).values()
        return await asyncio.to_thread(_companions_of, entity, places, tuple(passages))

    async def relations(self) -> tuple[Relation, ...]:
        """Relations that began before the target, ended ones too."""
        return (await self.story()).relations

    async def facts(self) -> tuple[Fact, ...]:
        """Facts that began before the target, superseded ones too."""
        return (await self.story()).facts

    async def promises(self) -> tuple[Promise, ...]:
        """Promises planted before the target."""
        return (await self.story()).promises

    async def moments(self) -> tuple[Moment, ...]:
        """Moments narrated before the target, in the order of the story's time."""
        return (await self.story()).moments

    async def story(self) -> Story:
        """All records that are valid before the target."""
        if self._story is None:
            self._story = await self._snapshot.story(self._before, self._cache.records, self._present)
        return self._story

    async def _present(self, chapters: Collection[ChapterId]) -> dict[ChapterId, str]:
        """The present texts of chapters anywhere in the book, to look for evidence of changed ones."""
        digests = {chapter: self._placed[chapter].digest or EMPTY for chapter in chapters}
        texts = await self._load(digests.values())
        return {chapter: texts[name] for chapter, name in digests.items()}

    async def search(self, terms: Sequence[str], limit: int) -> tuple[PassageHit, ...]:
        """bm25 over the passages before the target; statistics count those passages only."""
        wanted = [one for one in map(term, dict.fromkeys(terms)) if one is not None]
        passages = await self._indexed()
        if not wanted or not passages:
            return ()
        question = " UNION ALL ".join(
            f"SELECT {number}, rowid FROM passage_words WHERE passage_words MATCH ?" for number in range(len(wanted))
        )
        candidates: list[list[int]] = [[] for _term in wanted]
        for number, passage in await self._database.rows(question, [one.match for one in wanted]):
            if passage in passages:
                candidates[number].append(passage)
        found = [(one, ids, self._cache.counts(one)) for one, ids in zip(wanted, candidates, strict=True)]
        new = [(one, [passages[i] for i in ids if i not in counts], counts) for one, ids, counts in found]
        texts = await self.chapter_texts({passage.chapter for _term, missing, _counts in new for passage in missing})
        for one, missing, counts in new:
            await asyncio.to_thread(count, one, missing, texts, counts)
        best = await asyncio.to_thread(rank, passages, found, limit)
        texts = await self.chapter_texts({passage.chapter for passage, _score, _terms in best})
        return tuple(PassageHit(passage.of(texts[passage.chapter]), score, matched) for passage, score, matched in best)

    async def postings(self, terms: Sequence[str]) -> Postings:
        """The passages before the target that contain each term; counts only those."""
        index = await self._snapshot.passages()
        end, found = index.before(self._before), await self._snapshot.postings(terms)
        return Postings(
            index.passages[:end],
            tuple(at[: bisect_left(at, end)] for at in (found.get(text, _NONE) for text in terms)),
        )

    async def waived(self) -> frozenset[tuple[str, str]]:
        """Findings that the writer marked as intended or not useful.

        They are read immediately, so that the same run does not raise them again.
        """
        rows = await self._database.rows(
            "SELECT draft, source FROM waiver UNION SELECT quotation, body ->> '$.after.source.text' FROM proposal"
            " WHERE kind='finding' AND state IN ('intended', 'useless', 'changed')"
        )
        return frozenset((draft, source) for draft, source in rows)

    def _sees(self, chapter: ChapterId, version: int) -> bool:
        return chapter in self._seen and self._seen[chapter].version == version

    async def chapter_texts(self, chapters: Iterable[ChapterId]) -> dict[ChapterId, str]:
        """The texts of chapters. Raises Gone for a chapter that is not visible."""
        wanted = tuple(chapters)
        if hidden := set(wanted) - self._seen.keys():
            raise Gone(min(hidden))
        digests = {chapter: self._seen[chapter].digest or EMPTY for chapter in wanted}
        texts = await self._load(digests.values())
        return {chapter: texts[name] for chapter, name in digests.items()}

    async def _load(self, digests: Iterable[Digest]) -> dict[Digest, str]:
        texts: dict[Digest, str] = {}
        missing: list[Digest] = []
        for name in digests:
            text = self._cache.text(name)
            if text is None:
                missing.append(name)
            else:
                texts[name] = text
        if missing:
            rows = await self._database.rows(
                "SELECT digest, body FROM blob WHERE digest IN (SELECT value FROM json_each(?))",
                (json.dumps(missing),),
            )
            for name, body in rows:
                texts[name] = unpack(body)
                self._cache.put_text(name, texts[name])
        return texts

    async def _indexed(self) -> dict[int, IndexedPassage]:
        """The visible passages, by id, in story order."""
        index = await self._snapshot.passages()
        return {passage.id: passage for passage in index.passages[: index.before(self._before)]}


async def open_view(
    database: Database, cache: MemoryCache, language: str, chapter: ChapterId | None, generation: Generation
) -> View:
    """The view before `chapter` (None: of everything). Raises Gone for an unknown chapter.

    A chapter that the generation does not contain has its present place.
    """
    snapshot = cache.snapshot(generation)
    if snapshot is None:
        since = await changed(database, generation)
        snapshot = cache.put_snapshot(generation, cache.snapshot(since) or await Snapshot.read(database, since))
    before = len(snapshot.chapters) + 1
    if chapter is not None:
        place = await database.row(
            "SELECT position FROM place WHERE chapter=? ORDER BY generation>?, generation DESC LIMIT 1",
            (chapter, generation),
        )
        if place is None:
            raise Gone(chapter)
        before = int(place[0])
    target = snapshot.chapters.get(chapter) if chapter is not None else None
    return View(database, cache, language, snapshot, generation, before, target)


def _companions_of(
    entity: EntityId, mentions: Iterable[tuple[ChapterId, EntityId, str]], passages: Sequence[IndexedPassage]
) -> tuple[Companion, ...]:
    """The entities named in the same passages, most passages first.

    `mentions` are chapter, entity and spans as stored; `passages` come in story order.
    """
    cut: defaultdict[ChapterId, list[int]] = defaultdict(list)
    places: dict[ChapterId, int] = {}
    for passage in passages:
        cut[passage.chapter].append(passage.start)
        places[passage.chapter] = passage.position
    named: defaultdict[tuple[ChapterId, int], set[EntityId]] = defaultdict(set)
    for chapter, who, spans in mentions:
        for start, _end in read_json(Spans, spans):
            named[chapter, bisect_right(cut[chapter], start)].add(who)
    together: defaultdict[EntityId, list[ChapterId]] = defaultdict(list)
    for (chapter, _passage), people in named.items():
        if entity in people:
            for other in people - {entity}:
                together[other].append(chapter)
    found = [
        (other, len(chapters), max(chapters, key=lambda chapter: places.get(chapter, 0)))
        for other, chapters in together.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each[1], each[0])))
