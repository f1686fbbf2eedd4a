"""Values that a project returns to its callers: frozen, and new for every question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.ids import EntityId, Generation, NodeId, RunId
from flowcabal_tui.domain.memory import Derived, Entity, StaleText, TaskKind
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.run import Attempt, NodeState, Question, Quote
from flowcabal_tui.domain.trust import TrustState
from flowcabal_tui.domain.value_class import dataclass

if TYPE_CHECKING:
    from flowcabal_tui.domain.endpoints import Endpoint


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """The identity and state of a project. `offline`: the writer's model is the embedded one; `trust`: the confirmation
    state."""

    name: str
    language: str
    path: Path
    read_only: bool
    offline: bool
    models: tuple[tuple[Role, Endpoint], ...]
    holder: str = ""
    """The process that has it open for writing, when it is open read-only here."""
    trust: TrustState = "trusted"
    model_names: tuple[str, ...] = ()
    """The model names that a node may use."""


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that could be used. `local`: it costs nothing and sends nothing away. `identity` confirms it."""

    identity: str
    label: str
    local: bool


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node of a run: its attempts, newest last; `partial` is text not yet ended, `item_errors` of single items.

    `begins` are the titles of the nodes that wait for its output.
    """

    run: RunId
    node: NodeId
    title: str
    kind: str
    state: NodeState
    attempts: tuple[Attempt, ...]
    chosen: int
    partial: str = ""
    question: Question | None = None
    error: str = ""
    item_errors: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Appearances:
    """The number of mentions of an entity, and the positions of the first and the last chapter that names it."""

    entity: EntityId
    mentions: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class UnpaidWork:
    """Background work that waits until the user agrees to what it costs, with its quote.

    `rule` is that of the user's settings: `ask`, `never`, or an amount a day. `roles` are the models that would be
    called.
    """

    tasks: int
    quote: Quote
    rule: str
    roles: tuple[Role, ...] = ("agent",)


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A line of the profile browser.

    `kind` is a profile kind, "arcs" for arcs and the whole work, or "chapters" for L0/L1 of chapters.
    """

    kind: str
    name: str
    uri: str
    abstract: str
    position: int
    versions: int
    kind_title: str = ""


@dataclass(frozen=True, slots=True)
class ProfileView:
    """A profile in its three levels, as contexts of a next chapter read it, with its history, newest first.

    `pinned` is the generation of the pinned state. `offered` are states made after the writer's own text or the pin,
    which wait until they are accepted. The L2 is the whole evidence, read from the index on demand: it has no history.
    """

    uri: str
    name: str
    levels: tuple[Derived, ...]
    history: tuple[Derived, ...]
    entity: Entity | None = None
    pinned: Generation | None = None
    offered: tuple[Derived, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """An opened context source: its text, and the cited span (-1: all of it)."""

    uri: str
    title: str
    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class RebuildPlan:
    """The effects of a rebuild.

    The number of chapters whose index is examined, the uris of unreadable derived texts to regenerate, the texts that
    are out of date, and the number of background steps of each kind.
    """

    chapters: int
    damaged: tuple[str, ...]
    stale: tuple[StaleText, ...]
    steps: tuple[tuple[TaskKind, int], ...]
