"""What the book says happened: relations, facts, promises and moments, each with the words that say it.

The `sentence` of a record's evidence is that quotation itself, as it stands in the chapter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NewType

from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId
from flowcabal_tui.domain.memory import Evidence

RecordId = NewType("RecordId", str)
Hand = Literal["hand", "agent"]
"""Whose word it is; a hand's edit wins and is never changed by an agent."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How one entity stands to another, such as "father of"; `directed` False: it holds both ways ("friends").

    It holds from chapter `since` on (None: from before the book) until before chapter `until` (None: to the end).
    """

    id: RecordId
    source: EntityId
    target: EntityId
    kind: str
    directed: bool = True
    since: ChapterId | None = None
    until: ChapterId | None = None
    evidence: tuple[Evidence, ...] = ()
    by: Hand = "hand"


@dataclass(frozen=True, slots=True)
class Knower:
    """Someone who knows a fact, from chapter `since` on (None: from before the book); `evidence`: learning it."""

    entity: EntityId
    since: ChapterId | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that holds in the story, as of a time: from `since` until before `until` (None: open).

    `about` are those whom it concerns. With an `attribute` ("lives in") it tells a state of the first of them: a
    later fact with the same attribute of the same one ends it. `secret`: only those in `known_by` know it.
    """

    id: RecordId
    text: str
    about: tuple[EntityId, ...] = ()
    attribute: str = ""
    since: ChapterId | None = None
    until: ChapterId | None = None
    secret: bool = False
    known_by: tuple[Knower, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    by: Hand = "hand"


@dataclass(frozen=True, slots=True)
class Promise:
    """Foreshadowing: planted in a chapter, due between two positions of the story (0: not said), paid or dropped.

    `paid` is the chapter that pays it; `evidence` shows the planting, `payment` the paying.
    """

    id: RecordId
    text: str
    planted: ChapterId
    due_from: int = 0
    due_until: int = 0
    paid: ChapterId | None = None
    dropped: bool = False
    about: tuple[EntityId, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    payment: tuple[Evidence, ...] = ()
    by: Hand = "hand"


@dataclass(frozen=True, slots=True)
class Moment:
    """An event on the timeline: told in `chapter`, happening at `when` in the story's own words.

    `order` sorts moments of the story's time (None: at the place where it is told), so that a flashback can
    stand before what is told earlier.
    """

    id: RecordId
    text: str
    chapter: ChapterId
    when: str = ""
    order: float | None = None
    about: tuple[EntityId, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    by: Hand = "hand"


StoryRecord = Relation | Fact | Promise | Moment


def wording(record: StoryRecord) -> str:
    """What a record says, in its own words."""
    return record.kind if isinstance(record, Relation) else record.text


@dataclass(frozen=True, slots=True)
class Sequel:
    """What a later chapter adds to an agent's record: a relation or fact ends there, a promise is paid.

    With `learned_by` a fact does not end: someone learns it there. It leaves with its chapter.
    """

    id: RecordId
    record: RecordId
    chapter: ChapterId
    learned_by: EntityId | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that was read from one text of a chapter; it takes the place of what was read from it before.

    `text` is the digest of the text, `source` that of the text and the question: the same is never asked twice.
    """

    chapter: ChapterId
    position: int
    text: Digest
    source: Digest
    records: tuple[StoryRecord, ...] = ()
    sequels: tuple[Sequel, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """All records as they are now, in story order, then by id."""

    relations: tuple[Relation, ...] = ()
    facts: tuple[Fact, ...] = ()
    promises: tuple[Promise, ...] = ()
    moments: tuple[Moment, ...] = ()
