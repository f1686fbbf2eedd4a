"""How the blocks of a prompt are joined is a setting of the workflow, and part of what an output depends on."""

from __future__ import annotations

from flowcabal_tui.domain.items import Output
from tests.runner.fakes import Bench, FakeModel, flow, prompt


async def asked(bench: Bench, run: str, **fields: object) -> list[str]:
    workflow = flow(prompt("a", "x", context=False), prompt("b", "one", "@a", "two", context=False), **fields)
    before = len(bench.model.calls)
    assert await (await bench.run(workflow, run, scope={"pins": {"a": Output("")}})).execute() == "done"
    return [call.messages[-1].content for call in bench.model.calls[before:]]


async def test_an_empty_block_is_left_out_with_its_join_when_the_workflow_says_so():
    bench = Bench(FakeModel(lambda _request: "said"))
    assert await asked(bench, "r1", join="\n\n") == ["one\n\n\n\ntwo"]
    assert await asked(bench, "r2", join="\n\n", skip_empty=True) == ["one\n\ntwo"]


async def test_another_join_is_another_prompt():
    bench = Bench(FakeModel(lambda _request: "said"))
    assert await asked(bench, "r1") == ["onetwo"]
    assert await asked(bench, "r2", join=" ") == ["one  two"]
    assert await asked(bench, "r3", join=" ") == []
