"""Every kind of condition holds when it should, names its branch, and says what it cannot compare."""

from __future__ import annotations

from typing import Any

import pytest

from flowcabal_tui.domain.conditions import Condition, ConditionResult, check, check_shape, paths_in
from flowcabal_tui.domain.errors import BindingError, ConditionError, ExpressionError

NAMES: dict[str, Any] = {
    "result_of": {
        "评分": {
            "items": [{"n": 9, "who": "林", "tags": ["a"]}, {"n": 0, "who": "周", "tags": []}],
            "nums": [1, 5, None],
            "count": 3,
            "title": "雪夜",
            "empty": [],
            "nothing": None,
            "obj": {"a": 1, "b": "text"},
            "long": "a" * 50_000,
        }
    },
    "state": {"limit": 2},
}
SOURCE = "result_of.评分."


def held(kind: str, field_of_source: str, **parameters: Any) -> ConditionResult:
    return check(Condition(kind=kind, source=SOURCE + field_of_source, **parameters), NAMES)


@pytest.mark.parametrize(
    ("kind", "source", "parameters", "result"),
    [
        ("list_not_empty", "items", {}, True),
        ("list_not_empty", "empty", {}, False),
        ("list_not_empty", "title", {}, False),
        ("is_empty", "empty", {}, True),
        ("is_empty", "nothing", {}, True),
        ("is_empty", "count", {}, False),
        ("not_empty", "title", {}, True),
        ("is_not_empty", "nothing", {}, False),
        ("equals", "count", {"value": 3}, True),
        ("equals", "nothing", {"value": None}, True),
        ("not_equals", "count", {"value": 0}, True),
        ("greater_than", "count", {"threshold": 2}, True),
        ("greater_than", "nums", {"threshold": 4}, True),
        ("greater_than", "nothing", {"threshold": 0}, False),
        ("greater_than", "items", {"field": "length", "threshold": 1}, True),
        ("any_greater_than", "items", {"field": "n", "threshold": 8}, True),
        ("any_greater_than", "items", {"field": "tags.length", "threshold": 1}, False),
        ("less_than", "nums", {"threshold": 1}, False),
        ("less_than", "items", {"field": "n", "threshold": 1}, True),
        ("all_less_than", "items", {"field": "n", "threshold": 10}, True),
        ("all_less_than", "items", {"field": "n", "threshold": 9}, False),
        ("all_less_than", "empty", {"threshold": 9}, False),
        ("between", "count", {"min": 3, "max": 3}, True),
        ("between", "nums", {"min": 2, "max": 4}, False),
        ("contains", "items", {"field": "who", "value": "周"}, True),
        ("contains", "nums", {"value": 5}, True),
        ("contains", "title", {"value": "雪"}, True),
        ("contains", "obj", {"field": "b", "value": "ex"}, True),
        ("contains", "count", {"value": 3}, False),
        ("compare", "count", {"op": ">=", "value": 3}, True),
        ("compare", "title", {"op": "in", "value": ["雪夜"]}, True),
        ("compare", "title", {"op": "not_in", "value": ["雪夜"]}, False),
        ("compare", "count", {"value": 0}, False),
        ("regex_match", "title", {"pattern": "^雪"}, True),
        ("regex_match", "items.who", {"pattern": "周|吴"}, True),
        ("regex_match", "count", {"pattern": "3"}, False),
        ("expression", "nums", {"expression": "len(data) == 3 and state.limit == 2"}, True),
        ("expression", "items", {"field": "n", "expression": "value > 8"}, True),
    ],
)
def test_kinds(kind: str, source: str, parameters: dict[str, Any], result: bool) -> None:
    answer = held(kind, source, **parameters)
    assert (answer.result, answer.label) == (result, "true" if result else "false")


def test_a_result_reports_the_compared_values() -> None:
    answer = held("all_less_than", "items", field="n", threshold=10)
    assert answer.evaluated_values == [9, 0] and answer.resolved_value == NAMES["result_of"]["评分"]["items"]
    assert held("equals", "count", value=3) == ConditionResult(True, "true", 3, None)


BANDS = [{"label": "高", "min": 6, "max": 9}, {"label": "低", "min": 0, "max": 5}]


def test_bands_answer_with_their_label() -> None:
    assert held("multi_band", "count", bands=BANDS).label == "低"
    assert held("multi_band", "count", bands=[{"label": "any"}]).label == "any"
    assert held("multi_band", "count", bands=[{"label": "far", "min": 100}]) == ConditionResult(False, "false", 3, [3])


def test_max_in_range_answers_the_last_band_when_none_holds() -> None:
    assert held("max_in_range", "count", bands=BANDS).label == "低"
    assert held("max_in_range", "nothing", bands=BANDS).label == "高"


def test_a_source_may_be_a_binding_a_list_or_a_value() -> None:
    count = {"__from__": "result_of.评分.items", "__agg__": "count"}
    assert check(Condition(kind="equals", source=count, value=2), NAMES).result
    assert check(Condition(kind="equals", source=["result_of.评分.count", 1], value=[3, 1]), NAMES).result
    assert check(Condition(kind="equals", source=True, value=True), NAMES).result
    assert check(Condition(kind="equals", source="{{评分.count}}", value=3), NAMES).result


