"""Starts, resumes, answers and stops runs; pins the memory that each run reads."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace

from flowcabal_tui.domain.errors import FlowCabalError, RunError, StaleQuestion
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.protocol import Event, QuestionAnswered, RunStateChanged, WorkflowFailed
from flowcabal_tui.runner.fold import RunFold, fold
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunScope, Services
from flowcabal_tui.settings.project_file import ProjectSettings
from flowcabal_tui.store import Store

log = logging.getLogger(__name__)


class RunDesk:
    """All runs of an open project. Lives on the engine's loop."""

    def __init__(
        self,
        store: Store,
        services: Callable[[Generation, bool], Awaitable[Services]],
        settings: Callable[[], ProjectSettings],
        emit: Callable[[Event], None],
    ) -> None:
        """`services` are those for a generation of the memory; its flag tells whether money may be spent."""
        self._store, self._services, self._settings, self._emit = store, services, settings, emit
        self._runs: dict[RunId, Run] = {}
        self._tasks: dict[RunId, asyncio.Task[None]] = {}
        self._kept_state: DualState | None = None

    @property
    def quiet(self) -> bool:
        """True when nothing but human answers can bring any run on."""
        return all(run.only_waits for run in tuple(self._runs.values()))

    async def start(self, request: RunRequest) -> RunId:
        """Begins a run and returns at once. Raises WorkflowError or RunError, and then nothing began."""
        workflow = await self._store.workflows.get(request.workflow)
        require_valid(workflow)
        unknown = [node for node in (*request.targets, *request.again) if node not in {n.id for n in workflow.nodes}]
        if unknown:
            raise RunError(
                _("The workflow {name} has no node {node}.").format(name=workflow.id, node=unknown[0]),
                _("Its nodes: {names}").format(names=", ".join(node.id for node in workflow.nodes)),
            )
        request = replace(request, workflow=workflow.reference)
        generation = await self.generation(request)
        run = RunId(uuid.uuid4().hex[:12])
        scope = await self.scope(run, workflow, request, generation)
        await self._store.runs.begin_run(run, request, workflow, generation)
        self._execute(Run(scope, RunFold()))
        return run

    async def resume(self, run: RunId) -> RunId:
        """Goes on with a run that is not being executed; what ended well is not done again."""
        if run in self._runs:
            return run
        history = await self._store.runs.history(run)
        if not history:
            raise RunError(_("There is no run {run}.").format(run=run))
        workflow = await self._store.runs.workflow_of(run)
        request = await self._store.runs.run_request(run)
        generation = await self._store.runs.generation_of(run)
        self._execute(Run(await self.scope(run, workflow, request, generation), fold(history)))
        return run

    async def generation(self, request: RunRequest) -> Generation:
        """The memory that a run reads: that of the last equal run, unless a human changed what precedes the chapter."""
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
        return RunScope(
            run,
            workflow,
            request,
            generation,
            values,
            await self._services(generation, spend),
            state=await self._state(),
        )

    async def _state(self) -> DualState:
        """The project's state: one value for all runs, so that each sees at once what another has written."""
        if self._kept_state is None:
            self._kept_state = await self._store.states.load()
        return self._kept_state

    async def imagined(self, request: RunRequest) -> RunScope:
        """What a run of this request would share, for a quote or a preview; nothing begins."""
        workflow = await self._store.workflows.get(request.workflow)
        require_valid(workflow)
        request = replace(request, workflow=workflow.reference)
        return await self.scope(RunId(""), workflow, request, await self.generation(request), spend=False)

    async def _values(self, chapter: ChapterId | None) -> dict[str, dict[str, str]]:
        project = self._settings().project
        values = {"project": {"name": project.name, "language": project.language, "author": project.author}}
        if chapter is None:
            return values
        known = await self._store.book.chapter(chapter)
        return values | {"chapter": {"title": known.title, "number": str(known.position), "volume": known.volume}}

    def _execute(self, run: Run) -> None:
        self._runs[run.scope.id] = run
        self._tasks[run.scope.id] = asyncio.create_task(self._watch(run), name=f"run {run.scope.id}")

    async def _watch(self, run: Run) -> None:
        try:
            await run.execute()
        except Exception as error:  # the edge of a task: it must be told, and must not end the engine
            known = _known(error)
            if known is None:
                log.exception("run %s", run.scope.id)
                known = RunError(_("The run stopped on a mistake in the program."), repr(error))
            self._emit(WorkflowFailed(run.scope.id, known.title, known.detail, known.advice))
            self._emit(RunStateChanged(run.scope.id, "interrupted"))
        finally:
            self._runs.pop(run.scope.id, None)
            self._tasks.pop(run.scope.id, None)

    async def decide(self, question: QuestionId, decision: Decision) -> None:
        """Records an answer and wakes the node; a run that nobody executes is resumed. Raises StaleQuestion."""
        asked = await self._store.runs.question(question)
        if decision.kind not in asked.options:
            raise StaleQuestion(
                _("That question cannot be answered so."),
                _("Its answers: {options}").format(options=", ".join(asked.options)),
            )
        numbers = asked.attempts or range(1, len(asked.choices) + 1)
        if (decision.attempt or decision.kind == "choose") and decision.attempt not in numbers:
            raise StaleQuestion(
                _("There is no attempt {n} to choose.").format(n=decision.attempt),
                _("The question waits on. Its attempts: {numbers}").format(
                    numbers=", ".join(map(str, numbers)) or _("none")
                ),
            )
        decision = replace(decision, text=clean(decision.text), note=clean(decision.note))
        event = RunEvent(
            asked.run,
            "answered",
            asked.node,
            decision.attempt,
            {"question": question, "decision": {"kind": decision.kind, "note": decision.note}},
        )
        if not await self._store.runs.answer(question, decision, event):
            raise StaleQuestion(
                _("That question was answered before, or its run was stopped."), _("The first answer stands.")
            )
        run = self._runs.get(asked.run)
        if run is None:
            self._emit(QuestionAnswered(question, decision))
            await self.resume(asked.run)
        elif not run.answer(question, decision):
            self._emit(QuestionAnswered(question, decision))

    async def cancel(self, run: RunId, node: NodeId | None) -> None:
        """Stops at once; a run that an earlier process left is ended, and its questions with it. Raises RunError."""
        if run in self._runs:
            if self._runs[run].cancel(node):
                return
            raise RunError(_("The step {node} is not running.").format(node=node), _("Nothing was stopped."))
        history = await self._store.runs.history(run)
        left = fold(history)
        if node is not None or not history or left.state != "running":
            raise RunError(_("That run is not running."), _("Nothing was stopped."))
        open_nodes = [name for name, known in left.nodes.items() if known.state in ("pending", "running", "waiting")]
        await self._store.runs.record(
            *(RunEvent(run, "cancelled", name) for name in open_nodes),
            RunEvent(run, "run-ended", payload={"state": "cancelled"}),
        )
        self._emit(RunStateChanged(run, "cancelled"))

    async def close(self) -> None:
        """Ends every run so that it can be resumed; streamed text is journalled."""
        for run in self._runs.values():
            run.close()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


def _known(error: BaseException) -> FlowCabalError | None:
    """What the user can be told of an error, also of one among several nodes."""
    if isinstance(error, BaseExceptionGroup):
        return next((known for each in error.exceptions if (known := _known(each))), None)
    return error if isinstance(error, FlowCabalError) else None
