"""Updates the knowledge server: one directory of its tree at a time, brought to the present state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import META_NAMES, BackgroundTask, Level
from flowcabal_tui.project.memory import story_records
from flowcabal_tui.project.memory.sources import Sources, entity_text
from flowcabal_tui.store import Store
from flowcabal_tui.viking.sync import KnowledgeSync

_DERIVED: Final = ("profiles", "summaries")
_LEVELS: Final[tuple[Level, ...]] = ("L0", "L1", "L2")


class KnowledgeSteps:
    """Updates subjects.

    Subjects are `manuscript/<chapter>`, `meta/<name>`, `entity/<id>`, `story/<chapter>`, and the uris of derived texts:
    everything below `profiles/` and `summaries/`, of any kind.
    """

    def __init__(
        self,
        store: Store,
        queries: Sources,
        sync: Callable[[], KnowledgeSync],
        sending: Callable[[str], AbstractContextManager[None]] = lambda _subject: nullcontext(),
    ) -> None:
        """`sync` raises KnowledgeError while the server is not available; a subject is sent within `sending`."""
        self._store, self._queries, self._sync, self._sending = store, queries, sync, sending

    async def do(self, task: BackgroundTask) -> None:
        """Updates a subject; removes one that the book no longer has. Raises KnowledgeError or SpendingNotAgreed."""
        with self._sending(task.subject):
            await self._do(task)

    async def _do(self, task: BackgroundTask) -> None:
        root, _slash, rest = task.subject.partition("/")
        if root == "manuscript":
            await self._chapter(task, ChapterId(rest))
        elif root == "meta" and rest in META_NAMES:
            text = await self._store.book.meta_text(rest)
            await self._sync().put_resource(task.subject, rest, "", "", text, source=task.source)
        elif root == "entity":
            await self._entity(task, EntityId(rest))
        elif root == story_records.ROOT:
            await self._story(task, rest)
        elif root in _DERIVED:
            await self._derived(task)
        else:
            await self._sync().remove(task.subject)

    async def _chapter(self, task: BackgroundTask, identity: ChapterId) -> None:
        try:
            chapter = await self._store.book.chapter(identity)
        except Gone:
            chapter = None
        if chapter is None or chapter.digest is None:
            await self._sync().remove(task.subject)
            return
        levels = await self._queries.levels(task.subject)
        text = await self._store.book.text(identity, chapter.version)
        l0, l1 = levels.get("L0", ""), levels.get("L1", "")
        await self._sync().put_chapter(chapter, text, l0, l1, source=task.source)

    async def _entity(self, task: BackgroundTask, identity: EntityId) -> None:
        """The written information about an entity: names that were only found in the text are useless for a search."""
        entity = next((one for one in await self._store.memory.names() if one.id == identity), None)
        if entity is None or (entity.by != "hand" and not entity.note):
            await self._sync().remove(task.subject)
            return
        uri = f"entities/{ENTITY_FOLDERS[entity.kind]}/{identity}"
        names, text = " · ".join(entity.names), entity_text(entity)
        await self._sync().put_resource(uri, entity.name, names, text, "", subject=task.subject, source=task.source)

    async def _story(self, task: BackgroundTask, place: str) -> None:
        """The records of the story that begin in a chapter, or before the book."""
        view = await self._store.memory.view(None)
        places = {str(chapter.id): chapter.position for chapter in await view.chapters()} | {story_records.BEFORE: 0}
        known = (await story_records.visible_records(view, (task.subject,))).get(task.subject)
        if known is None or place not in places:
            await self._sync().remove(task.subject)
            return
        await self._sync().put_resource(
            task.subject, place, known.head, "", known.text, position=places[place], source=task.source
        )

    async def _derived(self, task: BackgroundTask) -> None:
        view = await self._store.memory.view(None)
        states = {level: await view.derived(task.subject, level) for level in _LEVELS}
        known = [state.position for state in states.values() if state is not None]
        if not known:
            await self._sync().remove(task.subject)
            return
        l0, l1, l2 = (state.text if state else "" for state in states.values())
        name = await self._queries.title(task.subject)
        # A text without an L2 is not stored twice: a search finds its L1 as well as it would find a scene.
        await self._sync().put_resource(task.subject, name, l0, l1, l2, position=max(known), source=task.source)
