"""The interface of node kinds, and the services available to a node while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Attempt, Choice, Decision, Evaluation, IterationKind, QuestionKind, Retry
from flowcabal_tui.domain.state import DualState, StateEffect
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.domain.workflow import Block, Blocks, Body, ModelCall, Node, Problem, PromptParams, Workflow

Schema = Mapping[str, Any]
"""The JSON Schema of a node's output; for static checks of paths."""


@dataclass(frozen=True, slots=True)
class Produced:
    """The output of a node that makes no attempts: a JSON value, and its changes of the state."""

    value: Any
    effect: StateEffect | None = None


class TextSink(Protocol):
    """Receives a growing text: displays it at once, writes it to the journal about once a second."""

    @property
    def pieces(self) -> Sequence[str]:
        """All pieces so far, as they arrived."""

    def append(self, piece: str) -> None:
        """Adds a piece."""

    def end(self) -> None:
        """Emits and stores the rest."""


class NodeModels(Protocol):
    """The model calls of one node."""

    def identity(self, params: PromptParams) -> Any:
        """The model and those of its settings that affect the text, as JSON; None when the Context agent adds to the
        prompt.
        """

    async def inject(self, params: PromptParams, prompt: str, inquiries: Sequence[str]) -> Injection | None:
        """The context for a prompt; None when it is switched off."""

    async def outcome(self, request: ModelRequest, params: PromptParams) -> Attempt | None:
        """The earlier output of an equal node, unless a new sample is requested."""

    async def settle(self, request: ModelRequest, params: PromptParams, attempt: Attempt) -> Attempt:
        """Records this attempt as the output for the request."""

    def retry(
        self, attempt: Attempt, evaluation: Evaluation | None, note: str = "", *, mend: bool = False
    ) -> Retry | None:
        """The feedback to the model for another attempt; None when there is none.

        With `mend`, it asks only for some paragraphs if that suffices.
        """

    async def generate(
        self,
        request: ModelRequest,
        params: PromptParams,
        injection: Injection | None,
        *,
        number: int,
        retry: Retry | None = None,
    ) -> Attempt:
        """Returns attempt `number` (from 1): from the store if it was paid for before, otherwise streamed.

        If a retry asked for single paragraphs and the answer cannot be placed, the whole text is requested. An attempt
        equal to an earlier one of this run is a new sample. Raises ModelError.
        """

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        """The verdict of the Monitor; None when there is nothing to check or it is switched off."""

    async def doubt(self, params: PromptParams, injection: Injection | None, attempt: Attempt) -> str:
        """The reason why a person should read the attempt, by rules of form and length; "" for none."""


class NodeContext(Protocol):
    """The run, as one node sees it.

    Every step is journalled, so running the node again repeats no work.
    """

    @property
    def node(self) -> Node: ...

    @property
    def path(self) -> NodeId:
        """Its path in the run: the ids of the containers around it, then its own."""

    @property
    def names(self) -> Mapping[str, Any]:
        """The names available to bindings: `result_of`, `input`, `state`, `loop`, aliases, `chapter`, `project`."""

    def names_at(self, moment: str) -> Mapping[str, Any]:
        """Like `names`, with the state as this node first saw it at this moment, even if the node is entered again
        later.

        For kinds that run others and read the state in between; `moment` identifies each reading.
        """

    @property
    def depth(self) -> int:
        """The number of sub-flows around this node."""

    @property
    def memory(self) -> DualState:
        """The state that this node reads and writes."""

    def bind(self, value: Any) -> Any:
        """`value` with every binding in it resolved. Raises BindingError with the available names."""

    def resolve(self, blocks: Blocks, answers: Sequence[tuple[str, str]] = ()) -> str:
        """The text of the blocks; `answers` are (question, answer) of inquiries. Raises WorkflowError."""

    def placed(self, prompt: str, injection: Injection) -> Message:
        """The blocks of a prompt with the Context agent's texts before or after them, as set in the workflow."""

    async def body(self, body: Body, part: str, names: Mapping[str, Any] | None = None) -> Mapping[NodeId, Output]:
        """Runs the nodes of a body as `<this node>/<part>/<id>`; they also see `names` and the nodes around.

        Returns the outputs of those that were not skipped. Raises StepFailed when one of them failed.
        """

    async def flow(
        self, workflow: Workflow, part: str, inputs: Mapping[str, Any], *, own_state: bool
    ) -> Mapping[NodeId, Output]:
        """Runs another workflow as `<this node>/<part>/<id>`; its nodes see only `inputs`. Raises StepFailed."""

    async def hold(self) -> None:
        """Takes one of the slots for parallel work, until the output of the node is stored.

        The node with the longest path behind it comes first; a question to a person releases the slot while it waits.
        """

    def streamed(self, number: int) -> TextSink:
        """The sink for a kind that makes its text by itself; `number` is the number of the attempt."""

    async def workflow(self, reference: str) -> Workflow:
        """A workflow by `id@version` or id. Raises WorkflowError."""

    @property
    def acted(self) -> int:
        """The number of times that an earlier process began to act on the outside world without logging the end."""

    async def acts(self) -> None:
        """Logs that the node acts on the outside world from this point on."""

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        """Runs an action of the registry and returns its JSON result. Raises FlowCabalError."""

    def gated(self, action: str) -> bool:
        """True when a person must allow this action. Raises FlowCabalError for an unknown one."""

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Calls an allow-listed function. Raises FlowCabalError naming the functions there are."""

    @property
    def models(self) -> NodeModels:
        """The models, for this node."""

    def iteration(self, number: int, total: int, kind: IterationKind, candidates: int = 0) -> None:
        """Emits the beginning of round `number` of at most `total`."""

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
        """Waits for the writer's decision; holds no slot. Each question is asked only once; `part` distinguishes
        several questions."""

    async def ask_once(self, about: Any, ask: Callable[[], Awaitable[Decision]]) -> Decision:
        """A person's answer to the same question (JSON) of an equal node in an earlier run; otherwise asks.

        Also asks when a new sample is requested; a rejection is not remembered.
        """

    async def edited(self, text: str, number: int) -> Attempt:
        """Records the writer's text as an attempt of its own."""


