from __future__ import annotations

import asyncio

import pytest

from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.nodes.graph import needs_of
from flowcabal_tui.nodes.kinds.loop_exports import AggregateExport, aggregated
from flowcabal_tui.nodes.registry import kinds
from tests.nodes.flows import FakeActions, act, answered, bench, body, edge, failure, node, values
from tests.runner.fakes import flow, prompt, until

SCENES = node("plan", "end", value={"scenes": [{"title": "雪", "words": 3}, {"title": "雨", "words": 5}]})


def loop(**params):
    return node("loop", "loop", **params)


def echoing(**more):
    return FakeActions({"write": lambda given: {**given, **more}})


async def ran(*nodes, actions=None, **request):
    made = bench(actions or echoing())
    run = await made.run(flow(*nodes), **request)
    return await run.execute(), values(run), made


async def test_each_item_has_a_round_that_sees_its_names():
    write = act(
        "write", a="{{item.title}}", b="{{scene.title}}", c="loop.index", d="{{index}}/{{loop.size}}", e="loop.scene"
    )
    state, got, _made = await ran(SCENES, loop(source="result_of.plan.scenes", item="scene", body=body(write)))
    assert state == "done"
    first, second = got["loop"]["iterations"]
    assert first["index"] == 0 and first["item"] == {"title": "雪", "words": 3}
    assert second["exit_result"]["params"] == {
        "a": "雨",
        "b": "雨",
        "c": 1,
        "d": "1/2",
        "e": {"title": "雨", "words": 5},
    }
    assert got["loop"]["status"] == "loop_completed" and got["loop"]["stopped"] == "end"


async def test_items_and_aggregates_are_taken_out_of_the_rounds():
    exports = {
        "items": {"from_node": "write", "fields": ["title"]},
        "aggregates": [
            {"name": kind, "kind": kind, "source": "result_of.write.words", "sep": "+"}
            for kind in ("count", "sum", "avg", "min", "max", "join", "collect")
        ]
        + [{"name": "long", "kind": "count_if", "source": "result_of.write", "field": "words", "op": ">", "value": 3}],
    }
    write = act("write", title="{{item.title}}", words="item.words")
    later = node(
        "later", "end", value=["result_of.loop.items", "result_of.loop.sum", "result_of.loop.exports.aggregates.max"]
    )
    _state, got, _made = await ran(
        SCENES, loop(source="result_of.plan.scenes", body=body(write), exports=exports), later
    )
    assert got["loop"]["items"] == [{"title": "雪"}, {"title": "雨"}]
    totals = {"count": 2, "sum": 8, "avg": 4.0, "min": 3, "max": 5, "join": "3+5", "collect": [3, 5], "long": 1}
    assert got["loop"]["aggregates"] == totals
    assert got["later"] == [[{"title": "雪"}, {"title": "雨"}], 8, 5]


@pytest.mark.parametrize(("mode", "titles"), [("first", ["雪"]), ("last", ["雨"]), ("collect", ["雪", "雨"])])
async def test_items_can_be_those_of_the_first_or_the_last_round(mode, titles):
    exports = {"items": {"from_node": "write", "fields": ["title"], "mode": mode}}
    write = act("write", title="{{item.title}}")
    _state, got, _made = await ran(SCENES, loop(source="result_of.plan.scenes", body=body(write), exports=exports))
    assert [item["title"] for item in got["loop"]["items"]] == titles


async def test_a_list_inside_an_output_gives_its_entries():
    exports = {"items": {"from_node": "write", "list_field": "found", "fields": ["id"]}}
    actions = FakeActions({"write": lambda given: {"found": [{"id": given["n"], "x": 1}, {"id": given["n"] + 10}]}})
    _state, got, _made = await ran(
        loop(source=[1, 2], body=body(act("write", n="loop.item")), exports=exports), actions=actions
    )
    assert got["loop"]["items"] == [{"id": 1}, {"id": 11}, {"id": 2}, {"id": 12}]


