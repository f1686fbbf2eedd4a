"""Commands and events of the book: chapters, outline, reference books, kept outputs."""

from __future__ import annotations

from typing import ClassVar

from flowcabal_tui.domain.context import Scene, SceneField
from flowcabal_tui.domain.ids import ChapterId, CommandId, Generation, NodeId, OutputId, RunId
from flowcabal_tui.domain.manuscript import ReferenceId
from flowcabal_tui.domain.memory import KeepKind, KeepMode, MetaName
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.proposed_rewrite import NO_REWRITE, RewriteId
from flowcabal_tui.domain.run import AngleCheck
from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.protocol.base import Command, Event, Order, event


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
class TagOutput(Command):
    """Replaces the tags of a kept output. Its text is not changed."""

    type: ClassVar[str] = "output:tag"
    output: OutputId
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeleteOutput(Command):
    """Removes a kept output from the memory; `restore` undoes it."""

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
class CheckBeats(Command):
    """Asks the agents' model which beats of the outline the newest text of a chapter brings, at the price of
    `quote_beats`.

    The answer is advice, which `beats` returns. Equal text and beats are not paid for twice.
    """

    type: ClassVar[str] = "beats:check"
    order: ClassVar[Order] = "beside"
    chapter: ChapterId


@dataclass(frozen=True, slots=True)
class ImportManuscript(Command):
    """Reads a file or folder as chapters at the end of the book, or as a reference book; spends no money."""

    type: ClassVar[str] = "manuscript:import"
    order: ClassVar[Order] = "beside"
    path: str
    last: int | None = None
    """Import only the first so many chapters."""
    reference: str = ""
    """The title of a reference book, which never becomes a part of the writer's own; "": it is the writer's."""
    again: bool = False
    """Import chapters that are already in the book a second time."""


@dataclass(frozen=True, slots=True)
class RemoveReference(Command):
    """Removes a reference book."""

    type: ClassVar[str] = "reference:remove"
    reference: ReferenceId


@dataclass(frozen=True, slots=True)
class RewriteSelection(Command):
    """Asks the user's model for another version of a passage, which fixes `findings`, follows the instruction, or both;
    the answer arrives as `rewrite:proposed`. ¶ A long passage is rewritten piece by piece; if findings are given, only
    the pieces that contain any."""

    type: ClassVar[str] = "rewrite:request"
    order: ClassVar[Order] = "beside"
    chapter: ChapterId
    start: int
    end: int
    text: str
    instruction: str
    findings: tuple[ProposalId, ...] = ()


@dataclass(frozen=True, slots=True)
class TakeRewrite(Command):
    """Writes the accepted changes of a proposed rewrite, by their numbers from 0 (None: all), as one version.

    The result is the generation, with which `RevertChange` undoes it.
    """

    type: ClassVar[str] = "rewrite:take"
    rewrite: RewriteId
    changes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class DropRewrite(Command):
    """Rejects a proposed rewrite."""

    type: ClassVar[str] = "rewrite:drop"
    rewrite: RewriteId


@dataclass(frozen=True, slots=True)
class ReplaceText(Command):
    """Replaces `words` by `by` at these places: one new version per chapter, or nothing at all.

    The result is the generation, with which `RevertChange` undoes all of it.
    """

    type: ClassVar[str] = "text:replace"
    words: str
    by: str
    places: tuple[TextPlace, ...]


@dataclass(frozen=True, slots=True)
class RevertChange(Command):
    """Undoes a logged change of the book as a whole: texts, places and titles become what they were before it.

    Nothing is undone when any part of it was changed since. The result is the generation of the undo.
    """

    type: ClassVar[str] = "text:revert"
    generation: Generation


@dataclass(frozen=True, slots=True)
class SplitChapter(Command):
    """Splits a chapter at the character `at`: the rest becomes a chapter of its own behind this one, which keeps its
    id.

    The result is the new chapter's id.
    """

    type: ClassVar[str] = "chapter:split"
    chapter: ChapterId
    at: int
    title: str
    expected_version: int


@dataclass(frozen=True, slots=True)
class MergeChapters(Command):
    """Appends the text of the next chapter to this one; the next chapter leaves the book, and its versions are kept."""

    type: ClassVar[str] = "chapter:merge"
    chapter: ChapterId
    following: ChapterId


