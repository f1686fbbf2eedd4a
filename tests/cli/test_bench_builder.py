"""`bench builder`: briefs in, answers out, in the form that the judge reads."""

from __future__ import annotations

import json
from pathlib import Path

from flowcabal_tui.settings.paths import user_file
from tests.cli.conftest import Call
from tests.faultserver import FaultServer


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


def settings_for(server: FaultServer) -> None:
    model = f'provider = "openai"\nmodel = "mock"\nbase_url = "{server.url}/v1"\nretries = 0\nprice_in = 1\n'
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(f"[models.agent]\n{model}", "utf-8")


def test_a_model_of_the_settings_answers_after_its_price_was_agreed_to(
    call: Call, tmp_path: Path, server: FaultServer
) -> None:
    out = tmp_path / "answers.jsonl"
    words = ("bench", "builder", "--briefs", briefs(tmp_path), "--out", out, "--model", "agent")
    assert call(*words).code == 2
    settings_for(server)
    refused = call(*words)
    assert (refused.code, server.log) == (1, [])
    assert "mock" in refused.err
    add = {"name": "add_node", "arguments": {"id": "draft", "params": {"prompt": "Draft the chapter."}}}
    end = [{"name": "check", "arguments": {}}, {"name": "finish", "arguments": {"explanation": "One step."}}]
    ask = {"name": "ask_writer", "arguments": {"questions": ["哪一步？"]}}
    server.push({"tool_calls": [add, *end]}, {"tool_calls": [ask]})
    assert call(*words, "--yes").code == 0
    first, second = (json.loads(line) for line in out.read_text("utf-8").splitlines())
    assert [node["id"] for node in first["workflow"]["nodes"]] == ["draft"]
    assert (second["workflow"], second["question"]) == (None, "哪一步？")
    assert first["tokens"] > 0 and len(first["rounds"]) == 1
