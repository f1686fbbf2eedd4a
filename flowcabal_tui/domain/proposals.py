"""Proposals: what an agent or a rule says of the book, in one form for every list that a writer goes through.

A kind of proposal is a name and the type of its `Difference.after` (`SHAPES`). Findings of checks, and edits of a
chapter, of the outline and of a workflow, are kinds of the same value, in the same table and the same list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NewType, Protocol, get_args

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, Relation, Sequel, StoryRecord
from flowcabal_tui.domain.text import digest_of

ProposalId = NewType("ProposalId", str)
ProposalKind = Literal[
    "entity", "name", "relation", "fact", "promise", "moment", "sequel", "edit", "outline", "workflow", "finding",
    "title", "review",
]  # fmt: skip
ProposalState = Literal[
    "waiting", "applied", "confirmed", "corrected", "dropped", "resolved", "withdrawn",
    "later", "intended", "useless", "changed",
]  # fmt: skip
"""waiting: enters no prompt; applied: contexts read it though no hand has looked at it; confirmed, corrected, dropped:
the writer's word; resolved: the chapter does not hold its quotation any more; withdrawn: a later reading does not say
it. Of findings: later: put aside; intended, useless (not useful), changed (the story changes there): the writer's word.
"""
Verdict = Literal["confirm", "correct", "drop"]
OPEN_STATES: Final[tuple[ProposalState, ...]] = ("waiting", "applied")
DECIDED: Final[tuple[ProposalState, ...]] = ("confirmed", "corrected", "dropped", "intended", "useless", "changed")
ReasonCode = Literal[
    "quoted", "short", "unnamed", "unrelated", "unquoted", "unknown", "overrules",
    "named", "rare", "inside", "shared", "own", "worded",
]  # fmt: skip
"""Why it is in its state. quoted: its quotation bears it out; short, unnamed, unrelated: the quotation is too short,
names nobody whom it is about, shares no word with it; unquoted: no such words in the chapter; unknown: a name that the
book does not know; overrules: it would end or change what a hand wrote. Of names: named: nothing more is known; rare:
it occurs once; inside: it is part of a longer word; shared: it could be another's; own: of somebody whom a hand wrote.
worded: the agent says why, in words of its own.
"""


@dataclass(frozen=True, slots=True)
class NewName:
    """A further name of an entity."""

    entity: EntityId
    name: str


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Words of a chapter, and what would take their place."""

    id: str
    chapter: ChapterId
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class OutlineEdit:
    """What the outline would say of a chapter, and what it says now ("": nothing)."""

    id: str
    chapter: ChapterId
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WorkflowEdit:
    """The suggestion of a build (its id) for a workflow ("": a new one): so many changes, explained in `words`."""

    id: str
    workflow: str
    words: str
    changes: int


@dataclass(frozen=True, slots=True)
class TitleEdit:
    """What a chapter would be called, and what it is called now."""

    id: str
    chapter: ChapterId
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Review:
    """A change of the whole book that was applied at once: in so many places of so many chapters."""

    id: str
    words: str
    places: int
    chapters: int
    is_rename: bool = False
    """Only names were changed."""


Edit = TextEdit | OutlineEdit | WorkflowEdit
"""What is no part of the story's records."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: the words that the proposal quotes do not agree with those of `source`.

    `source` is empty where the quoted words alone are odd. `about` are those whom both name. `draft` is the node of a
    run whose output is not kept: the place is none until it is.
    """

    subtype: str
    explanation: str
    source: Quotation
    confidence: float
    sure: bool = True
    about: tuple[EntityId, ...] = ()
    draft: str = ""

    @property
    def id(self) -> str:
        """It writes nothing by itself."""
        return ""

    @property
    def against(self) -> ChapterId | None:
        """The chapter that `source` quotes; None: a note, or nothing."""
        folder, _slash, chapter = self.source.uri.partition("/")
        return ChapterId(chapter) if folder == "manuscript" and chapter else None


Change = Entity | NewName | Relation | Fact | Promise | Moment | Sequel | Edit | Finding | TitleEdit | Review
SHAPES: Final[Mapping[ProposalKind, type[Any]]] = {
    "entity": Entity,
    "name": NewName,
    "relation": Relation,
    "fact": Fact,
    "promise": Promise,
    "moment": Moment,
    "sequel": Sequel,
    "edit": TextEdit,
    "outline": OutlineEdit,
    "workflow": WorkflowEdit,
    "finding": Finding,
    "title": TitleEdit,
    "review": Review,
}
"""Kind -> type of what it would write."""
KIND_OF: Final[Mapping[type[Any], ProposalKind]] = {shape: kind for kind, shape in SHAPES.items()}


