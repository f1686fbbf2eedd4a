from __future__ import annotations

from tests.nodes.flows import bench, failure, node
from tests.nodes.item_flows import given, items_of
from tests.runner.fakes import flow


async def test_a_list_gives_one_item_an_element():
    assert await items_of("split", [{"xs": [1, {"y": 2}], "k": 0}, {"xs": []}], from_field="xs", dest_field="x") == [
        {"xs": [1, {"y": 2}], "k": 0, "x": 1},
        {"xs": [1, {"y": 2}], "k": 0, "x": {"y": 2}},
    ]


async def test_a_text_is_parted_at_the_delimiter_and_keeps_its_spaces():
    items = await items_of("split", [{"s": "一。 二"}], from_field="s", delimiter="。")
    assert [item["element"] for item in items] == ["一", " 二"]


async def test_what_cannot_be_parted_stays_and_is_told():
    value = await given("split", [{"s": 5}, {}], from_field="s")
    assert value["items"] == [{"s": 5}, {}] and [error["item"] for error in value["errors"]] == [0, 1]


async def test_without_a_delimiter_a_text_is_an_error_and_a_list_is_not():
    value = await given("split", [{"s": "ab"}, {"s": [1]}], from_field="s", delimiter="")
    assert value["items"] == [{"s": "ab"}, {"s": [1], "element": 1}] and len(value["errors"]) == 1


async def test_a_text_that_would_fill_the_memory_is_refused():
    made = bench()
    run = await made.run(flow(node("it", "split", from_field="s")), inputs={"items": {"s": "," * 300_000}})
    assert await run.execute() == "failed" and "20000000" in failure(made)