async def test_a_round_in_which_the_node_was_skipped_gives_nothing():
    check = node("check", "condition", kind="greater_than", source="item", threshold=2)
    inner = body(check, act("write", n="loop.item"), edges=(edge("check", "write", "true"),), leave="write")
    exports = {
        "items": {"from_node": "write", "fields": ["n"]},
        "aggregates": [{"name": "n", "kind": "count", "source": "result_of.write.n"}],
    }
    state, got, _made = await ran(loop(source=[1, 3], body=inner, exports=exports))
    assert state == "done" and got["loop"]["items"] == [{"n": 3}] and got["loop"]["aggregates"] == {"n": 1}
    assert "exit_result" not in got["loop"]["iterations"][0]


@pytest.mark.parametrize(
    ("source", "said"),
    [("result_of.plan", "an object"), ("input.text", "a text"), ("input.nothing", "input has no field")],
)
async def test_a_source_that_is_no_list_is_an_error_that_says_what_it_is(source, said):
    state, _got, made = await ran(SCENES, loop(source=source, body=body(act("write"))), inputs={"text": "x"})
    assert state == "failed" and said in failure(made)


async def test_a_longer_list_than_allowed_is_refused_before_the_first_round():
    actions = echoing()
    state, _got, made = await ran(loop(source=[1, 2, 3], max_iterations=2, body=body(act("write"))), actions=actions)
    assert state == "failed" and "3 items" in failure(made) and actions.done == []


async def test_an_empty_list_gives_an_empty_loop():
    exports = {
        "items": {"from_node": "write", "fields": ["n"]},
        "aggregates": [{"name": "n", "kind": "max", "source": "item"}],
    }
    state, got, _made = await ran(loop(source=[], body=body(act("write")), exports=exports))
    assert state == "done" and got["loop"]["items"] == [] and got["loop"]["aggregates"] == {"n": None}


async def test_while_goes_on_as_long_as_the_condition_holds_and_the_accumulator_changes():
    state, got, _made = await ran(
        loop(
            mode="while",
            condition={"kind": "expression", "expression": "loop.accumulator.total < 6"},
            accumulator={
                "initial": {"total": "{{input.from}}", "seen": None},
                "set": {"seen": "{{result_of.write.n}}"},
                "compute": {"total": "loop.accumulator.total + result_of.write.n"},
            },
            body=body(act("write", n="loop.index")),
        ),
        inputs={"from": 0},
    )
    assert state == "done" and got["loop"]["stopped"] == "condition"
    assert got["loop"]["accumulator"] == {"total": 6, "seen": 3} and len(got["loop"]["iterations"]) == 4


async def test_while_sees_what_the_round_before_gave():
    condition = {"kind": "expression", "expression": "loop.last is None or loop.last.n < 2"}
    _state, got, _made = await ran(loop(mode="while", condition=condition, body=body(act("write", n="loop.index"))))
    assert [turn["index"] for turn in got["loop"]["iterations"]] == [0, 1, 2]


async def test_while_stops_at_the_bound_and_says_so():
    endless = {"kind": "equals", "source": 1, "value": 1}
    _state, got, _made = await ran(
        loop(mode="while", condition=endless, max_iterations=3, body=body(act("write", of="{{index}}/{{size}}")))
    )
    assert got["loop"]["stopped"] == "bound" and len(got["loop"]["iterations"]) == 3
    assert got["loop"]["iterations"][2]["exit_result"]["params"] == {"of": "2/3"}
    exact = {"kind": "expression", "expression": "loop.index < 3"}
    _state, got, _made = await ran(loop(mode="while", condition=exact, max_iterations=3, body=body(act("write"))))
    assert got["loop"]["stopped"] == "condition" and len(got["loop"]["iterations"]) == 3


async def test_an_accumulator_makes_the_rounds_of_a_list_go_one_after_the_other():
    write = act("write", words="{{item}}", so_far="loop.accumulator.text")
    accumulator = {"initial": {"text": ""}, "compute": {"text": "loop.accumulator.text + str(result_of.write.words)"}}
    _state, got, _made = await ran(
        loop(source=["a", "b", "c"], side_by_side=3, accumulator=accumulator, body=body(write))
    )
    assert [turn["exit_result"]["so_far"] for turn in got["loop"]["iterations"]] == ["", "a", "ab"]
    assert got["loop"]["accumulator"] == {"text": "abc"}


