"""Commands and events of workflows and of the versions of their outputs."""

from __future__ import annotations

from flowcabal_tui.domain.ids import ChapterId, Digest, NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.base import Command, Event


class SaveWorkflow(Command, type="workflow:save"):
    """Stores a document as a new version, if it differs; `keep_version`: as its own version, if that is free."""

    workflow: Workflow
    keep_version: bool = False


class DeleteWorkflow(Command, type="workflow:delete"):
    """Deletes a workflow (its id) or an older version of it (`id@version`). Runs and their texts stay."""

    workflow: str


class SelectVersion(Command, type="version:select"):
    """Makes this version the node's current output, for this chapter; outputs that depend on it become out of date.

    `workflow` is an id, with or without a version; `node` a path. The version may be of any of its runs.
    """

    workflow: str
    node: NodeId
    digest: Digest
    chapter: ChapterId | None = None


class EditOutput(Command, type="version:edit"):
    """Stores a person's text as a version of the node and its current output. For a node that yields JSON it must be
    JSON.

    `base` is the version that was edited. The result is the new version's digest.
    """

    workflow: str
    node: NodeId
    text: str
    chapter: ChapterId | None = None
    base: Digest = Digest("")


class FreezeNode(Command, type="node:freeze"):
    """Freezes a node: every later run for this chapter uses the version (none: the current one) and does not run the
    node.
    """

    workflow: str
    node: NodeId
    chapter: ChapterId | None = None
    digest: Digest = Digest("")


class UnfreezeNode(Command, type="node:unfreeze"):
    """Unfreezes a node: it runs again if its inputs have changed; its output stays current until then."""

    workflow: str
    node: NodeId
    chapter: ChapterId | None = None


class FreezeBlock(Command, type="block:freeze"):
    """Freezes one virtual block of a prompt, or unfreezes it, as a new version of the document; the result is that
    version.

    `field` names the list of blocks, such as "prompt" or "draft.system"; `block` counts from 0. `text` is the frozen
    content; none: the current output of its node, for this chapter.
    """

    workflow: str
    node: NodeId
    block: int
    field: str = "prompt"
    frozen: bool = True
    text: str | None = None
    chapter: ChapterId | None = None


class MarksChanged(Event, type="marks:changed"):
    """The current, frozen or outdated outputs of a workflow's nodes changed (chapter None: for all chapters); clients
    must read them again."""

    workflow: str
    """Its id, without a version."""
    chapter: ChapterId | None
    nodes: tuple[NodeId, ...] = ()


class WorkflowSaved(Event, type="workflow:saved"):
    """A document was stored as a new version."""

    workflow: str
    """`id@version`."""


class WorkflowDeleted(Event, type="workflow:deleted"):
    """A workflow, or an older version of it, was deleted."""

    workflow: str
    """`id`, or `id@version`."""
