from __future__ import annotations

from flowcabal_tui.nodes.registry import kinds
from tests.nodes.flows import node
from tests.nodes.item_flows import given, items_of


async def test_an_item_stays_when_its_expression_gives_something():
    items = [{"n": 0}, {"n": 2}, {"n": ""}, {"n": "x"}, {"n": []}, {}]
    assert await items_of("filter", items, where="n") == [{"n": 2}, {"n": "x"}]


async def test_an_item_that_cannot_be_judged_stays_and_is_told():
    value = await given("filter", [{"a": 1}, {"a": "xy"}, {"a": ""}], where="length(a)")
    assert value["items"] == [{"a": 1}, {"a": "xy"}] and [error["item"] for error in value["errors"]] == [0]


async def test_without_an_expression_all_items_pass_and_the_reason_is_told():
    value = await given("filter", [{"a": 1}], where="  ")
    assert value["items"] == [{"a": 1}] and value["errors"][0]["item"] is None


def test_a_missing_or_unreadable_expression_is_found_before_the_run():
    kind = kinds()["filter"]
    codes = [
        [one.code for one in kind.check(kind.params.model_validate({"where": where}), node("it", "filter"))]
        for where in ("", "a ==", "a")
    ]
    assert codes == [["MISSING_PARAM"], ["SYNTAX_ERROR"], []]
