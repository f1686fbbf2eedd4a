"""The check of recorded cases tells what agrees, what differs on purpose and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.compat.velvetflow_actions import run


def folder_with(tmp_path: Path, **files: Any) -> Path:
    (tmp_path / "velvetflow" / "actions").mkdir(parents=True)
    for name, content in files.items():
        path = tmp_path / "velvetflow" / f"{name.replace('__', '/')}.json"
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return tmp_path


def outcomes(folder: Path) -> dict[str, str]:
    return {result.case: result.outcome for result in run(folder)}


def test_a_gate_stands_at_each_action_that_needs_approval(tmp_path: Path) -> None:
    def case(name: str, needing: list[str], expected: list[str], *more: dict[str, Any]) -> dict[str, Any]:
        nodes = [{"id": "n", "type": "action", "action_id": "pay", "params": {"q": 1}}, *more]
        return {"id": name, "nodes": nodes, "requires_approval": needing, "expected": expected}

    approval = {"id": "m", "type": "action", "action_id": "other", "display_name": "审批"}
    cases = [
        case("free", [], []),
        case("gate", ["pay"], ["动作 pay 需要审批，但没有。"]),
        case("by name", ["pay"], [], approval),
        case("wrong", [], ["动作 pay 需要审批，但没有。"]),
    ]
    assert outcomes(folder_with(tmp_path, approval_cases=cases)) == {
        "free": "pass",
        "gate": "pass",
        "by name": "deliberate",
        "wrong": "fail",
    }


def test_templates_are_compared_with_what_was_recorded(tmp_path: Path) -> None:
    body = {"nodes": [{"id": "in", "type": "action", "action_id": "a"}], "exit": "in"}
    nodes = [
        {"id": "x", "type": "action", "action_id": "a"},
        {"id": "y", "type": "action", "action_id": "a"},
        {"id": "z", "type": "action", "action_id": "a"},
        {"id": "loop", "type": "loop", "params": {"body_subgraph": body}},
    ]
    results = {
        "x": {"t": "雨", "params": {"t": "雨"}},
        "y": {"t": "夜", "params": {"t": "雨"}},
        "z": {"t": "{{t}}", "params": {}},
        "loop": {"iterations": [{"index": 0, "exit_result": {"t": "7", "params": {"t": 7}}}]},
    }
    case = {
        "id": "c",
        "workflow": {"nodes": nodes},
        "simulations": {"a": {"result": {"t": "{{t}}"}}},
        "expected": {"results": results},
    }
    found = outcomes(folder_with(tmp_path, execution_cases={"cases": [case]}))
    assert list(found.values()) == ["pass", "fail", "deliberate", "deliberate"]


def test_files_that_do_not_load_fail(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path,
        actions__business_actions=[{"action_id": "a", "description": "", "arg_schema": {}}],
        actions__business_actions_2=[{"action_id": "a"}],
        actions__simulation_data=[],
    )
    assert [(result.file.rpartition("/")[2], result.outcome) for result in run(folder)] == [
        ("business_actions.json", "pass"),
        ("business_actions_2.json", "fail"),
        ("simulation_data.json", "fail"),
    ]


def test_a_folder_without_these_files_has_no_cases(tmp_path: Path) -> None:
    assert run(tmp_path) == []
