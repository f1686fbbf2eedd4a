"""What a kind of node is, and what it may do while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Attempt, Choice, Decision, Evaluation, IterationKind, QuestionKind, Retry
from flowcabal_tui.domain.state import DualState, StateEffect
from flowcabal_tui.domain.workflow import Block, Blocks, Body, Finding, Node, PromptParams, Workflow

Schema = Mapping[str, Any]
"""A JSON Schema of what a node yields; for static checks of paths."""


@dataclass(frozen=True, slots=True)
class Produced:
    """The output of a node that makes no attempts: a JSON value, and what it changes in the state."""

    value: Any
    effect: StateEffect | None = None


class TextSink(Protocol):
    """A text as it grows: shown at once, journalled about once a second."""

    @property
    def pieces(self) -> Sequence[str]:
        """All that came so far, as it came."""
        ...

    def append(self, piece: str) -> None:
        """Takes in a piece."""
        ...

    def end(self) -> None:
        """Tells and keeps what is left."""
        ...


class NodeContext(Protocol):
    """The run, as one node sees it. Every step is journalled: entering the body again repeats nothing."""

    @property
    def node(self) -> Node: ...

    @property
    def path(self) -> NodeId:
        """Where it stands in the run: its id, after those of the nodes that it stands in."""
        ...

    @property
    def names(self) -> Mapping[str, Any]:
        """What bindings can name: `result_of`, `input`, `state`, `loop`, aliases, `chapter`, `project`."""
        ...

    def names_at(self, moment: str) -> Mapping[str, Any]:
        """`names`, with the state as this node first saw it at this moment, though it is entered again later.

        For kinds that run others and look at the state between them; `moment` tells their looks apart.
        """
        ...

    @property
    def depth(self) -> int:
        """How many sub-flows this node stands in."""
        ...

    @property
    def memory(self) -> DualState:
        """The state that this node reads and writes."""
        ...

    def bind(self, value: Any) -> Any:
        """`value` with every binding in it resolved. Raises BindingError naming what there is."""
        ...

    def resolve(self, blocks: Blocks, answers: Sequence[tuple[str, str]] = ()) -> str:
        """The text of the blocks; `answers` are (question, answer) of inquiries. Raises WorkflowError."""
        ...

    def told(self, prompt: str, injection: Injection) -> Message:
        """The blocks of a prompt with the Context agent's texts before or after them, as the workflow says."""
        ...

    async def body(self, body: Body, part: str, names: Mapping[str, Any] | None = None) -> Mapping[NodeId, Output]:
        """Runs the nodes of a body as `<this node>/<part>/<id>`; they also see `names` and the nodes around.

        Returns the outputs of those that were not skipped. Raises StepFailed when one of them failed.
        """
        ...

    async def flow(
        self, workflow: Workflow, part: str, inputs: Mapping[str, Any], *, own_state: bool
    ) -> Mapping[NodeId, Output]:
        """Runs another workflow as `<this node>/<part>/<id>`; its nodes see only `inputs`. Raises StepFailed."""
        ...

    async def hold(self) -> None:
        """Takes a place among all that works at the same time, until the output of the node is kept.

        Who has the longest way behind it comes first; a question to a person gives the place back while it waits.
        """
        ...

    def streamed(self, number: int) -> TextSink:
        """Where a kind that makes its text by itself writes it; `number` is the attempt's."""
        ...

    async def workflow(self, reference: str) -> Workflow:
        """A workflow by `id@version` or id. Raises WorkflowError."""
        ...

    @property
    def acted(self) -> int:
        """How often an earlier process began to act and did not tell the end."""
        ...

    async def acts(self) -> None:
        """Logs that the node acts on the world from here on."""
        ...

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        """Carries out an action of the registry and returns its JSON result. Raises FlowCabalError."""
        ...

    def gated(self, action: str) -> bool:
        """Must a person allow this action? Raises FlowCabalError for an unknown one."""
        ...

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Calls an allow-listed function. Raises FlowCabalError naming the functions there are."""
        ...

    def identity(self, params: PromptParams) -> Any:
        """The model and its settings that change its text, as JSON; None when the Context agent adds to the prompt."""
        ...

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        """What the Context agent adds; None when it is switched off."""
        ...

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        """The output with which an equal node ended earlier, unless a new sample is wanted."""
        ...

    async def settle(self, request: ModelRequest, params: PromptParams, attempt: Attempt) -> Attempt:
        """Remembers that this attempt stands for the request."""
        ...

    def retry(
        self, attempt: Attempt, evaluation: Evaluation | None, note: str = "", *, mend: bool = False
    ) -> Retry | None:
        """What the model is told before it tries again; None when there is nothing to say.

        With `mend` it is asked for single paragraphs where that is enough.
        """
        ...

    async def generate(
        self,
        request: ModelRequest,
        params: PromptParams,
        injection: Injection | None,
        *,
        number: int,
        retry: Retry | None = None,
    ) -> Attempt:
        """Attempt `number` (from 1): from the store when it was paid for, else streamed.

        A retry that asked for single paragraphs and got what cannot be placed becomes one of the whole text.
        An attempt equal to an earlier one of this run is a new sample. Raises ModelError.
        """
        ...

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        """What the Monitor says; None when there is nothing to check or it is switched off."""
        ...

    def iteration(self, number: int, total: int, kind: IterationKind, candidates: int = 0) -> None:
        """Tells that round `number` of at most `total` begins."""
        ...

    async def doubt(self, params: PromptParams, injection: Injection | None, attempt: Attempt) -> str:
        """Why a person should look at the attempt, by rules of form and measure; "" for no reason."""
        ...

    async def ask(
        self,
        kind: QuestionKind,
        reason: str,
        *,
        attempts: Sequence[Attempt] = (),
        proposal: str = "",
        required: bool = False,
        choices: Sequence[Choice] = (),
        blind: bool = False,
        part: str = "",
    ) -> Decision:
        """Waits for the human; holds no slot. The same question is asked once; `part` tells several apart."""
        ...

    async def asked_before(self, about: Any, ask: Callable[[], Awaitable[Decision]]) -> Decision:
        """What a person answered when an equal node asked about the same (JSON), in an earlier run; else asks now.

        Asks also when a new sample is wanted; a rejection is not remembered.
        """
        ...

    async def edited(self, text: str, number: int) -> Attempt:
        """Records what the human wrote as an attempt of its own."""
        ...


class NodeKind:
    """A kind of node. One instance serves all nodes: it holds nothing of a run."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Enters the content key: raise it when the meaning of the params changes."""
    params: ClassVar[type[BaseModel]]
    reusable: ClassVar[bool] = True
    """May an equal node's output of another run be taken? False for what acts on the world or asks a person."""
    joins: ClassVar[bool] = False
    """Runs also when some of the nodes that it refers to were skipped."""

    def blocks(self, params: Any) -> tuple[Block, ...]:
        """Every prompt block in the params."""
        return ()

    def bound(self, params: Any) -> Any:
        """The part of the params that may hold bindings, as JSON."""
        return None

    def bodies(self, params: Any) -> tuple[tuple[str, Body], ...]:
        """The graphs inside the node, by the field that holds them."""
        return ()

    def labels(self, params: Any) -> tuple[str, ...]:
        """The branches that edges may name as their condition; none: not a branching kind."""
        return ()

    def names(self, params: Any) -> frozenset[str]:
        """Names that the nodes of its bodies find beside those around, such as a loop's `item`."""
        return frozenset()

    def rounds(self, params: Any) -> int:
        """How often at most its bodies run; for a quote."""
        return 1

    def unrolls(self, params: Any) -> bool:
        """Does it go on whatever its bodies give, to a bound of its own? A quote then follows it, with drafts in their
        place; else one run of the bodies counts as `rounds`."""
        return False

    def yields(self, params: Any) -> Schema | None:
        """The shape of the output; None when it can be anything."""
        return None

    def check(self, params: Any, node: Node) -> tuple[Finding, ...]:
        """What is wrong with the params beyond their types."""
        return ()

    def fingerprint(self, context: NodeContext, params: Any) -> Any:
        """What the output depends on beside the params, the inputs and the names, as JSON.

        None: it can only be said when the node runs; then the kind looks for an earlier outcome itself.
        """
        return () if self.reusable else None

    async def run(self, context: NodeContext, params: Any) -> Attempt | Produced:
        """Runs to the output that stands. Raises FlowCabalError, or Rejected."""
        raise NotImplementedError


class Rejected(Exception):
    """The human turned the output down: the node ends without one, and its dependents are blocked."""
