"""Runs, attempts, checks and decisions."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final, Literal, get_args

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Form, Output
from flowcabal_tui.domain.model_calls import Finish, Usage
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark

NodeState = Literal[
    "pending",
    "ready",
    "running",
    "retrying",
    "waiting",
    "done",
    "frozen",
    "failed",
    "blocked",
    "skipped",
    "cancelled",
]
RunState = Literal["running", "waiting", "paused", "done", "failed", "cancelled", "interrupted"]
"""waiting: only questions to the writer are left; paused: step mode waits; interrupted: the process ended early."""
UNDER_WAY: Final[frozenset[NodeState]] = frozenset({"ready", "running", "retrying"})
OutputAuthor = Literal["model", "human", "program"]
IterationKind = Literal["recursive", "evolutionary"]
Verdict = Literal["approve", "retry", "ask"]
DecisionKind = Literal["approve", "retry", "mend", "edit", "reject", "choose"]
"""retry: write the whole text again; mend: rewrite only the affected paragraphs."""
QuestionKind = Literal["review", "input", "confirm", "choice", "gate", "limit"]
"""review: approve an output; input: free text; confirm: first use of a model; choice: one of several; gate: permission
to act; limit: permission to exceed the quoted cost."""


def node_state_in(run: RunState, node: NodeState) -> NodeState:
    """The state of a node in a run of this state: when no process executes the run, no node is running."""
    return "cancelled" if run == "interrupted" and node in UNDER_WAY else node


@dataclass(frozen=True, slots=True)
class Quotation:
    """Verbatim words with their place: a project-relative uri and character offsets."""

    text: str
    uri: str
    start: int
    end: int
    title: str = ""


Angle = Literal["timeline", "character_state", "world_rules", "echoes"]
ANGLES: tuple[Angle, ...] = ("timeline", "character_state", "world_rules", "echoes")
"""The angles from which the Monitor checks a text."""
CheckAngle = Angle | Literal["rules"]
ANGLE_TITLES: Final[dict[CheckAngle, str]] = {
    "timeline": mark("timeline"),
    "character_state": mark("state of characters"),
    "world_rules": mark("rules of the world"),
    "echoes": mark("echoes of earlier text"),
    "rules": mark("rules without a model"),
}
"""rules: no model was asked."""
RuleName = Literal[
    "dead-acts",
    "name-drift",
    "introductions",
    "repeated",
    "quote-marks",
    "ages",
    "looks",
    "bodily-marks",
    "colours",
    "others",
    "possession",
    "amounts",
    "sides",
    "kinship",
    "leftovers",
    "latin",
]


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A contradiction shown by two quotations: `draft` against `source`.

    A finding of a rule names the rule; its source is empty where the draft alone is odd.
    """

    angle: CheckAngle
    subtype: str
    explanation: str
    draft: Quotation
    source: Quotation
    confidence: float
    rule: RuleName | Literal[""] = ""
    question: str = ""
    """The question to the writer: which of the two is right, or why both are."""

    @property
    def signature(self) -> tuple[str, str]:
        """The identity of a finding: its two quotations."""
        return self.draft.text, self.source.text


@dataclass(frozen=True, slots=True)
class Compared:
    """The coverage of a check: statements of the text, passages of the book, and pairs of the two that a model judged.

    Rules read every sentence of the text as a statement, and compare it with tables instead of passages.
    """

    statements: int = 0
    passages: int = 0
    pairs: int = 0

    def __add__(self, other: Compared) -> Compared:
        return Compared(self.statements + other.statements, self.passages + other.passages, self.pairs + other.pairs)


