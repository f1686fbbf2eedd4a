"""Blocks with a part keep it; blocks without one are written as before, so that their digests stay."""

from __future__ import annotations

from flowcabal_tui.dialects.flowcabal.reading import read
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import PromptParams, TextBlock, VirtualBlock, Workflow


def test_a_block_without_a_part_is_written_as_before() -> None:
    params = PromptParams(prompt=(TextBlock(text="a"), VirtualBlock(node=NodeId("n"), part="plan")))
    plain, fenced = params.model_dump(mode="json")["prompt"]
    assert plain == {"kind": "text", "text": "a"}
    assert fenced == {"kind": "virtual", "part": "plan", "node": "n", "frozen": None}
    assert PromptParams.model_validate(params.model_dump(mode="json")) == params


def test_a_new_workflow_has_the_context_before_and_one_of_flowcabal_after() -> None:
    assert Workflow(id="w").context_at == "before"
    assert read({"id": "w", "nodes": [{"id": "x", "apiConfig": {}}]}).workflow.context_at == "after"
