"""The workflow and its runs: the current run, the states of its nodes, starting and stopping."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.run import NodeState, Quote, RunFilter, RunRequest, RunState, RunSummary
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import paid_models, sum_words
from flowcabal_tui.protocol.runs import ResumeRun, RunStarted, RunStateChanged, RunWorkflow, UsageChanged
from flowcabal_tui.tui.runs.asking import ask_inputs, ask_instruction
from flowcabal_tui.tui.runs.history import RunPages, RunsScreen, as_waiting
from flowcabal_tui.tui.runs.node_controller import NodeController
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.words import INSTRUCTION, asks_for_instruction, quote_words, refuse_without_chapter
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.spending import agrees_to_pay, quote_price
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.wait import awaited
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.document import WorkflowDocument, WorkflowOpened
from flowcabal_tui.tui.workflows.workflow import WorkflowPane


class RunController:
    """Lists runs, starts and resumes them, and shows one with its workflow."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        document: WorkflowDocument,
        nodes: NodeController,
        has_model: Callable[[], Awaitable[bool]],
    ) -> None:
        """`has_model` asks the writer for a model if none is configured."""
        self._screen, self._project, self._view, self._document = screen, project, view, document
        self._nodes, self._has_model = nodes, has_model
        self.run_states: dict[RunId, RunState] = {}
        self._spent: dict[RunId, Totals] = {}
        """The cost so far of runs that have paid for a call since the project was opened."""

    @property
    def active(self) -> tuple[RunId, ...]:
        """Runs that are currently active."""
        return tuple(run for run, state in self.run_states.items() if state in ("running", "paused"))

    @property
    def interrupted(self) -> tuple[RunId, ...]:
        """Runs interrupted by a crash or by the end of the program."""
        return tuple(run for run, state in self.run_states.items() if state == "interrupted")

    async def load(self, chapter: ChapterId | None) -> None:
        """Loads templates and runs, and shows those of the chapter."""
        await self._document.load()
        await self.open_chapter(chapter)

    async def open_chapter(self, chapter: ChapterId | None) -> None:
        """Shows the newest run of the chapter, or the template as it would run."""
        await self._document.put_away()
        await self._place_chapters()
        newest = [as_waiting(run) for run in await self._project.runs.summaries(1, RunFilter(chapter))]
        unended = [as_waiting(run) for run in await self._project.runs.summaries(-1, RunFilter(unended=True))]
        self.run_states = {run.id: run.state for run in (*unended, *newest)}
        if newest:
            await self.show_run(newest[0], as_it_was=False)
        elif templates := self._document.templates:
            chosen = self._document.workflow or templates[0]
            known = next((item for item in templates if item.id == chosen.id), templates[0])
            await self.show_template(known.reference)

    async def _place_chapters(self) -> None:
        self._nodes.positions = {item.id: item.position for item in await self._project.book.chapters()}

    @on_request(WorkflowPane.TemplateChosen, group="node", exclusive=True)
    async def show_template(self, reference: str) -> None:
        """Shows a workflow that is not running."""
        await self._document.put_away()
        self._view.run = None
        self._document.take_states({})
        await self._show_workflow(await self._project.workflows.get(reference))

    async def show_run(self, summary: RunSummary, *, as_it_was: bool = True) -> None:
        """Shows a run and its nodes, with the document of that time or the newest one, so that edits are based on
        it."""
        self._view.run = summary.id
        self._document.take_states(dict(summary.nodes))
        document = await self._project.runs.run_workflow(summary.id)
        await self._show_workflow(document if as_it_was else self._document.newest(document))

    async def _show_workflow(self, workflow: Workflow) -> None:
        workflow = await self._document.open(workflow)
        states = self._document.node_states
        busy = ("waiting", "running", "retrying", "failed", "cancelled", "done")
        latest_first = [(node.id, states.get(node.id)) for node in reversed(workflow.nodes)]
        latest_first = [item for item in states.items() if item[1] == "waiting"] + latest_first
        ranked = sorted(latest_first, key=lambda item: busy.index(item[1]) if item[1] in busy else 9)
        self._view.node = None
        if workflow.nodes:
            node = ranked[0][0] if states else workflow.nodes[0].id
            self._screen.query_one(WorkflowPane).follow(node)
            await self._nodes.show_node(node)
        self._view.publish(WorkflowOpened())

    @on_event
    def _show_run_state(self, event: RunStarted | RunStateChanged) -> None:
        self.run_states[event.run] = event.state if isinstance(event, RunStateChanged) else "running"
        self.show_counts()

    @on_event
    def _show_cost(self, event: UsageChanged) -> None:
        if event.run is not None and event.of_run is not None:
            self._spent[event.run] = event.of_run
            self.show_counts()

    def show_counts(self) -> None:
        """Counts the runs in the status line, with the cost of the active ones so far."""
        paused = sum(state == "paused" for state in self.run_states.values())
        running, interrupted = len(self.active) - paused, len(self.interrupted)
        spent = [self._spent[run] for run in self.active if run in self._spent and self._spent[run].paid_calls]
        cost = sum_words((each.cost, each.currency) for each in spent) if all(each.currency for each in spent) else ""
        status = self._screen.query_one(StatusLine)
        status.facts = replace(status.facts, running=running, paused=paused, interrupted=interrupted, running_cost=cost)
        self._screen.refresh_bindings()

    @on_request(WorkflowPane.RunRequested, group="start", exclusive=True)
    @on_key("run.start", group="start", exclusive=True)
    async def run(self, targets: tuple[NodeId, ...] | None = None) -> None:
        """Runs the targets of the current workflow (None: those that the writer has set) for the open chapter, and
        shows the output."""
        if await self.start(self._document.targets if targets is None else targets):
            self._view.show_pane("output")
        self.show_counts()

    @on_request(BlockEditor.BlockRunRequested, group="start", exclusive=True)
    async def run_node(self, node: NodeId) -> None:
        """Runs one node with its dependencies."""
        await self.run((node,))

    async def start(self, targets: tuple[NodeId, ...], *, step: bool = False) -> bool:
        """Asks for an instruction, shows the price, runs. Returns True when a run has begun."""
        await self._document.save()
        workflow, chapter = self._document.workflow, self._view.chapter
        if workflow is not None:
            refuse_without_chapter(workflow, chapter)
        if workflow is None or not await self._has_model():
            return False
        wished: tuple[tuple[str, str], ...] | None = ((INSTRUCTION, ""),)
        if asks_for_instruction(workflow):
            wished = await ask_instruction(self._screen, self._project, workflow, chapter)
        if wished is None:
            return False
        inputs = await ask_inputs(self._screen, self._project, workflow, targets)
        if inputs is None:
            return False
        given = (*wished, *inputs)
        return await self._begin(RunRequest(workflow.reference, chapter, given, targets, step=step))

    @on_request(OutputPane.AgainRequested, group="start", exclusive=True)
    async def run_again(self, node: NodeId, continues: bool) -> None:
        """Makes another sample, or with `continues` the rest of a cut-off text."""
        await (self.go_on() if continues else self.again(node))

    async def again(self, node: NodeId) -> bool:
        """Requests another sample of a node besides the existing ones; returns True when a run has begun."""
        if self._document.workflow is None:
            return False
        if self._document.node_states.get(node) == "waiting":
            words = _("This step is waiting for your answer: F8. To write it again from the start, stop it first: F9.")
            self._screen.notify(words, markup=False)
            return False
        chapter, before = self._view.chapter, RunRequest(self._document.workflow.reference)
        if self._view.run is not None:  # what the writer wished for then holds for this attempt too
            details = await self._project.runs.run_details(self._view.run)
            chapter = details.summary.chapter
            before = replace(details.request, workflow=before.workflow)
        refuse_without_chapter(self._document.workflow, chapter)
        return await self._begin(replace(before, chapter=chapter).another(node))

    async def _begin(self, request: RunRequest) -> bool:
        templates, shown = self._document.templates, self._document.workflow
        if shown is not None and all(item.reference != request.workflow for item in templates):
            newest = next((item for item in templates if item.id == shown.id), None)
            request = replace(request, workflow=newest.reference if newest else request.workflow)
        quote = await self._quote(request)
        if quote is None:
            return False
        if not quote.is_free or quote.warnings:
            words = quote_words(quote, paid_models(self._project.info.models, "user", "agent"))
            if quote.is_free and not await self._screen.app.push_screen_wait(ConfirmScreen(_("Run?"), words)):
                return False
            if not quote.is_free and not await agrees_to_pay(self._screen.app, _("Run?"), (words,)):
                return False
        run = RunId(await self._project.carry_out(RunWorkflow(replace(request, limit=quote.pause))))
        self._view.following = True
        for summary in await self._project.runs.summaries(1, RunFilter(run=run)):
            self.run_states[run] = summary.state
            await self.show_run(summary)
        return True

    async def _quote(self, request: RunRequest) -> Quote | None:
        """The price of a run; None when the writer would not wait for it, which may take until the knowledge server has
        started."""
        words = _("The run is being prepared ...")
        if self._screen.query_one(StatusLine).facts.is_knowledge_starting:
            words = _("The run is being prepared; the knowledge server that it needs is starting ...")
        return await awaited(self._screen.app, words, self._project.runs.quote(request))

    async def choose_run(self) -> RunSummary | None:
        """Lists earlier runs, of which one that stopped or failed can be resumed; returns the chosen one."""
        await self._place_chapters()
        pages = RunPages(self._project, self._nodes.positions)
        choices = await pages.more()
        if not choices:
            self._screen.notify(_("Nothing has run yet. F5 runs the workflow."), markup=False)
            return None
        page = RunsScreen(pages, choices)
        chosen = await self._screen.app.push_screen_wait(page)
        summary = pages.found.get(chosen or "")
        if summary is None:
            return None
        await self._document.put_away()
        offers_resume = page.resumes or summary.state == "interrupted"
        title = _("Continue this run?")
        if offers_resume and await self._may_resume(summary.id, title, asks_always=not page.resumes):
            continues = await is_to_be_continued(self._screen, self._project, summary)
            if continues is not None:
                await self._project.carry_out(ResumeRun(summary.id, continues))
                self._view.following = True
        await self.show_run(summary)
        return summary

    async def _may_resume(self, run: RunId, title: str, *, asks_always: bool = True) -> bool:
        """The writer's answer to the price of the rest of a run.

        True without a question when it is free, unless `asks_always`.
        """
        quote = await self._quote((await self._project.runs.run_details(run)).request)
        if quote is None:
            return False
        kept = _("Finished nodes are not run again.")
        if quote.is_free:
            agreed: bool = not asks_always or await self._screen.app.push_screen_wait(ConfirmScreen(title, kept))
            return agreed
        return await agrees_to_pay(self._screen.app, title, quote_price(self._project, quote, asks=True), kept)

    async def go_on(self) -> None:
        """Continues the cut-off texts of the current run, after a question if that costs money."""
        title = _("Continue the cut-off text?")
        if self._view.run is None or not await self._may_resume(self._view.run, title, asks_always=False):
            return
        await self._project.carry_out(ResumeRun(self._view.run, continues=True))
        self._view.following = True
        for summary in await self._project.runs.summaries(1, RunFilter(run=self._view.run)):
            await self.show_run(summary)


_WHOLE: Final[frozenset[NodeState]] = frozenset({"done", "pending", "skipped", "blocked"})
"""States of nodes that have no text that was cut off."""


async def is_to_be_continued(screen: Screen[Any], project: Project, summary: RunSummary) -> bool | None:
    """Asks whether cut-off text of the run is to be continued or written from the start; None: neither."""
    views = [await project.runs.node(summary.id, node) for node, state in summary.nodes if state not in _WHOLE]
    cut = [view.title for view in views if any(item.text and not item.complete for item in view.attempts)]
    if not cut:
        return False
    title = _("The text of {names} was cut off").format(names=_(", ").join(cut))
    choices = (("continue", _("Continue it from where it stopped")), ("write", _("Write again from the start")))
    chosen = await screen.app.push_screen_wait(ChooseScreen(title, choices))
    return None if chosen is None else chosen == "continue"
