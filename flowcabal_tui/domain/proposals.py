"""Proposals of an agent or a rule about the book, in one form for all lists of the writer.

A kind of proposal is a name and the type of its `Difference.after` (`SHAPES`). Findings of checks, and edits of a
chapter, of the outline and of a workflow, are kinds of the same value, in the same table and the same list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal, NewType, get_args

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, Relation, Sequel, StoryRecord
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.value_class import dataclass

ProposalId = NewType("ProposalId", str)
ProposalKind = Literal[
    "entity", "name", "relation", "fact", "promise", "moment", "sequel", "edit", "outline", "workflow", "finding",
    "title", "review",
]  # fmt: skip
ProposalState = Literal[
    "waiting", "applied", "confirmed", "corrected", "dropped", "resolved", "withdrawn",
    "later", "intended", "useless", "changed",
]  # fmt: skip
"""waiting: enters no prompt; applied: contexts read it although the writer has not seen it; confirmed, corrected,
dropped: the writer's decision; resolved: the chapter no longer contains its quotation; withdrawn: a later reading no
longer finds it. Of findings: later: postponed; intended, useless (not useful), changed (the story changes there): the
writer's decision."""
DecisionScope = Literal["any", "findings", "proposals", "impact"]
"""findings: those on findings and on notes of readers; impact: applied changes of the book; proposals: all others."""
Verdict = Literal["confirm", "correct", "drop"]
OPEN_STATES: Final[tuple[ProposalState, ...]] = ("waiting", "applied")
DECIDED: Final[tuple[ProposalState, ...]] = ("confirmed", "corrected", "dropped", "intended", "useless", "changed")
LISTED_STATES: Final[Mapping[str, tuple[ProposalState, ...]]] = {
    "open": OPEN_STATES, "waiting": ("waiting",), "decided": DECIDED, "all": (),
}  # fmt: skip
"""The states of the proposals in each list of the writer."""
ReasonCode = Literal[
    "quoted", "short", "unnamed", "unrelated", "unquoted", "unknown", "overrules",
    "named", "rare", "inside", "shared", "own", "worded",
]  # fmt: skip
"""The reason of a proposal's state. quoted: its quotation supports it; short, unnamed, unrelated: the quotation is too
short, names none of its subjects, shares no word with it; unquoted: the chapter has no such words; unknown: a name that
the book does not have; overrules: it would end or change the writer's own entry. Of names: named: no further facts;
rare: it occurs once; inside: it is part of a longer word; shared: it could belong to another entity; own: it belongs to
an entity written by hand. worded: the agent gives the reason in its own words."""


@dataclass(frozen=True, slots=True)
class NewName:
    """A further name of an entity."""

    entity: EntityId
    name: str


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Words of a chapter, and their replacement."""

    id: str
    chapter: ChapterId
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class OutlineEdit:
    """New and present text of the outline for a chapter ("": none)."""

    id: str
    chapter: ChapterId
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WorkflowEdit:
    """The suggestion of a build (its id) for a workflow ("": a new one): the number of its changes, explained in
    `words`. `asks`: it takes out a node, the writer would no longer be asked somewhere, or no change is ticked."""

    id: str
    workflow: str
    words: str
    changes: int
    asks: bool = False


@dataclass(frozen=True, slots=True)
class TitleEdit:
    """The new and the present title of a chapter."""

    id: str
    chapter: ChapterId
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Review:
    """A change of the whole book that was applied at once, with its numbers of places and chapters."""

    id: str
    words: str
    places: int
    chapters: int
    is_rename: bool = False
    """Only names were changed."""


Edit = TextEdit | OutlineEdit | WorkflowEdit
"""The kinds that are not records of the story."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a check: the quoted words of the proposal disagree with those of `source`.

    `source` is empty where the quoted words alone are odd. `about` are the entities that both name. `draft` is the node
    of a run whose output is not kept: the proposal has no place until it is.
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
        """Always "": a finding writes no record."""
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
"""The type of the written value, by kind."""
KIND_OF: Final[Mapping[type[Any], ProposalKind]] = {shape: kind for kind, shape in SHAPES.items()}


@dataclass(frozen=True, slots=True)
class ProposalPlace:
    """Characters of a chapter's present text."""

    chapter: ChapterId
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """The value to write, and the record that it changes (None: a new one)."""

    after: Change
    before: StoryRecord | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the proposal is made or waits; `detail` is a name or number for the message."""

    grounds: ReasonCode = "quoted"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """The proposer: an agent, a rule or a reader, and the name of the task, the rule or the reader."""

    by: Literal["agent", "rule", "reader"] = "agent"
    maker: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One row of the list. `id` is "" until the row is stored. `place` None: it belongs to no chapter."""

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
        """The ids of its subjects."""
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
    def finding(self) -> Finding:
        """The finding that it proposes. Raises TypeError for another kind."""
        if not isinstance(self.difference.after, Finding):
            raise TypeError(f"{self.id} is no finding")
        return self.difference.after

    @property
    def target(self) -> str:
        """The id of the entity or record to write."""
        after = self.difference.after
        return after.entity if isinstance(after, NewName) else after.id

    @property
    def says(self) -> str:
        """Its words, which distinguish two proposals with the same quotation."""
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
        """Equal for the same kind, subjects and quotation, regardless of its blanks and punctuation.

        For a finding: for the same check, chapter and quotations, which contain the names of its subjects.
        """
        if isinstance(self.difference.after, Finding):
            chapter = self.place.chapter if self.place else ""
            quoted = [plain_quotation(each) for each in (self.quotation, self.difference.after.source.text)]
            return digest_of([self.kind, self.origin.maker, chapter, *quoted])[:16]
        return digest_of([self.kind, sorted(self.subjects), plain_quotation(self.quotation)])[:16]


@dataclass(frozen=True, slots=True)
class ProposalFilter:
    """Filter of rows: by states (empty: any) and kinds (empty: any but findings), by chapter (None: all), by words."""

    states: tuple[ProposalState, ...] = OPEN_STATES
    kinds: tuple[ProposalKind, ...] = ()
    chapter: ChapterId | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class ProposalPage:
    """Rows from `offset` on, and the number of rows in each state (of the same kinds, chapter and words)."""

    rows: tuple[Proposal, ...]
    offset: int
    counts: Mapping[ProposalState, int]

    def total(self, states: tuple[ProposalState, ...]) -> int:
        """Rows of these states (empty: of any)."""
        return sum(self.counts.get(state, 0) for state in states or get_args(ProposalState))


def plain_quotation(text: str) -> str:
    """The letters and digits of a text, casefolded and in one width (NFKC)."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def judged(entity: Entity, name: str, *, confirms: bool) -> Entity:
    """The entity after the writer's decision on one of its names: added to the aliases, or to the rejected names."""

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
    """Applies a sequel to a record: one more entity knows it, or it is paid or ended in the sequel's chapter."""
    match record:
        case Fact() if sequel.learned_by is not None:
            learned = Knower(sequel.learned_by, sequel.chapter, sequel.evidence)
            return replace(record, known_by=(*record.known_by, learned))
        case Fact() | Relation():
            return replace(record, until=sequel.chapter)
        case Promise():
            return replace(record, paid=sequel.chapter, payment=sequel.evidence)
    return record
