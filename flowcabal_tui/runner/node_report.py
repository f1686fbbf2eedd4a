"""Reports about one node: its state as events, and its lines of the log."""

from __future__ import annotations

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.journal import EventKind, RunEvent
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.plan import PlannedNode
from flowcabal_tui.protocol.runs import NodeRetrying, NodeStateChanged
from flowcabal_tui.runner.scope import Frame


class NodeReport:
    """Emits the events and log lines of one node of a run."""

    __slots__ = ("_frame", "_node", "_ports", "_scope", "path")

    def __init__(self, frame: Frame, step: PlannedNode) -> None:
        self._frame, self._node = frame, step.node
        self._scope, self._ports = frame.scope, frame.scope.ports
        self.path = NodeId(frame.path + step.node.id)

    @property
    def rank(self) -> float:
        return self._frame.rank + self._frame.plan.ranks[self._node.id]

    @property
    def wanted_again(self) -> bool:
        """True when a new sample of this node, or of one that contains it, was requested."""
        again = self._scope.request.again
        return bool(again) and any(self.path == node or self.path.startswith(f"{node}/") for node in again)

    def state(self, state: NodeState, detail: str = "") -> None:
        """Emits the state of the node."""
        self._ports.emit(NodeStateChanged(self._scope.id, self.path, state, detail))

    def event(self, kind: EventKind, attempt: int = 0, **payload: object) -> RunEvent:
        """Returns a line of the log about this node."""
        return RunEvent(self._scope.id, kind, self.path, attempt, payload, at=self._ports.now())

    def paused(self, seconds: float) -> None:
        self.call_waits(seconds, _("the provider fails repeatedly: no new calls for a while"), 0)

    def call_waits(self, seconds: float, reason: str, attempt: int) -> None:
        """Reports that a call of the node, or of an agent on its behalf, waits before it is sent again; without a
        reason, the wait is over."""
        if reason:
            self._ports.emit(NodeRetrying(self._scope.id, self.path, seconds, reason, attempt))
        self.state("retrying" if reason else "running", reason)
