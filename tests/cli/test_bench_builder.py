"""`bench builder`: briefs in, answers out, in the form that the judge reads."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call


def briefs(folder: Path) -> Path:
    file = folder / "briefs.jsonl"
    rows = [
        {"id": "b1", "lang": "en", "intent": "Plan it, show me the plan, then draft and polish it.", "workflow": None},
        {"id": "b2", "lang": "zh", "intent": "弄一下。", "workflow": None},
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


def test_wishes_are_answered_by_rule(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    done = call("bench", "builder", "--briefs", briefs(tmp_path), "--out", out, "--offline")
    assert done.code == 0, done.err
    first, second = (json.loads(line) for line in out.read_text("utf-8").splitlines())
    assert [node["id"] for node in first["workflow"]["nodes"]] == ["plan", "write", "polish"]
    assert first["workflow"]["nodes"][0]["params"]["review"] == "always"
    assert second["workflow"] is None
    assert "？" in second["question"]
    workflow = tmp_path / "made.json"
    workflow.write_text(json.dumps(first["workflow"]), "utf-8")
    assert call("validate", workflow).code == 0


def test_forms_are_answered_and_a_missing_one_is_named(call: Call, tmp_path: Path) -> None:
    out, forms = tmp_path / "answers.jsonl", tmp_path / "forms.jsonl"
    forms.write_text(json.dumps({"id": "b1", "form": {"steps": [{"does": "write"}]}}) + "\n", "utf-8")
    words = ("bench", "builder", "--briefs", briefs(tmp_path), "--out", out, "--forms", forms)
    done = call(*words)
    assert done.code == 2
    assert "b2" in done.err
    forms.write_text('{"id": "b1", "form": {"steps": [{"does": "fly"}]}}\n', "utf-8")
    assert "forms.jsonl" in call(*words).err
