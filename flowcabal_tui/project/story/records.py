"""Reads, writes and removes records of the story for clients."""

from __future__ import annotations

from collections.abc import Callable

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import RecordId, Relation, Story, StoryRecord, wording
from flowcabal_tui.domain.text import clean, slug
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.book import BookChanged
from flowcabal_tui.store import Store


class StoryRecords:
    """Edits story records. Lives on the engine's loop."""

    def __init__(self, store: Store, emit: Callable[[Event], None]) -> None:
        self._store, self._emit = store, emit

    async def put(self, record: StoryRecord) -> RecordId:
        """Stores the writer's version of a record; returns its id. Raises RunError; then nothing was changed."""
        await self.require_record(record)
        identity = await self._store.records.put(record)
        self._emit(BookChanged())
        return identity

    async def require_record(self, record: StoryRecord) -> None:
        """Raises RunError for a record that is empty, has an invalid id, or relates an unknown name."""
        says = wording(record)
        if not clean(says).strip() or (record.id and slug(record.id) != record.id):
            raise RunError(
                _("The text is empty, or the id is invalid: {id}.").format(id=clean(record.id) or '""'),
                _("Nothing was changed."),
                _("Write the fact in a few words; an id has letters, digits, - and _ only."),
            )
        if isinstance(record, Relation):
            known = {entity.id for entity in await self._store.memory.names()}
            if not {record.source, record.target} <= known:
                raise RunError(_("A relation needs two names that the book knows."), _("Nothing was changed."))

    def require_name(self, entity: Entity) -> None:
        """Raises RunError for an entity without a name or a proper id."""
        name, identity = clean(entity.name).strip(), entity.id
        if not name or slug(identity) != identity:
            raise RunError(
                _("The name is empty or the id is invalid: {name} ({id}).").format(
                    name=name or '""', id=clean(identity) or '""'
                ),
                _("Nothing was changed."),
                _("A name must not be empty; an id has letters, digits, - and _ only."),
            )

    async def remove(self, record: RecordId) -> None:
        """Removes a record on the writer's behalf. Raises Gone if there is none."""
        await self._store.records.remove(record)
        self._emit(BookChanged())

    async def story(self) -> Story:
        """All current records."""
        return await (await self._store.memory.view(None)).story()
