"""What a kind of node is, and what it may do while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel

from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import Attempt, Decision, Evaluation
from flowcabal_tui.domain.workflow import Block, Blocks, Node, PromptParams

QuestionKind = Literal["review", "input"]


class NodeContext(Protocol):
    """The run, as one node sees it. Every step is journalled: entering the body again repeats nothing."""

    @property
    def node(self) -> Node: ...

    def resolve(self, blocks: Blocks, answers: Sequence[tuple[str, str]] = ()) -> str:
        """The text of the blocks; `answers` are (question, answer) of inquiries. Raises WorkflowError."""
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

    def feedback(self, evaluation: Evaluation | None, note: str) -> str:
        """What the model is told before it tries again; "" when there is nothing to say."""
        ...

    async def generate(
        self, request: ModelRequest, params: PromptParams, injection: Injection | None, *, number: int, feedback: str
    ) -> Attempt:
        """Attempt `number` (from 1): from the store when it was paid for, else streamed.

        An attempt equal to an earlier one of this run is a new sample. Raises ModelError.
        """
        ...

    async def evaluate(self, params: PromptParams, attempt: Attempt) -> Evaluation | None:
        """What the Monitor says; None when there is nothing to check or it is switched off."""
        ...

    async def ask(
        self,
        kind: QuestionKind,
        reason: str,
        *,
        attempts: Sequence[Attempt] = (),
        proposal: str = "",
        required: bool = False,
    ) -> Decision:
        """Waits for the human; holds no slot. The same question is asked once."""
        ...

    async def edited(self, text: str, number: int) -> Attempt:
        """Records what the human wrote as an attempt of its own."""
        ...


class NodeKind(Protocol):
    """A kind of node. `version` enters the content key: raise it when the meaning of the params changes."""

    name: ClassVar[str]
    version: ClassVar[int]
    params: ClassVar[type[BaseModel]]

    def blocks(self, params: Any) -> tuple[Block, ...]:
        """Every block in the params, for references and bindings."""
        ...

    async def run(self, context: NodeContext, params: Any) -> Attempt:
        """Runs to the output that stands. Raises ModelError, WorkflowError, or Rejected."""
        ...


class Rejected(Exception):
    """The human turned the output down: the node ends without one, and its dependents are blocked."""
