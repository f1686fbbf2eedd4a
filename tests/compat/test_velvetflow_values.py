"""The reader of recorded cases passes, fails and explains as it should, on cases of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.compat.velvetflow_values import run

CONTEXT: dict[str, Any] = {
    "nodes": [
        {
            "id": "a",
            "type": "action",
            "action_id": "make",
            "params": {},
            "out_params_schema": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "list": {"type": "array"}},
            },
        },
        {"id": "unknown", "type": "action", "action_id": "nobody", "params": {}},
        {"id": "l", "type": "loop", "params": {"exports": {"items": {"fields": ["s"]}, "aggregates": [{"name": "t"}]}}},
    ],
    "results": {
        "a": {"n": 2, "list": [{"x": 1}], "hidden": 5},
        "unknown": {"z": 1},
        "l": {"iterations": [], "items": [{"s": 1}], "aggregates": {"t": 3}},
    },
    "loop_ctx": {"index": 0, "item": {"v": [7]}},
    "loop_id": "l",
}


def binding(name: str, path: Any, expected: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": name, "binding": {"__from__": path}, "expected": expected, "static_shape_error": None} | more


def outcomes(tmp_path: Path, file: str, cases: Any) -> dict[str, str]:
    folder = tmp_path / "velvetflow"
    (folder / "actions").mkdir(parents=True, exist_ok=True)
    actions = [{"action_id": "make", "output_schema": {}, "arg_schema": {"properties": {"q": {"type": "string"}}}}]
    (folder / "actions" / "business_actions.json").write_text(json.dumps(actions))
    (folder / "binding_cases.json").write_text(json.dumps({"context": CONTEXT, "cases": []}))
    document = cases if file == "path_cases.json" else {"context": CONTEXT, "cases": cases}
    (folder / file).write_text(json.dumps(document))
    return {result.case: result.outcome for result in run(tmp_path)}


def test_bindings_are_judged_by_value_error_and_form(tmp_path: Path) -> None:
    raises = {"raises": "ValueError", "message": "…"}
    assert outcomes(
        tmp_path,
        "binding_cases.json",
        [
            binding("right", "result_of.a.n", {"value": 2}),
            binding("other value", "result_of.a.n", {"value": 3}),
            binding("other type", "result_of.a.n", {"value": 2.5}),
            binding("not in the schema", "result_of.a.hidden", raises),
            binding("no such action", "result_of.unknown.z", raises),
            binding("short for a loop", "result_of.l.t", {"value": 3}),
            binding("should raise", "result_of.a.n", raises),
            binding("form is wrong only for theirs", "result_of.a.n", {"value": 2}, static_shape_error="…"),
            binding("recommended", "result_of.a.n", {"value": 0}, quirk="…", recommended_value=2),
            binding("several", ["result_of.a.n"], raises, quirk="…"),
            binding("index in a loop", "loop.item.v[0]", raises, quirk="…", loop=True),
            binding("quirk that nothing explains", "result_of.a.n", {"value": 3}, quirk="…"),
        ],
    ) == {
        "right": "pass",
        "other value": "fail",
        "other type": "fail",
        "not in the schema": "pass",
        "no such action": "pass",
        "short for a loop": "pass",
        "should raise": "fail",
        "form is wrong only for theirs": "fail",
        "recommended": "pass",
        "several": "deliberate",
        "index in a loop": "deliberate",
        "quirk that nothing explains": "fail",
    }


def test_parameters_paths_and_conditions_are_judged(tmp_path: Path) -> None:
    raw = {"a": {"__from__": "result_of.ghost"}}
    assert outcomes(
        tmp_path,
        "param_cases.json",
        [
            {"id": "kept", "params": {"a": "Hi {{user}}"}, "expected": {"value": {"a": "Hi {{user}}"}}},
            {"id": "passed on", "params": raw, "expected": {"value": raw}},
            {"id": "as Python", "params": {"a": "{{a.list}}!"}, "expected": {"value": {"a": "[{'x': 1}]!"}}},
            {"id": "wrong", "params": {"a": 1}, "expected": {"value": {"a": 2}}},
        ],
    ) == {"kept": "deliberate", "passed on": "deliberate", "as Python": "deliberate", "wrong": "fail"}
    (tmp_path / "velvetflow" / "param_cases.json").unlink()

    paths = [
        {"fn": "parse_field_path", "in": "a[0].b", "out": ["a", 0, "b"]},
        {"fn": "parse_field_path", "in": "a..b", "raises": "ValueError"},
        {"fn": "normalize_reference_path", "in": 5, "out": 5},
        {"fn": "canonicalize_template_placeholders", "in": "${a}", "out": "${a}"},
    ]
    assert list(outcomes(tmp_path, "path_cases.json", paths).values()) == ["pass", "pass", "pass", "fail"]
    (tmp_path / "velvetflow" / "path_cases.json").unlink()

    source, bands = "result_of.a.n", [{"label": "low", "min": 0, "max": 5}]
    assert outcomes(
        tmp_path,
        "condition_cases.json",
        [
            {
                "id": "holds",
                "params": {"kind": "compare", "source": source, "op": "<", "value": 3},
                "expected": {"result": True, "values": [2]},
            },
            {
                "id": "label",
                "params": {"kind": "max_in_range", "source": source, "bands": bands},
                "expected": {"result": "low", "values": [2]},
            },
            {
                "id": "other values",
                "params": {"kind": "greater_than", "source": source, "threshold": 1},
                "expected": {"result": True, "values": [3]},
            },
            {"id": "no kind", "params": {"source": source}, "expected": {"result": False, "values": None}},
            {
                "id": "readme",
                "params": {"op": "equals", "source": source, "value": 2},
                "expected": {"result": False, "values": None},
                "quirk": "…",
            },
        ],
    ) == {"holds": "pass", "label": "pass", "other values": "fail", "no kind": "deliberate", "readme": "deliberate"}


def test_a_folder_without_the_files_has_no_results(tmp_path: Path) -> None:
    assert run(tmp_path) == []
