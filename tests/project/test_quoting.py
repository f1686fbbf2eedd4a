"""What a run of nodes with graphs inside would cost, told before it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.run import AngleCheck, Decision, Evaluation, Quote
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.project.runs.basis import DRAFT_TOKENS, Basis
from flowcabal_tui.project.runs.quoting import quote
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, prompt, until

PASSED = Evaluation("approve", "", 1, (AngleCheck("timeline", "passed"),))


class Words:
    """Counts words."""

    def count(self, text: str) -> int:
        return len(text.split())


def numbered() -> Callable[[ModelRequest], str]:
    """Another text each time, and never a verdict."""
    count = itertools.count(1)
    return lambda _request: f"text {next(count)}"


def block(text: str) -> list[dict[str, str]]:
    return [{"kind": "text", "text": text}]


def recursive(**params: Any) -> Node:
    written = {"context": False, "max_tokens": 100}
    steps = {
        "draft": {"prompt": block("one two three"), **written},
        "criticise": {"prompt": block("{{draft}}"), "max_tokens": 10},
        "revise": {"prompt": block("{{draft}} {{critique}}"), **written},
    }
    return Node(id=NodeId("polish"), kind="recursive", params={**steps, "depth": 3, **params})


def evolution(**params: Any) -> Node:
    write = {"prompt": block("open {{parent}}"), "context": False, "max_tokens": 100}
    return Node(id=NodeId("open"), kind="evolution", params={"write": write, "candidates": 4, **params})


async def quoted(bench: Bench, workflow: Workflow, run: str = "quoted") -> Quote:
    return await quote((await bench.run(workflow, run=run)).scope, Basis(Words()))


async def test_a_recursion_is_counted_step_by_step_to_its_depth():
    bench = Bench(FakeModel(numbered()))
    found = await quoted(bench, flow(recursive()))
    assert (found.would_run, found.likely.calls) == (("polish",), 7)
    assert found.likely.output_tokens == 4 * 100 + 3 * 10
    assert found.likely.input_tokens > 3 + 3 * 100 + 3 * (100 + 10), "each step takes in what those before it give"
    run = await bench.run(flow(recursive()))
    assert await run.execute() == "done"
    assert len(bench.model.calls) == found.likely.calls, "the critic never was content"


async def test_what_is_there_already_is_not_counted():
    bench = Bench(FakeModel(numbered()))
    assert await (await bench.run(flow(recursive(depth=1)))).execute() == "done"
    assert (await quoted(bench, flow(recursive(depth=1)))).served == ("polish",)
    assert (await quoted(bench, flow(recursive(depth=2)), "deeper")).likely.calls == 2, "one critique, one revision"


@pytest.mark.parametrize(
    ("params", "calls"),
    [
        ({}, 4),
        ({"rounds": 3}, 12),
        ({"rounds": 3, "automatic": True}, 12),
        ({"sift": {}}, 5),
        ({"rounds": 2, "angles": ["timeline", "echoes"], "sift": {}}, 2 * (4 + 4 * 2 + 1)),
    ],
)
async def test_an_evolution_is_counted_with_its_checks_in_every_round(params, calls):
    bench = Bench(FakeModel(lambda _r: "x"), FakeMonitor(lambda _text, _n: PASSED))
    found = await quoted(bench, flow(evolution(**params)))
    assert found.likely.calls == calls
    assert bench.model.calls == [] and bench.monitor.seen == []


async def test_candidates_that_are_there_are_not_checked_by_a_quote():
    bench = Bench(FakeModel(lambda _r: "x"), FakeMonitor(lambda _text, _n: PASSED))
    workflow = flow(evolution(angles=["timeline"]))
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    run.close()
    await task
    found = await quoted(bench, workflow)
    assert (found.likely.calls, len(bench.monitor.seen)) == (4, 4)
    run = await bench.run(workflow)
    task = asyncio.create_task(run.execute())
    await until(lambda: len(bench.of(NodeNeedsHuman)) == 2)
    run.answer(bench.of(NodeNeedsHuman)[1].question.id, Decision("choose", attempt=1))
    assert await task == "done"
    assert (await quoted(bench, workflow, "again")).served == ("open",)


def call(node: str, text: str) -> dict[str, Any]:
    return prompt(node, text, context=False).model_dump()


async def test_branches_side_by_side_are_counted_together():
    branches = {name: {"nodes": [call("x", name), call("y", "after {{result_of.x.text}}")]} for name in "abc"}
    node = Node(id=NodeId("par"), kind="parallel", params={"branches": branches})
    found = await quoted(Bench(FakeModel(numbered())), flow(node))
    assert (found.would_run, found.likely.calls) == (("par",), 6)


async def test_a_loop_is_counted_for_each_item_that_there_is():
    def loop(**params: Any) -> Workflow:
        body = {"nodes": [call("x", "write {{item}}")]}
        return flow(Node(id=NodeId("loop"), kind="loop", params={"body": body, "side_by_side": 2, **params}))

    bench = Bench(FakeModel(numbered()))
    assert (await quoted(bench, loop(source=["a", "b", "c", "d"]))).likely.calls == 4
    assert await (await bench.run(loop(source=["a", "b"]))).execute() == "done"
    assert (await quoted(bench, loop(source=["a", "b", "c", "d"]), "more")).likely.calls == 2


async def test_a_loop_whose_rounds_depend_on_each_other_is_counted_to_its_bound():
    kept = {"set": {"last": {"__from__": "result_of.x.text"}}}
    params = {"body": {"nodes": [call("x", "write {{item}}")]}, "source": [1, 2, 3], "accumulator": kept}
    node = Node(id=NodeId("loop"), kind="loop", params=params)
    assert (await quoted(Bench(FakeModel(numbered())), flow(node))).likely.calls == 3


async def test_what_cannot_be_foreseen_is_counted_to_its_bound():
    items = {"source": "result_of.list.text", "max_iterations": 9}
    node = Node(id=NodeId("loop"), kind="loop", params={"body": {"nodes": [call("x", "write {{item}}")]}, **items})
    after = prompt("after", "{{result_of.list.points[0]}}", context=False)
    found = await quoted(Bench(FakeModel(numbered())), flow(prompt("list", "name some"), node, after))
    assert found.likely.calls == 1 + 9 + 1


async def test_what_stands_behind_is_counted_with_a_draft_in_its_place():
    bench = Bench(FakeModel(lambda _r: "x"))
    found = await quoted(bench, flow(evolution(), prompt("after", "go on: ", "@open")))
    assert found.would_run == ("open", "after")
    assert found.likely.input_tokens == 4 + 2 + DRAFT_TOKENS
