"""Commands and events of the book: chapters, outline, reference books, kept outputs."""

from __future__ import annotations

from flowcabal_tui.domain.context import Scene, SceneField
from flowcabal_tui.domain.ids import ChapterId, CommandId, Generation, NodeId, OutputId, RunId
from flowcabal_tui.domain.manuscript import ReferenceId
from flowcabal_tui.domain.memory import KeepKind, KeepMode, MetaName
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.proposed_rewrite import NO_REWRITE, RewriteId
from flowcabal_tui.domain.run import AngleCheck
from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.protocol.base import Command, Event


class PersistOutput(Command, type="output:persist"):
    """Keeps an output of a run in the memory of the book; with `partial` also a text that was cut off."""

    run: RunId
    node: NodeId
    attempt: int = 0
    kind: KeepKind | None = None
    mode: KeepMode | None = None
    chapter: ChapterId | None = None
    tags: tuple[str, ...] = ()
    partial: bool = False


class TagOutput(Command, type="output:tag"):
    """Replaces the tags of a kept output. Its text is not changed."""

    output: OutputId
    tags: tuple[str, ...]


class DeleteOutput(Command, type="output:delete"):
    """Removes a kept output from the memory; `restore` undoes it."""

    output: OutputId
    restore: bool = False


class WriteChapter(Command, type="chapter:write"):
    """Saves text, with `settles_draft` the unsaved one. The result is the version; see `Book.write` for the guard."""

    chapter: ChapterId
    text: str
    expected_version: int | None = None
    note: str = ""
    settles_draft: bool = False
    is_older: bool = False
    """The text is that of an older version: the change is logged, so that `RevertChange` undoes it."""


class AddChapter(Command, type="chapter:add"):
    """Adds an empty chapter, at the end or at a position."""

    title: str
    volume: str = ""
    position: int | None = None


class EditChapter(Command, type="chapter:edit"):
    """Renames, moves, deletes or undeletes a chapter, or puts it into another volume."""

    chapter: ChapterId
    title: str | None = None
    volume: str | None = None
    position: int | None = None
    deleted: bool | None = None


class WriteMeta(Command, type="meta:write"):
    """Writes the outline, style guide, world rules or notes; `expected_version` guards as in `WriteChapter`."""

    name: MetaName
    text: str
    expected_version: int | None = None


class CheckBeats(Command, type="beats:check", when="beside"):
    """Asks the agents' model which beats of the outline the newest text of a chapter brings, at the price of
    `quote_beats`.

    The answer is advice, which `beats` returns. Equal text and beats are not paid for twice.
    """

    chapter: ChapterId


class ImportManuscript(Command, type="manuscript:import", when="beside"):
    """Reads a file or folder as chapters at the end of the book, or as a reference book; spends no money."""

    path: str
    last: int | None = None
    """Import only this many chapters, from the first one on; None: all."""
    reference: str = ""
    """The title of the reference book to import the file as; "": the file becomes part of the writer's own book."""
    again: bool = False
    """Import chapters that are already in the book a second time."""


class RemoveReference(Command, type="reference:remove"):
    """Removes a reference book."""

    reference: ReferenceId


class RewriteSelection(Command, type="rewrite:request", when="beside"):
    """Asks the user's model for another version of a passage, which fixes `findings`, follows the instruction, or both;
    the answer arrives as `rewrite:proposed`. ¶ A long passage is rewritten piece by piece; if findings are given, only
    the pieces that contain any."""

    chapter: ChapterId
    start: int
    end: int
    text: str
    instruction: str
    findings: tuple[ProposalId, ...] = ()


class TakeRewrite(Command, type="rewrite:take"):
    """Writes the accepted changes of a proposed rewrite, by their numbers from 0 (None: all), as one version.

    The result is the generation, with which `RevertChange` undoes it.
    """

    rewrite: RewriteId
    changes: tuple[int, ...] | None = None


class DropRewrite(Command, type="rewrite:drop"):
    """Rejects a proposed rewrite."""

    rewrite: RewriteId


class ReplaceText(Command, type="text:replace"):
    """Replaces `words` by `by` at these places: one new version per chapter, or nothing at all.

    The result is the generation, with which `RevertChange` undoes all of it.
    """

    words: str
    by: str
    places: tuple[TextPlace, ...]


