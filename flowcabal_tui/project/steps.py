"""The steps of the background work: what each does with its subject."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.curation_shapes import Dimension, DimensionAdvice
from flowcabal_tui.agents.curator import Curator
from flowcabal_tui.agents.names import discover
from flowcabal_tui.agents.profiler import ProfileGoal, Profiler, profile_uri
from flowcabal_tui.agents.story import StoryGoal, StoryReader
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, Derived, Entity, TaskKind
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.curation import tasks
from flowcabal_tui.project.indexing import index_text
from flowcabal_tui.project.knowledge_steps import KnowledgeSteps
from flowcabal_tui.project.mirror import Edited, Mirror
from flowcabal_tui.project.queries import Queries
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol import BookChanged, Event, OutputChecked, ProfileUpdated
from flowcabal_tui.store import Store
from flowcabal_tui.store.view import View

ADVICE: Final[dict[Dimension, str]] = {
    "prevents_errors": mark("Keeping it is not likely to prevent a later error."),
    "reusable": mark("It will hardly be used again."),
    "self_contained": mark("It does not stand alone: other text is needed to understand it."),
    "new": mark("It says nothing that is not kept already."),
}
DISCOVERY_CHAPTERS: Final = 20
"""New names are looked for in a kept chapter together with so many before it: rules need some text."""


@dataclass(frozen=True, slots=True)
class StepTools:
    """What the steps work with."""

    store: Store
    queries: Queries
    workshop: Workshop
    mirror: Mirror
    knowledge: KnowledgeSteps
    language: str
    curator: Callable[[bool], Curator | None]
    """The curator, by rule alone if True; None when it is switched off."""
    free_agent: Callable[[], bool]
    """Does the agents' model cost nothing?"""
    offer: Callable[[Edited], None]
    emit: Callable[[Event], None]


