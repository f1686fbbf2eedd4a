"""Paths and bindings are checked against what nodes yield before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from flowcabal_tui.domain import condition_checks
from flowcabal_tui.domain.binding_checks import check
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.schemas import Schema, check_path, follow

SCENE = {"type": "object", "properties": {"title": {"type": "string"}, "score": {"type": "number"}}}
SCHEMAS: dict[NodeId, Schema | None] = {
    NodeId("大纲"): {"type": "object", "properties": {"scenes": {"type": "array", "items": SCENE}}},
    NodeId("free"): None,
    NodeId("open"): {"type": "object"},
    NodeId("maybe"): {
        "anyOf": [{"$ref": "#/$defs/S"}, {"type": "null"}],
        "$defs": {"S": SCENE | {"additionalProperties": False}},
    },
    NodeId("either"): {"oneOf": [SCENE, {"type": ["array", "null"], "items": {"properties": {"x": {}}}}]},
    NodeId("map"): {"type": "object", "additionalProperties": SCENE},
    NodeId("loop"): {
        "type": "object",
        "properties": {
            "iterations": {"type": "array"},
            "items": {"type": "array", "items": {"properties": {"summary": {}, "both": {}}}},
            "exports": {"properties": {"ids": {"type": "array"}}},
            "aggregates": {"type": "object", "properties": {"total": {"type": "number"}, "both": {}}},
        },
    },
    NodeId("endless"): {"type": "array", "items": {"$ref": "#"}},
}


@pytest.mark.parametrize(
    "path",
    [
        "result_of.大纲",
        "result_of.大纲.scenes.title",
        "{{result_of.大纲.scenes[0].score}}",
        "result_of.free.what.ever[3]",
        "result_of.open.any.thing",
        "result_of.maybe.title",
        "result_of.either.x",
        "result_of.either.title",
        "result_of.map.any.score",
        "result_of.loop.total",
        "result_of.loop.summary",
        "result_of.loop.exports.items.summary",
        "result_of.loop.exports.ids",
        "result_of.大纲.scenes.title[0]",
        "result_of.endless[0][0][0]",
    ],
)
def test_what_may_be_there_passes(path: str) -> None:
    assert check_path(path, SCHEMAS, roots={}) is None


@pytest.mark.parametrize(
    ("path", "words", "fix"),
    [
        ("result_of.大綱.scenes", "There is no node 大綱", ""),
        ("result_of.大纲.scene.title", "Available: scenes", "result_of.大纲.scenes.title"),
        ("result_of.大纲.scenes.titel", "Available: title, score", "result_of.大纲.scenes.title"),
        ("result_of.大纲.scenes.title.x", "has no fields", ""),
        ("result_of.大纲[0]", "is not a list", ""),
        ("result_of.maybe.name", "Available: title, score", ""),
        ("result_of.map.any.scor", "Available: title, score", "result_of.map.any.score"),
        ("result_of.loop.totl", "Available: iterations, items, exports, aggregates", ""),
        ("result_of.loop.both", "ambiguous", ""),
        ("大纲.scenes", "Nothing here is named 大纲", "result_of.大纲.scenes"),
        ("result_of.大纲.scenes[x]", "position", ""),
        ("result_of.endless.x", "has no fields", ""),
        ("result_of", "needs the name of a node", ""),
        ("stat.mood", "Available: result_of, state", "state.mood"),
    ],
)
def test_what_cannot_be_there_is_found_with_the_nearest_name(path: str, words: str, fix: str) -> None:
    finding = check_path(path, SCHEMAS, roots={"state": None}, field="params.text")
    assert finding is not None and words in finding.message
    assert (finding.code, finding.field, finding.fix) == ("SCHEMA_MISMATCH", "params.text", fix)


def test_other_roots_are_checked_when_they_are_given() -> None:
    roots = {"hero": SCENE, "state": None}
    assert check_path("hero.title", SCHEMAS, roots=roots) is None
    assert check_path("state.any", SCHEMAS, roots=roots) is None
    assert check_path("hero.name", SCHEMAS, roots=roots) is not None
    assert check_path("anyone.name", SCHEMAS) is None


def test_the_schema_at_a_path_is_told() -> None:
    assert follow("result_of.大纲.scenes.score", SCHEMAS) == {"type": "array", "items": {"type": "number"}}
    assert follow("result_of.大纲.scenes[0].score", SCHEMAS) == {"type": "number"}
    assert follow("result_of.free.x", SCHEMAS) == {}


def found(binding: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.severity, one.fix) for one in check({"text": binding}, SCHEMAS, roots={}, location="params")]


def test_the_fields_an_aggregate_works_on_are_checked() -> None:
    scenes = {"__from__": "result_of.大纲.scenes"}
    step = {"op": "filter", "field": "scor", "cmp": ">", "value": 0}
    assert found({**scenes, "__agg__": "pipeline", "steps": [step]}) == [("error", "score")]
    assert found({**scenes, "__agg__": "pipeline", "steps": [{"op": "map", "field": "title"}, step]}) == []
    assert found({**scenes, "__agg__": "count_if", "field": "titl", "op": "==", "value": ""}) == [("error", "title")]
    assert found({**scenes, "__agg__": "format_join", "format": "{title}: {scoer}"}) == [("warning", "score")]
    assert found({**scenes, "__agg__": "filter_map", "filter_field": "x", "map_field": "title"}) == [("error", "")]


def test_one_check_finds_form_and_paths() -> None:
    assert found({"__from__": "result_of.大纲.scene", "__agg__": "join"}) == [("error", "result_of.大纲.scenes")]
    assert found({"__from__": "result_of.大纲", "__agg__": "sum"}) == [("error", "")]
    value = {"a": "{{大纲.scenes.titel}}", "b": "plain", "c": "{{state.x}}"}
    findings = check(value, SCHEMAS, roots={"state": None})
    assert [(one.field, one.fix) for one in findings] == [("a", "result_of.大纲.scenes.title")]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"kind": "any_greater_than", "source": "result_of.大纲.scenes", "field": "score", "threshold": 1}, []),
        ({"kind": "greater_than", "source": "result_of.大纲.scenes", "field": "length", "threshold": 1}, []),
        ({"kind": "greater_than", "source": "result_of.大纲.scenes.score", "threshold": 1}, []),
        ({"kind": "greater_than", "source": "result_of.free.x", "field": "y", "threshold": 1}, []),
        ({"kind": "equals", "source": ["result_of.大纲.scenes[0].title", 3], "value": []}, []),
        ({"kind": "equals", "source": {"__from__": "result_of.大纲.scenes", "__agg__": "count"}, "value": 2}, []),
        (
            {"kind": "any_greater_than", "source": "result_of.大纲.scenes", "field": "title", "threshold": 1},
            [("condition.field", "")],
        ),
        (
            {"kind": "contains", "source": {"__from__": "result_of.大纲.scenes"}, "field": "titel", "value": "x"},
            [("condition.field", "title")],
        ),
        (
            {"kind": "less_than", "source": "result_of.大纲.scenes.score", "field": "length", "threshold": 1},
            [],
        ),
        (
            {"kind": "less_than", "source": "result_of.大纲.scenes[0].score", "field": "length", "threshold": 1},
            [("condition.field", "")],
        ),
        (
            {"kind": "between", "source": "result_of.大纲.scenes.title", "min": 1, "max": 2},
            [("condition.source", "")],
        ),
        (
            {"op": "equals", "source": "result_of.大纲.scene", "value": 1},
            [("condition.source", "result_of.大纲.scenes")],
        ),
        (
            {"kind": "expression", "expression": "result_of.大纲.scen == 1"},
            [("condition.expression", "result_of.大纲.scenes")],
        ),
    ],
)
def test_conditions_are_checked_against_what_nodes_yield(
    condition: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    findings = condition_checks.check(condition, SCHEMAS, roots={}, location="condition")
    assert [(one.field, one.fix) for one in findings] == expected
