"""Shows what the run in view waits for: in the output pane, and in the row of notices beside any other pane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from textual.screen import Screen
from textual.timer import Timer

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.tui.runs.controller import RunController
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.waits import Waits
from flowcabal_tui.tui.shared.notices import GoesOn
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.workflows.document import WorkflowDocument

TICK_SECONDS: Final = 1.0


class WaitController:
    """Counts the seconds while something waits."""

    def __init__(
        self,
        screen: Screen[Any],
        runs: RunController,
        document: WorkflowDocument,
        output: OutputPane,
        now: Callable[[], float],
    ) -> None:
        self._screen, self._runs, self._document, self._output = screen, runs, document, output
        self.waits = Waits(now)
        self._timer: Timer | None = None
        self._said = ""

    def again(self, run: RunId, node: NodeId, seconds: float, reason: str) -> None:
        """A call is sent again later."""
        self.waits.again(run, node, seconds, reason)
        self.show()

    def sent(self, run: RunId, node: NodeId) -> None:
        """A call went out."""
        self.waits.sent(run, node)
        self.show()

    def moved(self, run: RunId, node: NodeId, state: NodeState, detail: str) -> None:
        """A node is in another state."""
        self.waits.moved(run, node, state, detail)
        self.show()

    def ended(self, run: RunId) -> None:
        """Nothing of the run waits."""
        self.waits.ended(run)
        self.show()

    def show(self) -> None:
        """Brings both places up to date."""
        run, node = self._runs.run, self._runs.node
        words = self.waits.words(run, node) if run is not None and node is not None else ""
        self._output.waiting(words)
        others = self.waits.others(run, node) if run is not None else ()
        told = words if getattr(self._screen, "pane_in_view", "") != "output" else ""
        parts = [f"{self._title(node)}: {told}"] if told and node is not None else []
        row = "  ".join([*parts, *(f"{self._title(path)}: {said}" for path, said in others[:1])])
        if row != self._said:
            self._said = row
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
