from __future__ import annotations

from tests.nodes.flows import act, bench, edge, node, values
from tests.nodes.item_flows import given, items_of
from tests.runner.fakes import flow


async def test_the_fields_of_an_inner_object_come_up_and_it_stays():
    assert await items_of("merge", [{"a": 1, "d": {"a": 9, "b": 2}}, {"a": 3}], from_field="d") == [
        {"a": 9, "d": {"a": 9, "b": 2}, "b": 2},
        {"a": 3},
    ]


async def test_fields_that_are_there_can_be_left_alone_or_prefixed():
    items = [{"a": 1, "d": {"a": 9}}]
    assert await items_of("merge", items, from_field="d", overwrite=False) == items
    assert await items_of("merge", items, from_field="d", prefix="p_") == [{"a": 1, "d": {"a": 9}, "p_a": 9}]


async def test_what_is_no_object_stays_and_is_told():
    value = await given("merge", [{"d": [1]}, {"d": {"x": 1}}], from_field="d")
    assert value["items"] == [{"d": [1]}, {"d": {"x": 1}, "x": 1}] and [e["item"] for e in value["errors"]] == [0]


async def joined(left, right, **params):
    run = await bench().run(
        flow(
            node("left", "end", value=left),
            node("right", "end", value=right),
            node("it", "merge", sources=["result_of.left", "result_of.right"], **params),
        )
    )
    assert await run.execute() == "done"
    return values(run)["it"]


async def test_several_sources_become_one_after_the_other():
    value = await joined([{"a": 1}], [{"b": 2}, {"b": 3}])
    assert value == {"items": [{"a": 1}, {"b": 2}, {"b": 3}], "errors": []}


async def test_items_at_the_same_place_become_one():
    assert await joined([{"a": 1, "b": 0}], [{"b": 2}], how="match") == {"items": [{"a": 1, "b": 2}], "errors": []}
    assert (await joined([{"a": 1, "b": 0}], [{"b": 2}], how="match", overwrite=False))["items"] == [{"a": 1, "b": 0}]


async def test_chosen_fields_are_taken_under_other_names():
    value = await joined([{"a": 1}], [{"x": 2, "y": 3}, {"x": 4, "y": 5}], how="match", fields={"x": "px"})
    assert value["items"] == [{"a": 1, "px": 2}, {"y": 5, "px": 4}] and len(value["errors"]) == 1


async def test_an_item_without_a_partner_in_the_last_source_is_left_out_and_told():
    value = await joined([{"a": 1}, {"a": 2}], [{"x": 1}], how="match")
    assert value["items"] == [{"a": 1, "x": 1}] and len(value["errors"]) == 1


def branches(how: str):
    """A choice between two branches, joined by the merge."""
    return flow(
        node("choice", "condition", kind="equals", source="input.side", value="left"),
        act("left", n=1),
        act("right", n=2),
        node("it", "merge", sources=["result_of.left", "result_of.right", "result_of.choice"], how=how),
        edges=(edge("choice", "left", "true"), edge("choice", "right", "false")),
    )


async def test_a_branch_that_was_not_taken_is_left_out():
    for side, node_name in (("left", "left"), ("other", "right")):
        run = await bench().run(branches("first"), inputs={"side": side})
        assert await run.execute() == "done"
        assert [item["did"] for item in values(run)["it"]["items"]] == [node_name]


async def test_every_source_that_ran_is_there():
    run = await bench().run(branches("all"), inputs={"side": "left"})
    await run.execute()
    assert [item.get("did") for item in values(run)["it"]["items"]] == ["left", None]


async def test_sources_are_joined_before_a_field_is_brought_up():
    value = await joined([{"d": {"x": 1}}], [{"d": 2}], from_field="d")
    assert value["items"] == [{"d": {"x": 1}, "x": 1}, {"d": 2}] and value["errors"][0]["item"] == 1
