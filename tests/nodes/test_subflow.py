from __future__ import annotations

import asyncio

import pytest

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.calls import check_calls
from flowcabal_tui.nodes.graph import kind_and_params
from flowcabal_tui.nodes.kinds.subflow import MAX_DEPTH
from tests.nodes.flows import bench, body, edge, failure, node, values
from tests.nodes.item_flows import Allowed
from tests.runner.fakes import flow, prompt, until

DEPTH = {"__from__": "input.depth"}


def called(name: str, *nodes, version: int = 1, edges=()) -> Workflow:
    return Workflow(id=name, version=version, nodes=nodes, edges=edges)


async def started(main: Workflow, *library: Workflow, inputs=None, state=None, run="r1", made=None):
    made = made or bench(Allowed(workflows=(main, *library)))
    going = await made.run(main, run=run, inputs=inputs or {}, scope={"state": state or DualState()})
    return made, going, await going.execute()


ECHO = called("echo", node("a", "end", value={"said": "{{input.word}}"}), node("b", "end", value="result_of.a.said"))


async def test_a_workflow_runs_as_one_node_and_its_last_node_is_the_output():
    main = flow(
        node("word", "end", value="你好"), node("it", "subflow", ref="echo@1", inputs={"word": "result_of.word"})
    )
    _made, run, state = await started(main, ECHO)
    assert state == "done" and values(run)["it"] == "你好"


async def test_outputs_are_read_inside_it():
    main = flow(
        node(
            "it",
            "subflow",
            ref="echo",
            inputs={"word": "x"},
            outputs={"first": "result_of.a.said", "in": "{{input.word}}!"},
        ),
        node("after", "end", value="result_of.it.first"),
    )
    _made, run, _state = await started(main, ECHO)
    assert values(run) == {"it": {"first": "x", "in": "x!"}, "after": "x"}


async def test_an_output_that_is_not_there_names_what_there_is():
    made, _run, state = await started(
        flow(node("it", "subflow", ref="echo", outputs={"x": "result_of.nobody"})),
        called("echo", node("a", "end", value=1)),
    )
    assert state == "failed" and "a" in failure(made) and "nobody" in failure(made)


async def test_inside_only_its_inputs_are_seen():
    peeks = called("peeks", node("a", "end", value="result_of.outside"))
    made, _run, state = await started(flow(node("outside", "end", value=1), node("it", "subflow", ref="peeks")), peeks)
    assert state == "failed" and "outside" in failure(made)


async def test_the_version_that_is_named_is_the_one_that_runs():
    old, new = (called("f", node("a", "end", value=n), version=n) for n in (1, 2))
    _made, run, _state = await started(flow(node("it", "subflow", ref="f@2")), old, new)
    assert values(run)["it"] == 2


async def test_a_workflow_that_is_not_there_is_an_error_that_names_it():
    made, _run, state = await started(flow(node("it", "subflow", ref="nobody@1")))
    assert state == "failed" and "nobody@1" in failure(made)


async def test_of_two_branches_the_one_that_ran_gives_the_output():
    branch = called(
        "branch",
        node("if", "condition", kind="equals", source="input.side", value="left"),
        node("left", "end", value="L"),
        node("right", "end", value="R"),
        edges=(edge("if", "left", "true"), edge("if", "right", "false")),
    )
    for side, letter in (("left", "L"), ("right", "R")):
        _made, run, _state = await started(flow(node("it", "subflow", ref="branch", inputs={"side": side})), branch)
        assert values(run)["it"] == letter


@pytest.mark.parametrize(("share", "after"), [(True, {"hp": 99}), (False, {"hp": 1})])
async def test_the_state_is_shared_or_its_own(share, after):
    writes = called("w", node("w", "state_write", updates={"hp": 99}), node("r", "state_read"), edges=(edge("w", "r"),))
    state = DualState.of({"hp": 1})
    _made, run, ended = await started(flow(node("it", "subflow", ref="w", share_state=share)), writes, state=state)
    assert ended == "done" and state.view() == after
    assert values(run)["it"]["items"] == [{"state": {"hp": 99}}]


def countdown(**params) -> Workflow:
    """Calls itself with a longer word, and gives the word when the depth is used up."""
    again = {"ref": "down@1", "inputs": {"word": "{{input.word}}!"}, "depth": DEPTH, "bottom": "{{input.word}}"}
    return called("down", node("again", "subflow", **(again | params)))


async def test_a_workflow_calls_itself_three_levels_deep_with_other_inputs():
    main = flow(node("it", "subflow", ref="down@1", inputs={"word": "Go", "depth": 3}))
    made, run, state = await started(main, countdown())
    assert state == "done" and values(run)["it"] == "Go!!!"
    assert "it/flow/again/flow/again/flow/again/flow/again" in {event.node for event in made.journal.events}


