"""The quote of the workflow pane names what a run then does: served, edited, frozen, and left out by a target."""

from __future__ import annotations

from pathlib import Path

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.protocol.workflows import FreezeNode, SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint, make_one, opened
from tests.project.test_run_limit import chain


async def test_a_quote_names_the_nodes_that_the_run_then_pays_for(folder: Path, server: FaultServer) -> None:
    async with opened(await make_one(folder, both(endpoint(server)))) as case:
        workflow = chain("a", "b", "c")
        await case.project.carry_out(SaveWorkflow(workflow))
        await case.run("chain", targets=(NodeId("a"),))
        served = await case.project.runs.quote(RunRequest("chain"))
        assert (served.served, served.would_run) == (("a",), ("b", "c"))
        to_b = await case.project.runs.quote(RunRequest("chain", targets=(NodeId("b"),)))
        assert (to_b.served, to_b.would_run, to_b.likely.calls) == (("a",), ("b",), 1)
        await case.run("chain", targets=(NodeId("b"),))
        assert calls(server) == 2
        await case.run("chain")
        changed = workflow.node(NodeId("b")).model_copy(
            update={"params": {**workflow.node(NodeId("b")).params, "prompt": [{"kind": "text", "text": "Other."}]}}
        )
        nodes = tuple(changed if node.id == "b" else node for node in workflow.nodes)
        await case.project.carry_out(SaveWorkflow(workflow.model_copy(update={"nodes": nodes})))
        edited = await case.project.runs.quote(RunRequest("chain"))
        assert "b" in edited.would_run and "a" in edited.served
        await case.project.carry_out(FreezeNode("chain", NodeId("b")))
        frozen = await case.project.runs.quote(RunRequest("chain"))
        assert frozen.frozen == ("b",) and "b" not in frozen.would_run
        before = calls(server)
        await case.run("chain")
        assert calls(server) - before == frozen.likely.calls == len(frozen.would_run)
