"""Aggregates do what their parameters say; 0, "" and False are values to compare with."""

from __future__ import annotations

from typing import Any

import pytest

from flowcabal_tui.domain.aggregate_checks import problems, read
from flowcabal_tui.domain.aggregates import aggregate
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.formats import formatted

PEOPLE = [
    {"name": "林", "age": 30, "alive": True, "home": {"town": "渡口"}},
    {"name": "周", "age": 0, "alive": False, "home": {"town": "雪山"}},
    {"name": "吴", "alive": True},
]


def made(value: Any, /, **parameters: Any) -> Any:
    return aggregate(read({"__agg__" if key == "agg" else key: part for key, part in parameters.items()}), value)


def pipeline(value: Any, *steps: dict[str, Any]) -> Any:
    return made(value, agg="pipeline", steps=list(steps))


def test_without_an_aggregate_the_value_stays() -> None:
    assert made(PEOPLE) is PEOPLE


@pytest.mark.parametrize(("value", "count"), [([1, 2], 2), ({"a": 1}, 1), (None, 0), ("text", 1), (0, 1), ([], 0)])
def test_count(value: Any, count: int) -> None:
    assert made(value, agg="count") == count


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        ({"field": "age", "op": ">", "value": 0}, 1),
        ({"field": "age", "op": "==", "value": 0}, 1),
        ({"field": "alive", "op": "==", "value": False}, 1),
        ({"field": "name", "op": "!=", "value": ""}, 3),
        ({"filter_field": "age", "filter_op": ">=", "filter_value": 0}, 2),
        ({"field": "name", "op": ">", "value": 3}, 0),
        ({"field": "home.town", "value": "雪山"}, 1),
    ],
)
def test_count_if(parameters: dict[str, Any], count: int) -> None:
    assert made(PEOPLE, agg="count_if", **parameters) == count


def test_count_if_compares_plain_items_themselves() -> None:
    assert made([1, 2, 2.5, 0], agg="count_if", op="<", value=2) == 2
    assert made("no list", agg="count_if", field="x", op="==", value=1) == 0


def test_join_writes_nothing_for_none_and_json_for_objects() -> None:
    assert made(["甲", None, 3, {"a": [True]}], agg="join", separator="|") == '甲||3|{"a": [true]}'
    assert made([1, 2], agg="join", sep=0) == "102"
    assert made([1, 2], agg="join", separator=None, sep="-") == "1-2"


def test_format_join_keeps_unknown_placeholders() -> None:
    assert made(PEOPLE[:2], agg="format_join", format="{name}:{age:>3} {zz}") == "林: 30 {zz}\n周:  0 {zz}"
    assert made(PEOPLE[:2], agg="format_join", format="{home.town}/{home[town]}", sep=";") == "渡口/渡口;雪山/雪山"
    assert made(PEOPLE, agg="format_join", field="age", sep=",") == "30,0,{age}"
    assert made({"a": 1}, agg="format_join", format="{a}") == "1"


@pytest.mark.parametrize("template", ["{", "{}", "{0}", "{name:>99999999}", "{name:{age}}"])
def test_a_format_that_cannot_be_read_leaves_the_item(template: str) -> None:
    assert made(["甲"], agg="format_join", format=template) == "甲"
    assert [problem.severity for problem in problems({"__agg__": "format_join", "format": template})] == ["warning"]


@pytest.mark.parametrize("template", ["{name.__class__}", "{name.upper}", "{home.__init__.__globals__}"])
def test_a_format_never_reaches_attributes(template: str) -> None:
    assert formatted(template, PEOPLE[0]) == template


def test_filter_map() -> None:
    assert made(PEOPLE, agg="filter_map", filter_field="age", filter_op=">", filter_value=0, map_field="name") == "林"
    assert made(PEOPLE, agg="filter_map", filter_op="always", map_field="name", sep="") == "林周吴"
    assert made([1, {"x": 2}], agg="filter_map", filter_op="always", format="{x}") == "2"