@dataclass(frozen=True, slots=True)
class ProposalPlace:
    """Characters of a chapter's present text."""

    chapter: ChapterId
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """What would be written, and what it changes (None: nothing that is there)."""

    after: Change
    before: StoryRecord | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the proposal is made or waits; `detail` is a name or number that its words contain."""

    grounds: ReasonCode = "quoted"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who proposes: an agent or a rule, and the task or rule by its name."""

    by: Literal["agent", "rule"] = "agent"
    maker: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One row of the list. `id` is "" until the row is stored. `place` None: it is of no chapter."""

    kind: ProposalKind
    place: ProposalPlace | None
    quotation: str
    difference: Difference
    reason: Reason = Reason()
    origin: Origin = Origin()
    state: ProposalState = "waiting"
    id: ProposalId = ProposalId("")

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whom and what it is about, by id."""
        match self.difference.after:
            case Entity(id=entity):
                return (entity,)
            case NewName(entity=entity, name=name):
                return entity, name
            case Relation() as relation:
                ends = (relation.source, relation.target)
                return ends if relation.directed else tuple(sorted(ends))
            case Fact() as fact:
                return (*fact.about, f"={fact.attribute}") if fact.attribute else fact.about
            case Sequel() as sequel:
                return (sequel.record, sequel.learned_by) if sequel.learned_by else (sequel.record,)
            case Promise(about=about) | Moment(about=about) | Finding(about=about):
                return about
            case (
                TextEdit(id=edit) | OutlineEdit(id=edit) | WorkflowEdit(id=edit) | TitleEdit(id=edit) | Review(id=edit)
            ):
                return (edit,)

    @property
    def target(self) -> str:
        """The id of the entity or record that it would write."""
        after = self.difference.after
        return after.entity if isinstance(after, NewName) else after.id

    @property
    def says(self) -> str:
        """Its words, by which two of the same quotation are told apart."""
        match self.difference.after:
            case Entity(name=words) | NewName(name=words) | Relation(kind=words):
                return words
            case Fact(text=words) | Promise(text=words) | Moment(text=words):
                return words
            case TextEdit(after=words) | OutlineEdit(after=words) | WorkflowEdit(words=words):
                return words
            case TitleEdit(after=words) | Review(words=words):
                return words
            case Finding(explanation=words):
                return words
            case Sequel():
                return ""

    @property
    def identity(self) -> str:
        """The same for the same kind, subjects and quotation, however the quotation is spaced and punctuated.

        Of a finding: for the same check, chapter and quotations, which hold the names of its subjects.
        """
        if isinstance(self.difference.after, Finding):
            chapter = self.place.chapter if self.place else ""
            quoted = [plain_quotation(each) for each in (self.quotation, self.difference.after.source.text)]
            return digest_of([self.kind, self.origin.maker, chapter, *quoted])[:16]
        return digest_of([self.kind, sorted(self.subjects), plain_quotation(self.quotation)])[:16]


@dataclass(frozen=True, slots=True)
class ProposalWish:
    """Which rows are wanted: of these states (empty: any) and kinds (empty: any but findings), of a chapter (None: of
    all), with these words."""

    states: tuple[ProposalState, ...] = OPEN_STATES
    kinds: tuple[ProposalKind, ...] = ()
    chapter: ChapterId | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class ProposalPage:
    """Some rows from `offset` on, and how many there are of each state (of the same kinds, chapter and words)."""

    rows: tuple[Proposal, ...]
    offset: int
    counts: Mapping[ProposalState, int]

    def total(self, states: tuple[ProposalState, ...]) -> int:
        """Rows of these states (empty: of any)."""
        return sum(self.counts.get(state, 0) for state in states or get_args(ProposalState))


class ProposalReader(Protocol):
    """Reads the list of proposals."""

    async def proposals(self, wish: ProposalWish, offset: int = 0, limit: int = 100) -> ProposalPage:
        """Some rows, those of the newest reading first."""
        ...


def plain_quotation(text: str) -> str:
    """Letters and digits only, in one case and one width."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def judged(entity: Entity, name: str, *, confirms: bool) -> Entity:
    """The entity after the writer's word on one of its names: confirmed among the aliases, or rejected."""

    def without(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(each for each in names if each != name)

    aliases, rejected = without(entity.aliases), without(entity.rejected)
    return replace(
        entity,
        proposed=without(entity.proposed),
        aliases=(*aliases, name) if confirms else aliases,
        rejected=rejected if confirms else (*rejected, name),
        by="hand",
    )


def continued(record: StoryRecord, sequel: Sequel) -> StoryRecord:
    """The record after a sequel: learned by one more, else paid or ended in the sequel's chapter."""
    match record:
        case Fact() if sequel.learned_by is not None:
            learned = Knower(sequel.learned_by, sequel.chapter, sequel.evidence)
            return replace(record, known_by=(*record.known_by, learned))
        case Fact() | Relation():
            return replace(record, until=sequel.chapter)
        case Promise():
            return replace(record, paid=sequel.chapter, payment=sequel.evidence)
    return record
