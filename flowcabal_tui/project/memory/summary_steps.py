"""The steps for summaries: overviews and lines of chapters, profiles, arcs, the whole work.

Each first compares the source of the current state, so it can be killed and repeated at any time. The old state is read
until a new one is complete: both levels of it are stored at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.arcs import WORK, StoryArc, arcs_of
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.curation.arc_summariser import ArcGoal, ArcSummariser
from flowcabal_tui.agents.curation.chapter_profiles import MOST as MOST_TOGETHER
from flowcabal_tui.agents.curation.chapter_profiles import DueArc, states_together
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.profile_plan import ChangedPeople, cast_of, due_profiles
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal
from flowcabal_tui.agents.curation.profiler import ProfileMaterial, Profiler, ProfileThought
from flowcabal_tui.agents.curation.samples import is_fresh, sample_of
from flowcabal_tui.agents.curation.story import StoryReader
from flowcabal_tui.agents.curation.story_goal import StoryGoal
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.profile_kinds import BOOK
from flowcabal_tui.agents.shapes.story import UNASKED, StoryAnswer
from flowcabal_tui.domain.errors import FlowCabalError, Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import BackgroundTask, Derived, Entity, TaskKind
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.project.book.following import arc_task, profile_task, tasks
from flowcabal_tui.project.memory.step_tools import StepTools
from flowcabal_tui.protocol.memory import ProfileUpdated
from flowcabal_tui.store.memory.view import View

MOST_OF_MANY: Final = 16
"""Profiles written at once for a run of chapters, such as those of an import."""


class SummarySteps:
    """Subjects are a chapter (`l1`, `l0`), `<profile's uri>@<chapter>` (`profile`), an arc's uri (`arc`)."""

    def __init__(self, tools: StepTools) -> None:
        self._tools, self._base, self._store = tools, tools.base, tools.base.store

    async def l1(self, task: BackgroundTask) -> None:
        """Makes the overview of a chapter; its line is requested again if it was made from another overview."""
        chapter, text = await self._tools.chapter(task.subject)
        overview = await self._overview(chapter, text, sample_of(task.source))
        line = await (await self._now()).made(f"manuscript/{chapter.id}", "L0")
        to_come = await self._store.outbox.all(("waiting", "running", "failed", "cancelled"))
        if overview is None or line is None or _has(to_come, "l0", chapter) or self._tools.restoring:
            return
        again = digest_of([chapter.digest, overview.text])
        await self._store.outbox.add(tasks(("l0",), chapter.id, again, chapter.position))

    async def l0(self, task: BackgroundTask) -> None:
        """Makes the line of a chapter from the L1, which is made by rule here if its own step failed.

        The model does not get the same question again. Then queues the tasks that follow from both.
        """
        chapter, text = await self._tools.chapter(task.subject)
        failed = _has(await self._store.outbox.all(("failed",)), "l1", chapter)
        overview, uri = await self._overview(chapter, text, by_rule=failed), f"manuscript/{chapter.id}"
        known_line = await (await self._now()).made(uri, "L0")
        curator = await self._tools.curator_for(chapter, made=known_line)
        if curator is None or overview is None:
            return
        if not await self._is_current(known_line, curator.l0_source(chapter, overview)):
            view = await self._store.memory.view(None, await self._tools.generation())
            known, language = await self._cast(chapter, text) if curator.asks else (), self._base.language
            sentence = await self._line(curator, chapter, text, overview, view.generation)
            made = await curator.l0(chapter, overview, known, language, view.generation, sentence)
            await self._put([made], "chapters", chapter.title)
        await self.tell_knowledge(uri, chapter.position)
        if self._tools.pinned is None:  # a job plans profiles and arcs itself, when it has read all chapters
            if not self._tools.by_rule(chapter):
                await self._store.outbox.add(await self.profile_tasks([chapter], await self._described_as_of(chapter)))
            await self._store.outbox.add(await self._arc_tasks(chapter))

    async def _cast(self, chapter: Chapter, text: str) -> tuple[Entity, ...]:
        """The entities that the chapter names, under their names up to its end."""
        view = await self._as_of(chapter)
        return await as_called_here(view, named_in(text, await view.entities()))

    async def _named_in(self, chapter: Chapter, view: View) -> tuple[Entity, ...]:
        """The entities that the index finds in the chapter: enough for a rule, and faster than reading all names."""
        named = {mention.entity for mention in await view.mentions_in(chapter.id)}
        return tuple(entity for entity in await self._store.memory.names() if entity.id in named)

    async def _overview(self, chapter: Chapter, text: str, sample: int = 0, *, by_rule: bool = False) -> Derived | None:
        """The current L1 of the chapter, made if there is none; None when the curator is switched off."""
        uri = f"manuscript/{chapter.id}"
        current = await (await self._now()).made(uri, "L1")
        curator = await (
            self._tools.agents.curator(True) if by_rule else self._tools.curator_for(chapter, sample, current)
        )
        if curator is None:
            return None
        if not await self._is_current(current, curator.l1_source(chapter, text), sample):
            view = await self._store.memory.view(None, await self._tools.generation())
            known = await (self._cast(chapter, text) if curator.asks else self._named_in(chapter, view))
            answer = await self.chapter_answer(curator, chapter, text, view.generation, "curator.l1", sample)
            language, sentences = self._base.language, answer.sentences
            made = await curator.l1(chapter, text, known, language, view.generation, sample, sentences)
            await self._put([made], "chapters", chapter.title)
        return await (await self._now()).derived(uri, "L1")

    async def _line(
        self, curator: Curator, chapter: Chapter, text: str, overview: Derived, generation: Generation
    ) -> str:
        """The line that came with the overview; "" when the overview was written by hand, or is a further answer."""
        if overview.method != "model" or curator.prompts.source("curator.l1"):
            return ""
        answer = await self.chapter_answer(curator, chapter, text, generation, "curator.l0", sample_of(overview.source))
        return answer.line

    async def chapter_answer(
        self, curator: Curator, chapter: Chapter, text: str, generation: Generation, task: str, sample: int = 0
    ) -> StoryAnswer:
        """The model's answer about the chapter from its reading for the story.

        Empty if the writer has a prompt of their own for the task, or requests a further answer; the caller then asks
        the question.
        """
        if not curator.asks or sample or curator.prompts.source(task):
            return UNASKED
        memory = self._store.memory
        known, before = await memory.entities(generation), await memory.view(chapter.id, generation)
        return await StoryReader(curator).answered(StoryGoal(chapter, text, known, before))

    async def profile_tasks(self, chapters: Sequence[Chapter], arcs: int = 0) -> tuple[BackgroundTask, ...]:
        """Steps for a few of the people whom these chapters change, as of the last of them.

        A later state that depends on one of them is regenerated too. Each of the `arcs` to summarise replaces a
        profile, except one, so that every chapter costs about the same.
        """
        most = min(MOST_OF_MANY, self._base.settings.agents.profiles * len(chapters))
        if not most:
            return ()
        most = max(1, most - arcs)
        last, read = chapters[-1], {chapter.id for chapter in chapters}
        then, now = await self._as_of(last, now=True), await self._now()
        mentions = [mention for chapter in chapters for mention in await then.mentions_in(chapter.id)]
        made = {state.uri: state.position for state in await then.made_under("profiles/", "L1")}
        places = {each.position: each for each in await self._store.book.chapters()}
        changes = ChangedPeople(
            [*await then.relations(), *await then.facts(), *await then.promises(), *await then.moments()]
        )
        owed = _owed(changes.newest({each.id: at for at, each in places.items()}), made)
        cast = cast_of(mentions, await self._store.memory.names(), changes.by(read), owed)
        found: list[BackgroundTask] = []
        for kind, entity in due_profiles(self._base.kinds.all(), cast, made, last.position, most):
            uri = kind.uri(entity.id if entity else None)
            source = digest_of([uri, *(chapter.digest for chapter in chapters)])
            found.append(profile_task(uri, last, source))
            later = await now.made(uri, "L1")
            if later and later.position > last.position and read & {each.chapter for each in later.evidence}:
                found.append(profile_task(uri, places[later.position], source))
        return tuple(found)

    async def tasks_without(self, chapter: ChapterId) -> tuple[BackgroundTask, ...]:
        """Steps for the profiles as of a removed chapter: as of the one before it. Raises Gone if it is unknown."""
        gone = await self._store.book.chapter(chapter)
        before = [each for each in await self._store.book.chapters() if each.digest and each.position < gone.position]
        if not before:
            return ()
        made = await (await self._as_of(gone, now=True)).made_under("profiles/", "L1")
        source = digest_of(["without", chapter, before[-1].digest])
        return tuple(profile_task(one.uri, before[-1], source) for one in made if one.position == gone.position)

    async def ask_for_entity(self, entity: Entity, source: Digest) -> None:
        """Queues the newest profiles of an entity after its names changed."""
        places = {each.position: each for each in await self._store.book.chapters()}
        view = await self._now()
        for kind in self._base.kinds.all():
            known = await view.made(kind.uri(entity.id), "L1")
            if kind.settings.subject == entity.kind and known is not None and known.position in places:
                await self._store.outbox.add([profile_task(known.uri, places[known.position], source)])

    async def profile(self, task: BackgroundTask) -> None:
        """Makes one profile as of one chapter, with the others that are due then and the arcs that end there.

        A model gets one question for all of them.

        Raises Gone, and SettingsError for a kind that cannot be read.
        """
        uri, _at, chapter_id = task.subject.rpartition("@")
        chapter, text = await self._tools.chapter(chapter_id)
        sample = sample_of(task.source)
        made = await (await self._as_of(chapter, now=True)).made(uri, "L1")
        curator = await self._tools.curator_for(chapter, sample, made)
        if curator is None:
            return
        profiler, goal = Profiler(curator), await self._profile_goal(uri, chapter, sample)
        if await self._is_current(made, await profiler.source(goal), sample):
            return
        due = [(each, await profiler.observe(each)) for each in await self._due_together(task, goal, curator)]
        missing = [each for each in due if each[0] is goal or not await self._is_made(*each)]
        arcs = [] if self._is_alone(task, goal, curator) else await self._arcs_together(curator, chapter, len(due))
        missing_arcs = [each for each in arcs if not await self._has_state(curator, each[0], chapter)]
        thoughts: Mapping[str, ProfileThought] = {}
        if len(due) + len(arcs) > 1:  # the first asks; for what is missing in the answer, its own step asks
            spend = due[0][0] is goal and len(missing) + len(missing_arcs) > 1
            thoughts = await states_together(curator, due, text, arcs, spend=spend)
        for each, seen in missing:
            if thought := thoughts.get(each.uri):
                await self._put_profile(each, profiler.states(each, seen, thought))
            elif each is goal:
                await self._put_profile(each, await profiler.pursue(each))
        await self._put_arcs(curator, chapter, missing_arcs, thoughts)

    async def _put_profile(self, goal: ProfileGoal, states: Sequence[Derived]) -> None:
        await self._put(states, goal.kind.name, goal.entity.name if goal.entity else goal.kind.title)
        await self.tell_knowledge(goal.uri, goal.chapter.position)

    async def _profile_goal(self, uri: str, chapter: Chapter, sample: int = 0) -> ProfileGoal:
        _root, kind, subject = uri.split("/")
        view = await self._as_of(chapter)
        entity = None if subject == BOOK else (await as_called_here(view, [await self._named(subject)]))[0]
        before = await self._store.memory.view(chapter.id, await self._tools.generation())
        return ProfileGoal(self._base.kinds.get(kind), entity, view, chapter, sample, before)

    async def _is_made(self, goal: ProfileGoal, seen: ProfileMaterial) -> bool:
        made = await (await self._as_of(goal.chapter, now=True)).made(goal.uri, "L1")
        return await self._is_current(made, seen.source)

    def _is_alone(self, task: BackgroundTask, goal: ProfileGoal, curator: Curator) -> bool:
        alone = task.job or goal.sample or not curator.asks or self._tools.by_rule(goal.chapter)
        return bool(alone or curator.prompts.source("curator.profile"))

    async def _due_together(self, task: BackgroundTask, goal: ProfileGoal, curator: Curator) -> list[ProfileGoal]:
        """The profile and those planned with it when the chapter was kept, done or not, in the order of their steps.

        This makes the question the same at any time. Only the profile itself for a job, a further answer, a rule, or a
        question of the writer's own.
        """
        chapter = goal.chapter
        if self._is_alone(task, goal, curator):
            return [goal]
        end = f"@{chapter.id}"
        rows = [(each.subject.removesuffix(end), each) for each in await self._store.outbox.ending("profile", end)]
        uris = [uri for uri, each in rows if each.source == digest_of([uri, chapter.digest])]
        if goal.uri not in uris:
            return [goal]
        at = uris.index(goal.uri) // MOST_TOGETHER * MOST_TOGETHER
        found: list[ProfileGoal] = []
        for uri in uris[at : at + MOST_TOGETHER]:
            with suppress(FlowCabalError):  # an unreadable kind is reported by its own step
                found.append(goal if uri == goal.uri else await self._profile_goal(uri, chapter))
        return found

    async def _named(self, subject: str) -> Entity:
        found = next((each for each in await self._store.memory.names() if each.id == subject), None)
        if found is None:
            raise Gone(subject)
        return found

    async def _arc_tasks(self, chapter: Chapter) -> tuple[BackgroundTask, ...]:
        """The arc that holds the chapter, and the one before it when the chapter begins its own."""
        arcs = await self._arcs()
        at = next((at for at, arc in enumerate(arcs) if chapter.id in {each.id for each in arc.chapters}), None)
        if at is None:
            return ()
        begins = at > 0 and arcs[at].chapters[0].id == chapter.id
        source = digest_of([chapter.id, chapter.digest])
        return tuple(arc_task(arc.uri, source) for arc in arcs[at - 1 if begins else at : at + 1])

    async def _described_as_of(self, chapter: Chapter) -> int:
        """The number of summaries of an arc, or of the work, that end with this chapter."""
        ends = [(arc, part) for arc in await self._arcs() for part in arc.parts() if part[-1].id == chapter.id]
        return sum(1 + (arc.closed and len(part) == len(arc.chapters)) for arc, part in ends)

    async def all_arc_tasks(self) -> tuple[BackgroundTask, ...]:
        """Steps that check every arc after chapters were moved, or after overviews were made outside of the background
        work."""
        arcs = await self._arcs()
        return tuple(arc_task(arc.uri, digest_of([chapter.id for chapter in arc.chapters])) for arc in arcs)

    async def arc(self, task: BackgroundTask) -> None:
        """Summarises all parts of an arc that changed; then the work, if a closed arc changed."""
        arcs = await self._arcs()
        arc = next((each for each in arcs if each.uri == task.subject), None)
        if arc is None and task.subject != WORK:
            raise Gone(task.subject)
        sample = sample_of(task.source)
        if arc is not None:
            parts = await self._parts_of(arc)
            changed = [await self._part(arc, part, sample if part == parts[-1] else 0) for part in parts]
            if not (arc.closed and any(changed)):
                return
        closed = [each for each in arcs if each.closed]
        if closed:
            await self._work(closed, sample if task.subject == WORK else 0)

    async def _arcs_together(self, curator: Curator, chapter: Chapter, profiles: int) -> list[DueArc]:
        """The arc with a part that ends with the chapter, and the work if it is due then too, made or not.

        [] if `profiles` leave no space for them, or the writer has replaced the prompt for arcs. The sources of the
        work are the earlier arcs, since the sentences of the last one are in the question.
        """
        arcs, view = await self._arcs(), await self._as_of(chapter)
        last = next((arc for arc in arcs if chapter.id in {part[-1].id for part in arc.parts()}), None)
        if last is None or curator.prompts.source("curator.arc"):
            return []
        below = tuple(f"manuscript/{each.id}" for each in last.chapters if each.position <= chapter.position)
        earlier = await self._earlier(last, chapter)
        goals = [ArcGoal(last.uri, last.volume, below, view, chapter.position, earlier=earlier)]
        closed = [each for each in arcs if each.closed]
        if closed and closed[-1] is last and last.chapters[-1].id == chapter.id:
            goals.append(ArcGoal(WORK, "", tuple(each.uri for each in closed[:-1]), view, chapter.position))
        found = [(goal, await ArcSummariser(curator).observe(goal)) for goal in goals]
        has_all = all(seen.source for _goal, seen in found)
        return found if has_all and profiles + len(found) <= MOST_TOGETHER else []

    async def _earlier(self, arc: StoryArc, chapter: Chapter) -> Derived | None:
        """The earlier summary of the arc, as of the end of its previous part."""
        ends = [part[-1] for part in arc.parts() if part[-1].position < chapter.position]
        made = await (await self._as_of(ends[-1], now=True)).made(arc.uri, "L1") if ends else None
        return made if made is not None and made.position == ends[-1].position else None

    async def _as_its_step(self, goal: ArcGoal, view: View) -> ArcGoal:
        """The goal as in its own step: with a view of the current book; for the work, all closed arcs are below it."""
        if goal.uri != WORK:
            return replace(goal, view=view)
        return replace(goal, view=view, below=tuple(arc.uri for arc in await self._arcs() if arc.closed))

    async def _has_state(self, curator: Curator, goal: ArcGoal, chapter: Chapter) -> bool:
        view = await self._as_of(chapter, now=True)
        source = await ArcSummariser(curator).source(await self._as_its_step(goal, view))
        return await self._is_current(await view.made(goal.uri, "L1"), source)

    async def _put_arcs(
        self, curator: Curator, chapter: Chapter, arcs: Iterable[DueArc], thoughts: Mapping[str, ProfileThought]
    ) -> None:
        """Stores arcs up to the first one missing in the answer, whose own step asks for it and for those depending on
        it."""
        teller = ArcSummariser(curator)
        for goal, _seen in arcs:
            if (thought := thoughts.get(goal.uri)) is None:
                return
            whole = await self._as_its_step(goal, await self._as_of(chapter, now=True))
            states = teller.states(whole, await teller.source(whole), thought)
            await self._put(states, "arcs", await self._tools.queries.title(goal.uri))
            await self.tell_knowledge(goal.uri, goal.position)

    async def _parts_of(self, arc: StoryArc) -> Sequence[tuple[Chapter, ...]]:
        """The parts to summarise, the longest last, with the part of the newest state, whose chapter may have moved."""
        parts = {len(part): part for part in arc.parts()}
        newest = await (await self._as_of(arc.chapters[-1], now=True)).made(arc.uri, "L1")
        if newest is not None:
            known = tuple(chapter for chapter in arc.chapters if chapter.position <= newest.position)
            parts |= {len(known): known} if known else {}
        return [parts[length] for length in sorted(parts)]

    async def _part(self, arc: StoryArc, chapters: Sequence[Chapter], sample: int) -> bool:
        """The arc as of the last of these chapters."""
        last, below = chapters[-1], tuple(f"manuscript/{chapter.id}" for chapter in chapters)
        return await self._tell(arc.uri, arc.volume, below, last, sample, arc.title(self._base.language))

    async def _work(self, arcs: Sequence[StoryArc], sample: int) -> None:
        last = arcs[-1].chapters[-1]
        below = tuple(arc.uri for arc in arcs)
        await self._tell(WORK, "", below, last, sample, await self._tools.queries.title(WORK))

    async def _tell(self, uri: str, title: str, below: tuple[str, ...], last: Chapter, sample: int, name: str) -> bool:
        """Summarises an arc or the work from the level below, as of a chapter. True when a new state was made."""
        view = await self._as_of(last, now=True)
        made = await view.made(uri, "L1")
        curator = await self._tools.curator_for(last, sample, made)
        if curator is None:
            return False
        teller, goal = ArcSummariser(curator), ArcGoal(uri, title, below, view, last.position, sample)
        source = await teller.source(goal)
        if not source or await self._is_current(made, source, sample):
            return False
        await self._put(await teller.pursue(goal), "arcs", name)
        await self.tell_knowledge(uri, last.position)
        return True

    async def _arcs(self) -> tuple[StoryArc, ...]:
        return arcs_of([chapter for chapter in await self._store.book.chapters() if chapter.digest])

    async def _now(self) -> View:
        return await self._store.memory.view(None)

    async def _as_of(self, chapter: Chapter, *, now: bool = False) -> View:
        """The book up to the end of a chapter: as of the step's generation, or with `now` as it is."""
        chapters = await self._store.book.chapters()
        following = next((each.id for each in chapters if each.position == chapter.position + 1), None)
        return await self._store.memory.view(following, None if now else await self._tools.generation())

    async def _is_current(self, made: Derived | None, source: Digest, sample: int = 0) -> bool:
        """True when the existing text has the same sources; then records that it describes the current texts."""
        if made is None or not is_fresh(made, source, sample):
            return False
        if not self._tools.restoring:
            await self._store.memory.confirm_derived(made.uri, made.position)
        return True

    async def _put(self, states: Sequence[Derived], kind: str, name: str) -> None:
        if states:
            await self._store.memory.put_derived(*states, restored=self._tools.restoring)
            self._base.emit(ProfileUpdated(((kind, name, states[0].uri),)))

    async def tell_knowledge(self, uri: str, position: int) -> None:
        """Queues the current texts of a uri for the knowledge server."""
        texts = await self._tools.queries.summary(uri)
        await self._store.outbox.add(tasks(("knowledge",), uri, digest_of([uri, texts]), position))


def _owed(changed: Mapping[EntityId, int], made: Mapping[str, int]) -> tuple[EntityId, ...]:
    """The entities that a chapter changed after their profile was made, longest waiting first."""
    newest: dict[EntityId, int] = {}
    for uri, position in made.items():
        entity = EntityId(uri.rsplit("/", 1)[-1])
        newest[entity] = max(newest.get(entity, 0), position)
    waiting = [(at, entity) for entity, at in changed.items() if entity in newest and at > newest[entity]]
    return tuple(entity for _at, entity in sorted(waiting))


def _has(found: Iterable[BackgroundTask], kind: TaskKind, chapter: Chapter) -> bool:
    """True when the list contains such a task of this chapter."""
    return any(task.kind == kind and task.subject == chapter.id for task in found)
