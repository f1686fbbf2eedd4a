"""`human`: asks the writer; the answer is the output."""

from __future__ import annotations

from typing import ClassVar

from flowcabal_tui.domain.run import Attempt
from flowcabal_tui.domain.workflow import Block, HumanParams
from flowcabal_tui.nodes.base import NodeContext, Rejected


class Human:
    """Waits for text; an upstream output can be what the answer starts from."""

    name: ClassVar[str] = "human"
    version: ClassVar[int] = 1
    params: ClassVar[type[HumanParams]] = HumanParams

    def blocks(self, params: HumanParams) -> tuple[Block, ...]:
        return params.proposal

    async def run(self, context: NodeContext, params: HumanParams) -> Attempt:
        proposal = context.resolve(params.proposal)
        decision = await context.ask("input", params.question, proposal=proposal, required=True)
        if decision.kind == "reject":
            raise Rejected
        return await context.edited(proposal if decision.kind == "approve" else decision.text, 1)


KIND = Human()
