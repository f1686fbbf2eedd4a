"""The check of VelvetFlow's recorded planner tells what agrees, what differs on purpose and what is wrong."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.compat.velvetflow_planner import REASONS, REPAIRS, TOOLS, TRANSCRIPTS, run

PAGE = Path(__file__).parents[2] / "docs" / "dialects" / "velvetflow.md"
RECORDED = os.environ.get("FLOWCABAL_COMPAT", "")
Json = dict[str, Any]
NO_TOOL = {"status": "error", "message": "未知工具 fly"}
EMPTY = {"workflow_name": "unnamed_workflow", "description": "", "nodes": [], "edges": []}


def transcript(name: str, answer: Json, **expected: Any) -> Json:
    answers = [{"role": "tool", "tool_call_id": "c1_0", "content": answer}]
    told = {"skeleton": EMPTY, "rounds_used": 2, "answers_before_last_round": answers, **expected}
    return {"id": name, "rounds": [[{"tool": "fly", "arguments": {}}]], "coverage": [], "expected": told}


def judged(folder: Path, name: str, content: Any) -> dict[str, str]:
    (folder / "velvetflow").mkdir()
    (folder / "velvetflow" / name).write_text(json.dumps(content), encoding="utf-8")
    return {result.case: result.outcome for result in run(folder)}


def test_a_transcript_is_judged_by_answers_rounds_and_workflow(tmp_path: Path) -> None:
    cases = [
        transcript("same", NO_TOOL),
        transcript("other answer", {"status": "ok"}),
        transcript("other rounds", NO_TOOL, rounds_used=3),
        transcript("other workflow", NO_TOOL, skeleton={**EMPTY, "description": "x"}),
    ]
    parse = [{"id": "fence", "model_answer": "```\n{}\n```", "expected": {"value": {}}}]
    assert judged(tmp_path, TRANSCRIPTS, {"scenarios": cases, "coverage_parse": parse}) == {
        "same": "pass",
        "other answer": "fail",
        "other rounds": "fail",
        "other workflow": "fail",
        "coverage · fence": "pass",
    }


def test_what_a_difference_does_not_excuse_is_still_compared(tmp_path: Path) -> None:
    reminder = transcript("reminder", NO_TOOL)
    said = {"role": "system", "tool_call_id": None, "content": "more"}
    reminder["expected"]["answers_before_last_round"].append(said)
    assert judged(tmp_path, TRANSCRIPTS, {"scenarios": [reminder], "coverage_parse": []}) == {"reminder": "fail"}


def test_a_repair_is_judged_by_the_document_and_the_summary(tmp_path: Path) -> None:
    expected = {"workflow": EMPTY, "summary": {"applied": False, "reason": "没有需要修改的内容。"}}
    case = {"id": "same", "tool": "normalize_binding_paths", "args": {}, "workflow": EMPTY, "expected": expected}
    other = copy.deepcopy(case) | {"id": "other"}
    other["expected"]["summary"]["applied"] = True
    assert judged(tmp_path, REPAIRS, [case, other]) == {"same": "pass", "other": "fail"}


def test_every_difference_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [reason for reason in REASONS if f"\n- {reason}\n" not in page] == []


@pytest.mark.skipif(not RECORDED, reason="FLOWCABAL_COMPAT names no folder of recorded cases")
def test_no_recorded_case_fails() -> None:
    results = run(Path(RECORDED))
    assert {result.file.rpartition("/")[2] for result in results} == {TOOLS, TRANSCRIPTS, REPAIRS}
    assert [result for result in results if result.outcome == "fail"] == []