async def test_rounds_side_by_side_keep_the_order_of_the_items():
    actions = echoing()
    write = act("write", n="loop.item")
    _state, got, _made = await ran(loop(source=[3, 1, 2, 5], side_by_side=2, body=body(write)), actions=actions)
    assert actions.most == 2
    assert [turn["exit_result"]["n"] for turn in got["loop"]["iterations"]] == [3, 1, 2, 5]


async def test_one_after_the_other_is_one_at_a_time():
    actions = echoing()
    await ran(loop(source=[1, 2, 3], body=body(act("write"))), actions=actions)
    assert actions.most == 1


async def test_a_round_that_fails_fails_the_loop_and_no_other_begins():
    actions = echoing()
    inner = body(act("write", n="{{item.n}}"))
    state, _got, _made = await ran(loop(source=[{"n": 1}, {"m": 2}, {"n": 3}], body=inner), actions=actions)
    assert state == "failed" and [given["n"] for _name, given, _ok in actions.done] == [1]


async def test_loops_inside_loops_see_the_round_around():
    write = act("write", text="{{act.name}}/{{scene}} {{loop.outer.index}}.{{loop.index}}")
    inside = node("inner", "loop", source="act.scenes", item="scene", body=body(write))
    acts = [{"name": "I", "scenes": ["x", "y"]}, {"name": "II", "scenes": ["z"]}]
    exports = {
        "aggregates": [{"name": "all", "kind": "collect", "source": "result_of.inner.iterations.exit_result.text"}]
    }
    _state, got, _made = await ran(loop(source=acts, item="act", body=body(inside), exports=exports))
    assert got["loop"]["aggregates"]["all"] == ["I/x 0.0", "I/y 0.1", "II/z 1.0"]


async def test_prompts_in_a_body_are_paid_for_once_over_runs():
    made = bench()
    steps = flow(loop(source=["a", "b"], side_by_side=2, body=body(prompt("draft", "write {{item}}", review="never"))))
    for name in ("r1", "r2"):
        run = await made.run(steps, run=name)
        assert await run.execute() == "done"
        assert [turn["exit_result"] for turn in values(run)["loop"]["iterations"]] == [
            {"text": "[write a]"},
            {"text": "[write b]"},
        ]
    assert len(made.model.calls) == 2


async def test_a_loop_cut_off_goes_on_with_the_round_that_was_missing():
    actions = echoing()
    actions.holds["stop"] = asyncio.Event()
    made = bench(actions)
    check = node("check", "condition", kind="equals", source="item", value=2)
    inner = body(act("write", n="loop.item"), check, act("stop"), edges=(edge("check", "stop", "true"),))
    steps = flow(loop(source=[1, 2], body=inner))
    first = await made.run(steps)
    task = asyncio.create_task(first.execute())
    await until(lambda: len(actions.done) == 2)
    await until(lambda: actions.going)
    first.close()
    assert await task == "interrupted"
    actions.holds["stop"].set()
    again = await made.run(steps)
    task = asyncio.create_task(again.execute())
    await answered(made, again, Decision("approve"))  # it may have been carried out: a person says so
    assert await task == "done"
    assert [name for name, _given, _ok in actions.done] == ["write", "write", "stop"]


def test_only_nodes_outside_the_body_are_needed():
    kind = kinds()["loop"]
    params = kind.params.model_validate(
        {
            "mode": "while",
            "condition": {"kind": "expression", "expression": "result_of.plan.go and loop.index < 3"},
            "accumulator": {"initial": {"n": "{{result_of.first.n}}"}, "set": {"m": "{{result_of.write.n}}"}},
            "exports": {"aggregates": [{"name": "a", "kind": "count", "source": "result_of.write.n"}]},
            "body": body(act("write", n="{{result_of.around.n}}")),
        }
    )
    assert needs_of(kind, params, ())[0] == ("first", "plan", "around")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"source": None}, "source"),
        ({"source": 3}, "source"),
        ({"mode": "while"}, "condition"),
        ({"mode": "while", "condition": {"kind": "nonsense"}}, "condition.kind"),
        ({"item": "state"}, "item"),
        ({"exports": {"items": {"from_node": "other"}}}, "exports.items.from_node"),
        ({"exports": {"aggregates": [{"name": "a", "kind": "sum", "source": 3}]}}, "exports.aggregates[0].source"),
        ({"exports": {"aggregates": [{"name": "a", "kind": "sum", "source": "item"}] * 2}}, "exports.aggregates"),
        ({"body": body(act("write"), leave="other")}, "body.exit"),
        ({"accumulator": {"compute": {"a": "1 +"}}}, "accumulator.compute.a"),
        ({"side_by_side": 2, "accumulator": {}}, "side_by_side"),
    ],
)
def test_what_is_wrong_with_a_loop_is_found_before_it_runs(changes, field):
    kind = kinds()["loop"]
    given = {"source": "result_of.plan.scenes", "body": body(act("write")), **changes}
    assert field in [found.field for found in kind.check(kind.params.model_validate(given), node("l", "loop"))]


