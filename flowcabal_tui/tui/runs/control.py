"""Control of runs: stars, the to-do list, step mode, repeating a node, and the versions of a node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import paid_models
from flowcabal_tui.protocol.runs import AdvanceRun, CancelRun, NodeStateChanged, RunStarted, RunStateChanged
from flowcabal_tui.protocol.workflows import FreezeNode, UnfreezeNode
from flowcabal_tui.tui.runs.controller import RunController
from flowcabal_tui.tui.runs.node_controller import NodeController
from flowcabal_tui.tui.runs.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.words import OVER, level_rows, next_level, quote_names, refuse_without_chapter
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.spending import agrees_to_stop
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.controller import GraphController
from flowcabal_tui.tui.workflows.document import WorkflowDocument, WorkflowOpened
from flowcabal_tui.tui.workflows.rows import NO_NODE
from flowcabal_tui.tui.workflows.workflow import WorkflowPane


class RunControl:
    """Stops, steps and repeats runs, and freezes and compares the outputs of single nodes."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        runs: RunController,
        nodes: NodeController,
        document: WorkflowDocument,
        graph: GraphController,
        editor: str,
    ) -> None:
        self._screen, self._project, self._runs, self._graph = screen, project, runs, graph
        self._document = document
        self._view, self._nodes, self._editor = view, nodes, editor
        self._verbs: Mapping[str, Callable[[NodeId], Awaitable[None]]] = {
            "target": graph.toggle_target, "versions": self._versions, "freeze": self._freeze,
            "again": self._again, "branch": self._stop_branch,
        }  # fmt: skip
        self._wishes: Mapping[str, Callable[[], Awaitable[None]]] = {
            "todo": self._todo, "quote": self._quote, "step": self._step, "save": self._save,
            "findings": graph.show_findings,
        }  # fmt: skip

    @on_request(WorkflowPane.VerbRequested, group="graph")
    async def do(self, verb: str, node: NodeId | None) -> None:
        """Carries out a key of the workflow pane."""
        if self._graph.can(verb):
            await self._graph.do(verb, node)
        elif verb in self._wishes:
            await self._wishes[verb]()
        elif node is not None:
            await self._verbs[verb](node)
        else:
            self._screen.notify(_(NO_NODE), markup=False)

    @on_request(BlockEditor.ParamsRequested, group="graph")
    async def edit_params(self) -> None:
        """Edits the parameters of the current node."""
        await self.do("params", self._view.node)

    @property
    def _workflow_id(self) -> str:
        return self._document.workflow.id if self._document.workflow else ""

    def _title(self, node: NodeId) -> str:
        nodes = self._document.workflow.nodes if self._document.workflow else ()
        return one_line(next((each.title for each in nodes if each.id == node), node), 60)

    async def _save(self) -> None:
        await self._document.save()
        saved = self._document.workflow.reference if self._document.workflow else ""
        self._screen.notify(_("Saved as {name}.").format(name=saved), markup=False)

    async def _todo(self) -> None:
        """Lists the work that is left, level by level; a row leads to its node."""
        await self._document.save()
        levels = await self._project.workflows.todo(self._workflow_id, self._view.chapter, self._document.targets)
        if not any(levels):
            self._screen.notify(_("There is nothing to do: every output exists and is up to date."), markup=False)
            return
        titles = {node: self._title(node) for level in levels for node in level}
        rows = level_rows(levels, titles)
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("To do, level by level"), rows))
        if chosen is not None:
            self._screen.query_one(WorkflowPane).follow(NodeId(chosen))
            await self._nodes.choose_node(NodeId(chosen))

    async def _quote(self) -> None:
        await self._document.save()
        if self._document.workflow is None:
            return
        refuse_without_chapter(self._document.workflow, self._view.chapter)
        request = RunRequest(self._document.workflow.reference, self._view.chapter, targets=self._document.targets)
        models = paid_models(self._project.info.models, "user", "agent")
        words = quote_names(await self._project.runs.quote(request), models)
        if await self._screen.app.push_screen_wait(ConfirmScreen(_("What would run"), words, yes=_("Run"))):
            await self._runs.start(self._document.targets)

    async def _step(self) -> None:
        await self._runs.start(self._document.targets, step=True)

    async def _again(self, node: NodeId) -> None:
        await self._document.save()
        await self._runs.again(node)

    @property
    def _going(self) -> RunId | None:
        """The run in view, while it is at work or waits for the writer."""
        run = self._view.run
        return run if run and self._runs.run_states.get(run) in ("running", "paused", "waiting") else None

    @on_key("run.stop")
    @on_request(WorkflowPane.StopRequested)
    @on_request(OutputPane.StopRequested)
    async def stop(self, node: NodeId | None = None) -> None:
        """Stops the current run, even if it waits for the writer, or one node of it; without one, every active run."""
        targets = (self._going,) if self._going else self._runs.active if node is None else ()
        if not targets:
            self._screen.notify(_("Nothing is running."), markup=False)
        elif node is not None and self._document.node_states.get(node) in OVER:
            self._screen.notify(_("This step has ended. `X` in the workflow stops the whole run."), markup=False)
        elif await agrees_to_stop(self._screen.app, _("Stop the run?") if node is None else _("Stop this step?")):
            for run in targets:
                await self._project.carry_out(CancelRun(run, node))

    async def _stop_branch(self, node: NodeId) -> None:
        if self._going is None:
            self._screen.notify(_("Nothing is running."), markup=False)
        elif await agrees_to_stop(self._screen.app, _("Stop this step and the steps that depend on it?")):
            await self._project.carry_out(CancelRun(self._going, node, branch=True))

    async def _freeze(self, node: NodeId) -> None:
        """Freezes the current output of a node, or lets the node run again."""
        statuses = await self._project.workflows.statuses(self._workflow_id, self._view.chapter)
        output = next((each.output for each in statuses if each.node == node), None)
        if output is None:
            self._screen.notify(_("It has no output to freeze yet."), markup=False)
        elif output.frozen:
            await self._project.carry_out(UnfreezeNode(self._workflow_id, node, self._view.chapter))
            self._screen.notify(_("{node} runs again when needed.").format(node=self._title(node)), markup=False)
        else:
            await self._project.carry_out(FreezeNode(self._workflow_id, node, self._view.chapter))
            self._screen.notify(
                _("{node} is frozen: later runs use its output.").format(node=self._title(node)), markup=False
            )
        await self._graph.refresh_marks()

    async def _versions(self, node: NodeId) -> None:
        target = self._workflow_id, node, self._view.chapter
        if not await self._project.workflows.versions(*target):
            self._screen.notify(_("This node has no output yet."), markup=False)
            return
        page = NodeVersionsScreen(self._title(node), self._project, *target, self._editor)
        await self._screen.app.push_screen_wait(page)
        await self._graph.refresh_marks()

    @on_key("run.advance", group="graph")
    async def advance(self) -> None:
        """Begins the next level of the current run in step mode."""
        run = self._view.run
        state = self._runs.run_states.get(run) if run is not None else None
        if run is None or state != "paused":
            nothing = _("No run is paused between levels: `S` in the workflow runs level by level.")
            words = _("A decision waits for you: F8.") if state == "waiting" else nothing
            self._screen.notify(words, markup=False)
            return
        await self._project.carry_out(AdvanceRun(run))
        self.announce_level()

    @on_event
    def _follow_run(self, event: RunStarted | RunStateChanged | NodeStateChanged) -> None:
        if event.run == self._view.run:
            self.announce_level()

    @on_event
    def _follow_workflow(self, _event: WorkflowOpened) -> None:
        self.announce_level()

    def announce_level(self) -> None:
        """Shows the next level while the current run is paused."""
        words, run = "", self._view.run
        if run is not None and self._document.workflow is not None and self._runs.run_states.get(run) == "paused":
            nodes = next_level(self._document.workflow, self._document.node_states)
            names = _(", ").join(self._title(each) for each in nodes)
            words = _("Paused. F7 starts: {names}").format(names=names)
        self._screen.query_one(WorkflowPane).show_notice(words)
