"""What a guest may ask of a project."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal

from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation, NodeId, OutputId, QuestionId, RunId
from flowcabal_tui.domain.manuscript import ReferenceId
from flowcabal_tui.domain.memory import Entity, KeepKind, KeepMode, Level, MetaName
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.domain.story import RecordId, StoryRecord
from flowcabal_tui.domain.workflow import Workflow


@dataclass(frozen=True, slots=True)
class Command:
    """Base of what a guest may ask; the engine answers each with events that carry its id."""

    type: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class SaveWorkflow(Command):
    """Stores a document as a new version, if it differs; `keep_version`: as its own version, if that is free."""

    type: ClassVar[str] = "workflow:save"
    workflow: Workflow
    keep_version: bool = False


@dataclass(frozen=True, slots=True)
class RunWorkflow(Command):
    """Starts a run."""

    type: ClassVar[str] = "workflow:run"
    request: RunRequest


@dataclass(frozen=True, slots=True)
class ResumeRun(Command):
    """Goes on with a run that ended early; `continues`: cut-off texts are continued, not written from the start."""

    type: ClassVar[str] = "workflow:resume"
    run: RunId
    continues: bool = False


@dataclass(frozen=True, slots=True)
class CancelRun(Command):
    """Stops a run or a node at once; partial text stays. With `branch` all nodes that depend on it are stopped too."""

    type: ClassVar[str] = "workflow:cancel"
    run: RunId
    node: NodeId | None = None
    branch: bool = False


@dataclass(frozen=True, slots=True)
class AdvanceRun(Command):
    """In step mode: begins the next level."""

    type: ClassVar[str] = "workflow:advance"
    run: RunId


@dataclass(frozen=True, slots=True)
class SelectVersion(Command):
    """From now on this version stands for the node, for this chapter; what depends on it becomes stale.

    `workflow` is an id, with or without a version; `node` a path. The version may be of any of its runs.
    """

    type: ClassVar[str] = "version:select"
    workflow: str
    node: NodeId
    digest: Digest
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class EditOutput(Command):
    """A person's text becomes a version of the node and stands for it. Of a node that gives JSON it must be JSON.

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
    """Every later run for this chapter takes the version (none: the one that stands) and does not run the node."""

    type: ClassVar[str] = "node:freeze"
    workflow: str
    node: NodeId
    chapter: ChapterId | None = None
    digest: Digest = Digest("")


@dataclass(frozen=True, slots=True)
class UnfreezeNode(Command):
    """The node runs again where its inputs have changed; its output stands until then."""

    type: ClassVar[str] = "node:unfreeze"
    workflow: str
    node: NodeId
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class FreezeBlock(Command):
    """Freezes one virtual block of a prompt, or thaws it, as a new version of the document, which is the result.

    `field` names the list of blocks, such as "prompt" or "draft.system"; `block` counts from 0. `text` is what the
    block holds from now on; none: the output that stands for its node, for this chapter.
    """

    type: ClassVar[str] = "block:freeze"
    workflow: str
    node: NodeId
    block: int
    field: str = "prompt"
    frozen: bool = True
    text: str | None = None
    chapter: ChapterId | None = None


@dataclass(frozen=True, slots=True)
class Decide(Command):
    """Answers a question."""

    type: ClassVar[str] = "human:decision"
    question: QuestionId
    decision: Decision


@dataclass(frozen=True, slots=True)
class PersistOutput(Command):
    """Keeps an output of a run in the memory of the book; with `partial` also a text that was cut off."""

    type: ClassVar[str] = "output:persist"
    run: RunId
    node: NodeId
    attempt: int = 0
    kind: KeepKind | None = None
    mode: KeepMode | None = None
    chapter: ChapterId | None = None
    tags: tuple[str, ...] = ()
    partial: bool = False


@dataclass(frozen=True, slots=True)
class DeleteOutput(Command):
    """Takes a kept output out of the memory; can be undone with `restore`."""

    type: ClassVar[str] = "output:delete"
    output: OutputId
    restore: bool = False


@dataclass(frozen=True, slots=True)
class WriteChapter(Command):
    """Saves text, with `settles_draft` the unsaved one. The result is the version; see `Book.write` for the guard."""

    type: ClassVar[str] = "chapter:write"
    chapter: ChapterId
    text: str
    expected_version: int | None = None
    note: str = ""
    settles_draft: bool = False


@dataclass(frozen=True, slots=True)
class AddChapter(Command):
    """Adds an empty chapter, at the end or at a position."""

    type: ClassVar[str] = "chapter:add"
    title: str
    volume: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True)
class EditChapter(Command):
    """Renames, moves, deletes or undeletes a chapter, or puts it into another volume."""

    type: ClassVar[str] = "chapter:edit"
    chapter: ChapterId
    title: str | None = None
    volume: str | None = None
    position: int | None = None
    deleted: bool | None = None


