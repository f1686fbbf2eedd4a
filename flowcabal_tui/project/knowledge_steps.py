"""What the knowledge server is told: one directory of its tree at a time, brought to the present state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, get_args

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import META_NAMES, BackgroundTask, EntityKind
from flowcabal_tui.project.queries import Queries
from flowcabal_tui.store import Store
from flowcabal_tui.viking.layout import ResourceKind
from flowcabal_tui.viking.sync import KnowledgeSync

_ENTITY_RESOURCES: Final[dict[EntityKind, ResourceKind]] = {
    "character": "entities/characters",
    "location": "entities/locations",
    "plot-thread": "entities/plot-threads",
    "item": "entities/items",
    "organisation": "entities/organisations",
}
_RESOURCES: Final[dict[str, ResourceKind]] = {kind: kind for kind in get_args(ResourceKind)}


class KnowledgeSteps:
    """Subjects are `manuscript/<chapter>`, `meta/<name>`, `entity/<id>` and `profiles/<kind>/<id>`."""

    def __init__(self, store: Store, queries: Queries, sync: Callable[[], KnowledgeSync]) -> None:
        """`sync` raises KnowledgeError while the server is not there."""
        self._store, self._queries, self._sync = store, queries, sync

    async def do(self, task: BackgroundTask) -> None:
        """Brings a subject up to date; one that was removed is taken out. Raises KnowledgeError."""
        root, _slash, rest = task.subject.partition("/")
        if root == "manuscript":
            await self._chapter(ChapterId(rest))
        elif root == "meta" and rest in META_NAMES:
            await self._sync().put_resource("meta", rest, "", "", await self._store.book.meta_text(rest))
        elif root == "entity":
            await self._entity(EntityId(rest))
        elif (kind := _RESOURCES.get(task.subject.rpartition("/")[0])) is not None:
            await self._profile(kind, task)

    async def _chapter(self, identity: ChapterId) -> None:
        try:
            chapter = await self._store.book.chapter(identity)
        except KeyError:
            chapter = None
        if chapter is None or chapter.digest is None:
            await self._sync().remove_chapter(identity)
            return
        levels = await self._queries.levels(f"manuscript/{identity}")
        text = await self._store.book.text(identity)
        await self._sync().put_chapter(chapter, text, levels.get("L0", ""), levels.get("L1", ""))

    async def _entity(self, identity: EntityId) -> None:
        """What a hand has written about it: names that were only found in the text tell a search nothing."""
        entity = next((one for one in await self._store.memory.names() if one.id == identity), None)
        here = _ENTITY_RESOURCES[entity.kind] if entity is not None and entity.by == "hand" else None
        for kind in _ENTITY_RESOURCES.values():
            if kind != here:
                await self._sync().remove_resource(kind, identity)
        if entity is not None and here is not None:
            names = " · ".join(entity.names)
            text = f"{names}\n\n{entity.note}"
            await self._sync().put_resource(here, entity.name, names, text, text, identity=identity)

    async def _profile(self, kind: ResourceKind, task: BackgroundTask) -> None:
        levels = await self._queries.levels(task.subject)
        overview = levels.get("L1", "")
        identity = task.subject.rpartition("/")[2]
        name = await self._queries.title(task.subject)
        await self._sync().put_resource(
            kind, name, levels.get("L0", ""), overview, overview, identity=identity, position=task.position
        )
