"""Another attempt of a node: the run's own inputs, and nothing paid but that node."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint, make_one, opened

WORKFLOW = Workflow(
    id="three",
    nodes=tuple(
        Node(id=NodeId(node), kind="prompt", params={"prompt": prompt, "context": False, "review": "never"})
        for node, prompt in (
            ("plan", [{"kind": "text", "text": "Plan: {{input.instruction}}"}]),
            (
                "draft",
                [{"kind": "text", "text": "Write {{input.instruction}} "}, {"kind": "virtual", "node": "plan"}],
            ),
            ("polish", [{"kind": "text", "text": "Polish "}, {"kind": "virtual", "node": "draft"}]),
        )
    ),
)


async def test_another_attempt_keeps_the_inputs_and_pays_for_one_node(folder: Path, server: FaultServer) -> None:
    model = endpoint(server, price_in=Decimal(1), price_out=Decimal(1), max_output=2_000)
    async with opened(await make_one(folder, both(model))) as case:
        await case.project.carry_out(SaveWorkflow(WORKFLOW))
        wishes = {"inputs": (("instruction", "a storm"),), "overrides": ((NodeId("draft"), {"temperature": 0.25}),)}
        run = await case.run("three", 1, **wishes)
        assert calls(server) == 3
        request = (await case.project.runs.run_details(run)).request.another(NodeId("draft"))
        assert (request.inputs, request.overrides) == (wishes["inputs"], wishes["overrides"])
        quote = await case.project.runs.quote(request)
        assert (quote.would_run, quote.likely.calls, quote.served) == (("draft",), 1, ("plan",))
        again = await case.project.carry_out(RunWorkflow(request))
        assert await case.follow(again) == "done"  # type: ignore[arg-type]  # an id
        assert calls(server) == 4
        body = server.log[-1]["body"]
        assert "a storm" in body["messages"][-1]["content"] and body["temperature"] == 0.25
