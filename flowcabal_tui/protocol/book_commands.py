"""What a guest may ask that changes several chapters in one go, or says what the next context of one is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from flowcabal_tui.domain.context import Scene, SceneField
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.domain.story import StoryRecord
from flowcabal_tui.protocol.commands import Command


@dataclass(frozen=True, slots=True)
class ReplaceText(Command):
    """Puts `by` in the place of `words` at these places: one new version of each chapter, or nothing at all.

    The result is the generation, by which `RevertChange` takes all of it back.
    """

    type: ClassVar[str] = "text:replace"
    words: str
    by: str
    places: tuple[TextPlace, ...]


@dataclass(frozen=True, slots=True)
class RevertChange(Command):
    """Takes back what `ReplaceText` did: the texts before it become the newest versions, unless one was changed since.

    The result is the generation.
    """

    type: ClassVar[str] = "text:revert"
    generation: Generation


@dataclass(frozen=True, slots=True)
class SplitChapter(Command):
    """From the character `at` on the text becomes a chapter of its own behind this one, which keeps its id.

    The result is the new chapter's id.
    """

    type: ClassVar[str] = "chapter:split"
    chapter: ChapterId
    at: int
    title: str
    expected_version: int


@dataclass(frozen=True, slots=True)
class MergeChapters(Command):
    """Puts the text of the following chapter at the end of this one; that one leaves the book, its versions stay."""

    type: ClassVar[str] = "chapter:merge"
    chapter: ChapterId
    following: ChapterId


@dataclass(frozen=True, slots=True)
class AcceptRewrite(Command):
    """Remembers that `after`, which `model` wrote, was put in for text[start:end]: its words are the model's."""

    type: ClassVar[str] = "rewrite:accept"
    chapter: ChapterId
    text: str
    start: int
    end: int
    after: str
    model: str = ""
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class SetScene(Command):
    """Sets who is in the scene of a chapter, where, when, and which kind of scene it is; it wins over rule and model.

    What is None in `scene` stays as it is; the fields in `forget` are read by rule and model again.
    """

    type: ClassVar[str] = "scene:set"
    chapter: ChapterId
    scene: Scene
    forget: tuple[SceneField, ...] = ()


@dataclass(frozen=True, slots=True)
class DecideProposals(Command):
    """Confirms proposals (they are written as a hand's word) or drops them (agents do not say them again), all at
    once; `UndoDecision` takes it back."""

    type: ClassVar[str] = "proposal:decide"
    proposals: tuple[ProposalId, ...]
    verdict: Literal["confirm", "drop"]


@dataclass(frozen=True, slots=True)
class CorrectProposal(Command):
    """Writes the entity or record of a proposal as the writer has edited it."""

    type: ClassVar[str] = "proposal:correct"
    proposal: ProposalId
    change: Entity | StoryRecord


@dataclass(frozen=True, slots=True)
class UndoDecision(Command):
    """Takes back the last decision about proposals, wherever it was made."""

    type: ClassVar[str] = "proposal:undo"


@dataclass(frozen=True, slots=True)
class WriteOutlinePart(Command):
    """Writes the words below one heading of the outline; every other character of the outline stays.

    With an empty `title` a heading for `chapter`, or for the book's volume `volume`, is added at its place in the
    story. `expected_version` is the outline's version that was read; VersionConflict when this part was changed since.
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
    """Assigns a part of the outline to a chapter ("": to none; None: as the rules say)."""

    type: ClassVar[str] = "outline:assign"
    title: str
    nth: int
    chapter: ChapterId | None
