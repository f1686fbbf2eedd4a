"""`actions` lists and finds; `execute` runs a document of VelvetFlow, which the project then has."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call, Make

TEXT = {"type": "string"}
ACTIONS = [
    {"action_id": "ward.read", "name": "Read the temperatures", "description": "Of a day.\x1b[31m", "arg_schema": {}},
    {"action_id": "shop.order", "description": "Orders goods.", "arg_schema": {}, "requires_approval": True},
]


def add_actions(folder: Path) -> None:
    (folder / "actions").mkdir()
    (folder / "actions" / "ward.json").write_text(json.dumps(ACTIONS), "utf-8")


def test_actions_are_listed_and_found_best_first(project: Make, call: Call) -> None:
    folder = project()
    assert (call("actions", folder).code, call("actions", folder, "--search", "x").code) == (0, 1)
    add_actions(folder)
    listed = call("actions", folder)
    assert (listed.code, len(listed.out.splitlines())) == (0, 2)
    assert "\x1b" not in listed.out
    assert "asks before" in listed.out.splitlines()[1]
    found = [json.loads(line) for line in call("actions", folder, "--search", "temperature", "--json").out.splitlines()]
    assert found[0]["id"] == "ward.read" and found[0]["score"] > 0


def test_execute_is_run_and_takes_a_document(project: Make, call: Call, tmp_path: Path) -> None:
    folder, file = project(), tmp_path / "hello.json"
    node = {"id": "end", "type": "end", "params": {"value": "all is well"}}
    file.write_text(json.dumps({"workflow_name": "hello", "nodes": [node]}), "utf-8")
    done = call("execute", folder, file, "--plain")
    assert done.code == 0, done.err
    assert call("run", folder, "hello", "--plain").code == 0
    assert call("execute", folder, file, "--plain").code == 0
    listed = json.loads(call("workflows", folder, "--json").out)
    assert [each["version"] for each in listed if each["id"] == "hello"] == [1], "an equal document is stored once"
