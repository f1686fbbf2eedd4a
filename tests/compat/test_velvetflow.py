"""The check of VelvetFlow's recorded cases tells what agrees, what differs on purpose and what is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.compat import velvetflow_execution, velvetflow_samples, velvetflow_validation, velvetflow_values

PAGE = Path(__file__).parents[2] / "docs" / "dialects" / "velvetflow.md"
RECORDED = os.environ.get("FLOWCABAL_COMPAT", "")
TEXT = {"type": "string"}
ACTIONS = [
    {
        "action_id": "make",
        "description": "",
        "arg_schema": {"type": "object", "properties": {"q": TEXT}, "required": ["q"]},
        "output_schema": {"type": "object", "properties": {"made": TEXT}},
    }
]


def act(name: str, **params: Any) -> dict[str, Any]:
    return {"id": name, "type": "action", "action_id": "make", "params": params}


def judged(folder: Path, name: str, cases: list[dict[str, Any]], check: Any) -> dict[str, str]:
    root = folder / "velvetflow"
    (root / "actions").mkdir(parents=True, exist_ok=True)
    (root / "actions" / "business_actions.json").write_text(json.dumps(ACTIONS))
    (root / name).write_text(json.dumps({"cases": cases}))
    return {result.case: result.outcome for result in check.run(folder)}


def execution(name: str, nodes: list[dict[str, Any]], results: Any, **more: Any) -> dict[str, Any]:
    simulations = {"make": {"result": {"made": "<{{q}}>"}}}
    return {"id": name, "workflow": {"nodes": nodes}, "simulations": simulations, "expected": results} | more


def test_executions_are_judged_by_their_results(tmp_path: Path) -> None:
    made = {"made": "<x>", "params": {"q": "x"}}
    both = [
        {"id": "c", "type": "condition", "params": {"kind": "equals", "source": 1, "value": 1}, "true_to_node": "a"},
        act("a", q="x"),
    ]
    told = {"condition_result": True, "resolved_value": 1}
    loop = {
        "loop_kind": "for_each",
        "source": "result_of.a.made",
        "item_alias": "e",
        "body_subgraph": {"nodes": [act("b", q="x")]},
    }
    no_list = [act("a", q="x"), {"id": "l", "type": "loop", "params": loop}]
    skipped = {"results": {"a": made, "l": {"status": "skipped", "reason": "source_not_list"}}}
    cases = [
        execution("same", [act("a", q="x")], {"results": {"a": made}}),
        execution("other", [act("a", q="x")], {"results": {"a": {**made, "made": "x"}}}),
        execution("true is not 1", both, {"results": {"a": made, "c": {**told, "resolved_value": True}}}),
        execution("condition", both, {"results": {"a": made, "c": told}}),
        execution("raises", [act("a", q="{{result_of.b.made}}")], {"raises": "KeyError"}),
        execution("should raise", [act("a", q="x")], {"raises": "KeyError"}),
        execution("no list", no_list, skipped),
        execution("a quirk that nothing explains", [act("a", q="x")], {"results": {}}, quirk="odd"),
    ]
    assert judged(tmp_path, "execution_cases.json", cases, velvetflow_execution) == {
        "same": "pass",
        "other": "fail",
        "true is not 1": "fail",
        "condition": "pass",
        "raises": "pass",
        "should raise": "fail",
        "no list": "deliberate",
        "a quirk that nothing explains": "fail",
    }


def validation(name: str, node: dict[str, Any], *expected: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "workflow": {"nodes": [node]}, "registry": "builtin", "expected": list(expected)} | more


def test_validations_are_judged_by_code_node_and_field(tmp_path: Path) -> None:
    missing = ["MISSING_REQUIRED_PARAM", "a", "q", "..."]
    cases = [
        validation("none", act("a", q="x")),
        validation("found", act("a"), missing),
        validation("without a place", act("a"), ["MISSING_REQUIRED_PARAM", None, None, "..."]),
        validation("other field", act("a"), ["MISSING_REQUIRED_PARAM", "a", "p", "..."]),
        validation("not found", act("a", q="x"), missing),
        validation("more", act("a"), *[]),
        validation("a warning more", act("a", q="{{who}}")),
        validation("self-reference", act("a", q="{{result_of.a.made}}"), quirk="passes"),
        validation("unexplained", act("a", q="x"), missing, quirk="passes"),
    ]
    assert judged(tmp_path, "validation_cases.json", cases, velvetflow_validation) == {
        "none": "pass",
        "found": "pass",
        "without a place": "pass",
        "other field": "fail",
        "not found": "fail",
        "more": "fail",
        "a warning more": "pass",
        "self-reference": "deliberate",
        "unexplained": "fail",
    }


def test_a_sample_is_judged_by_its_row(tmp_path: Path) -> None:
    samples = tmp_path / "velvetflow" / "samples"
    samples.mkdir(parents=True)
    (tmp_path / "velvetflow" / "actions").mkdir()
    (tmp_path / "velvetflow" / "actions" / "business_actions.json").write_text(json.dumps(ACTIONS))
    page = tmp_path / "page.md"
    rows = {
        "sound": ("yes", "none", "as it is", "1 nodes"),
        "asks": ("yes", "UNDEFINED_REFERENCE a.q (warning)", "changed: the whole", "1 nodes"),
        "stops": ("yes", "SCHEMA_MISMATCH b.q", "as it is", "stops at b"),
        "none": ("refused", "-", "-", "-"),
        "wrong": ("yes", "none", "as it is", "refused"),
    }
    nodes = {
        "sound": [act("a", q="x")],
        "asks": [act("a", q="{{who}}")],
        "stops": [act("a", q="x"), act("b", q="{{result_of.a.nothing}}")],
        "wrong": [act("a", q="x")],
    }
    for name in rows:
        (samples / f"{name}.json").write_text(json.dumps({"nodes": nodes[name]} if name in nodes else {"answer": 1}))
    page.write_text("\n".join(f"| `{name}.json` | {' | '.join(cells)} |" for name, cells in rows.items()))
    results = {Path(result.file).stem: result.outcome for result in velvetflow_samples.run(tmp_path, page)}
    assert results == {"sound": "pass", "asks": "pass", "stops": "pass", "none": "pass", "wrong": "fail"}


def test_every_difference_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    decisions = (
        *velvetflow_execution.UNASKED,
        *velvetflow_execution.DECISIONS,
        *velvetflow_validation.UNASKED,
        *velvetflow_validation.DECISIONS,
        *velvetflow_values.DECISIONS,
    )
    assert [one.reason for one in decisions if f"\n- {one.reason}\n" not in page] == []


def test_a_folder_without_the_files_has_no_results(tmp_path: Path) -> None:
    for check in (velvetflow_execution, velvetflow_validation, velvetflow_samples):
        assert check.run(tmp_path) == []


@pytest.mark.skipif(not RECORDED, reason="FLOWCABAL_COMPAT names no folder of recorded cases")
def test_no_recorded_case_fails() -> None:
    checks = (velvetflow_execution, velvetflow_validation, velvetflow_samples)
    results = [result for check in checks for result in check.run(Path(RECORDED))]
    assert len(results) > 100 and [result for result in results if result.outcome == "fail"] == []
