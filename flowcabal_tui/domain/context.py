"""The context that a node receives besides its own prompt, and its receipt (docs/context.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, get_args

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.value_class import dataclass

BudgetClass = Literal[
    "meta",
    "beats",
    "outline",
    "entities",
    "facts",
    "profiles",
    "near",
    "last_meeting",
    "far",
    "summaries",
    "knowledge",
    "inquiry",
]
BUDGET_CLASSES: tuple[BudgetClass, ...] = get_args(BudgetClass)
SceneKind = Literal["dialogue", "battle", "turn", "journey", "daily", "unknown"]
SCENE_KINDS: tuple[SceneKind, ...] = get_args(SceneKind)
SceneField = Literal["who", "where", "when", "kind"]
SCENE_FIELDS: tuple[SceneField, ...] = get_args(SceneField)
SceneOrigin = Literal["rule", "model", "writer"]


@dataclass(frozen=True, slots=True)
class ContextSource:
    """One source that went into the prompt: its uri, reason, level and size.

    `uri` is project-relative; `start`/`end` are character offsets when only a part went in (-1: whole). `rank` is its
    place in the order of relevance, 1 for the first; sources are listed in the order of the prompt.
    """

    uri: str
    reason: str
    level: Level
    tokens: int
    budget_class: BudgetClass
    title: str = ""
    start: int = -1
    end: int = -1
    rank: int = 0
    kept: int = 0
    of: int = 0
    """Characters that went in, and characters of the whole text; equal for a whole text, 0 when unknown."""


@dataclass(frozen=True, slots=True)
class DroppedSource:
    """A candidate that was left out, and the rule that dropped it."""

    uri: str
    rule: str
    tokens: int
    budget_class: BudgetClass
    title: str = ""


@dataclass(frozen=True, slots=True)
class ClassUse:
    """Use of a class's share of the budget, in tokens."""

    budget_class: BudgetClass
    share: int
    used: int


@dataclass(frozen=True, slots=True)
class Scene:
    """A chapter's scene as a writer or a model describes it; None: no value, so the next lower source decides."""

    who: tuple[str, ...] | None = None
    where: str | None = None
    when: str | None = None
    kind: SceneKind | None = None


NO_SCENE: Final = Scene()


@dataclass(frozen=True, slots=True)
class About:
    """Data about the chapter that a run gives the Context agent besides the prompt.

    `wish` is the writer's instruction for the run. `titles` replace names in a prompt such as `project.name` and
    `chapter.title`. `added` are the tokens by which the caller makes the node's prompt longer.
    """

    wish: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    added: int = 0


NOTHING_ABOUT: Final = About()


@dataclass(frozen=True, slots=True)
class Intent:
    """The scene of a node (who, where, when, which kind), and further terms to look up.

    `by` lists those of the four that do not come from a rule. `asks` are the tokens of the scene question that the
    agents' model answers when the node runs (0: none), and `question` identifies it.
    """

    entities: tuple[str, ...] = ()
    scene: SceneKind = "unknown"
    terms: tuple[str, ...] = ()
    where: str = ""
    when: str = ""
    by: tuple[tuple[SceneField, SceneOrigin], ...] = ()
    asks: int = 0
    question: Digest = Digest("")

    def origin(self, field: SceneField) -> SceneOrigin:
        """The origin of a field's value."""
        return dict(self.by).get(field, "rule")


@dataclass(frozen=True, slots=True)
class Receipt:
    """The record of one assembly. `digest` is the digest of the two texts that went in.

    `pending` names inputs that are not known yet (an upstream output, a model's refinement); each is counted at its
    maximum size.
    """

    node: NodeId
    chapter: ChapterId | None
    generation: Generation
    budget: int
    used: int
    sources: tuple[ContextSource, ...] = ()
    dropped: tuple[DroppedSource, ...] = ()
    classes: tuple[ClassUse, ...] = ()
    intent: Intent = Intent()
    digest: Digest = Digest("")
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counted_by: str = ""
    """The vocabulary by which tokens were counted; "" for an estimate."""


@dataclass(frozen=True, slots=True)
class Injection:
    """The Context agent's additions: before the system text, before or after the user text, and answers to inquiries.

    The first `stable` characters of `user_suffix` are the same for every node of a chapter's run. `mended` pairs parts
    of the node's prompt, as written, with their replacements.
    """

    system_prefix: str
    user_suffix: str
    receipt: Receipt
    inquiries: tuple[tuple[str, str], ...] = ()
    stable: int = 0
    mended: tuple[tuple[str, str], ...] = ()

    def applied_to(self, prompt: str) -> str:
        """The prompt with its `mended` parts replaced."""
        for part, instead in self.mended:
            prompt = prompt.replace(part, instead)
        return prompt
