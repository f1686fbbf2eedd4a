"""A change of the book, and the places that depend on it, as proposals that a writer ticks and applies at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter
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
    """The newest text of a chapter compared with its version `since` (0: the one before)."""

    chapter: ChapterId
    since: int = 0


@dataclass(frozen=True, slots=True)
class ChapterMoved:
    """A chapter moves to `position`. `origin` is the position that it had (0: the present one)."""

    moved: ChapterId
    position: int
    origin: int = 0


@dataclass(frozen=True, slots=True)
class FactChanged:
    """A record of the story gets another text."""

    record: RecordId
    text: str


BookChange = Rename | ChapterChanged | ChapterMoved | FactChanged
Directness = Literal["name", "record", "value", "subject", "receipt"]
"""Most direct first. name: it is the name; record: a record that quotes the changed words; value: it has the old value
of the same subject; subject: it mentions something that only the changed words introduce; receipt: a chapter that was
written from a context with the changed words, or with a chapter that now comes later."""
Answer = Literal["patch", "decide"]
"""patch: a difference is proposed, by rule or by a model; decide: no rule can propose one."""
WriterWord = Literal["holds", "decide"]
"""holds: the place is right as it is; decide: it is among the findings, and is decided there."""


@dataclass(frozen=True, slots=True)
class PatchQuestion:
    """The data for a model to propose a patch for a place that no rule can change.

    changed: the book had `was` and now has `now` ("": nothing in its place). moved: a chapter that contains `was` now
    comes after the place.
    """

    kind: Literal["changed", "moved"]
    was: str
    now: str = ""


@dataclass(frozen=True, slots=True)
class PlaceWord:
    """The writer's decision on a place of a change, stored with the review ("": it is listed again).

    `key` is the same for the same place of the same change until the text of the place or the value changes. `source`
    is the chapter that changed.
    """

    key: Digest
    word: WriterWord | Literal[""]
    chapter: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class ImpactRow:
    """A place that depends on the change. `proposal.id` is unique among the rows; `chosen`: ticked initially."""

    proposal: Proposal
    directness: Directness
    position: int
    title: str
    line: str
    start: int
    """The start of the proposal's quotation in `line`."""
    chosen: bool = True
    key: Digest = Digest("")
    """See `PlaceWord`."""
    asks: PatchQuestion | None = None
    """The question to a model; None: no model is asked about it."""
    word: WriterWord | None = None
    """The writer's decision."""

    @property
    def answer(self) -> Answer:
        """The kind of the proposal."""
        return "decide" if self.proposal.kind == "finding" else "patch"

    @property
    def is_by_model(self) -> bool:
        """True when a model proposed its difference."""
        return self.answer == "patch" and self.proposal.origin.by == "agent"


@dataclass(frozen=True, slots=True)
class Impact:
    """All places that depend on a change, the most direct first.

    `is_same`: the changed statement is the same as before, so nothing depends on the change.
    """

    change: BookChange
    rows: tuple[ImpactRow, ...] = ()
    is_same: bool = False
    taken: tuple[str, ...] = ()
    """New names that already belong to another entity."""
    kept: tuple[str, ...] = ()
    """Further names of the renamed entity, and unlisted forms of its surname, which stay."""
    settled: tuple[ImpactRow, ...] = ()
    """Places that the writer has decided; they are not among the rows."""
    unsaved: tuple[Chapter, ...] = ()
    """Chapters with a row and with unsaved text: nothing is applied before it is saved."""

    @property
    def digest(self) -> Digest:
        """A digest of the rows; it ensures that only the rows on the screen are applied."""
        values = [(row.proposal.id, row.proposal.quotation, row.proposal.says, row.chosen) for row in self.rows]
        return digest_of(values)

    @property
    def chapters(self) -> int:
        """The number of chapters with a row."""
        return len({row.proposal.place.chapter for row in self.rows if row.proposal.place and row.position})
