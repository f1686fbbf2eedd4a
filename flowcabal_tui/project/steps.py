"""The steps of the background work: what each does with its subject."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS
from flowcabal_tui.agents.curator import Curator
from flowcabal_tui.agents.names import discover
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.profiler import ProfileGoal, Profiler
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import META_NAMES, BackgroundTask, Derived, Entity, Level, TaskKind
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.project.curation import tasks
from flowcabal_tui.project.indexing import index_text
from flowcabal_tui.protocol import OutputChecked, ProfileUpdated

if TYPE_CHECKING:
    from flowcabal_tui.project.parts import Parts

log = logging.getLogger(__name__)
DISCOVERY_CHAPTERS: Final = 20
"""New names are looked for in a kept chapter together with so many before it: rules need some text."""


class Steps:
    """Every step reads the present state, so an outdated task does no harm; repeating one changes nothing."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._store = parts, parts.store
        self._do: dict[TaskKind, Callable[[BackgroundTask], Awaitable[None]]] = {
            "mirror": self._mirror,
            "index": self._index,
            "entities": self._entities,
            "l1": self._l1,
            "l0": self._l0,
            "profile": self._profile,
            "check": self._check,
            "knowledge": self._knowledge,
        }

    async def do(self, task: BackgroundTask) -> None:
        """Raises FlowCabalError, or KeyError when the subject is gone."""
        await self._do[task.kind](task)

    @property
    def _language(self) -> str:
        return self._parts.settings.project.language

    async def _chapter(self, subject: str) -> tuple[Chapter, str]:
        """A chapter and its present text. KeyError when it is gone or empty."""
        chapter = await self._store.book.chapter(ChapterId(subject))
        if chapter.digest is None:
            raise KeyError(subject)
        return chapter, await self._store.book.text(chapter.id)

    async def _view(self) -> MemoryView:
        return await self._store.memory.view(None, await self._store.memory.generation())

    async def _curator(self, chapter: Chapter) -> Curator | None:
        """The curator for this chapter: imported text is summarised by rule, since an import spends no money."""
        return self._parts.curator(by_rule=chapter.author == "import" and not self._parts.models.is_offline("agent"))

    async def _mirror(self, task: BackgroundTask) -> None:
        chapter = await self._store.book.chapter(ChapterId(task.subject))
        if chapter.digest and (edited := await self._parts.mirror.write(chapter)):
            self._parts.curation.offer(edited)

    async def _index(self, task: BackgroundTask) -> None:
        chapter, text = await self._chapter(task.subject)
        await self._index_chapter(chapter, text, await self._store.memory.entities())

    async def _index_chapter(self, chapter: Chapter, text: str, entities: Sequence[Entity]) -> None:
        passages, mentions = await self._parts.workshop.do(
            index_text, chapter.id, chapter.position, text, tuple(entities), self._language
        )
        await self._store.memory.index_chapter(chapter.id, chapter.version, passages, mentions)

    async def enqueue_index(self) -> None:
        """One index step for each written chapter, under the digest of the names of this moment."""
        entities = await self._store.memory.entities()
        names = digest_of([[entity.id, *entity.names] for entity in entities])
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        await self._store.outbox.add(
            [
                task
                for chapter in chapters
                for task in tasks(("index",), chapter.id, digest_of([chapter.digest, names]), chapter.position)
            ]
        )

    async def _entities(self, task: BackgroundTask) -> None:
        chapter, text = await self._chapter(task.subject)
        known = await self._store.memory.entities()
        found = list(await self._discovered(chapter, known))
        if (curator := await self._curator(chapter)) is not None:
            found += await curator.entities(chapter, text, [*known, *found], self._language)
        await asyncio.gather(*(self._store.memory.put_entity(entity) for entity in found))
        if found:
            await self.enqueue_index()

    async def _discovered(self, chapter: Chapter, known: Sequence[Entity]) -> tuple[Entity, ...]:
        """Names that rules find in this chapter and those before it, and that nobody has yet."""
        before = [c for c in await self._store.book.chapters() if c.digest and c.position <= chapter.position]
        texts = [await self._store.book.text(c.id) for c in before[-DISCOVERY_CHAPTERS:]]
        taken = {name for entity in known for name in entity.names}
        candidates = await self._parts.workshop.do(discover, texts, self._language)
        return tuple(entity for entity in candidates if not taken & set(entity.names))

    async def _enqueue_profiles(self, chapter: Chapter) -> None:
        """Only those whom the chapter names often enough are written anew."""
        curator = await self._curator(chapter)
        if curator is None or (chapter.author == "import" and not self._parts.models.is_offline("agent")):
            return
        view = await self._view()
        entities = await view.entities()
        mentions = [
            mention
            for entity in entities
            for mention in await view.mentions(entity.id)
            if mention.chapter == chapter.id
        ]
        for entity in curator.affected(mentions, entities):
            source = digest_of([chapter.digest, entity])
            await self._store.outbox.add(tasks(("profile",), f"{entity}@{chapter.id}", source, chapter.position))

    async def _l1(self, task: BackgroundTask) -> None:
        chapter, text = await self._chapter(task.subject)
        curator = await self._curator(chapter)
        if curator is None:
            return
        view = await self._view()
        uri = f"manuscript/{chapter.id}"
        if _is_fresh(await view.derived(uri, "L1"), curator.l1_source(chapter, text)):
            return
        derived = await curator.l1(chapter, text, await view.entities(), self._language, view.generation)
        await self._put([derived], "chapters", chapter.title)
        await self._store.outbox.add(tasks(("l0",), chapter.id, derived.source, chapter.position))

    async def _l0(self, task: BackgroundTask) -> None:
        chapter, _text = await self._chapter(task.subject)
        view = await self._view()
        uri = f"manuscript/{chapter.id}"
        overview = await view.derived(uri, "L1")
        curator = await self._curator(chapter)
        if curator is None or overview is None:
            return
        if not _is_fresh(await view.derived(uri, "L0"), curator.l0_source(chapter, overview)):
            derived = await curator.l0(chapter, overview, await view.entities(), self._language, view.generation)
            await self._put([derived], "chapters", chapter.title)
        await self._tell_knowledge(uri, chapter.position)
        await self._enqueue_profiles(chapter)

    async def _profile(self, task: BackgroundTask) -> None:
        entity_id, _at, chapter_id = task.subject.partition("@")
        chapter, _text = await self._chapter(chapter_id)
        curator = await self._curator(chapter)
        entities = {entity.id: entity for entity in await self._store.memory.entities()}
        entity = entities[EntityId(entity_id)]
        if curator is None:
            return
        profiler, goal = Profiler(curator), ProfileGoal(entity, await self._view(), chapter)
        uri = f"profiles/{ENTITY_FOLDERS[entity.kind]}/{entity.id}"
        if _is_fresh(await goal.view.derived(uri, "L1"), await profiler.source(goal)):
            return
        await self._put(await profiler.pursue(goal), ENTITY_FOLDERS[entity.kind], entity.name)
        await self._tell_knowledge(uri, chapter.position)

    async def _put(self, derived: Sequence[Derived], kind: str, name: str) -> None:
        for state in derived:
            await self._store.memory.put_derived(state)
        if derived:
            self._parts.emit(ProfileUpdated(((kind, name, derived[0].uri),)))

    async def _tell_knowledge(self, uri: str, position: int) -> None:
        texts = await self._parts.queries.summary(uri)
        await self._store.outbox.add(tasks(("knowledge",), uri, digest_of([uri, texts]), position))

    async def _check(self, task: BackgroundTask) -> None:
        chapter, text = await self._chapter(task.subject)
        curator = await self._curator(chapter)
        if curator is None or chapter.author == "import":
            return
        view = await self._store.memory.view(chapter.id, await self._store.memory.generation())
        advice = await curator.check_kept(chapter.id, f"manuscript/{chapter.id}", chapter.title, text, view)
        said = tuple(f"{item.dimension}: {item.detail}" for item in advice.dimensions if item.passed is False)
        self._parts.emit(OutputChecked(chapter.id, chapter.version, advice.checks, said))

    async def _knowledge(self, task: BackgroundTask) -> None:
        """Brings one directory of the knowledge server's tree up to date; a removed subject is taken out."""
        sync = self._parts.knowledge.sync()
        root, _slash, rest = task.subject.partition("/")
        levels = {state.level: state.text for state in reversed(await self._store.memory.derived_history(task.subject))}
        if root == "meta" and rest in META_NAMES:
            text = await self._store.book.meta_text(rest)
            await sync.put_resource("meta", rest, "", "", text)
        elif root == "profiles":
            kind, _slash, subject = rest.partition("/")
            name = await self._parts.queries.title(task.subject)
            await sync.put_resource(
                f"profiles/{kind}",  # type: ignore[arg-type]  # one of the profile folders by construction
                name,
                levels.get("L0", ""),
                levels.get("L1", ""),
                levels.get("L1", ""),
                identity=subject,
                position=task.position,
            )
        else:
            await self._chapter_to_knowledge(ChapterId(rest), levels)

    async def _chapter_to_knowledge(self, identity: ChapterId, levels: Mapping[Level, str]) -> None:
        sync = self._parts.knowledge.sync()
        try:
            chapter, text = await self._chapter(identity)
        except KeyError:
            await sync.remove_chapter(identity)
            return
        await sync.put_chapter(chapter, text, levels.get("L0", ""), levels.get("L1", ""))


def _is_fresh(state: Derived | None, source: str) -> bool:
    return state is not None and state.source == source
