"""The check of FlowCabal's recorded cases tells what agrees, what differs on purpose and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.compat.flowcabal import run


def outcomes(tmp_path: Path, **files: list[dict[str, Any]]) -> dict[str, str]:
    folder = tmp_path / "flowcabal"
    folder.mkdir()
    for name, cases in files.items():
        (folder / f"{name}.json").write_text(json.dumps(cases, ensure_ascii=False), encoding="utf-8")
    return {result.case: result.outcome for result in run(tmp_path)}


def node(name: str, *blocks: dict[str, str]) -> dict[str, Any]:
    return {"id": name, "label": name, "systemPrompt": [], "userPrompt": list(blocks)}


def workspace(**fields: Any) -> dict[str, Any]:
    nodes = [node("a", {"kind": "literal", "content": "x"}), node("b", {"kind": "ref", "nodeId": "a"})]
    graph = {"upstream": {"b": ["a"]}, "downstream": {"a": ["b"]}}
    marks = {"outputs": {}, "target_nodes": [], "stale_nodes": []}
    return {"id": "w", "name": "w", "nodes": nodes, **graph, **marks, **fields}


def test_a_run_of_the_first_design_is_compared_call_by_call(tmp_path):
    def case(name: str, output: str) -> dict[str, Any]:
        call = {"system": "", "user": "x", "model": "gpt-4o", "temperature": 0.7, "maxTokens": 4096}
        parameters = {"temperature": 0.7, "maxTokens": 4096, "topP": 1.0, "presencePenalty": 0.0}
        config = {
            "connection": {"endpoint": "https://api.openai.com/v1", "apiKey": "", "model": "gpt-4o"},
            "parameters": {**parameters, "frequencyPenalty": 0.0, "stopSequences": [], "streaming": True},
            "systemPrompt": {"id": "s", "blocks": []},
            "userPrompt": {"id": "u", "blocks": [{"type": "text", "id": "t", "content": "x"}]},
        }
        nodes = {"a": {"id": "a", "name": "", "position": {"x": 0, "y": 0}, "apiConfig": config}}
        document = {"id": "w", "name": "w", "nodes": nodes}
        sort = {"success": True, "order": ["a"], "error": None}
        expected = {"deps": {"a": []}, "sort": sort, "roundtrip": document, "outputs": {"a": output}, "calls": [call]}
        return {"id": name, "workflow": document, "expected": expected}

    found = outcomes(tmp_path, v4_engine_cases=[case("as recorded", "<1:x>"), case("wrong", "<2:x>")])
    assert found == {"as recorded": "pass", "wrong": "fail"}


def test_marks_and_what_is_to_do_are_compared(tmp_path):
    full = {"a": "A", "b": "B"}

    def edited(name: str, *stale: tuple[str, str]) -> dict[str, Any]:
        marks = [{"id": each, "kind": kind} for each, kind in stale]
        after = workspace(outputs=full, stale_nodes=marks)
        expected = {"returned": None, "after": after}
        return {"id": name, "before": workspace(outputs=full), "op": ["markBlockEdited", "a"], "expected": expected}

    def queue(name: str, *nodes: str) -> dict[str, Any]:
        before = workspace(outputs={"a": "A"}, target_nodes=["b"])
        return {"id": name, "before": before, "op": ["todoList"], "expected": {"returned": list(nodes)}}

    cases = [
        edited("both", ("a", "direct"), ("b", "propagated")),
        edited("late", ("a", "direct")),
        edited("other", ("a", "direct"), ("b", "direct")),
        queue("only b", "b"),
        queue("a too", "a", "b"),
    ]
    assert outcomes(tmp_path, head_workspace_ops=cases) == {
        "both": "pass",
        "late": "deliberate",
        "other": "fail",
        "only b": "pass",
        "a too": "fail",
    }


def test_a_document_is_refused_at_the_recorded_place(tmp_path):
    def case(name: str, value: Any, *path: str | int) -> dict[str, Any]:
        return {"id": name, "value": value, "expected": {"ok": not path, "issues": [{"path": list(path)}]}}

    bad = workspace(stale_nodes=["a"])
    cases = [
        case("right", workspace()),
        case("place", bad, "stale_nodes", 0),
        case("elsewhere", bad, "nodes", 0),
        case("accepted there", bad),
        case("refused there", workspace(), "nodes"),
    ]
    assert outcomes(tmp_path, head_schema_cases=cases) == {
        "right": "pass",
        "place": "pass",
        "elsewhere": "fail",
        "accepted there": "fail",
        "refused there": "fail",
    }


def test_decisions_of_the_checker_are_compared(tmp_path):
    def case(name: str, text: str, decision: str, confidence: float) -> dict[str, Any]:
        return {"id": name, "text": text, "expected": {"decision": decision, "confidence": confidence}}

    cases = [
        case("sure", "{}", "retry", 0.9),
        case("doubt", "{}", "flag_human", 0.5),
        case("wrong", "{}", "approve", 0.9),
        case("prose", "fine", "approve", 0.3),
    ]
    assert outcomes(tmp_path, v4_monitor_parse_cases=cases) == {
        "sure": "deliberate",
        "doubt": "deliberate",
        "wrong": "fail",
        "prose": "deliberate",
    }


def test_a_folder_without_these_files_has_no_cases(tmp_path):
    assert run(tmp_path) == []


def operation(name: str, before: dict[str, Any], op: list[Any], nodes: list[Any], marks: list[Any]) -> dict[str, Any]:
    after = {"nodes": nodes, "upstream": {}, "downstream": {}, "stale_nodes": marks}
    return {"id": name, "before": before, "op": op, "expected": {"returned": True, "after": after}}


def test_operations_that_the_samples_do_not_hold_are_run_too(tmp_path: Path) -> None:
    def node(*texts: str, label: str = "a") -> dict[str, Any]:
        blocks = [{"kind": "literal", "content": text} for text in texts]
        return {"id": "a", "label": label, "systemPrompt": [], "userPrompt": blocks}

    empty: dict[str, Any] = {"outputs": {}, "upstream": {}, "downstream": {}, "target_nodes": [], "stale_nodes": []}
    before = {"id": "w", "name": "t", "nodes": [node("1", "2")], **empty}
    block = {"kind": "literal", "content": "new"}
    cases = [
        operation("at", before, ["insertBlock", "a", block, False, 1], [node("1", "new", "2")], []),
        operation("end", before, ["insertBlock", "a", block, False], [node("1", "2", "new")], []),
        operation("wrong", before, ["insertBlock", "a", block, False, 0], [node("1", "new", "2")], []),
        operation("other", before, ["updateBlock", "a", False, 0, block], [node("new", "2")], []),
        operation("moved", before, ["moveBlock", "a", False, 0, 1], [node("2", "1")], []),
        operation("named", before, ["renameNode", "a", "b"], [node("1", "2", label="b")], []),
        operation("unknown", before, ["dance"], [node("1", "2")], []),
    ]
    folder = tmp_path / "flowcabal"
    folder.mkdir()
    (folder / "head_workspace_ops.json").write_text(json.dumps(cases))
    told = {result.case: result.outcome for result in run(tmp_path)}
    assert told == {
        **dict.fromkeys(("at", "end", "other", "moved", "named"), "pass"),
        **dict.fromkeys(("wrong", "unknown"), "fail"),
    }