def test_values_may_be_bound() -> None:
    assert held("greater_than", "count", threshold="{{state.limit}}").result
    assert held("between", "count", min="state.limit", max={"__from__": "result_of.评分.count"}).result


@pytest.mark.parametrize(
    "condition",
    [
        {"source": "result_of.评分.count", "op": "greater_than", "value": 2},
        {"source": "result_of.评分.count", "op": "between", "value": [1, 3]},
        {"source": "result_of.评分.count", "op": "equals", "value": 3},
        {"source": "result_of.评分.count", "op": ">=", "value": 3},
        {"kind": "compare", "source": "result_of.评分.count", "operator": "<", "value": 4},
    ],
)
def test_the_form_of_the_readme_is_read(condition: dict[str, Any]) -> None:
    assert check(Condition.model_validate(condition), NAMES).result
    assert check_shape(condition) == ()


def test_a_source_that_leads_nowhere_is_an_error_that_names_what_there_is() -> None:
    with pytest.raises(BindingError, match="评分"):
        check(Condition(kind="is_empty", source="result_of.ghost.x"), NAMES)


def test_a_field_that_nothing_has_is_an_error_that_names_what_there_is() -> None:
    with pytest.raises(BindingError) as caught:
        held("greater_than", "items", field="score", threshold=1)
    assert caught.value.available == ("n", "who", "tags")


@pytest.mark.parametrize(
    ("kind", "source", "parameters"),
    [
        ("greater_than", "title", {"threshold": 3}),
        ("compare", "title", {"op": ">", "value": 3}),
        ("between", "items", {"min": 1, "max": 2}),
        ("contains", "title", {"value": 3}),
        ("regex_match", "title", {"pattern": "("}),
        ("regex_match", "title", {"pattern": "a" * 2000}),
        ("greater_than", "count", {}),
        ("weird", "count", {}),
        ("", "count", {}),
    ],
)
def test_what_cannot_be_compared_is_an_error(kind: str, source: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ConditionError):
        held(kind, source, **parameters)


def test_an_expression_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ExpressionError):
        held("expression", "count", expression="nope +")


@pytest.mark.parametrize("pattern", ["(a+)+$b", "(a|aa)+$b", "(?:(?:(?:a{1,100}){1,100}){1,100})b"])
def test_a_pattern_that_would_run_forever_is_stopped(pattern: str) -> None:
    with pytest.raises(ConditionError, match="takes too long"):
        held("regex_match", "long", pattern=pattern)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({}, [("MISSING_REQUIRED_PARAM", "kind", "")]),
        ({"kind": "equal", "source": 1, "value": 1}, [("SCHEMA_MISMATCH", "kind", "equals")]),
        ({"kind": "equals"}, [("MISSING_REQUIRED_PARAM", "source", ""), ("MISSING_REQUIRED_PARAM", "value", "")]),
        ({"kind": "greater_than", "source": "x", "threshold": "much"}, [("SCHEMA_MISMATCH", "threshold", "")]),
        ({"kind": "between", "source": "x", "min": 1, "max": []}, [("SCHEMA_MISMATCH", "max", "")]),
        ({"kind": "is_empty", "source": {"__from__": []}}, [("SCHEMA_MISMATCH", "source", "")]),
        ({"kind": "compare", "source": "x", "op": "~", "value": 1}, [("SCHEMA_MISMATCH", "op", "")]),
        ({"kind": "multi_band", "source": "x", "bands": [{}]}, [("SCHEMA_MISMATCH", "bands[0].label", "")]),
        ({"kind": "regex_match", "source": "x", "pattern": "("}, [("SCHEMA_MISMATCH", "pattern", "")]),
        ({"kind": "expression", "expression": "1 +"}, [("SYNTAX_ERROR", "expression", "")]),
        ({"kind": "greater_than", "source": "x", "threshold": "{{state.limit}}"}, []),
        ({"kind": "contains", "source": "x", "value": "a"}, []),
        ({"kind": "equals", "source": None, "value": None}, []),
    ],
)
def test_the_form_is_checked(condition: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert [(one.code, one.field, one.fix) for one in check_shape(condition)] == expected


def test_findings_stand_below_their_place() -> None:
    assert [one.field for one in check_shape({}, location="params.condition")] == ["params.condition.kind"]


def test_every_path_a_condition_reads_is_listed() -> None:
    condition = {
        "kind": "expression",
        "source": ["result_of.a.x", {"__from__": "result_of.b"}, 3, "{{state.limit}}"],
        "value": "{{state.mood}}",
        "expression": "value > result_of['c-d'].n and data",
    }
    assert paths_in(condition, location="params") == (
        ("params.source", "result_of.a.x"),
        ("params.source", "result_of.b"),
        ("params.source", "state.limit"),
        ("params.value", "state.mood"),
        ("params.expression", "result_of.c-d.n"),
    )
