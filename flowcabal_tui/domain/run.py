"""Runs, attempts, checks and decisions (DESIGN 4.2 and 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final, Literal, get_args

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.items import Form, Output
from flowcabal_tui.domain.model_calls import Finish, Usage
from flowcabal_tui.domain.workflow import Angle

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
"""waiting: only human questions are left; paused: step mode waits to go on; interrupted: the process ended before."""
UNDER_WAY: Final[frozenset[NodeState]] = frozenset({"ready", "running", "retrying"})
OutputAuthor = Literal["model", "human", "program"]
IterationKind = Literal["recursive", "evolutionary"]
Verdict = Literal["approve", "retry", "ask"]
DecisionKind = Literal["approve", "retry", "mend", "edit", "reject", "choose"]
"""retry: the whole text again; mend: the paragraphs that have to change."""
QuestionKind = Literal["review", "input", "confirm", "choice", "gate", "limit"]
"""review: of an output; input: free text; confirm: first use of a model; choice: one of several; gate: may it act?
limit: may the run cost more than was quoted?"""


def node_state_in(run: RunState, node: NodeState) -> NodeState:
    """The state of a node in a run of this state: where nobody carries the run on, nothing of it is under way."""
    return "cancelled" if run == "interrupted" and node in UNDER_WAY else node


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words as they stand, and where: a project-relative uri and character offsets."""

    text: str
    uri: str
    start: int
    end: int
    title: str = ""


CheckAngle = Angle | Literal["rules"]
"""rules: no model was asked."""
RuleName = Literal[
    "dead-acts",
    "name-drift",
    "repeated",
    "quote-marks",
    "ages",
    "looks",
    "bodily-marks",
    "colours",
    "others",
    "amounts",
    "sides",
    "kinship",
    "leftovers",
    "latin",
]


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A contradiction that two quotations can show: `draft` against `source`.

    A finding of a rule names it; its source is empty where the draft alone is odd.
    """

    angle: CheckAngle
    subtype: str
    explanation: str
    draft: Quotation
    source: Quotation
    confidence: float
    rule: RuleName | Literal[""] = ""
    question: str = ""
    """What the writer has to say: which of the two holds, or why both do."""

    @property
    def signature(self) -> tuple[str, str]:
        """What makes two findings the same one: the two quotations."""
        return self.draft.text, self.source.text


@dataclass(frozen=True, slots=True)
class AngleCheck:
    """One checker's word. "not checked" is never a pass."""

    angle: CheckAngle
    outcome: Literal["passed", "found", "not checked"]
    detail: str = ""
    findings: tuple[CheckFinding, ...] = ()


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
    """An output of a node without its text, and how it was made. "" is the key of what no run would look for.

    `author` "human" is an edit. `seconds` are those of work.
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
    """The fields of `Made` of a value that has them, by name."""
    return dict(zip(MADE, _MADE(value), strict=True))


@dataclass(frozen=True, slots=True)
class Attempt(Made):
    """One output of one node in one run. Attempts count from 1.

    `text` is what is stored: the text, or the JSON when `form` says so.
    """

    number: int
    text: str
    cached: bool = False
    feedback: str = ""
    of: int = 0
    """The earlier attempt that the request holds as the model's own turn; 0: none."""
    paragraphs: tuple[int, ...] = ()
    """The paragraphs of that attempt, from 1, that alone could change; (): all was written again."""
    evaluation: Evaluation | None = None
    receipt: Receipt | None = None
    complete: bool = True

    @property
    def output(self) -> Output:
        return Output(self.text, self.form, self.digest)


@dataclass(frozen=True, slots=True)
class Retry:
    """What a further attempt is based on: the attempt before it, and what is wrong with it."""

    attempt: Attempt
    feedback: str
    paragraphs: tuple[int, ...] = ()
    """As in Attempt."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the things to choose from: a candidate's text, or an answer. `node` is the path of who made it.

    What a sifting says of it: `like` is the number of the choice that it nearly equals (0: none), `note` any other.
    """

    label: str
    text: str = ""
    node: NodeId = NodeId("")
    evaluation: Evaluation | None = None
    like: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A durable question to the human; it holds up only the nodes behind it. `choices` are numbered from 1.

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
    """What a run or a reading may cost without asking again: tokens in and out together, and money. None: not limited.

    `calls` are those from now on; a repeated one counts again.
    """

    tokens: int | None = None
    cost: Decimal | None = None
    currency: str = ""
    answer: int = 0
    """Tokens that a text of a node was taken to have at most where the model is sent no limit; 0: the usual number."""
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run: a workflow's reference, the chapter it is for, and the writer's wishes."""

    workflow: str
    chapter: ChapterId | None = None
    inputs: tuple[tuple[str, Any], ...] = ()
    """Names and JSON values that prompts and bindings find under `input`."""
    targets: tuple[NodeId, ...] = ()
    fresh_context: bool = False
    again: tuple[NodeId, ...] = ()
    """Nodes for which a new sample is wanted though a result is there."""
    step: bool = False
    """Pause after each level of the graph until told to go on."""
    overrides: tuple[tuple[NodeId, dict[str, Any]], ...] = ()
    """Parameters of nodes for this run only, such as {"model": ..., "draft.temperature": ...}; dots lead inside."""
    limit: SpendLimit | None = None
    """What was agreed to; None: the run is quoted when it begins and limited to that."""

    def another(self, node: NodeId) -> RunRequest:
        """The same run for one more sample of a node, of which alone it pays anything."""
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
class RunWish:
    """Which runs are listed: those of a `chapter` (None: of no chapter), without an end, before one, just one."""

    chapter: ChapterId | Literal["any"] | None = "any"
    unended: bool = False
    before: RunId | None = None
    run: RunId | None = None


ANY_RUN: Final = RunWish()
CallKind = Literal["writing", "checks", "inquiries", "scene", "embeddings"]
"""writing: by nodes; checks: by the Monitor; inquiries and scene: of the Context agent; embeddings: queries of the
search."""
CALL_KINDS: Final[tuple[CallKind, ...]] = get_args(CallKind)


@dataclass(frozen=True, slots=True)
class Spend:
    """Calls, their tokens, and what these cost; `cost` is None when a price or a count is unknown."""

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

    def times(self, number: int) -> Spend:
        """The same so many times."""
        cost = None if self.cost is None else self.cost * number
        return Spend(self.calls * number, self.input_tokens * number, self.output_tokens * number, cost)


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """What one kind of call would cost."""

    kind: CallKind
    likely: Spend
    most: Spend


@dataclass(frozen=True, slots=True)
class Quote:
    """What a run would cost: nodes that would run and that are served from the store, frozen ones among them.

    `likely`: each check passes, each answer has the usual length, nothing has to be repeated. `most`: every attempt,
    question, repair and repetition that the program makes by itself, with answers as long as they can be; None when
    something has no bound, and then `open_ends` says what. No prompt cache is taken to help. `stale` are those of
    `would_run` that have an output, which is out of date.
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
    """As in SpendLimit."""
    keeping: Spend | None = None
    """What the memory likely costs when the output is kept, which is no part of the run; None: nothing."""
    warnings: tuple[str, ...] = ()
    """What is to be known before the run besides what it costs."""

    @property
    def is_free(self) -> bool:
        """True when nothing that the run does can cost money."""
        return self.most is not None and self.most.cost == 0

    @property
    def limit(self) -> SpendLimit | None:
        """What the run is held to; None when no bound is known."""
        if self.most is None:
            return None
        return SpendLimit(self.most.input_tokens + self.most.output_tokens, self.most.cost, self.currency, self.answer)