@dataclass(frozen=True, slots=True)
class WriteMeta(Command):
    """Writes the outline, style guide, world rules or notes; `expected_version` guards as in `WriteChapter`."""

    type: ClassVar[str] = "meta:write"
    name: MetaName
    text: str
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class PutEntity(Command):
    """Writes an entity by hand; the hand's edit wins."""

    type: ClassVar[str] = "entity:put"
    entity: Entity


@dataclass(frozen=True, slots=True)
class RemoveEntity(Command):
    """Removes an entity."""

    type: ClassVar[str] = "entity:remove"
    entity: EntityId


@dataclass(frozen=True, slots=True)
class PutRecord(Command):
    """Writes a relation, fact, promise or moment by hand; the hand's edit wins. An empty id makes a new one.

    The result is its id.
    """

    type: ClassVar[str] = "story:put"
    record: StoryRecord


@dataclass(frozen=True, slots=True)
class RemoveRecord(Command):
    """Takes a record out by hand: agents do not bring it back."""

    type: ClassVar[str] = "story:remove"
    record: RecordId


@dataclass(frozen=True, slots=True)
class WriteProfile(Command):
    """Writes a level of a profile or summary by hand; it stands until the writer takes what was made since.

    `uri` is that of the profile browser, such as `profiles/characters/<entity>`, `manuscript/<chapter>`.
    """

    type: ClassVar[str] = "profile:write"
    uri: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class PinProfile(Command):
    """From now on contexts read this state of the history (None: the newest again), wherever they may see it."""

    type: ClassVar[str] = "profile:pin"
    uri: str
    generation: Generation | None = None


@dataclass(frozen=True, slots=True)
class TakeProfile(Command):
    """Takes what was made since the writer's own words or pin: both count no longer, and stay in the history."""

    type: ClassVar[str] = "profile:take"
    uri: str


@dataclass(frozen=True, slots=True)
class RegenerateProfile(Command):
    """Makes a profile or summary once more, as of the newest chapter that it knows; the old one is read until then."""

    type: ClassVar[str] = "profile:regenerate"
    uri: str


@dataclass(frozen=True, slots=True)
class ImportManuscript(Command):
    """Reads a file or folder as chapters at the end of the book, or as a reference book; spends no money."""

    type: ClassVar[str] = "manuscript:import"
    path: str
    last: int | None = None
    """Import only the first so many chapters."""
    reference: str = ""
    """The title of a reference book, which never becomes a part of the writer's own; "": it is the writer's."""
    again: bool = False
    """Import what stands in the book already a second time."""


@dataclass(frozen=True, slots=True)
class RemoveReference(Command):
    """Takes a reference book off the shelf."""

    type: ClassVar[str] = "reference:remove"
    reference: ReferenceId


@dataclass(frozen=True, slots=True)
class StartBootstrap(Command):
    """Has imported chapters read by the agents' model, for money; goes on with a reading that is paused.

    `first` and `last` are places in the story (None: from the first, to the last); no call begins after `max_cost`.
    The result is the job's id.
    """

    type: ClassVar[str] = "bootstrap:start"
    first: int | None = None
    last: int | None = None
    max_cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PauseBootstrap(Command):
    """Lets the calls that are under way end, and begins no more; with `drop` the rest is given up."""

    type: ClassVar[str] = "bootstrap:pause"
    drop: bool = False


@dataclass(frozen=True, slots=True)
class RewriteSelection(Command):
    """Asks the user model for another version of a passage; the answer comes as `rewrite:proposed`."""

    type: ClassVar[str] = "rewrite:request"
    chapter: ChapterId
    start: int
    end: int
    text: str
    instruction: str


@dataclass(frozen=True, slots=True)
class WaiveFinding(Command):
    """Calls a finding intended, with a reason that is remembered."""

    type: ClassVar[str] = "finding:waive"
    draft_quote: str
    source_quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class RetryBackground(Command):
    """Takes up failed or cancelled background work again (all, or one task)."""

    type: ClassVar[str] = "background:retry"
    task: int | None = None


@dataclass(frozen=True, slots=True)
class CancelBackground(Command):
    """Cancels what the background still has to do (all, or one task); it can be retried."""

    type: ClassVar[str] = "background:cancel"
    task: int | None = None


RebuildPart = Literal["index", "summaries", "profiles", "knowledge", "stale", "all"]
"""stale: only what was made from text that was changed since."""


@dataclass(frozen=True, slots=True)
class Rebuild(Command):
    """Makes what is derived of the book again from its texts; what hands wrote stays, what was paid is not paid twice.

    The index is right when the command is done; the rest follows as background work. The result is how many steps
    wait. With `uris`, of what is stale only these texts.
    """

    type: ClassVar[str] = "memory:rebuild"
    what: RebuildPart = "all"
    uris: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Purge(Command):
    """Takes a chapter, or a kept output, out of the project's file for good; it cannot be undone."""

    type: ClassVar[str] = "memory:purge"
    chapter: ChapterId | None = None
    output: OutputId | None = None