class NodeKind:
    """A kind of node. One instance serves all nodes: it holds nothing of a run."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Enters the content key: raise it when the meaning of the params changes."""
    params: ClassVar[type[BaseModel]]
    reusable: ClassVar[bool] = True
    """True when an equal node's output of another run may be used. False for kinds that act on the world or ask a
    person."""
    joins: ClassVar[bool] = False
    """Runs also when some of the nodes that it refers to were skipped."""
    bounded: ClassVar[bool] = False
    """True when the number of its own calls of models depends on no answer. A quote, which runs the node with drafts in
    place of missing texts, then counts all of them; otherwise it counts the first and says that it has no bound."""

    def blocks(self, params: Any) -> tuple[Block, ...]:
        """Every prompt block in the params."""
        return ()

    def bound(self, params: Any) -> Any:
        """The part of the params that may hold bindings, as JSON."""
        return None

    def model_calls(self, params: Any) -> tuple[ModelCall, ...]:
        """The calls of models that the node makes itself, outside its bodies, one for each model and role.

        The user confirms these models before a run, and a quote includes the node. Only `role` and `model` are read.
        """
        return ()

    def bodies(self, params: Any) -> tuple[tuple[str, Body], ...]:
        """The graphs inside the node, by the field that holds them."""
        return ()

    def labels(self, params: Any) -> tuple[str, ...]:
        """The branches that edges may name as their condition; none: not a branching kind."""
        return ()

    def names(self, params: Any) -> frozenset[str]:
        """Names that are available to the nodes of its bodies besides those around, such as a loop's `item`."""
        return frozenset()

    def rounds(self, params: Any) -> int:
        """The highest number of times that its bodies can run, for a quote."""
        return 1

    def unrolls(self, params: Any) -> bool:
        """True when the node repeats up to its own bound, regardless of the outputs of its bodies.

        A quote then follows the rounds, with drafts in place of outputs; otherwise it multiplies one run of the bodies
        by `rounds`.
        """
        return False

    def output_schema(self, params: Any) -> Schema | None:
        """The shape of the output; None when it can be anything."""
        return None

    def check(self, params: Any, node: Node) -> tuple[Problem, ...]:
        """Errors of the params beyond their types; the caller sets their node."""
        return ()

    def fingerprint(self, context: NodeContext, params: Any) -> Any:
        """The values, as JSON, on which the output depends besides the params, the inputs and the names.

        None: they are only known when the node runs; then the kind looks for an earlier outcome itself.
        """
        return () if self.reusable else None

    async def run(self, context: NodeContext, params: Any) -> Attempt | Produced:
        """Runs to the final output. Raises FlowCabalError or Rejected."""
        raise NotImplementedError


class Rejected(Exception):
    """A person rejected the output: the node ends without one, and its dependents are blocked."""
