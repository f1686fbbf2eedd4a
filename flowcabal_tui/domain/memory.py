"""The memory of the book: entities, mentions, derived texts in three levels, and the background work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal, get_args

from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation, OutputId
from flowcabal_tui.domain.model_calls import UsageRecord
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.domain.value_class import dataclass

Level = Literal["L0", "L1", "L2"]
EntityKind = Literal["character", "location", "plot-thread", "item", "organisation"]
EntityAuthor = Literal["hand", "agent", "discovered"]
Freshness = Literal["waiting", "running", "fresh", "stale", "failed", "cancelled"]
MetaName = Literal["outline", "style-guide", "world-rules", "notes"]
META_NAMES: tuple[MetaName, ...] = ("outline", "style-guide", "world-rules", "notes")


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something with a name. `by` is its author: an edit by hand takes precedence.

    `proposed` are names that an agent proposes and the writer has not confirmed: searches ignore them until then.
    `rejected` names were declined, and are not proposed again. `first_position` is the chapter position of the first
    mention (None: not mentioned yet). `own_kind` is a kind in the writer's words ("": `kind` is all), `fields` are the
    writer's notes about it, by name; no prompt contains them.
    """

    id: EntityId
    kind: EntityKind
    name: str
    aliases: tuple[str, ...] = ()
    note: str = ""
    by: EntityAuthor = "hand"
    first_position: int | None = None
    proposed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    own_kind: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of an entity in a chapter's present text, by character offsets."""

    entity: EntityId
    chapter: ChapterId
    position: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a derived text and the span of the chapter that supports it."""

    sentence: str
    chapter: ChapterId
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Derived:
    """A text made from others (L0, L1, profile), as of a chapter position.

    `uri` is project-relative, such as `manuscript/<chapter>`, `profiles/characters/<entity>`. `source` is the digest of
    all inputs; the same source is never paid for twice. `rests` lists the chapters whose text it was made from, besides
    its own and those of its evidence: it leaves the memory with them.
    """

    uri: str
    level: Level
    text: str
    source: Digest
    position: int
    generation: Generation
    method: Literal["model", "extract", "hand"] = "model"
    evidence: tuple[Evidence, ...] = ()
    at: datetime | None = None
    rests: tuple[ChapterId, ...] = ()


@dataclass(frozen=True, slots=True)
class StaleText:
    """A derived text made from older words of these `chapters`, or without a chapter that left the memory.

    It is as of chapter `anchor` (None: of the position alone).
    """

    uri: str
    position: int
    chapters: tuple[ChapterId, ...]
    anchor: ChapterId | None = None


KeepKind = Literal["chapter", "scene", "outline", "note", "entity"]
KeepMode = Literal["replace", "append"]


@dataclass(frozen=True, slots=True)
class Curated:
    """A kept output. Keeping the same text for the same place again gives the same id."""

    id: OutputId
    kind: KeepKind
    mode: KeepMode
    chapter: ChapterId | None
    digest: Digest
    tags: tuple[str, ...]
    at: datetime
    run: str = ""
    node: str = ""
    attempt: int = 0
    version: int = 0
    deleted: bool = False


def tags_of(typed: Iterable[str]) -> Iterator[str]:
    """Normalises tags for storage: each on one line, without a leading #, without duplicates."""
    yield from dict.fromkeys(filter(None, (clean_line(tag).removeprefix("#").strip()[:40] for tag in typed)))


TaskKind = Literal["mirror", "index", "entities", "story", "l1", "l0", "profile", "arc", "check", "knowledge"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
BY_RULE: tuple[TaskKind, ...] = ("mirror", "index", "entities")
"""Steps that call no model."""
LONGEST_WAIT: Final = 300.0
"""Maximum seconds between two tries of a step."""


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """One step of the background work after a keep: an outbox row, safe to repeat.

    `subject` is a chapter id, an entity id or a project-relative uri; `source` is the digest of its input. `job` is the
    paid job that contains it ("": none); such a task reads the memory as of `pinned`, so that a repetition asks the
    same questions, which are already paid for. The same holds for a task that a rebuild resumes.
    """

    id: int
    kind: TaskKind
    subject: str
    source: Digest
    state: Freshness
    position: int = 0
    tries: int = 0
    error: str = ""
    not_before: float = 0.0
    job: str = ""
    pinned: Generation | None = None

    def is_due(self, now: float) -> bool:
        """True when it may begin. A time beyond the longest wait comes from a wrong clock and is ignored."""
        return not now < self.not_before <= now + LONGEST_WAIT


@dataclass(frozen=True, slots=True)
class Totals:
    """Usage and cost. `cost` is None when any price is unknown. `calls` counts all calls, `free_calls` those that cost
    nothing; their currency does not count.

    `estimated_calls` were cut off before the provider had counted them.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    currency: str = ""
    unknown_calls: int = 0
    estimated_calls: int = 0
    free_calls: int = 0

    @property
    def paid_calls(self) -> int:
        """Calls that cost something, or whose cost is unknown."""
        return self.calls - self.free_calls

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    @property
    def about(self) -> str:
        """The prefix of the cost: `≈ ` when part of it is an estimate, otherwise empty."""
        return "≈ " if self.estimated_calls else ""

    def plus(self, call: UsageRecord) -> Totals:
        """Returns the totals with one more call. Tokens that were not reported count as estimated (in) and 0 (out)."""
        is_free = call.cost == 0
        same_currency = is_free or self.paid_calls == 0 or self.currency == call.currency
        currency = self.currency if is_free and self.calls else call.currency
        return Totals(
            calls=self.calls + 1,
            input_tokens=self.input_tokens
            + (call.estimated_input if call.usage.input_tokens is None else call.usage.input_tokens),
            output_tokens=self.output_tokens + (call.usage.output_tokens or 0),
            cost=None if self.cost is None or call.cost is None or not same_currency else self.cost + call.cost,
            currency=currency if same_currency else "",
            unknown_calls=self.unknown_calls + (call.cost is None),
            estimated_calls=self.estimated_calls + (bool(call.cost) and call.usage.input_tokens is None),
            free_calls=self.free_calls + is_free,
        )


@dataclass(frozen=True, slots=True)
class BootstrapQuote:
    """The highest and the likely cost of reading imported chapters with the agents' model.

    A cost is None when a price is unknown. `seconds` is the likely duration; None when the speed of the model is
    unknown.
    """

    chapters: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    currency: str
    seconds: float | None
    likely_calls: int = 0
    likely_tokens: int = 0
    likely_cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class BootstrapStatus:
    """Progress of the reading of imported chapters, in steps. `reason` is the reason of a pause.

    `seconds_left` is None while there is no estimate. `spent` is the cost of this reading so far.
    """

    state: Literal["running", "pausing", "paused", "dropped", "done"]
    done: int
    total: int
    failed: int = 0
    seconds_left: float | None = None
    spent: Totals = Totals()
    max_cost: Decimal | None = None
    reason: str = ""
