"""The steps of the background work, by kind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final, get_args

from flowcabal_tui.agents.curation.story import StoryReader, four_questions
from flowcabal_tui.agents.curation.story_goal import StoryGoal
from flowcabal_tui.agents.curation.story_names import names_found
from flowcabal_tui.agents.names.names import discover
from flowcabal_tui.agents.shapes.curation import Dimension, DimensionAdvice
from flowcabal_tui.domain.errors import Gone, ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, Entity, Freshness, TaskKind
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.run import AngleCheck, CheckAngle, CheckFinding
from flowcabal_tui.domain.text import digest_of, word_count
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.book.following import tasks
from flowcabal_tui.project.book.indexing import index_text
from flowcabal_tui.project.memory import story_records
from flowcabal_tui.project.memory.step_tools import StepTools
from flowcabal_tui.project.memory.summary_steps import SummarySteps
from flowcabal_tui.protocol.book import BookChanged, OutputChecked
from flowcabal_tui.runner.fold import fold

ADVICE: Final[dict[Dimension, str]] = {
    "prevents_errors": mark("Keeping it is unlikely to prevent a later error."),
    "reusable": mark("It is unlikely to be used again."),
    "self_contained": mark("It is not self-contained: it cannot be understood without other text."),
    "new": mark("It adds nothing to what is already kept."),
}
DISCOVERY_CHAPTERS: Final = 20
"""Number of chapters, up to the kept one, in which new names are searched for: rules need some text."""
ENOUGH: Final = 30
"""Characters or words from which a kept text gets advice: about a paragraph."""


class Steps:
    """Every step reads the present state, so an outdated task does no harm; repeating one changes nothing."""

    def __init__(self, tools: StepTools) -> None:
        self._tools, self._base, self._store = tools, tools.base, tools.base.store
        self.summaries = SummarySteps(tools)
        self._do: dict[TaskKind, Callable[[BackgroundTask], Awaitable[None]]] = {
            "mirror": self._mirror,
            "index": self._index,
            "entities": self._entities,
            "story": self._story,
            "l1": self.summaries.l1,
            "l0": self.summaries.l0,
            "profile": self.summaries.profile,
            "arc": self.summaries.arc,
            "check": self._check,
            "knowledge": tools.knowledge.do,
        }

    async def do(self, task: BackgroundTask) -> None:
        """Carries out a step. Raises FlowCabalError, or Gone when its subject no longer exists."""
        await self._do[task.kind](task)

    async def _mirror(self, task: BackgroundTask) -> None:
        try:
            chapter, _text = await self._tools.chapter(task.subject)
        except Gone:
            await self._tools.mirror.remove(ChapterId(task.subject))
            return
        if edited := await self._tools.mirror.write(chapter):
            self._tools.outside.offer(edited)

    async def _index(self, task: BackgroundTask) -> None:
        indexed = False
        while not indexed:  # a newer version with the same text has no step of its own
            chapter, text = await self._tools.chapter(task.subject)
            indexed = await self._index_chapter(chapter, text, await self._store.memory.names())

    async def _index_chapter(self, chapter: Chapter, text: str, entities: Sequence[Entity]) -> bool:
        """Indexes a version. Returns False when there is a newer one."""
        passages, mentions = await self._base.workshop.do(
            index_text, chapter.id, chapter.position, text, tuple(entities), self._base.language
        )
        return await self._store.memory.index_chapter(chapter.id, chapter.version, passages, mentions)

    async def enqueue_index(self) -> None:
        """One index step for each written chapter, under the digest of the names of this moment."""
        await self._store.outbox.add(await self._index_tasks(await self._store.memory.names()))

    async def _index_tasks(self, entities: Sequence[Entity], changed: Iterable[Entity] = ()) -> list[BackgroundTask]:
        """An index task for each written chapter, under the digest of these names.

        With `changed`, whose entities only got further names, only for chapters with one of their names: nothing else
        of the index can change, so a long book is not read again for each name.
        """
        names = digest_of([[entity.id, *entity.names] for entity in entities])
        chapters = [chapter for chapter in await self._store.book.chapters() if chapter.digest]
        if wanted := {name for entity in changed for name in entity.names}:
            chapters = [chapter for chapter in chapters if await self._holds(chapter, wanted)]
        return [
            task
            for chapter in chapters
            for task in tasks(("index",), chapter.id, digest_of([chapter.digest, names]), chapter.position)
        ]

    async def _holds(self, chapter: Chapter, names: Collection[str]) -> bool:
        text = await self._store.book.text(chapter.id)
        return any(name in text for name in names)

    async def _entities(self, task: BackgroundTask) -> None:
        """The names that rules find."""
        chapter, text = await self._tools.chapter(task.subject)
        found = await self._discovered(chapter, await self._store.memory.entities())
        await self._put_entities(found, names_found(chapter, text, found))

    async def _put_entities(self, found: Sequence[Entity], proposals: Sequence[Proposal]) -> None:
        """Stores the entities together with the steps that index them, since discovery skips known names."""
        if found:
            await self._store.memory.put_entities(
                found, await self._index_tasks(await self._names_with(found), found), proposals
            )

    async def put_by_hand(self, entity: Entity) -> Entity:
        """Stores the writer's version of an entity, and queues what follows; returns the stored entity."""
        following = await self._index_tasks(await self._names_with([entity]))
        (stored,) = await self._store.memory.put_entities([entity], following)
        await self.enqueue_entity(stored)
        return stored

    async def after_names(self, entities: Sequence[Entity]) -> list[BackgroundTask]:
        """The tasks that follow when these have other names: the index of the book, and the knowledge server."""
        due = [
            task
            for entity in entities
            for task in tasks(("knowledge",), f"entity/{entity.id}", digest_of([*entity.names, entity.note]), 0)
        ]
        return [*await self._index_tasks(await self._names_with(entities)), *due]

    async def remove_by_hand(self, entity: Entity) -> None:
        """Removes a known entity and everything derived from it."""
        await self._store.memory.remove_entity(entity.id)
        await self.enqueue_entity(replace(entity, note="", name=""))

    async def _names_with(self, entities: Iterable[Entity]) -> list[Entity]:
        known = {entity.id: entity for entity in await self._store.memory.names()}
        return sorted((known | {entity.id: entity for entity in entities}).values(), key=lambda each: each.id)

    async def _story(self, task: BackgroundTask) -> None:
        """Reads the records that the chapter adds to the story, once for each text."""
        chapter, text = await self._tools.chapter(task.subject)
        curator = await self._tools.curator_for(chapter)
        if curator is None or not curator.asks:
            return
        reader, memory = StoryReader(curator), self._store.memory
        read_from = await self._store.records.source(chapter.id)
        if read_from == reader.source(chapter, text):
            return
        generation = await self._tools.generation()
        before = await memory.view(chapter.id, generation)
        known = await memory.entities(generation)
        found = await reader.read(StoryGoal(chapter, text, known, before))
        if self._tools.pinned is None:
            await self._put_entities(found.entities, found.names)
        elif found.entities:  # the job indexes the other chapters
            await memory.put_entities(found.entities, (), found.names)
            await self._index_chapter(chapter, text, await memory.names())
        await self._store.records.put_reading(found.reading, found.records)
        if self._tools.pinned is None:  # a job queues all records at its end
            await self.enqueue_story()
        self._base.emit(BookChanged(chapter.id))
        if found.unread:
            raise ModelError(
                ModelFault.SCHEMA,
                _("{title} was read only in part.").format(title=chapter.title),
                _("Unreadable: {parts}. The rest was kept.").format(parts=_(", ").join(found.unread)),
                _("Retry the background task to ask again."),
            )

    async def _discovered(self, chapter: Chapter, known: Sequence[Entity]) -> tuple[Entity, ...]:
        """Names that the rules find in this chapter and those before it, without names that an entity already has."""
        before = [c for c in await self._store.book.chapters() if c.digest and c.position <= chapter.position]
        texts = [await self._store.book.text(c.id) for c in before[-DISCOVERY_CHAPTERS:]]
        taken = {name for entity in known for name in (*entity.names, *entity.proposed)}
        candidates = await self._base.workshop.do(discover, texts, self._base.language)
        return tuple(entity for entity in candidates if not taken & set(entity.names))

    async def enqueue_story(self) -> None:
        """Queues the story lines whose text differs from that in the knowledge server.

        All of them are compared: a line of a chapter may depend on another chapter.
        """
        known = await story_records.visible_records(await self._store.memory.view(None))
        every = await self._store.outbox.all(get_args(Freshness))
        queued = {task.subject: task.source for task in every if task.kind == "knowledge"}
        gone = {each for each in queued.keys() - known.keys() if each.startswith(f"{story_records.ROOT}/")}
        sources = {each: digest_of([each_text.head, each_text.text]) for each, each_text in known.items()}
        await self._store.outbox.add(
            task
            for each, source in (sources | dict.fromkeys(gone, digest_of(["gone"]))).items()
            if queued.get(each) != source
            for task in tasks(("knowledge",), each, source, 0)
        )

    async def enqueue_entity(self, entity: Entity) -> None:
        """Queues the tasks after the writer's edit of an entity: its names everywhere, its newest profiles, the
        knowledge server."""
        await self.enqueue_index()
        source = digest_of([entity.kind, *entity.names])
        await self.summaries.ask_for_entity(entity, source)
        await self._store.outbox.add(tasks(("knowledge",), f"entity/{entity.id}", digest_of([source, entity.note]), 0))

    async def _check(self, task: BackgroundTask) -> None:
        chapter, text = await self._tools.chapter(task.subject)
        view = await self._store.memory.view(chapter.id, await self._store.memory.generation())
        uri = f"manuscript/{chapter.id}"
        by_rule = await self._tools.agents.rules.check(view, text, uri, chapter.title)
        imported = chapter.author == "import"
        curator = None if imported else await self._tools.curator_for(chapter)
        if curator is None:
            await self._tools.results.put_chapter(chapter, text, by_rule)
            if not imported:
                self._base.emit(OutputChecked(chapter.id, chapter.version, by_rule))
            return
        known = await self._checked_before(chapter, await view.waived())
        read = await self.summaries.chapter_answer(curator, chapter, text, view.generation, "curator.keep")
        advice = await curator.check_kept(chapter.id, uri, chapter.title, text, view, known, four_questions(read))
        failed = tuple(_advice(item) for item in advice.dimensions if item.passed is False and is_advised(text))
        await self._tools.results.put_chapter(chapter, text, (*by_rule, *advice.checks))
        self._base.emit(OutputChecked(chapter.id, chapter.version, (*by_rule, *advice.checks), failed))

    async def _checked_before(self, chapter: Chapter, waived: frozenset[tuple[str, str]]) -> tuple[AngleCheck, ...]:
        """The Monitor's checks of this text as an attempt of a run, without findings that the writer waived."""
        checks: dict[CheckAngle, AngleCheck] = {}
        for kept in await self._store.book.kept(chapter.id):
            if not kept.run or kept.digest != chapter.digest:
                continue
            run, node = RunId(kept.run), NodeId(kept.node)
            attempts = fold(await self._store.journal.node_history(run, node)).node(node).attempts
            evaluated = attempts[kept.attempt].evaluated() if kept.attempt in attempts else None
            for check in evaluated.checks if evaluated else ():
                findings = [one for one in check.findings if one.signature not in waived]
                placed = tuple(_placed(one, f"manuscript/{chapter.id}") for one in findings)
                if check.outcome != "not checked" and check.angle != "rules":
                    checks[check.angle] = replace(check, outcome="found" if placed else "passed", findings=placed)
        return tuple(checks.values())


def _placed(finding: CheckFinding, uri: str) -> CheckFinding:
    """The finding with the quotation of the draft at its place in the kept text."""
    return replace(finding, draft=replace(finding.draft, uri=uri))


def is_advised(text: str) -> bool:
    """True when a text is long enough for advice, unlike the first words of a new chapter."""
    return word_count(text) >= ENOUGH


def _advice(failed: DimensionAdvice) -> str:
    """One of the four questions in words, with the answer of the model."""
    words = _(ADVICE[failed.dimension])
    return f"{words} {failed.detail}".strip()