def test_comparing_what_has_no_order_is_an_error_that_names_the_field() -> None:
    with pytest.raises(BindingError, match="name cannot be compared"):
        made(PEOPLE, agg="filter_map", filter_field="name", filter_op=">", filter_value=1, map_field="name")
    with pytest.raises(BindingError, match="cannot be ordered"):
        pipeline([1, "a"], {"op": "sort"})


def test_a_pipeline_carries_out_every_step() -> None:
    steps = (
        {"op": "filter", "field": "age", "cmp": ">=", "value": 0},
        {"op": "sort", "field": "age"},
        {"op": "limit", "value": 1},
        {"op": "map", "field": "home.town"},
    )
    assert pipeline(PEOPLE, *steps) == ["雪山"]
    assert pipeline(PEOPLE, *steps[:1], {"op": "format_join", "field": "name", "sep": ""}) == "林周"
    assert pipeline(PEOPLE, {"op": "map", "format": "<{name}>"}, {"op": "limit", "n": 2}) == ["<林>", "<周>"]


def test_sorting_keeps_equals_in_order_and_puts_what_is_missing_last() -> None:
    names = [person["name"] for person in pipeline(PEOPLE, {"op": "sort", "field": "age", "order": "desc"})]
    assert names == ["林", "周", "吴"]
    assert pipeline([3, 1, 2], {"op": "sort", "reverse": True}) == [3, 2, 1]


def test_steps_that_need_a_list_say_so() -> None:
    assert pipeline("text", {"op": "filter", "field": "a", "value": 1}) == "text"
    with pytest.raises(BindingError, match=r"pipeline 2 \(limit\).*needs a list, but got a text"):
        pipeline(PEOPLE, {"op": "format_join", "field": "name"}, {"op": "limit", "value": 1})


@pytest.mark.parametrize(
    ("binding", "place", "words"),
    [
        ({"__agg__": "sum"}, "__agg__", "sum is not supported. Possible: identity, count"),
        ({"__agg__": "count_if", "field": "a", "op": "=="}, "value", "value is missing"),
        ({"__agg__": "count_if", "field": "a", "op": "contains", "value": 1}, "op", "'=='"),
        ({"__agg__": "pipeline", "steps": []}, "steps", "at least one step"),
        ({"__agg__": "pipeline"}, "steps", "at least one step"),
        ({"__agg__": "pipeline", "steps": ["x"]}, "steps[0]", "dictionary"),
        ({"__agg__": "pipeline", "steps": [{"op": "zip"}]}, "steps[0].op", "zip is not supported. Possible: filter"),
        ({"__agg__": "pipeline", "steps": [{"op": "limit"}]}, "steps[0].value", "missing"),
        ({"__agg__": "pipeline", "steps": [{"op": "limit", "value": -1}]}, "steps[0].value", "greater"),
    ],
)
def test_what_is_wrong_is_found_before_it_runs(binding: dict[str, Any], place: str, words: str) -> None:
    (problem,) = problems(binding)
    assert problem.place == place and words in problem.message and problem.severity == "error"


def test_a_misspelt_parameter_is_a_warning_with_the_nearest_name() -> None:
    (problem,) = problems({"__agg__": "join", "seperator": ","})
    assert (problem.place, problem.severity, problem.fix) == ("seperator", "warning", "separator")


def test_what_runs_by_a_default_is_only_a_warning() -> None:
    found = problems({"__agg__": "count_if", "filter_field": "a", "value": 1})
    assert {problem.place for problem in found} == {"field", "op"}
    assert {problem.severity for problem in found} == {"warning"}


def test_an_aggregate_with_every_parameter_has_no_problem() -> None:
    assert problems({"__agg__": "count_if", "field": "a", "op": "==", "value": None}) == ()
    assert problems({"__from__": "x"}) == ()