@dataclass(frozen=True, slots=True)
class AngleCheck:
    """The result of one checker. "not checked" is never a pass.

    Angles of one question share what was compared, and only the first of them holds it.
    """

    angle: CheckAngle
    outcome: Literal["passed", "found", "not checked"]
    detail: str = ""
    findings: tuple[CheckFinding, ...] = ()
    compared: Compared = Compared()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The Monitor's checks of one attempt; facts only, never quality."""

    verdict: Verdict
    reason: str
    confidence: float
    checks: tuple[AngleCheck, ...] = ()

    @property
    def findings(self) -> tuple[CheckFinding, ...]:
        return tuple(finding for check in self.checks for finding in check.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The origin of a node's output, without its text. `key` is "" when no run looks the output up.

    `author` "human" marks an edit. `seconds` is the working time.
    """

    digest: Digest = Digest("")
    form: Form = "text"
    key: Digest = Digest("")
    author: OutputAuthor = "model"
    model: str = ""
    finish: Finish = "stop"
    usage: Usage = Usage()
    seconds: float = 0.0


MADE: Final = tuple(each.name for each in fields(Made))
_MADE: Final = attrgetter(*MADE)


def made_of(value: Any) -> dict[str, Any]:
    """The fields of `Made` that `value` has, by name."""
    return dict(zip(MADE, _MADE(value), strict=True))


@dataclass(frozen=True, slots=True)
class Attempt(Made):
    """One output of one node in one run. Attempts count from 1.

    `text` is the stored form: the text, or the JSON when `form` is "json".
    """

    number: int
    text: str
    cached: bool = False
    feedback: str = ""
    of: int = 0
    """The earlier attempt that the request contains as the model's own turn; 0: none."""
    paragraphs: tuple[int, ...] = ()
    """The only paragraphs of that attempt, from 1, that could change; (): all was written again."""
    evaluation: Evaluation | None = None
    receipt: Receipt | None = None
    complete: bool = True

    @property
    def output(self) -> Output:
        return Output(self.text, self.form, self.digest)


@dataclass(frozen=True, slots=True)
class Retry:
    """The basis of a further attempt: the attempt before it, and the feedback on it."""

    attempt: Attempt
    feedback: str
    paragraphs: tuple[int, ...] = ()
    """See Attempt."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a question: a candidate's text, or an answer. `node` is the path of its maker.

    `like` is the number of the choice that it nearly equals (0: none), `note` any other remark of a sifting.
    """

    label: str
    text: str = ""
    node: NodeId = NodeId("")
    evaluation: Evaluation | None = None
    like: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A durable question to the human; it blocks only the nodes behind it. `choices` are numbered from 1.

    `required` questions can be answered only by a person at the screen or on standard input, never by a flag.
    """

    id: QuestionId
    run: RunId
    node: NodeId
    kind: QuestionKind
    reason: str
    asked_at: datetime
    attempts: tuple[int, ...] = ()
    proposal: str = ""
    required: bool = False
    options: tuple[DecisionKind, ...] = ("approve", "retry", "edit")
    node_title: str = ""
    chapter: ChapterId | None = None
    choices: tuple[Choice, ...] = ()
    blind: bool = False
    """Choices are shown without saying who made them."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer. `attempt` is the one approved, edited or chosen (from 1); `text` the edit or the input;
    `note` feedback."""

    kind: DecisionKind
    attempt: int = 0
    text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SpendLimit:
    """The cost that a run or a reading may reach without asking: tokens in and out together, and money. None: no limit.

    `calls` limits further calls; a repeated one counts again.
    """

    tokens: int | None = None
    cost: Decimal | None = None
    currency: str = ""
    answer: int = 0
    """The assumed limit of an answer in tokens where the model is sent none; 0: the default."""
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A request for a run: a workflow's reference, its chapter, and the writer's options."""

    workflow: str
    chapter: ChapterId | None = None
    inputs: tuple[tuple[str, Any], ...] = ()
    """Names and JSON values that prompts and bindings find under `input`."""
    targets: tuple[NodeId, ...] = ()
    fresh_context: bool = False
    again: tuple[NodeId, ...] = ()
    """Nodes that make a new sample although a result exists."""
    step: bool = False
    """Pause after each level of the graph until the writer continues."""
    overrides: tuple[tuple[NodeId, dict[str, Any]], ...] = ()
    """Parameters of nodes for this run only, such as {"model": ..., "draft.temperature": ...}; dots lead inside."""
    limit: SpendLimit | None = None
    """The agreed limit; None: the run is quoted at its start and limited to the quote."""
    aside: bool = False
    """Its outputs are further candidates: each node keeps its current output."""

    def another(self, node: NodeId) -> RunRequest:
        """The same run for one more sample of a node; only that node costs anything."""
        top = NodeId(node.split("/")[0])
        return replace(self, again=(node,), targets=(top,), step=False, limit=None)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as the history lists it."""

    id: RunId
    workflow: str
    chapter: ChapterId | None
    state: RunState
    started_at: datetime
    generation: Generation
    nodes: tuple[tuple[NodeId, NodeState], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Filter of runs: of a `chapter` (None: without a chapter), unfinished ones, those before a run, or one run."""

    chapter: ChapterId | Literal["any"] | None = "any"
    unended: bool = False
    before: RunId | None = None
    run: RunId | None = None


ANY_RUN: Final = RunFilter()
CallKind = Literal["writing", "checks", "inquiries", "scene", "embeddings"]
"""writing: by nodes; checks: by the Monitor; inquiries and scene: by the Context agent; embeddings: queries of the
search."""
CALL_KINDS: Final[tuple[CallKind, ...]] = get_args(CallKind)


PAUSE_FACTOR: Final = 3


@dataclass(frozen=True, slots=True)
class Spend:
    """Calls, their tokens, and their cost; `cost` is None when a price or a count is unknown."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)

    def plus(self, other: Spend) -> Spend:
        """The sum."""
        return Spend(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    def times(self, number: int) -> Spend:
        """The sum of `number` equal spends."""
        cost = None if self.cost is None else self.cost * number
        return Spend(self.calls * number, self.input_tokens * number, self.output_tokens * number, cost)


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """The cost of one kind of call."""

    kind: CallKind
    likely: Spend
    most: Spend


@dataclass(frozen=True, slots=True)
class UsualCost:
    """The cost range of the last `runs` comparable runs; from five runs on, the cheapest and the most expensive are
    left out."""

    low: Decimal
    high: Decimal
    runs: int


@dataclass(frozen=True, slots=True)
class Quote:
    """The cost of a run: nodes that would run and nodes served from the store, frozen ones among them.

    `likely`: each check passes, each answer has the usual length, nothing is repeated. `most`: every attempt, question,
    repair and automatic repetition, with the longest possible answers; None when there is no bound, for the reasons in
    `open_ends`. No saving by a prompt cache is assumed. `stale` are those of `would_run` whose output is out of date.
    """

    would_run: tuple[NodeId, ...]
    served: tuple[NodeId, ...]
    likely: Spend = Spend()
    most: Spend | None = Spend()
    lines: tuple[QuoteLine, ...] = ()
    open_ends: tuple[str, ...] = ()
    frozen: tuple[NodeId, ...] = ()
    stale: tuple[NodeId, ...] = ()
    currency: str = ""
    answer: int = 0
    """See SpendLimit."""
    dearest: Spend = Spend()
    """The highest cost of a single call, and the highest number of tokens of one."""
    keeping: Spend | None = None
    """The likely cost of updating the memory after a keep, which is not part of the run; None: nothing."""
    warnings: tuple[str, ...] = ()
    """Warnings for the writer before the run, besides its cost."""
    usual: UsualCost | None = None
    """None where fewer than three runs like this one are stored."""

    @property
    def is_free(self) -> bool:
        """True when nothing that the run does can cost money."""
        return self.most is not None and self.most.cost == 0

    @property
    def limit(self) -> SpendLimit | None:
        """The highest price as a limit; None when no bound is known."""
        return None if self.most is None else SpendLimit(self.most.tokens, self.most.cost, self.currency, self.answer)

    @property
    def pause(self) -> SpendLimit | None:
        """The limit at which a run asks: `PAUSE_FACTOR` times its likely price, but at least that price plus one call.
        Never above the highest price; None when no bound is known.
        """
        if self.most is None:
            return None
        likely, call = self.likely, self.dearest
        tokens, cost = max(PAUSE_FACTOR * likely.tokens, likely.tokens + call.tokens), self.most.cost
        if cost is not None and likely.cost is not None and call.cost is not None:
            cost = min(cost, max(PAUSE_FACTOR * likely.cost, likely.cost + call.cost))
        return SpendLimit(min(self.most.tokens, tokens), cost, self.currency, self.answer)
