"""A change of the book, and the places that rest on it, as proposals that a writer ticks and applies at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.story import RecordId
from flowcabal_tui.domain.text import digest_of


@dataclass(frozen=True, slots=True)
class Rename:
    """A name becomes another one, everywhere. `aliases` are further pairs, old and new."""

    name: str
    to: str
    aliases: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ChapterChanged:
    """The newest text of a chapter against its version `since` (0: the one before)."""

    chapter: ChapterId
    since: int = 0


@dataclass(frozen=True, slots=True)
class ChapterMoved:
    """A chapter goes to another place of the story, from 1; it may stand there already, then `origin` is its place of
    before (0: its present one)."""

    moved: ChapterId
    position: int
    origin: int = 0


@dataclass(frozen=True, slots=True)
class FactChanged:
    """A record of the story says something else."""

    record: RecordId
    text: str


BookChange = Rename | ChapterChanged | ChapterMoved | FactChanged
Directness = Literal["name", "record", "value", "subject", "receipt"]
"""Most direct first. name: it is the name; record: a record that quotes the changed words; value: it says the old value
of the same subject; subject: it says something of what only the changed words introduce; receipt: a chapter that was
written from a context with the changed words."""
Answer = Literal["patch", "decide"]
"""patch: a difference is proposed, by rule or by a model; decide: no rule can say what becomes of it."""
WriterWord = Literal["holds", "decide"]
"""holds: the place is right as it is; decide: it is among the findings, and is decided there."""


@dataclass(frozen=True, slots=True)
class PatchQuestion:
    """What a model must know to propose a patch for a place that no rule can change.

    changed: the book said `was` and says `now` ("": nothing in its place). moved: a chapter that says `was` comes after
    the place from now on.
    """

    kind: Literal["changed", "moved"]
    was: str
    now: str = ""


@dataclass(frozen=True, slots=True)
class PlaceWord:
    """The writer's word on a place of a change, kept with the review ("": it is listed again).

    `key` is the same for the same place of the same change until the place or the value says something else. `source`
    is the chapter that changed.
    """

    key: Digest
    word: WriterWord | Literal[""]
    chapter: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class ImpactRow:
    """A place that rests on the change. `proposal.id` is its own among the rows; `chosen`: ticked at first."""

    proposal: Proposal
    directness: Directness
    position: int
    title: str
    line: str
    start: int
    """Where the proposal's quotation begins in `line`."""
    chosen: bool = True
    key: Digest = Digest("")
    """See `PlaceWord`."""
    asks: PatchQuestion | None = None
    """None: no model is asked about it."""
    word: WriterWord | None = None
    """What the writer has said of it."""

    @property
    def answer(self) -> Answer:
        """What is proposed for it."""
        return "decide" if self.proposal.kind == "finding" else "patch"

    @property
    def is_by_model(self) -> bool:
        """Is its difference a model's?"""
        return self.answer == "patch" and self.proposal.origin.by == "agent"


@dataclass(frozen=True, slots=True)
class Impact:
    """All places that rest on a change, the most direct first.

    `is_same`: what the change makes true is the same as before, so nothing rests on it.
    """

    change: BookChange
    rows: tuple[ImpactRow, ...] = ()
    is_same: bool = False
    taken: tuple[str, ...] = ()
    """New names that somebody or something else has already."""
    kept: tuple[str, ...] = ()
    """Further names of whom is renamed, which stay."""
    settled: tuple[ImpactRow, ...] = ()
    """Places on which the writer's word is known; they are not among the rows."""

    @property
    def digest(self) -> Digest:
        """The same for the same rows: what is applied must be what was looked at."""
        said = [(row.proposal.id, row.proposal.quotation, row.proposal.says, row.chosen) for row in self.rows]
        return digest_of(said)

    @property
    def chapters(self) -> int:
        """How many chapters have a row."""
        return len({row.proposal.place.chapter for row in self.rows if row.proposal.place and row.position})
