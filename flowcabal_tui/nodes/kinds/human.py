"""`human`: asks the writer for a text or for a choice; the answer is the output."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field

from flowcabal_tui.domain.run import Attempt, Choice
from flowcabal_tui.domain.workflow import Block, Blocks, TextBlock
from flowcabal_tui.nodes.base import NodeContext, NodeKind, Rejected


class HumanParams(BaseModel, frozen=True, extra="forbid"):
    """A question to the writer; the answer is the output."""

    question: str = Field(description="The question; {{...}} is filled in.")
    proposal: Blocks = Field((), description="What the answer is based on, such as an upstream output.")
    choices: tuple[str, ...] = Field((), description="Answers to choose from; none: free text.")


class Human(NodeKind):
    """Waits for an answer; an upstream output can be the initial text."""

    name: ClassVar[str] = "human"
    params: ClassVar[type[HumanParams]] = HumanParams
    reusable: ClassVar[bool] = False

    def blocks(self, params: HumanParams) -> tuple[Block, ...]:
        return (TextBlock(text=params.question), *params.proposal, *(TextBlock(text=each) for each in params.choices))

    def output_schema(self, params: HumanParams) -> dict[str, Any]:
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    async def run(self, context: NodeContext, params: HumanParams) -> Attempt:
        proposal = context.resolve(params.proposal)
        question = context.resolve((TextBlock(text=params.question),))
        choices = [Choice(context.resolve((TextBlock(text=each),))) for each in params.choices]
        decision = await context.ask(
            "choice" if choices else "input", question, proposal=proposal, required=True, choices=choices
        )
        if decision.kind == "reject":
            raise Rejected
        if decision.kind == "choose":
            return await context.edited(choices[decision.attempt - 1].label, 1)
        return await context.edited(proposal if decision.kind == "approve" else decision.text, 1)


KIND = Human()
