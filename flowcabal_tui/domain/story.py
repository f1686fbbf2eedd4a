"""The records of the story: relations, facts, promises and moments, each with quotations as evidence.

The `sentence` of a record's evidence is the quotation itself, verbatim from the chapter.
"""

from __future__ import annotations

from typing import Final, Literal, NewType

from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.value_class import dataclass

RecordId = NewType("RecordId", str)
Hand = Literal["hand", "agent"]
"""The author of a record; an edit by hand takes precedence, and no agent changes it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of one entity to another, such as "father of"; `directed` False: it is mutual ("friends").

    It is valid from chapter `since` on (None: from before the book) until before chapter `until` (None: to the end).
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
    """A fact of the story with its period: from `since` until before `until` (None: open).

    `about` are its subjects. With an `attribute` ("lives in") it is a state of the first one: a later fact with the
    same attribute and subject ends it. `secret`: only the entities in `known_by` know it.
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
    """Foreshadowing: planted in a chapter, due between two positions of the story (0: not given), paid or dropped.

    `paid` is the chapter that pays it; `evidence` quotes the planting, `payment` the paying.
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
    """An event on the timeline: in the text of `chapter`, happening at `when` in the story's own words.

    `order` sorts moments by the story's time (None: the order of the text), so that a flashback can come before
    events that the text has earlier.
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
_FOLDERS: Final = {Relation: "relations", Fact: "facts", Promise: "promises", Moment: "moments"}


def record_uri(record: StoryRecord) -> str:
    """The uri of a record in a receipt."""
    return f"{_FOLDERS[type(record)]}/{record.id}"


def wording(record: StoryRecord) -> str:
    """The text of a record."""
    return record.kind if isinstance(record, Relation) else record.text


@dataclass(frozen=True, slots=True)
class Sequel:
    """An addition of a later chapter to an agent's record: a relation or fact ends there, a promise is paid.

    With `learned_by` a fact does not end: an entity learns it there. The sequel is removed with its chapter.
    """

    id: RecordId
    record: RecordId
    chapter: ChapterId
    learned_by: EntityId | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class ChapterReading:
    """All records read from one text of a chapter; it replaces the chapter's earlier reading.

    `text` is the digest of the text, `source` that of the text and the question: the same question is never asked
    twice.
    """

    chapter: ChapterId
    position: int
    text: Digest
    source: Digest
    records: tuple[StoryRecord, ...] = ()
    sequels: tuple[Sequel, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """All current records, in story order, then by id."""

    relations: tuple[Relation, ...] = ()
    facts: tuple[Fact, ...] = ()
    promises: tuple[Promise, ...] = ()
    moments: tuple[Moment, ...] = ()

    @property
    def records(self) -> tuple[StoryRecord, ...]:
        """All of them, kind by kind."""
        return (*self.relations, *self.facts, *self.promises, *self.moments)
