"""Shows the reason why the current run waits: in the output pane, and as a notice beside other panes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, Literal

from textual.screen import Screen
from textual.timer import Timer

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.memory import BY_RULE
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.locale import _
from flowcabal_tui.project.words import TASKS, inner_title
from flowcabal_tui.protocol.memory import BackgroundChanged
from flowcabal_tui.protocol.runs import (
    NodeRetrying,
    NodeStarted,
    NodeStateChanged,
    NodeStreaming,
    NodeThinking,
    RunStateChanged,
)
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.shared.notices import GoesOn
from flowcabal_tui.tui.shared.subscriptions import on_event
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.workflows.document import WorkflowDocument

SILENT_SECONDS: Final = 5.0
"""Seconds without output after which a call is shown as waiting."""


@dataclass(frozen=True, slots=True)
class Wait:
    """`reason`: why a call is sent again, or the work of a busy node; `until`: the time of the next call, None: it
    waits since `since`."""

    kind: Literal["again", "turn", "busy", "answer", "more"]
    since: float
    reason: str = ""
    until: float | None = None

    def words(self, now: float, background: str = "") -> str:
        """The reason and the seconds; "" while the wait is too short to be displayed.

        `background` is the step of background work that is running and may occupy the model.
        """
        if self.until is not None:
            left = max(0, ceil(self.until - now))
            words = _("Waiting {seconds} s before the call is sent again: {reason}. F9 stops.")
            return words.format(seconds=left, reason=one_line(self.reason).rstrip("."))
        passed = int(now - self.since)
        if passed < SILENT_SECONDS:
            return ""
        if self.kind == "turn" and background:
            words = _("Waiting for the model: {seconds} s. In the background: {step}; Q cancels it.")
            return words.format(seconds=passed, step=background)
        return {
            "turn": _("Waiting for the model: {seconds} s."),
            "busy": _("{reason}: {seconds} s. F9 stops."),
            "answer": _("No answer for {seconds} s. F9 stops."),
        }.get(self.kind, _("Nothing has arrived for {seconds} s. F9 stops.")).format(
            seconds=passed, reason=self.reason[:1].upper() + self.reason[1:]
        )


class Waits:
    """The waits of all runs by node; `now` returns seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._by_node: dict[tuple[RunId, NodeId], Wait] = {}
        self._sent: dict[tuple[RunId, NodeId], float] = {}
        self.background = ""
        """The kind of the running background step that may call a model, in words."""

    def __bool__(self) -> bool:
        return bool(self._by_node)

    def again(self, run: RunId, node: NodeId, seconds: float, reason: str) -> None:
        """Records that a call is sent again after `seconds`."""
        now = self._now()
        self._by_node[run, node] = Wait("again", now, reason, now + seconds)

    def sent(self, run: RunId, node: NodeId) -> None:
        """Records that a call was sent and its answer is awaited."""
        self._by_node[run, node] = Wait("answer", self._now())
        self._sent[run, node] = self._now()

    def arrived(self, run: RunId, node: NodeId) -> None:
        """Records that a piece of the answer arrived."""
        self._by_node[run, node] = Wait("more", self._now())

    def moved(self, run: RunId, node: NodeId, state: NodeState, detail: str) -> None:
        """Records the new state of a node."""
        place, known = (run, node), self._by_node.get((run, node))
        if state == "ready":
            self._by_node[place] = Wait("turn", self._now())
        elif state == "running" and detail:
            is_known = known is not None and known.kind == "busy" and known.reason == one_line(detail)
            self._by_node[place] = known if known and is_known else Wait("busy", self._now(), one_line(detail))
        elif state == "running" and known is not None and known.kind == "again":
            self._by_node[place] = replace(known, kind="answer", since=self._now(), until=None)
        elif state not in ("running", "retrying"):
            self._by_node.pop(place, None)
        elif state == "running" and known is not None and known.kind == "turn":
            del self._by_node[place]

    def ended(self, run: RunId) -> None:
        """Removes the waits of a run."""
        for places in (self._by_node, self._sent):
            for place in [place for place in places if place[0] == run]:
                del places[place]

    def elapsed(self, run: RunId, node: NodeId) -> int | None:
        """Whole seconds since the last call of a node went out; None when that is unknown."""
        sent = self._sent.get((run, node))
        return None if sent is None else int(self._now() - sent)

    def words(self, run: RunId, node: NodeId) -> str:
        """The wait of a node in words; "" if there is none."""
        known = self._by_node.get((run, node))
        return known.words(self._now(), self.background) if known else ""

    def others(self, run: RunId, node: NodeId | None) -> tuple[tuple[NodeId, str], ...]:
        """Other nodes of the run that wait for a call or are busy with other work; their text is not followed."""
        found = [(place[1], wait) for place, wait in self._by_node.items() if place[0] == run and place[1] != node]
        waits = [
            (path, wait.words(self._now(), self.background))
            for path, wait in found
            if wait.kind in ("again", "turn", "busy")
        ]
        return tuple((path, words) for path, words in waits if words)


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
    def _note_background(self, event: BackgroundChanged) -> None:
        if event.task is None:
            self.waits.background = self.waits.background if dict(event.counts).get("running") else ""
        elif event.task.kind not in (*BY_RULE, "knowledge"):
            self.waits.background = _(TASKS[event.task.kind]) if event.task.state == "running" else ""

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
        parts = [self._about(node, reason)] if reason and node is not None else []
        row = "  ".join([*parts, *(self._about(path, why) for path, why in others[:1])])
        if row != self._announced:
            self._announced = row
            self._screen.app.post_message(GoesOn("waits", row))
        if self.waits and self._timer is None:
            self._timer = self._screen.set_interval(TICK_SECONDS, self.show)
        elif not self.waits and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _about(self, node: NodeId, why: str) -> str:
        return _("{who}: {words}").format(who=self._title(node), words=why)

    def _title(self, node: NodeId) -> str:
        workflow = self._document.workflow
        known = {each.id: each.title for each in workflow.nodes} if workflow else {}
        return one_line(known.get(node) or inner_title(node), 40)
