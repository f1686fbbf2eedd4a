"""Shows the reason why the current run waits: in the output pane, and as a notice beside other panes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from textual.screen import Screen
from textual.timer import Timer

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.protocol.runs import (
    NodeRetrying,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    NodeThinking,
    RunStateChanged,
)
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.waits import Waits
from flowcabal_tui.tui.shared.notices import GoesOn
from flowcabal_tui.tui.shared.subscriptions import on_event
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.workflows.document import WorkflowDocument

TICK_SECONDS: Final = 1.0


class WaitController:
    """Shows how long the calls of the current run have waited."""

    def __init__(
        self,
        screen: Screen[Any],
        view: OpenView,
        document: WorkflowDocument,
        output: OutputPane,
        now: Callable[[], float],
    ) -> None:
        self._screen, self._view, self._document, self._output = screen, view, document, output
        self.waits = Waits(now)
        self._timer: Timer | None = None
        self._announced = ""

    @on_event
    def _count_down(self, event: NodeRetrying) -> None:
        """A call is sent again later."""
        self.waits.again(event.run, event.node, event.seconds, event.reason)
        self.show()

    @on_event
    def _note_call(self, event: NodeStarted) -> None:
        self.waits.sent(event.run, event.node)
        self.show()

    @on_event
    def _note_text(self, event: NodeStreaming | NodeThinking) -> None:
        if self._output.view is not None and (event.run, event.node) == (self._output.view.run, self._output.view.node):
            self.waits.arrived(event.run, event.node)

    @on_event
    def _note_state(self, event: NodeStateChanged) -> None:
        self.waits.moved(event.run, event.node, event.state, event.detail)
        self.show()

    @on_event
    def _end(self, event: RunStateChanged) -> None:
        if event.state not in ("running", "paused", "waiting"):
            self.waits.ended(event.run)
            self.show()

    def show(self) -> None:
        """Updates the output pane and the row of notices."""
        run, node = self._view.run, self._output.view.node if self._output.view is not None else self._view.node
        words, elapsed = "", None
        if run is not None and node is not None:
            words, elapsed = self.waits.words(run, node), self.waits.elapsed(run, node)
        self._output.waiting(words)
        self._output.passed(elapsed)
        others = self.waits.others(run, node) if run is not None else ()
        reason = words if self._view.pane != "output" else ""
        parts = [f"{self._title(node)}: {reason}"] if reason and node is not None else []
        row = "  ".join([*parts, *(f"{self._title(path)}: {why}" for path, why in others[:1])])
        if row != self._announced:
            self._announced = row
            self._screen.app.post_message(GoesOn("waits", row))
        if self.waits and self._timer is None:
            self._timer = self._screen.set_interval(TICK_SECONDS, self.show)
        elif not self.waits and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _title(self, node: NodeId) -> str:
        workflow = self._document.workflow
        known = {each.id: each.title for each in workflow.nodes} if workflow else {}
        return one_line(known.get(node, str(node).rsplit("/", 1)[-1]), 40)