class RevertChange(Command, type="text:revert"):
    """Undoes a logged change of the book as a whole: texts, places and titles become what they were before it.

    Nothing is undone when any part of it was changed since. The result is the generation of the undo.
    """

    generation: Generation


class SplitChapter(Command, type="chapter:split"):
    """Splits a chapter at the character `at`: the rest becomes a chapter of its own behind this one, which keeps its
    id.

    The result is the new chapter's id.
    """

    chapter: ChapterId
    at: int
    title: str
    expected_version: int


class MergeChapters(Command, type="chapter:merge"):
    """Appends the text of the next chapter to this one; the next chapter leaves the book, and its versions are kept."""

    chapter: ChapterId
    following: ChapterId


class AcceptRewrite(Command, type="rewrite:accept"):
    """Records that `after`, which `model` wrote, replaced text[start:end], so that its words count as the model's.

    Marks the proposed `rewrite` (0: none) as accepted.
    """

    chapter: ChapterId
    text: str
    start: int
    end: int
    after: str
    model: str = ""
    instruction: str = ""
    rewrite: RewriteId = NO_REWRITE


class SetScene(Command, type="scene:set"):
    """Sets the people, place, time and kind of a chapter's scene; it has priority over rule and model.

    Fields that are None in `scene` are unchanged; the fields in `forget` are determined by rule and model again.
    """

    chapter: ChapterId
    scene: Scene
    forget: tuple[SceneField, ...] = ()


class EditScene(Command, type="scene:edit"):
    """Changes one scene of a chapter, by its number from 1, in one of these ways; the other fields are None.

    `to`: its new number. `title`: its title, "" removes it. `join`: removes the break before it. `at`: inserts a break
    before this character of the chapter. `beats`: the outline's words for it; it must have a title. The result is the
    chapter's version.
    """

    chapter: ChapterId
    number: int
    expected_version: int
    to: int | None = None
    title: str | None = None
    join: bool = False
    at: int | None = None
    beats: str | None = None


class SwitchProofRule(Command, type="proofing:rule"):
    """Switches a proofing rule off for this book, or on again."""

    rule: str
    on: bool = False


class SetGoals(Command, type="goals:set"):
    """Sets all goals of the book."""

    goals: Goals


class WriteOutlinePart(Command, type="outline:write"):
    """Writes the text below one heading of the outline; the rest of the outline is not changed.

    With an empty `title`, adds a heading for `chapter`, or for the book's volume `volume`, at its place in the story.
    `expected_version` is the outline's version that was read; VersionConflict when this part was changed since.
    """

    text: str
    title: str = ""
    nth: int = 1
    chapter: ChapterId = ChapterId("")
    expected_version: int | None = None
    volume: str = ""


class AssignOutline(Command, type="outline:assign"):
    """Assigns a part of the outline to a chapter ("": to none; None: by the rules)."""

    title: str
    nth: int
    chapter: ChapterId | None


class OutputPersisted(Event, type="output:persisted"):
    """A text was stored durably; `created` is False if the same text was stored before."""

    output: OutputId
    chapter: ChapterId | None
    version: int
    created: bool
    node: NodeId | None = None


class OutputChecked(Event, type="output:checked"):
    """Advice about kept text: contradictions and the 4-D test. Never a veto."""

    chapter: ChapterId
    version: int
    checks: tuple[AngleCheck, ...]
    advice: tuple[str, ...] = ()


class OutputDeleted(Event, type="output:deleted"):
    """A kept output left the memory, or came back."""

    output: OutputId
    restored: bool = False


class BookChanged(Event, type="book:changed"):
    """Chapters, meta texts or entities changed; clients must read the lists again."""

    chapter: ChapterId | None = None


class RewriteProposed(Event, type="rewrite:proposed"):
    """A new version of a selection was proposed and waits for the writer."""

    command: CommandId
    chapter: ChapterId
    start: int
    end: int
    before: str
    after: str
    model: str = ""
    instruction: str = ""
    rewrite: RewriteId = NO_REWRITE


class OutsideEdit(Event, type="chapter:outside-edit"):
    """Another program changed the file of a chapter; the change is offered as a new version."""

    chapter: ChapterId
    path: str


class ImportProgress(Event, type="manuscript:progress"):
    """The progress of an import."""

    done: int
    total: int
    warnings: tuple[str, ...] = ()
