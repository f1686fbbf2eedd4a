"""What the bridge tells the workspace: the facts of the engine, grouped by what the screen has to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message

if TYPE_CHECKING:
    from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
    from flowcabal_tui.domain.memory import BootstrapStatus, Totals
    from flowcabal_tui.domain.run import NodeState, RunState
    from flowcabal_tui.domain.trust import TrustState
    from flowcabal_tui.protocol.book import RewriteProposed
    from flowcabal_tui.protocol.memory import RebuildProgress


@dataclass
class RunMoved(Message):
    """A run began or is in another state."""

    run: RunId
    state: RunState


@dataclass
class WorkflowShown(Message):
    """Another workflow, version or run is in view."""


@dataclass
class MarksMoved(Message):
    """What stands, is frozen or is out of date changed."""


@dataclass
class CallSent(Message):
    """A model call of a node went out."""

    run: RunId
    node: NodeId


@dataclass
class CallWaits(Message):
    """A model call of a node is sent again after `seconds`."""

    run: RunId
    node: NodeId
    seconds: float
    reason: str


@dataclass
class NodeMoved(Message):
    """A node of a run is in another state."""

    run: RunId
    node: NodeId
    state: NodeState
    detail: str = ""


@dataclass
class NodeTextMoved(Message):
    """An attempt of a node began or is final: what is shown of the node is to be read again."""

    run: RunId
    node: NodeId


@dataclass
class QuestionsMoved(Message):
    """A question waits (`asked`), or no longer waits."""

    asked: bool


@dataclass
class BookMoved(Message):
    """Chapters, meta texts or entities changed; `chapter` is the one, if it was one; `kept`: text is safe now."""

    chapter: ChapterId | None = None
    kept: bool = False


@dataclass
class ProfilesMoved(Message):
    """Summaries or profiles are new."""


@dataclass
class TotalsMoved(Message):
    """More was spent."""

    totals: Totals


@dataclass
class KnowledgeMoved(Message):
    """The knowledge server is in another state."""

    state: str
    reason: str


@dataclass
class TrustMoved(Message):
    """What the project asks for is confirmed, or waits for the user."""

    state: TrustState


@dataclass
class MemoryMoved(Message):
    """Background work: how much is left, how much failed; what hinders it ("": nothing, None: as before).

    `owed` is the same of what the knowledge server is still to be told.
    """

    left: int
    failed: int
    reason: str | None
    owed: tuple[int, int, str | None]


@dataclass
class ReadingMoved(Message):
    """The reading of imported chapters went on, paused or ended."""

    status: BootstrapStatus


@dataclass
class RebuildMoved(Message):
    """A rebuild of the index went on."""

    progress: RebuildProgress


@dataclass
class RewriteCame(Message):
    """Another version of a passage is proposed."""

    proposal: RewriteProposed


@dataclass
class Said(Message):
    """Something that the writer should read."""

    title: str
    words: str = ""
    severity: Literal["information", "warning", "error"] = "information"