def test_a_sound_loop_has_no_findings():
    kind = kinds()["loop"]
    params = kind.params.model_validate({"source": "result_of.plan.scenes", "body": body(act("write"))})
    assert kind.check(params, Node(id="l")) == () and kind.rounds(params) == 100
    assert kind.rounds(kind.params.model_validate({"source": [1, 2], "body": body(act("write"))})) == 2


def test_texts_that_are_numbers_count_as_numbers():
    def made(kind, *found, **more):
        return aggregated(AggregateExport(name="a", kind=kind, source="item", **more), found)

    assert made("sum", "36.8", 1) == 37.8 and made("max", "7", 5) == 7
    assert made("count_if", "36.8", "x", 40, None, op=">", value=38) == 1
    assert made("count_if", True, 1, op="==", value=True) == 2
    with pytest.raises(BindingError, match="sum needs numbers"):
        made("sum", "many")
    with pytest.raises(BindingError):
        made("avg", True)


async def test_a_field_that_no_round_gave_is_an_error_that_names_what_there_is():
    exports = {"items": {"from_node": "write", "fields": ["titel"]}}
    state, _got, made = await ran(loop(source=[1], body=body(act("write", title="x")), exports=exports))
    assert state == "failed" and "title" in failure(made)


async def test_wherever_the_process_ends_nothing_that_ended_is_done_again():
    """Rounds side by side, branches inside, a while loop behind: closed after n turns, then resumed."""
    both = node(
        "both", "parallel", branches={"a": body(act("left", n="{{item}}")), "b": body(act("right", n="{{item}}"))}
    )
    draft = prompt("draft", "write {{item}} after {{result_of.both}}", review="never")
    counted = {"kind": "expression", "expression": "loop.index < 2"}
    steps = flow(
        loop(source=["x", "y", "z"], side_by_side=2, body=body(both, draft)),
        node(
            "again",
            "loop",
            mode="while",
            condition=counted,
            body=body(act("last", n="{{loop.index}} {{result_of.loop}}")),
        ),
    )
    cut = 0
    for turns in range(1, 120, 4):
        actions = echoing()
        made = bench(actions)
        first = await made.run(steps)
        task = asyncio.create_task(first.execute())
        for _turn in range(turns):
            await asyncio.sleep(0)
        first.close()
        cut += await task == "interrupted"
        ended = {event.node for event in made.journal.events if event.kind == "node-done"}
        done = {name: len([one for one in actions.done if one[0] == name]) for name in ("left", "right", "last")}
        again = await made.run(steps)
        assert await again.execute() == "done"
        assert len(made.model.calls) <= 3 + 2, "at most the two that were cut off are asked again"
        for name, path in (("left", "a/left"), ("right", "b/right")):
            kept = sum(node_path.endswith(path) for node_path in ended)
            after = len([one for one in actions.done if one[0] == name]) - done[name]
            assert after == 3 - kept, "what ended is not done again, all else is"
        assert [turn["index"] for turn in values(again)["again"]["iterations"]] == [0, 1]
    assert cut > 10


async def test_a_round_can_be_stopped_alone():
    actions = echoing()
    actions.holds["write"] = asyncio.Event()
    made = bench(actions)
    run = await made.run(
        flow(loop(source=[1, 2], side_by_side=2, body=body(act("write", n="loop.item"))), act("other"))
    )
    task = asyncio.create_task(run.execute())
    await until(lambda: actions.going == 2)
    assert run.cancel(NodeId("loop/1/write"))
    actions.holds["write"].set()
    assert await task == "cancelled" and "other" in run.outputs
    assert [given["n"] for name, given, _ok in actions.done if name == "write"] == [1]
