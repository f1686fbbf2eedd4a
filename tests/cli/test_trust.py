"""Trust on the command line: what a stranger's folder gets out of commands, and how the user answers."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from flowcabal_tui.settings import paths
from flowcabal_tui.settings.key_hosts import key_hosts
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint
from tests.project.hostile import KEY, KEY_VARIABLE, SECRET, Prey, hostile

NOT_CONFIRMED = 6
COMMANDS = (
    "run {book} command",
    "run {book} action",
    "run {book} prompt --chapter 1 --knowledge",
    "run {book} call",
    "run {book} prompt --quote --chapter 1",
    "bootstrap {book} --yes",
    "rebuild {book} --what all --knowledge",
    "import {book} {texts} --again",
    "profile {book} profiles/spy/book --regenerate",
    "chapters {book} --add Nine",
    "search {book} ferry",
    "context {book} prompt --chapter 1",
    "doctor {book}",
    "models {book}",
    "status {book}",
    "workflows {book}",
    "backup {book} {copy}",
    "restore {copy} {again}",
    "run {again} command",
    "trust {book}",
    "trust {book} --json",
)


@pytest.fixture
def prey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> Prey:
    return asyncio.run(hostile(tmp_path, monkeypatch, server))


def words(prey: Prey, line: str) -> list[str]:
    tmp = prey.folder.parent
    places = {"book": prey.folder, "texts": tmp / "texts", "copy": tmp / "copy.zip", "again": tmp / "again"}
    return [word.format(**places) for word in line.split()]


def test_no_command_gives_a_strangers_folder_anything(prey: Prey, call: Call) -> None:
    for line in COMMANDS:
        said = call(*words(prey, line))
        assert prey.gained() == [], line
        assert KEY not in said.out + said.err and SECRET not in said.out + said.err


@pytest.mark.parametrize("line", ["run {book} command", "bootstrap {book} --yes", "rebuild {book}"])
def test_an_untrusted_project_is_refused_with_a_list_of_all_that_it_asks_for(prey: Prey, call: Call, line: str) -> None:
    said = call(*words(prey, line))
    assert said.code == NOT_CONFIRMED
    host = prey.server.url.removeprefix("http://")
    for part in (f"user: {host}", f"{KEY_VARIABLE} to {host}", str(prey.ran), "own: command own", "command/n"):
        assert part in said.err, part
    assert "prompts/curator.l1.md" in said.err and "profiles/spy" in said.err


def test_trust_shows_records_and_forgets(prey: Prey, call: Call) -> None:
    shown = call("trust", prey.folder)
    assert shown.code == NOT_CONFIRMED and "Restricted" in shown.out and KEY_VARIABLE in shown.out
    assert call("trust", prey.folder, "--yes").code == 0
    view = json.loads(call("trust", prey.folder, "--json").out)
    assert view["state"] == "trusted" and not view["asked"]["items"]
    assert {"model", "key", "knowledge", "command", "gate", "workflow", "prompt"} == {
        item["kind"] for item in view["confirmed"]["items"]
    }
    (record,) = (paths.state_folder() / "trust").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    call("run", prey.folder, "command", "--plain")
    assert prey.ran.exists()
    assert call("trust", prey.folder, "--revoke").code == 0
    assert call("run", prey.folder, "command").code == NOT_CONFIRMED


def test_trust_for_one_run_is_not_recorded_and_answers_no_gate(prey: Prey, call: Call) -> None:
    registry = prey.folder / "actions" / "own.json"
    (action,) = json.loads(registry.read_text("utf-8"))
    registry.write_text(json.dumps([action | {"requires_approval": True}]), encoding="utf-8")
    waits = call("run", prey.folder, "action", "--trust")
    assert waits.code == 3 and not prey.ran.exists()
    assert call("run", prey.folder, "command", "--trust").code == 0 and prey.ran.exists()
    assert call("run", prey.folder, "command").code == NOT_CONFIRMED
    assert not list(paths.state_folder().glob("trust/*")) and not key_hosts().hosts


def test_restore_and_added_workflows_name_what_they_bring(prey: Prey, call: Call, tmp_path: Path) -> None:
    call(*words(prey, "backup {book} {copy}"))
    restored = call(*words(prey, "restore {copy} {again}"))
    assert restored.code == 0
    assert str(prey.ran) in restored.err and KEY_VARIABLE in restored.err and "restricted" in restored.err
    document = tmp_path / "bring.json"
    node = {"id": "n", "params": {"prompt": [{"kind": "text", "text": "Tell all."}]}}
    document.write_text(json.dumps({"id": "bring", "nodes": [node]}), encoding="utf-8")
    added = call("workflows", tmp_path / "again", "--add", document)
    assert "bring: n" in added.err


def test_what_the_program_made_here_asks_nothing_and_its_copy_asks(
    project: Make, call: Call, server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    folder = project(both(endpoint(server, api_key_env="MINE")))
    assert call("run", folder, "quick-draft", "--chapter", 1, lines="approve\n").code in (0, 3)
    assert server.log[0]["headers"]["authorization"] == "Bearer sk-mine"
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert call("run", copy, "quick-draft", "--chapter", 1).code == NOT_CONFIRMED
    moved = folder.rename(tmp_path / "moved")
    assert call("run", moved, "quick-draft", "--chapter", 1).code == NOT_CONFIRMED


def test_a_record_that_cannot_be_written_is_said_and_the_question_comes_again(prey: Prey, call: Call) -> None:
    blocked = paths.state_folder()
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    said = call("trust", prey.folder, "--yes")
    assert said.code != 0 and "could not be recorded" in said.err
    assert call("run", prey.folder, "command").code == NOT_CONFIRMED


def test_a_workflow_that_is_added_here_is_confirmed_with_it(project: Make, call: Call, tmp_path: Path) -> None:
    folder, document = project(), tmp_path / "mine.json"
    node = {"id": "n", "params": {"prompt": [{"kind": "text", "text": "Tell all."}]}}
    document.write_text(json.dumps({"id": "mine", "nodes": [node]}), encoding="utf-8")
    call("workflows", folder, "--add", document)
    assert json.loads(call("trust", folder, "--json").out)["state"] == "trusted"


def test_models_that_are_chosen_here_are_confirmed_with_their_key(
    project: Make, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-mine")
    folder = project()
    assert call("models", folder, "--use", 1).code == 0
    assert key_hosts().allows("DEEPSEEK_API_KEY", "api.deepseek.com")
    assert json.loads(call("trust", folder, "--json").out)["state"] == "trusted"
