"""The current node: its output, its attempts, and its context."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.run import UNDER_WAY, NodeState, RunRequest
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import NodeView
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeNeedsHuman,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    NodeThinking,
    QuestionAnswered,
)
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.runs.words import OVER, refuse_without_chapter
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.subscriptions import on_event, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.workflows.document import WorkflowDocument
from flowcabal_tui.tui.workflows.workflow import WorkflowPane

_GATHERED: Final = mark("The context is being gathered: its receipt comes with the call to the model.")


class NodeController:
    """Shows one node of the current run; `positions` are the positions of the chapters in the story."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        document: WorkflowDocument,
        output: OutputPane,
    ) -> None:
        self._screen, self._project, self._view, self._document = screen, project, view, document
        self._output = output
        self.positions: dict[ChapterId | None, int] = {}
        self._watched: tuple[RunId, NodeId] | None = None
        """The node whose text is followed."""

    @on_request(WorkflowPane.NodeOpened)
    def open_node(self, node: NodeId) -> None:
        """Shows the output of a node, or its prompt if it has not run."""
        attempt(self._screen, self.choose_node(node), group="node", exclusive=True)
        self._view.show_pane("output" if self._view.run is not None else "prompt")

    @on_request(WorkflowPane.NodeChosen, group="node", exclusive=True)
    async def choose_node(self, node: NodeId) -> None:
        """Shows a node that the writer selected, and stops following the run."""
        if node != self._view.node:
            self._view.following = False
            await self.show_node(node)

    async def show_node(self, node: NodeId) -> None:
        """Shows a node in the output, prompt and receipt panes; of a node that contains others, the one at work."""
        self._view.node = node
        self._document.show_prompt(node)
        shown = self._document.at_work_inside(node) or node
        self._watched = (self._view.run, shown) if self._view.run is not None else None
        self._project.watch(self._view.run, shown)
        if self._view.run is None or shown not in self._document.node_states:
            self._output.show(None)
            self._screen.query_one(ReceiptPane).clear()
            return
        view = await self._project.runs.node(self._view.run, shown)
        if (self._view.run, shown) != self._watched:
            return
        view = replace(view, state=self._state_now(view), title=self._title(shown, view))
        self._output.show(view)
        self.show_receipt(view, view.chosen or len(view.attempts))

    def _title(self, shown: NodeId, view: NodeView) -> str:
        """The name of the node, after that of the displayed one that contains it."""
        if "/" not in shown:
            return view.title
        pane = self._screen.query_one(WorkflowPane)
        around = [pane.title(self._view.node)] if self._view.node not in (None, shown) else []
        return ": ".join([*around, pane.title(shown)])

    def _state_now(self, view: NodeView) -> NodeState:
        """The state of the node, from the last report while it works."""
        state = self._document.reported.get(view.node, view.state)
        return state if view.state not in OVER and state in UNDER_WAY else view.state

    @on_request(OutputPane.ReceiptRequested)
    def open_receipt(self, run: RunId, node: NodeId, attempt: int) -> None:
        """Shows the receipt of an attempt of the current node."""
        self.follow_attempt(attempt)
        self._view.show_pane("context")

    @on_request(OutputPane.AttemptChosen)
    def follow_attempt(self, number: int) -> None:
        """Shows the receipt of the attempt that is now displayed."""
        if self._output.view is not None:
            self.show_receipt(self._output.view, number)

    def show_receipt(self, view: NodeView, number: int) -> None:
        """Shows the receipt of an attempt, if it has one."""
        attempt = next((item for item in view.attempts if item.number == number), None)
        pane = self._screen.query_one(ReceiptPane)
        if attempt is None or attempt.receipt is None:
            pane.clear(_(_GATHERED) if view.state in UNDER_WAY and not view.attempts else "")
        else:
            before = next((item.receipt for item in view.attempts if item.number == number - 1), None)
            pane.show(attempt.receipt, self._receipt_title(view.title, attempt.receipt), before)

    def _receipt_title(self, node: str, receipt: Receipt) -> str:
        """A node's name with the chapter's number."""
        position = self.positions.get(receipt.chapter)
        return node if position is None else _("{node}, chapter {n}").format(node=node, n=position)

    @on_event
    def _show_text(self, event: NodeStreaming) -> None:
        if (event.run, event.node) == self._watched:
            self._output.append(event.attempt, event.offset, event.chunk)

    @on_event
    def _show_thinking(self, event: NodeThinking) -> None:
        if (event.run, event.node) == self._watched:
            self._output.append_thinking(event.attempt, event.chunk)

    @on_event
    def _show_node_state(self, event: NodeStateChanged) -> None:
        """One row of the workflow changes; the view follows if it may."""
        if event.run != self._view.run:
            return
        self._document.note_state(event.node, event.state)
        pane, shown = self._screen.query_one(WorkflowPane), self._view.node
        pane.set_state(event.node, event.state, event.detail)
        has_ended = self._document.node_states.get(shown) in OVER if shown is not None else True
        if self._view.following and (event.state in ("running", "waiting") or (event.state == "ready" and has_ended)):
            pane.follow(event.node)
            attempt(self._screen, self.show_node(event.node), group="moved")
        elif shown is not None and f"{event.node}/".startswith(f"{shown}/"):
            attempt(self._screen, self.show_node(shown), group="moved")

    @on_event
    def _read_node(self, event: NodeStarted | NodeCompleted | NodeNeedsHuman) -> None:
        """An attempt began or is final."""
        source = event.question if isinstance(event, NodeNeedsHuman) else event
        attempt(self._screen, self.text_moved(source.run, source.node), group="moved")

    @on_event
    def _read_answered(self, _event: QuestionAnswered) -> None:
        """Shows the node without its question."""
        if self._view.node is not None:
            attempt(self._screen, self.show_node(self._view.node), group="moved")

    @on_request(OutputPane.ReloadRequested, group="node", exclusive=True)
    async def text_moved(self, run: RunId, node: NodeId) -> None:
        """Reads a node again if it is displayed."""
        if (run, node) == self._watched and self._view.node is not None:
            await self.show_node(self._view.node)

    @on_request(OutputPane.DiffRequested)
    async def compare(self, run: RunId, node: NodeId, attempt: int) -> None:
        """Compares this attempt with the one before it."""
        view = await self._project.runs.node(run, node)
        texts = {item.number: item.text for item in view.attempts}
        if attempt in texts and attempt - 1 in texts:
            title = _("{node}: attempt {before} and {after}").format(node=view.title, before=attempt - 1, after=attempt)
            self._screen.app.push_screen(DiffScreen(title, texts[attempt - 1], texts[attempt]))

    @on_request(WorkflowPane.PreviewRequested)
    def open_preview(self, node: NodeId) -> None:
        """Shows the context pane with a preview for the node."""
        attempt(self._screen, self.preview(node))
        self._view.show_pane("context")

    async def preview(self, node: NodeId) -> None:
        """Shows the context that the node would get now; spends nothing."""
        if (workflow := self._document.workflow) is not None:
            refuse_without_chapter(workflow, self._view.chapter)
            receipt = await self._project.runs.preview_context(RunRequest(workflow.reference, self._view.chapter), node)
            title = _("{node}, as it would be now").format(node=workflow.node(node).title)
            self._screen.query_one(ReceiptPane).show(receipt, title)