class Steps:
    """Every step reads the present state, so an outdated task does no harm; repeating one changes nothing."""

    def __init__(self, tools: StepTools) -> None:
        self._tools, self._store = tools, tools.store
        self._do: dict[TaskKind, Callable[[BackgroundTask], Awaitable[None]]] = {
            "mirror": self._mirror,
            "index": self._index,
            "entities": self._entities,
            "story": self._story,
            "l1": self._l1,
            "l0": self._l0,
            "profile": self._profile,
            "check": self._check,
            "knowledge": tools.knowledge.do,
        }

    async def do(self, task: BackgroundTask) -> None:
        """Raises FlowCabalError, or KeyError when the subject is gone."""
        await self._do[task.kind](task)

    async def _chapter(self, subject: str) -> tuple[Chapter, str]:
        """A chapter and its present text. KeyError when it is gone or empty."""
        chapter = await self._store.book.chapter(ChapterId(subject))
        if chapter.digest is None:
            raise KeyError(subject)
        return chapter, await self._store.book.text(chapter.id)

    async def _view(self) -> View:
        return await self._store.memory.view(None, await self._store.memory.generation())

    async def _curator(self, chapter: Chapter) -> Curator | None:
        """The curator for this chapter: imported text is summarised by rule, since an import spends no money."""
        return self._tools.curator(self._is_by_rule(chapter))

    def _is_by_rule(self, chapter: Chapter) -> bool:
        """True for imported text when the agents' model takes money."""
        return chapter.author == "import" and not self._tools.free_agent()

    async def _mirror(self, task: BackgroundTask) -> None:
        try:
            chapter, _text = await self._chapter(task.subject)
        except KeyError:
            await self._tools.mirror.remove(ChapterId(task.subject))
            return
        if edited := await self._tools.mirror.write(chapter):
            self._tools.offer(edited)

    async def _index(self, task: BackgroundTask) -> None:
        chapter, text = await self._chapter(task.subject)
        await self._index_chapter(chapter, text, await self._store.memory.names())

    async def _index_chapter(self, chapter: Chapter, text: str, entities: Sequence[Entity]) -> None:
        passages, mentions = await self._tools.workshop.do(
            index_text, chapter.id, chapter.position, text, tuple(entities), self._tools.language
        )
        await self._store.memory.index_chapter(chapter.id, chapter.version, passages, mentions)

    async def enqueue_index(self) -> None:
        """One index step for each written chapter, under the digest of the names of this moment."""
        entities = await self._store.memory.names()
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
        """The names that rules find."""
        chapter, _text = await self._chapter(task.subject)
        await self._put_entities(await self._discovered(chapter, await self._store.memory.entities()))

    async def _put_entities(self, found: Sequence[Entity]) -> None:
        await asyncio.gather(*(self._store.memory.put_entity(entity) for entity in found))
        if found:
            await self.enqueue_index()

    async def _story(self, task: BackgroundTask) -> None:
        """What the chapter adds to the story, read once from each text."""
        chapter, text = await self._chapter(task.subject)
        curator = await self._curator(chapter)
        if curator is None or not curator.asks:
            return
        reader, memory = StoryReader(curator), self._store.memory
        if await self._store.records.source(chapter.id) == reader.source(chapter, text):
            return
        before = await memory.view(chapter.id, await memory.generation())
        entities, reading = await reader.read(StoryGoal(chapter, text, await memory.entities(), before))
        await self._put_entities(entities)
        await self._store.records.put_reading(reading)
        self._tools.emit(BookChanged(chapter.id))

    async def _discovered(self, chapter: Chapter, known: Sequence[Entity]) -> tuple[Entity, ...]:
        """Names that rules find in this chapter and those before it, and that nobody has yet."""
        before = [c for c in await self._store.book.chapters() if c.digest and c.position <= chapter.position]
        texts = [await self._store.book.text(c.id) for c in before[-DISCOVERY_CHAPTERS:]]
        taken = {name for entity in known for name in entity.names}
        candidates = await self._tools.workshop.do(discover, texts, self._tools.language)
        return tuple(entity for entity in candidates if not taken & set(entity.names))

    async def _enqueue_profiles(self, chapter: Chapter) -> None:
        """Only those whom the chapter names often enough are written anew."""
        curator = await self._curator(chapter)
        if curator is None or self._is_by_rule(chapter):
            return
        view = await self._view()
        entities = await self._store.memory.names()
        for entity in curator.affected(await view.mentions_in(chapter.id), entities):
            await self._enqueue_profile(entity, chapter, digest_of([chapter.digest, entity]))

    async def _enqueue_profile(self, entity: EntityId, chapter: Chapter, source: Digest) -> None:
        await self._store.outbox.add(tasks(("profile",), f"{entity}@{chapter.id}", source, chapter.position))

    async def enqueue_entity(self, entity: Entity) -> None:
        """What follows an entity written by hand: its names everywhere, its newest profile, the knowledge server."""
        await self.enqueue_index()
        source = digest_of([entity.kind, *entity.names])
        written = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        if written and await self._store.memory.derived_history(profile_uri(entity)):
            await self._enqueue_profile(entity.id, written[-1], digest_of([written[-1].digest, source]))
        await self._store.outbox.add(tasks(("knowledge",), f"entity/{entity.id}", digest_of([source, entity.note]), 0))

    async def _overview(self, chapter: Chapter, text: str) -> Derived | None:
        """The chapter's L1 as of its present text, made if it is not there; None when the curator is switched off."""
        curator = await self._curator(chapter)
        if curator is None:
            return None
        view = await self._view()
        known = await view.derived(f"manuscript/{chapter.id}", "L1")
        if known is not None and known.source == curator.l1_source(chapter, text):
            return known
        made = await curator.l1(chapter, text, await view.entities(), self._tools.language, view.generation)
        await self._put([made], "chapters", chapter.title)
        return made

    async def _l1(self, task: BackgroundTask) -> None:
        await self._overview(*await self._chapter(task.subject))

    async def _l0(self, task: BackgroundTask) -> None:
        """Rests on the L1, which is made here if its own step has failed."""
        chapter, text = await self._chapter(task.subject)
        overview, curator = await self._overview(chapter, text), await self._curator(chapter)
        if curator is None or overview is None:
            return
        view, uri = await self._view(), f"manuscript/{chapter.id}"
        if not _is_fresh(await view.derived(uri, "L0"), curator.l0_source(chapter, overview)):
            made = await curator.l0(chapter, overview, await view.entities(), self._tools.language, view.generation)
            await self._put([made], "chapters", chapter.title)
        await self._tell_knowledge(uri, chapter.position)
        await self._enqueue_profiles(chapter)

    async def _profile(self, task: BackgroundTask) -> None:
        entity_id, _at, chapter_id = task.subject.partition("@")
        chapter, _text = await self._chapter(chapter_id)
        curator = await self._curator(chapter)
        entity = {entity.id: entity for entity in await self._store.memory.names()}[EntityId(entity_id)]
        if curator is None:
            return
        profiler, goal = Profiler(curator), ProfileGoal(entity, await self._view(), chapter)
        uri = profile_uri(entity)
        if _is_fresh(await goal.view.derived(uri, "L1"), await profiler.source(goal)):
            return
        await self._put(await profiler.pursue(goal), uri.split("/")[1], entity.name)
        await self._tell_knowledge(uri, chapter.position)

    async def _put(self, derived: Sequence[Derived], kind: str, name: str) -> None:
        for state in derived:
            await self._store.memory.put_derived(state)
        if derived:
            self._tools.emit(ProfileUpdated(((kind, name, derived[0].uri),)))

    async def _tell_knowledge(self, uri: str, position: int) -> None:
        texts = await self._tools.queries.summary(uri)
        await self._store.outbox.add(tasks(("knowledge",), uri, digest_of([uri, texts]), position))

    async def _check(self, task: BackgroundTask) -> None:
        chapter, text = await self._chapter(task.subject)
        curator = await self._curator(chapter)
        if curator is None or chapter.author == "import":
            return
        view = await self._store.memory.view(chapter.id, await self._store.memory.generation())
        advice = await curator.check_kept(chapter.id, f"manuscript/{chapter.id}", chapter.title, text, view)
        said = tuple(_advice(item) for item in advice.dimensions if item.passed is False)
        self._tools.emit(OutputChecked(chapter.id, chapter.version, advice.checks, said))


def _is_fresh(state: Derived | None, source: str) -> bool:
    return state is not None and state.source == source


def _advice(failed: DimensionAdvice) -> str:
    """One of the four questions in words, with what the model said of it."""
    words = _(ADVICE[failed.dimension])
    return f"{words} {failed.detail}".strip()
