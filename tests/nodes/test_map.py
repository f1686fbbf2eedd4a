from __future__ import annotations

import pytest

from flowcabal_tui.nodes.registry import kinds
from tests.nodes.flows import bench, failure, node, values
from tests.nodes.item_flows import given, items_of
from tests.runner.fakes import flow


async def test_each_item_gets_fields_that_expressions_take_from_it():
    items = [{"name": "cao", "tags": ["t1"]}, {"name": "liu"}]
    assert await items_of("map", items, set={"first": "tags[0]", "名": "name"}) == [
        {"name": "cao", "tags": ["t1"], "first": "t1", "名": "cao"},
        {"name": "liu", "first": None, "名": "liu"},
    ]


async def test_an_expression_sees_the_item_as_it_came():
    assert await items_of("map", [{"a": 1, "b": "old"}], set={"b": "a", "c": "b"}) == [{"a": 1, "b": 1, "c": "old"}]


async def test_a_field_that_is_there_can_be_left_alone():
    assert await items_of("map", [{"a": 1}, {}], set={"a": "`2`"}, overwrite=False) == [{"a": 1}, {"a": 2}]


async def test_where_there_is_nothing_the_field_can_stay_unset():
    items = [{"a": None}, {}]
    assert await items_of("map", items, set={"b": "a"}, missing="skip") == [{"a": None, "b": None}, {}]


async def test_one_bad_expression_leaves_the_whole_item_as_it_was_and_is_told():
    value = await given("map", [{"a": 1}, {"a": [2]}], set={"b": "a", "c": "length(a)"})
    assert value["items"] == [{"a": 1}, {"a": [2], "b": [2], "c": 1}]
    assert [error["item"] for error in value["errors"]] == [0] and "length" in value["errors"][0]["message"]


async def test_a_bad_item_is_left_out_when_that_is_asked():
    value = await given("map", [{"a": 1}, {"a": [2]}], set={"c": "length(a)"}, on_error="drop")
    assert value["items"] == [{"a": [2], "c": 1}] and len(value["errors"]) == 1


async def test_a_bad_item_stops_the_node_when_that_is_asked():
    made = bench()
    run = await made.run(
        flow(node("it", "map", set={"c": "length(a)"}, on_error="fail")), inputs={"items": [{"a": []}, {"a": 1}]}
    )
    assert await run.execute() == "failed" and "2" in failure(made) and "length" in failure(made)


@pytest.mark.parametrize(
    ("source", "count"), [(None, 0), ([], 0), ({"a": 1}, 1), ("text", 1), ([1, {"a": 1}], 2)], ids=repr
)
async def test_anything_can_be_items(source, count):
    assert len(await items_of("map", source)) == count


async def test_the_items_of_one_kind_are_the_source_of_the_next():
    run = await bench().run(
        flow(node("one", "map", set={"b": "a"}), node("two", "map", source="result_of.one", set={"c": "b"})),
        inputs={"items": {"a": 1}},
    )
    await run.execute()
    assert values(run)["two"]["items"] == [{"a": 1, "b": 1, "c": 1}]


async def test_a_prompt_reads_the_texts_of_the_items():
    run = await bench().run(
        flow(node("lines", "map", set={"text": "a"}), node("end", "end", value="{{result_of.lines.items[1].text}}")),
        inputs={"items": [{"a": "x"}, {"a": "y"}]},
    )
    await run.execute()
    assert run.outputs["lines"].text == "x\ny" and values(run)["end"] == "y"


def test_an_expression_that_cannot_be_read_is_found_before_the_run():
    kind = kinds()["map"]
    params = kind.params.model_validate({"set": {"good": "a", "bad": "a ||"}})
    (finding,) = kind.check(params, node("it", "map"))
    assert (finding.code, finding.field) == ("SYNTAX_ERROR", "set.bad")
