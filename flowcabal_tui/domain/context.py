"""What a node is given beside its own prompt, and the receipt for it (DESIGN 4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId
from flowcabal_tui.domain.memory import Level

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
    """One thing that went into the prompt: where from, why, at which level, how large.

    `uri` is project-relative; `start`/`end` are character offsets when only a part went in (-1: whole).
    `rank` is its place in the order of relevance, 1 for the first; sources stand in the order of the prompt.
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
    """Characters that went in, and of the text that they are of (0: not said); the same number for a whole text."""


@dataclass(frozen=True, slots=True)
class DroppedSource:
    """A candidate that did not go in, and the rule that dropped it."""

    uri: str
    rule: str
    tokens: int
    budget_class: BudgetClass
    title: str = ""


@dataclass(frozen=True, slots=True)
class ClassUse:
    """How much of a class's share of the budget was used, in tokens."""

    budget_class: BudgetClass
    share: int
    used: int


@dataclass(frozen=True, slots=True)
class Scene:
    """What a writer or a model says of a chapter's scene; None: nothing is said, so the next below decides."""

    who: tuple[str, ...] | None = None
    where: str | None = None
    when: str | None = None
    kind: SceneKind | None = None


NOTHING_SAID: Final = Scene()


@dataclass(frozen=True, slots=True)
class About:
    """What a run says of the chapter that a context is for, beside the prompt.

    `wish` is what the writer asks of the run. `titles` are what stands in a prompt in the place of names such as
    `project.name` and `chapter.title`.
    """

    wish: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The chapter's."""
        return self.titles.get("chapter.title", "")


NOTHING_ABOUT: Final = About()


@dataclass(frozen=True, slots=True)
class Intent:
    """What the node is about: who is in the scene, where, when, which kind of scene; and what is looked up besides.

    `by` says which of the four do not come from a rule. `asks` are the tokens of the question about the scene that the
    agents' model is asked when the node runs (0: none), and `question` tells it from others.
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
        """Who says what the field holds."""
        return dict(self.by).get(field, "rule")


@dataclass(frozen=True, slots=True)
class Receipt:
    """Everything that one assembly did. `digest` is the digest of the two texts that went in.

    `pending` names what is not there yet (an upstream output, a model's refinement): counted "at most".
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
    """What the Context agent adds: before the system text, before or after the user text, and answers to inquiries.

    The first `stable` characters of `user_suffix` are the same for every node of a chapter's run.
    """

    system_prefix: str
    user_suffix: str
    receipt: Receipt
    inquiries: tuple[tuple[str, str], ...] = ()
    stable: int = 0