async def test_a_depth_of_zero_calls_nothing():
    _made, run, _state = await started(
        flow(node("it", "subflow", ref="down", inputs={"word": "Go", "depth": 0})), countdown()
    )
    assert values(run)["it"] == "Go"


@pytest.mark.parametrize("depth", ["three", -1, 1.5, True, None], ids=repr)
async def test_a_depth_that_is_no_whole_number_is_an_error(depth):
    made, _run, state = await started(
        flow(node("it", "subflow", ref="down", inputs={"word": "Go", "depth": depth})), countdown()
    )
    assert state == "failed" and "input.depth" in failure(made)


async def test_a_call_of_itself_without_a_depth_is_refused_before_it_begins():
    made, _run, state = await started(
        flow(node("it", "subflow", ref="down", inputs={"word": "Go"})), countdown(depth=None)
    )
    assert state == "failed" and "down@1" in failure(made)
    assert not [event for event in made.journal.events if event.node.startswith("it/")]


async def test_the_run_s_own_workflow_is_refused_too():
    made, _run, state = await started(Workflow(id="me", nodes=(node("it", "subflow", ref="me"),)))
    assert state == "failed" and "me@1" in failure(made)


async def test_a_depth_beyond_the_limit_ends_in_a_clear_error():
    main = flow(node("it", "subflow", ref="down", inputs={"word": "Go", "depth": 50}))
    made, _run, state = await started(main, countdown())
    assert state == "failed" and str(MAX_DEPTH) in failure(made)


async def test_ten_levels_without_any_circle_are_allowed_and_an_eleventh_is_not():
    chain = [called(f"f{n}", node("x", "subflow", ref=f"f{n + 1}")) for n in range(1, 11)]
    last = called("f11", node("x", "end", value="deep"))
    _made, run, state = await started(flow(node("it", "subflow", ref="f2")), *chain, last)
    assert state == "done" and values(run)["it"] == "deep"
    made, _run, state = await started(flow(node("it", "subflow", ref="f1")), *chain, last)
    assert state == "failed" and str(MAX_DEPTH) in failure(made)


async def test_equal_prompts_inside_are_paid_for_once():
    main = flow(node("it", "subflow", ref="writes", inputs={"word": "x"}))
    writes = called("writes", prompt("a", "{{input.word}}"))
    made, _run, _state = await started(main, writes)
    _made, run, state = await started(main, run="r2", made=made)
    assert state == "done" and values(run)["it"] == {"text": "[x]"} and len(made.model.calls) == 1


async def test_a_resumed_run_goes_on_inside():
    made = bench(
        Allowed(workflows=(called("asks", prompt("a", "x"), node("h", "human", question="{{result_of.a.text}}")),))
    )
    main = flow(node("it", "subflow", ref="asks"))
    run = await made.run(main)
    task = asyncio.create_task(run.execute())
    await until(lambda: run.only_waits)
    run.close()
    assert await task == "interrupted"
    run = await made.run(main)
    task = asyncio.create_task(run.execute())
    await until(lambda: run.only_waits)
    run.cancel()
    await task
    assert len(made.model.calls) == 1


# before the run


def found(main: Workflow, *library: Workflow) -> list[tuple[str, str]]:
    known = {name: one for one in library for name in (one.id, one.reference)}
    return [(finding.code, finding.node) for finding in check_calls(main, known)]


def test_calls_of_unknown_workflows_are_found_in_bodies_too():
    inner = node("loop", "loop", source=[1], body=body(node("x", "subflow", ref="nobody")))
    assert found(flow(inner, node("it", "subflow", ref="echo")), ECHO) == [("UNKNOWN_WORKFLOW", "x")]


def test_a_circle_needs_one_falling_depth_through_all_of_it():
    a, b = called("a", node("x", "subflow", ref="b")), called("b", node("y", "subflow", ref="a"))
    bound = called("b", node("y", "subflow", ref="a", depth="input.depth"))
    other = called("a", node("x", "subflow", ref="b", depth="{{input.levels}}"))
    whole = called("a", node("x", "subflow", ref="b", depth="{{input.depth}}"))
    assert found(a, b) == [("ENDLESS_CALLS", "x"), ("ENDLESS_CALLS", "y")]
    assert found(a, bound) == [("ENDLESS_CALLS", "x")]
    assert found(other, bound) == [("ENDLESS_CALLS", "x"), ("ENDLESS_CALLS", "y")]
    assert found(whole, bound) == []


def test_a_call_into_a_bounded_circle_needs_no_depth_itself():
    assert found(flow(node("it", "subflow", ref="down", inputs={"depth": 3, "word": ""})), countdown()) == []


@pytest.mark.parametrize(
    "depth", [3, "input.depth.more", "result_of.a.n", "state.depth", {"__from__": "input.d", "__agg__": "count"}]
)
def test_a_depth_that_cannot_fall_is_no_depth(depth):
    with pytest.raises(WorkflowError, match="it"):
        kind_and_params(node("it", "subflow", ref="down", depth=depth))
