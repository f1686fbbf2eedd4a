from __future__ import annotations

from tests.nodes.flows import bench, failure, node
from tests.nodes.item_flows import Allowed, given
from tests.runner.fakes import flow

COUNT = {"count": lambda item: {"n": len(item["t"]), "more": True}}


async def failed(actions: Allowed, items, **params) -> str:
    made = bench(actions)
    run = await made.run(flow(node("it", "code", **params)), inputs={"items": items})
    assert await run.execute() == "failed"
    return failure(made)


async def test_a_function_sets_fields_of_each_item():
    value = await given("code", [{"t": "ab"}, {"t": ""}], Allowed(functions=COUNT), function="count")
    assert value["items"] == [{"t": "ab", "n": 2, "more": True}, {"t": "", "n": 0, "more": True}]


async def test_only_the_outputs_that_are_named_are_taken():
    value = await given("code", {"t": "ab"}, Allowed(functions=COUNT), function="count", outputs=["n", "missing"])
    assert value["items"] == [{"t": "ab", "n": 2}]


async def test_a_function_that_is_not_allowed_stops_the_node_and_names_those_that_are():
    assert "count" in await failed(Allowed(functions=COUNT), [{"t": "a"}], function="__import__('os').system")


async def test_a_function_must_return_json():
    actions = Allowed(functions={"odd": lambda item: {"x": object()}})
    assert "odd" in await failed(actions, [{}], function="odd")
    value = await given("code", [{"a": 1}], actions, function="odd", on_error="keep")
    assert value["items"] == [{"a": 1}] and len(value["errors"]) == 1


async def test_a_function_is_called_again_in_every_run():
    called = []
    made = bench(Allowed(functions={"note": lambda item: called.append(item) or {}}))
    for run in ("r1", "r2"):
        await (await made.run(flow(node("it", "code", function="note")), run=run, inputs={"items": [{}]})).execute()
    assert called == [{}, {}]
