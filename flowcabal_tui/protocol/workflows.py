"""Commands and events of workflows and of the versions of their outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.base import Command, Event, event


@dataclass(frozen=True, slots=True)
class SaveWorkflow(Command):
    """Stores a document as a new version, if it differs; `keep_version`: as its own version, if that is free."""

    type: ClassVar[str] = "workflow:save"
    workflow: Workflow
    keep_version: bool = False


@dataclass(frozen=True, slots=True)
class DeleteWorkflow(Command):
    """Deletes a workflow (its id) or an older version of it (`id@version`). Runs and their texts stay."""

    type: ClassVar[str] = "workflow:delete"
    workflow: str


@dataclass(frozen=True, slots=True)
class SelectVersion(Command):
    """Makes this version the node's current output, for this chapter; outputs that depend on it become out of date.

    `workflow` is an id, with or without a version; `node` a path. The version may be of any of its runs.
    """

    type: ClassVar[str] = "version:select"
    workflow: str
    node: NodeId
    digest: Digest
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class EditOutput(Command):
    """Stores a person's text as a version of the node and its current output. For a node that yields JSON it must be
    JSON.

    `base` is the version that was edited. The result is the new version's digest.
    """

    type: ClassVar[str] = "version:edit"
    workflow: str
    node: NodeId
    text: str
    chapter: ChapterId | None = None
    base: Digest = Digest("")


@dataclass(frozen=True, slots=True)
class FreezeNode(Command):
    """Freezes a node: every later run for this chapter uses the version (none: the current one) and does not run the
    node.
    """

    type: ClassVar[str] = "node:freeze"
    workflow: str
    node: NodeId
    chapter: ChapterId | None = None
    digest: Digest = Digest("")


@dataclass(frozen=True, slots=True)
class UnfreezeNode(Command):
    """Unfreezes a node: it runs again if its inputs have changed; its output stays current until then."""

    type: ClassVar[str] = "node:unfreeze"
    workflow: str
    node: NodeId
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class FreezeBlock(Command):
    """Freezes one virtual block of a prompt, or unfreezes it, as a new version of the document; the result is that
    version.

    `field` names the list of blocks, such as "prompt" or "draft.system"; `block` counts from 0. `text` is the frozen
    content; none: the current output of its node, for this chapter.
    """

    type: ClassVar[str] = "block:freeze"
    workflow: str
    node: NodeId
    block: int
    field: str = "prompt"
    frozen: bool = True
    text: str | None = None
    chapter: ChapterId | None = None


@event
class MarksChanged(Event):
    """The current, frozen or outdated outputs of a workflow's nodes changed (chapter None: for all chapters); clients
    must read them again."""

    type: ClassVar[str] = "marks:changed"
    workflow: str
    """Its id, without a version."""
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...] = ()


@event
class WorkflowSaved(Event):
    """A document was stored as a new version."""

    type: ClassVar[str] = "workflow:saved"
    workflow: str
    """`id@version`."""


@event
class WorkflowDeleted(Event):
    """A workflow, or an older version of it, was deleted."""

    type: ClassVar[str] = "workflow:deleted"
    workflow: str
    """`id`, or `id@version`."""
