"""Starts, resumes, answers and stops runs; pins the memory that each run reads."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.context.expects import expected, shows_pages
from flowcabal_tui.domain.errors import FlowCabalError, RunError, StaleQuestion, UnknownName
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.overview import LENGTH
from flowcabal_tui.domain.prompt_text import chapter_values
from flowcabal_tui.domain.run import Decision, RunRequest, RunSummary
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.marks import stale_after_run
from flowcabal_tui.nodes.plan import Plan, plan
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.models.spending import PAYING_RUN
from flowcabal_tui.project.runs.ports import RunPortsFactory
from flowcabal_tui.project.runs.quotes import Quotes
from flowcabal_tui.project.runs.run_marks import RunMarks
from flowcabal_tui.project.workflows.actions import ProjectActions
from flowcabal_tui.project.workflows.graphs import Graphs
from flowcabal_tui.project.workflows.overrides import no_node, overridden
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import NodeCompleted, QuestionAnswered, RunStateChanged, WorkflowFailed
from flowcabal_tui.runner.fold import RunFold, fold
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunScope
from flowcabal_tui.store.file.connection import Work

log = logging.getLogger(__name__)
ENDED: Final = ("done", "failed", "cancelled")


class RunManager:
    """All runs of an open project. Lives on the engine's loop."""

    def __init__(
        self, base: ProjectBase, ports: RunPortsFactory, actions: ProjectActions, graphs: Graphs, quotes: Quotes
    ) -> None:
        self._base, self._store, self._emit, self._spending = base, base.store, base.emit, base.models.spending
        self._ports, self._actions, self._graphs, self._quotes = ports, actions, graphs, quotes
        self._checked: set[str] = set()
        self._runs: dict[RunId, Run] = {}
        self._plans: dict[RunId, Plan] = {}
        self._tasks: dict[RunId, asyncio.Task[None]] = {}
        self._marks: dict[RunId, RunMarks] = {}
        self._paused: set[RunId] = set()
        self._final_events: dict[RunId, RunStateChanged] = {}
        self._kept_state: DualState | None = None
        self._taking_up = asyncio.Lock()
        """Held while an earlier run is resumed, so that a command to stop it waits until it exists."""

    @property
    def quiet(self) -> bool:
        """True when every run waits for a person: for an answer, or for the next step in step mode."""
        return all(run.only_waits or name in self._paused for name, run in tuple(self._runs.items()))

    @property
    def idle(self) -> bool:
        """True when no run is being executed, waiting ones included."""
        return not self._runs

    def with_pauses(self, found: Iterable[RunSummary]) -> tuple[RunSummary, ...]:
        """These runs; one that is held in step mode is paused."""
        return tuple(
            replace(run, state="paused") if run.id in self._paused and run.state == "running" else run for run in found
        )

    async def start(self, request: RunRequest) -> RunId:
        """Begins a run and returns at once.

        Raises WorkflowError, RunError or ProjectNotConfirmed, and then nothing began.
        """
        workflow = await self._store.workflows.get(request.workflow)
        await self._actions.require_confirmed(workflow)
        await self._check(workflow, request)
        await self._require_overrides(workflow, request)
        known = {node.id for node in workflow.nodes}
        if unknown := [node for node in (*request.targets, *request.again) if node.split("/")[0] not in known]:
            raise no_node(workflow, unknown[0])
        request = replace(request, workflow=workflow.reference)
        generation = await self.generation(request)
        if request.limit is None:
            foreseen = await self.scope(RunId(""), workflow, request, generation, spend=False)
            request = replace(request, limit=await self._quotes.agreed(foreseen))
        run = RunId(uuid.uuid4().hex[:12])
        scope = await self.scope(run, workflow, request, generation)
        await self._store.journal.begin_run(run, request, workflow, generation)
        self._execute(scope, RunFold())
        return run

    async def _require_overrides(self, workflow: Workflow, request: RunRequest) -> None:
        """Requires confirmation for overrides of an earlier run, which may come from a stranger; the user has just
        entered others."""
        if request.overrides:
            changed = overridden(workflow, request.overrides)
            earlier = await self._store.runs.has_overrides(request)
            await (self._actions.require_confirmed if earlier else self._base.trust.renew_run)(changed)

    async def _require_run(self, run: RunId) -> None:
        """Requires that the writer has confirmed the document of an earlier run, with its overrides."""
        request = await self._store.runs.run_request(run)
        await self._actions.require_confirmed(overridden(await self._store.runs.workflow_of(run), request.overrides))

    async def _check(self, workflow: Workflow, request: RunRequest) -> None:
        """Raises WorkflowError for a document that cannot run. A saved one never changes, so it is validated only
        once."""
        if request.overrides or workflow.reference not in self._checked:
            await self._actions.require_valid(overridden(workflow, request.overrides))
        if not request.overrides:
            self._checked.add(workflow.reference)

    async def resume(self, run: RunId, *, continues: bool = False) -> RunId:
        """Resumes a run that is not being executed; nodes that succeeded are not run again.

        With `continues`, cut-off texts are continued from where they ended.
        """
        async with self._taking_up:
            if run in self._runs:
                return run
            history = await self._store.journal.history(run)
            if not history:
                raise UnknownName(_("There is no run {run}.").format(run=run))
            await self._require_run(run)
            workflow = await self._store.runs.workflow_of(run)
            request = await self._store.runs.run_request(run)
            generation = await self._store.runs.generation_of(run)
            scope = await self.scope(run, workflow, request, generation)
            scope.continues = continues
            self._execute(scope, fold(history))
        return run

    async def generation(self, request: RunRequest) -> Generation:
        """The generation of the memory that a run reads: that of the last equal run, unless the writer changed
        something before the chapter."""
        now = await self._store.memory.generation()
        if request.fresh_context or request.chapter is None:
            return now
        last = await self._store.runs.last_generation(request.workflow, request.chapter)
        if last is None:
            return now
        position = (await self._store.book.chapter(request.chapter)).position
        changed = await self._store.memory.truth_changed_since(last[0], position)
        return now if changed else last[0]

    async def scope(
        self, run: RunId, workflow: Workflow, request: RunRequest, generation: Generation, *, spend: bool = True
    ) -> RunScope:
        """Everything the nodes of a run share, with the values that prompts can name."""
        inputs = {"instruction": ""} | dict(request.inputs)
        values = {"input": inputs} | await self._values(request.chapter)
        if request.chapter is not None:
            values["chapter"] |= await self._expected(workflow, request.chapter, generation, inputs)
        ports = await self._ports.of(generation, spend)
        return RunScope(
            run,
            overridden(workflow, request.overrides),
            request,
            generation,
            values,
            replace(ports, emit=self._pass_on) if spend else ports,
            pins=await self._store.current_outputs.frozen(workflow.id, request.chapter),
            durations=await self._store.versions.durations(workflow.id) if spend else {},
            state=await self._state(),
        )

    async def _state(self) -> DualState:
        """The project's state: one value for all runs, so that each sees at once what another has written."""
        if self._kept_state is None:
            self._kept_state = await self._store.states.load()
        return self._kept_state

    async def past(self, run: RunId) -> RunScope:
        """The shared state of a past run, without permission to spend. Raises Gone if there is no such run."""
        runs = self._store.runs
        request, workflow = await runs.run_request(run), await runs.workflow_of(run)
        return await self.scope(run, workflow, request, await runs.generation_of(run), spend=False)

    async def imagined(self, request: RunRequest) -> RunScope:
        """The shared state of a run of this request, for a quote or a preview; starts nothing."""
        workflow = await self._store.workflows.get(request.workflow)
        await self._check(workflow, request)
        request = replace(request, workflow=workflow.reference)
        return await self.scope(RunId(""), workflow, request, await self.generation(request), spend=False)

    async def _values(self, chapter: ChapterId | None) -> dict[str, dict[str, str]]:
        project = self._base.settings.project
        values = {"project": {"name": project.name, "language": project.language, "author": project.author}}
        if chapter is None:
            return values
        known = await self._store.book.chapter(chapter)
        return values | {"chapter": chapter_values(known, project.language)}

    async def _expected(
        self, workflow: Workflow, chapter: ChapterId, generation: Generation, inputs: Mapping[str, object]
    ) -> dict[str, str]:
        """The text, length and style of the chapter, if the document names them; otherwise they must not change a
        key."""
        document = workflow.model_dump_json()
        text = {"text": await self._store.book.text(chapter)} if "chapter.text" in document else {}
        if not any(f"chapter.{name}" in document for name in ("length", "style")):
            return text
        view = await self._store.memory.view(chapter, generation)
        wish, length = (str(inputs.get(name, "")) for name in ("instruction", LENGTH))
        settings = self._base.settings
        pages = shows_pages(workflow, settings.budget.context_tokens if settings.agents.context else 0)
        found = await expected(view, wish, settings.goals.chapter, length, has_pages=pages)
        return {"length": found.length, "style": found.style} | text

    def _execute(self, scope: RunScope, past: RunFold) -> None:
        workflow, durations = scope.workflow, scope.durations
        if scope.request.overrides:
            whole = plan(workflow.nodes, workflow.edges, durations=durations)
        else:
            whole = self._graphs.of(workflow, durations)
        run = Run(scope, past, whole)
        self._runs[scope.id], self._plans[scope.id] = run, whole
        self._marks[scope.id] = RunMarks(self._store, self._emit, scope, whole)
        self._tasks[scope.id] = asyncio.create_task(self._watch(run), name=f"run {scope.id}")

    def _pass_on(self, event: Event) -> None:
        """Passes the events of a run on, and notes which are paused and which nodes have ended.

        The last event is held back until the current outputs are written.
        """
        if isinstance(event, RunStateChanged):
            (self._paused.add if event.state == "paused" else self._paused.discard)(event.run)
            if event.state in ENDED:
                self._final_events[event.run] = event
                return
        self._emit(event)
        if isinstance(event, NodeCompleted) and (marks := self._marks.get(event.run)):
            marks.soon(self._runs[event.run].outputs)

    async def _watch(self, run: Run) -> None:
        name = run.scope.id
        PAYING_RUN.set(name)
        try:
            if run.scope.request.limit is not None:
                await self._spending.hold(name, run.scope.request.limit)
            await run.execute()
        except Exception as error:  # the edge of a task: it must be reported, and must not end the engine
            known = _known(error)
            if known is None:
                log.exception("run %s", name)
                known = RunError(_("The run stopped because of an error in the program."), repr(error))
            self._emit(WorkflowFailed(name, known.title, known.detail, known.advice))
            self._final_events[name] = RunStateChanged(name, "interrupted")
        finally:
            await self._marks.pop(name).end(run.outputs)
            for table in (self._runs, self._tasks, self._plans):
                table.pop(name, None)
            self._paused.discard(name)
            self._spending.reservations.release_run(name)
            if (last := self._final_events.pop(name, None)) is not None:
                self._emit(last)

    async def decide(self, identity: QuestionId, decision: Decision, beside: Work = lambda _connection: None) -> None:
        """Stores an answer together with the writes of `beside`, and wakes the node; resumes a run that is not being
        executed.

        Raises StaleQuestion; then nothing was written.
        """
        question = await self._store.runs.question(identity)
        if decision.kind not in question.options:
            raise StaleQuestion(
                _("That is not a valid answer to this question."),
                _("Possible answers: {options}").format(options=_(", ").join(question.options)),
            )
        numbers = range(1, len(question.choices) + 1) if question.choices else question.attempts
        if (decision.attempt or decision.kind == "choose") and decision.attempt not in numbers:
            raise StaleQuestion(
                _("There is no attempt {n} to choose.").format(n=decision.attempt),
                _("The question is still waiting. Its attempts: {numbers}").format(
                    numbers=_(", ").join(map(str, numbers)) or _("none")
                ),
            )
        if question.run not in self._runs:  # the answer would resume the run
            await self._require_run(question.run)
        decision = replace(decision, text=clean(decision.text), note=clean(decision.note))
        event = RunEvent(
            question.run,
            "answered",
            question.node,
            decision.attempt,
            {"question": identity, "decision": {"kind": decision.kind, "note": decision.note}},
        )
        if not await self._store.journal.answer(identity, decision, event, beside=beside):
            raise StaleQuestion(
                _("That question was already answered, or its run was stopped."), _("The first answer was kept.")
            )
        run = self._runs.get(question.run)
        if run is None:
            self._emit(QuestionAnswered(identity, decision))
            await self.resume(question.run)
        elif not run.answer(identity, decision):
            self._emit(QuestionAnswered(identity, decision))

    async def goes_on(self, run: RunId) -> bool:
        """True when the run is executed in this process, or was left unfinished by another one."""
        history = [] if run in self._runs else await self._store.journal.history(run)
        return run in self._runs or (bool(history) and fold(history).state == "running")

    async def ended(self, run: RunId) -> None:
        """Waits until the run is no longer being executed: it ended in any state, or waits for an answer."""
        if (task := self._tasks.get(run)) is not None:
            await asyncio.wait([task])

    def advance(self, run: RunId) -> None:
        """In step mode: begins the next level. Raises RunError when the run is not paused."""
        if run not in self._runs or not self._runs[run].advance():
            raise RunError(
                _("That run is not paused."),
                _("Only a run in step mode waits to be continued."),
                _("Nothing was done."),
            )

    async def cancel(self, run: RunId, node: NodeId | None, *, branch: bool = False) -> None:
        """Stops a run at once; a run left by an earlier process is ended together with its questions. Raises
        RunError."""
        if run in self._runs:
            self._cancel_now(run, node, branch=branch)
            return
        async with self._taking_up:
            if run in self._runs:
                self._cancel_now(run, node, branch=branch)
            else:
                await self._cancel_left(run, node)

    def _cancel_now(self, run: RunId, node: NodeId | None, *, branch: bool) -> None:
        stopped = [self._runs[run].cancel(each) for each in (self._branch(run, node) if branch else (node,))]
        if not any(stopped):
            raise RunError(_("The step {node} is not running.").format(node=node), _("Nothing was stopped."))

    async def _cancel_left(self, run: RunId, node: NodeId | None) -> None:
        history = await self._store.journal.history(run)
        left = fold(history)
        if node is not None or not history or left.state != "running":
            raise RunError(_("That run is not running."), _("Nothing was stopped."))
        open_nodes = [name for name, known in left.nodes.items() if known.state in ("pending", "running", "waiting")]
        await self._store.journal.record(
            *(RunEvent(run, "cancelled", name) for name in open_nodes),
            RunEvent(run, "run-ended", payload={"state": "cancelled"}),
        )
        self._emit(RunStateChanged(run, "cancelled"))

    def _branch(self, run: RunId, node: NodeId | None) -> tuple[NodeId | None, ...]:
        """The node and all that depends on it, the last first, so that none begins while others are stopped."""
        graph = self._plans[run]
        if node is None or node not in graph.steps:
            return (node,)
        behind = stale_after_run(graph, node)
        return (*(each for each in reversed(graph.order) if each in behind), node)

    async def close(self) -> None:
        """Suspends every run so that it can be resumed; streamed text is journalled."""
        for run in self._runs.values():
            run.close()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def _known(error: BaseException) -> FlowCabalError | None:
    """The error as the user may see it, also of one among several nodes."""
    if isinstance(error, BaseExceptionGroup):
        return next((known for each in error.exceptions if (known := _known(each))), None)
    return error if isinstance(error, FlowCabalError) else None