@dataclass(frozen=True, slots=True)
class AcceptRewrite(Command):
    """Records that `after`, which `model` wrote, replaced text[start:end], so that its words count as the model's.

    Marks the proposed `rewrite` (0: none) as accepted.
    """

    type: ClassVar[str] = "rewrite:accept"
    chapter: ChapterId
    text: str
    start: int
    end: int
    after: str
    model: str = ""
    instruction: str = ""
    rewrite: RewriteId = NO_REWRITE


@dataclass(frozen=True, slots=True)
class SetScene(Command):
    """Sets the people, place, time and kind of a chapter's scene; it has priority over rule and model.

    Fields that are None in `scene` are unchanged; the fields in `forget` are determined by rule and model again.
    """

    type: ClassVar[str] = "scene:set"
    chapter: ChapterId
    scene: Scene
    forget: tuple[SceneField, ...] = ()


@dataclass(frozen=True, slots=True)
class EditScene(Command):
    """Changes one scene of a chapter, by its number from 1, in one of these ways; the other fields are None.

    `to`: its new number. `title`: its title, "" removes it. `join`: removes the break before it. `at`: inserts a break
    before this character of the chapter. `beats`: the outline's words for it; it must have a title. The result is the
    chapter's version.
    """

    type: ClassVar[str] = "scene:edit"
    chapter: ChapterId
    number: int
    expected_version: int
    to: int | None = None
    title: str | None = None
    join: bool = False
    at: int | None = None
    beats: str | None = None


@dataclass(frozen=True, slots=True)
class SwitchProofRule(Command):
    """Switches a proofing rule off for this book, or on again."""

    type: ClassVar[str] = "proofing:rule"
    rule: str
    on: bool = False


@dataclass(frozen=True, slots=True)
class SetGoals(Command):
    """Sets all goals of the book."""

    type: ClassVar[str] = "goals:set"
    goals: Goals


@dataclass(frozen=True, slots=True)
class WriteOutlinePart(Command):
    """Writes the text below one heading of the outline; the rest of the outline is not changed.

    With an empty `title`, adds a heading for `chapter`, or for the book's volume `volume`, at its place in the story.
    `expected_version` is the outline's version that was read; VersionConflict when this part was changed since.
    """

    type: ClassVar[str] = "outline:write"
    text: str
    title: str = ""
    nth: int = 1
    chapter: ChapterId = ChapterId("")
    expected_version: int | None = None
    volume: str = ""


@dataclass(frozen=True, slots=True)
class AssignOutline(Command):
    """Assigns a part of the outline to a chapter ("": to none; None: by the rules)."""

    type: ClassVar[str] = "outline:assign"
    title: str
    nth: int
    chapter: ChapterId | None


@event
class OutputPersisted(Event):
    """A text was stored durably; `created` is False if the same text was stored before."""

    type: ClassVar[str] = "output:persisted"
    output: OutputId
    chapter: ChapterId | None
    version: int
    created: bool
    node: NodeId | None = None


@event
class OutputChecked(Event):
    """Advice about kept text: contradictions and the 4-D test. Never a veto."""

    type: ClassVar[str] = "output:checked"
    chapter: ChapterId
    version: int
    checks: tuple[AngleCheck, ...]
    advice: tuple[str, ...] = ()


@event
class OutputDeleted(Event):
    """A kept output left the memory, or came back."""

    type: ClassVar[str] = "output:deleted"
    output: OutputId
    restored: bool = False


@event
class BookChanged(Event):
    """Chapters, meta texts or entities changed; clients must read the lists again."""

    type: ClassVar[str] = "book:changed"
    chapter: ChapterId | None = None


@event
class RewriteProposed(Event):
    """A new version of a selection was proposed and waits for the writer."""

    type: ClassVar[str] = "rewrite:proposed"
    command: CommandId
    chapter: ChapterId
    start: int
    end: int
    before: str
    after: str
    model: str = ""
    instruction: str = ""
    rewrite: RewriteId = NO_REWRITE


@event
class OutsideEdit(Event):
    """Another program changed the file of a chapter; the change is offered as a new version."""

    type: ClassVar[str] = "chapter:outside-edit"
    chapter: ChapterId
    path: str


@event
class ImportProgress(Event):
    """The progress of an import."""

    type: ClassVar[str] = "manuscript:progress"
    done: int
    total: int
    warnings: tuple[str, ...] = ()
