"""The memory of the book: entities, the index of its chapters, derived texts, and waived findings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from flowcabal_tui.domain.context import NO_SCENE, Scene
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, EntityId, Generation
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import BackgroundTask, Derived, Entity, Mention
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.blobs import unpack
from flowcabal_tui.store.file.connection import Clock, Database, StorePart, transaction
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.memory.cache import MemoryCache
from flowcabal_tui.store.memory.derived import DERIVED, Choice, derived_of, put_choice, put_states
from flowcabal_tui.store.memory.indexing import index_chapter
from flowcabal_tui.store.memory.snapshot import ENTITIES
from flowcabal_tui.store.memory.view import View, open_view
from flowcabal_tui.store.rows.entities import entity_now, entity_of, entity_subject, put_entity_row
from flowcabal_tui.store.rows.generations import NOW, next_generation
from flowcabal_tui.store.rows.proposals import raise_proposals
from flowcabal_tui.store.rows.tasks import add_tasks
from flowcabal_tui.store.rows.texts import NewVersion, append_version, scene_subject
from flowcabal_tui.store.rows.withdrawn import confirm


class Memory(StorePart):
    """Each change begins a generation, so that a view of an earlier one does not see it."""

    def __init__(self, database: Database, clock: Clock, language: str) -> None:
        super().__init__(database, clock, language)
        self._cache = MemoryCache()

    async def view(self, chapter: ChapterId | None, generation: Generation | None = None) -> View:
        """The book as of `generation` (None: now) and before `chapter` (None: all). Raises Gone for an unknown
        chapter."""
        pinned = await self.generation() if generation is None else generation
        return await open_view(self._database, self._cache, self._language, chapter, pinned)

    async def scene(self, chapter: ChapterId, generation: Generation | None = None) -> Scene:
        """The writer's settings for the scene of a chapter, as of `generation` (None: now)."""
        row = await self._database.row(
            "SELECT body FROM version JOIN blob USING (digest) WHERE subject=? AND generation<=?"
            " ORDER BY number DESC LIMIT 1",
            (scene_subject(chapter), NOW if generation is None else generation),
        )
        return read_json(Scene, unpack(row[0])) if row else NO_SCENE

    def forget_cached(self) -> None:
        """Empties the caches, so that new views read everything again: earlier generations were corrected."""
        self._cache = MemoryCache()

    async def generation(self) -> Generation:
        """The newest generation; 0 before anything was written."""
        row = await self._database.row("SELECT coalesce(max(id), 0) FROM generation")
        return Generation(row[0] if row else 0)

    async def truth_changed_since(self, generation: Generation, before_position: int) -> bool:
        """True when the writer has changed the book before that position since then. Derived texts do not count."""
        row = await self._database.row(
            "SELECT 1 FROM generation WHERE id>? AND kind='truth' AND position<? LIMIT 1",
            (generation, before_position),
        )
        return row is not None

    async def entities(self, generation: Generation | None = None) -> tuple[Entity, ...]:
        """All entities as of `generation` (None: now), mentioned or not, by first mention, then id."""
        named = {entity.id: entity for entity in await (await self.view(None, generation)).entities()}
        rows = await self._database.rows(ENTITIES, (NOW if generation is None else generation,))
        others = [
            entity for entity in self._database.readable(mark("names"), entity_of, rows) if entity.id not in named
        ]
        return (*named.values(), *sorted(others, key=lambda entity: entity.id))

    async def names(self) -> tuple[Entity, ...]:
        """All present entities by id, without their first mentions."""
        return tuple(
            sorted(
                self._database.readable(mark("names"), entity_of, await self._database.rows(ENTITIES, (NOW,))),
                key=lambda each: each.id,
            )
        )

    async def put_entity(self, entity: Entity) -> Entity:
        """Stores an entity and returns its resulting state.

        An agent never changes what the writer wrote or removed; the names that it proposes are added as proposals.
        """
        return await self._database.do(lambda connection: self._put_entity(connection, entity))

    async def put_entities(
        self, entities: Iterable[Entity], tasks: Iterable[BackgroundTask], proposals: Iterable[Proposal] = ()
    ) -> tuple[Entity, ...]:
        """Stores several entities in one transaction, with the background tasks that follow, and with the rows that
        propose them and their further names."""
        given, following, raised = tuple(entities), tuple(tasks), tuple(proposals)

        def put(connection: sqlite3.Connection) -> tuple[Entity, ...]:
            add_tasks(connection, following)
            if raised:
                raise_proposals(connection, raised, next_generation(connection, "derived", 0, self._now()))
            return tuple(self._put_entity(connection, entity) for entity in given)

        return await self._database.do(put)

    def _put_entity(self, connection: sqlite3.Connection, entity: Entity) -> Entity:
        new = replace(
            entity,
            name=clean(entity.name),
            aliases=tuple(clean(alias) for alias in entity.aliases),
            proposed=tuple(clean(name) for name in entity.proposed),
            note=clean(entity.note),
            first_position=None,
            own_kind=clean_line(entity.own_kind),
            fields=tuple((clean_line(name), clean(value).strip()) for name, value in entity.fields if value.strip()),
        )
        old = entity_now(connection, entity_subject(new.id))
        if old == new:
            return new
        stored = new
        if new.by != "hand" and (old.by == "hand" if old else _removed(connection, new.id)):
            stored = _with_proposals(old, new.proposed) if old else new
            if old in (None, stored):
                return stored
        generation = next_generation(connection, "truth" if new.by == "hand" else "derived", 0, self._now())
        put_entity_row(connection, stored, generation)
        if new.by == "hand" and new.note != (old.note if old else ""):
            note = NewVersion(entity_subject(new.id), new.note, "human")
            append_version(connection, note, generation, self._now())
        return stored

    @transaction
    def remove_entity(self, connection: sqlite3.Connection, entity: EntityId) -> None:
        """Removes an entity by hand: agents do not add it again. Raises Gone if there is none."""
        old = entity_now(connection, entity_subject(entity))
        if old is None:
            raise Gone(entity)
        generation = next_generation(connection, "truth", 0, self._now())
        put_entity_row(connection, replace(old, by="hand"), generation, removed=True)

    async def index_chapter(
        self, chapter: ChapterId, version: int, passages: Sequence[Passage], mentions: Sequence[Mention]
    ) -> bool:
        """Replaces the index of that version. Returns False (and does nothing) when there is a newer version."""
        at = self._now()
        return await self._database.do(
            lambda connection: index_chapter(connection, chapter, version, passages, mentions, at)
        )

    @transaction
    def put_derived(self, connection: sqlite3.Connection, *states: Derived, restored: bool = False) -> Generation:
        """Adds states in one generation and returns it; an existing state with the same source is left unchanged.

        With `restored`, they are valid from the generation from which they were made, as before they were lost.
        """
        return put_states(connection, states, self._now(), restored=restored)

    async def confirm_derived(self, uri: str, position: int) -> None:
        """Records that the present texts would give the same derived text, so it is not out of date."""
        await self._database.do(lambda connection: confirm(connection, uri, position))

    async def choose_derived(self, uri: str, word: Choice, state: Generation | None = None) -> Generation:
        """Pins a state, unpins it, or accepts a newer made one. Raises Gone when there is no such state."""
        return await self._database.do(lambda connection: put_choice(connection, uri, word, state, self._now()))

    async def derived_history(self, uri: str) -> tuple[Derived, ...]:
        """All states in all levels, newest first."""
        rows = await self._database.rows(
            f"SELECT {DERIVED} FROM derived JOIN blob USING (digest) WHERE uri=? ORDER BY number DESC", (uri,)
        )
        return self._database.readable(mark("derived texts"), derived_of, rows)

    async def derived_counts(self, prefix: str) -> dict[str, int]:
        """For each uri below `prefix`: the number of states of its most often written level."""
        rows = await self._database.rows(
            "SELECT uri, max(states) FROM (SELECT uri, count(*) AS states FROM derived WHERE substr(uri, 1, ?)=?"
            " GROUP BY uri, level) GROUP BY uri ORDER BY uri",
            (len(prefix), prefix),
        )
        return dict(rows)

    async def waive(self, signature: tuple[str, str], reason: str) -> None:
        """Marks a finding (its two quotations) as intended; the last reason counts."""
        row = (*signature, clean(reason), self._now())
        await self._database.execute("INSERT OR REPLACE INTO waiver VALUES (?, ?, ?, ?)", row)


def _with_proposals(entity: Entity, names: Sequence[str]) -> Entity:
    """The entity with further proposed names, except names that it has already or that were declined."""
    known = {*entity.names, *entity.proposed, *entity.rejected}
    return replace(entity, proposed=(*entity.proposed, *(name for name in names if name not in known)))


def _removed(connection: sqlite3.Connection, entity: EntityId) -> bool:
    row = connection.execute(
        "SELECT removed FROM entity WHERE id=? ORDER BY generation DESC LIMIT 1", (entity,)
    ).fetchone()
    return bool(row and row[0])
