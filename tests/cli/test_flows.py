"""Flows of other systems on the command line: folders, kept versions, inputs, and errors of single items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call, Make
from tests.pipes import pipe


def flow(name: str, *nodes: dict[str, Any], version: int = 1, entry: str = "s") -> dict[str, Any]:
    return {"id": name, "version": version, "entry": entry, "nodes": list(nodes)}


def sequence(*children: str) -> dict[str, Any]:
    return {"id": "s", "type": "Sequence", "children": list(children)}


BATTLE = flow("battle", sequence("hit"), {"id": "hit", "type": "Map", "params": {"set": {"hp": "hp"}}}, version=3)
MAIN = flow("main", sequence("fight"), {"id": "fight", "type": "Subflow", "subflow": {"ref": "battle@3"}}, version=2)
BAD_ITEMS = flow("strict", sequence("some"), {"id": "some", "type": "Filter", "params": {"where": "length(n) > `1`"}})


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    folder = tmp_path / "flows"
    (folder / "below").mkdir(parents=True)
    (folder / "main.json").write_text(json.dumps(MAIN))
    (folder / "below" / "battle.json").write_text(json.dumps(BATTLE))
    return folder


def test_a_folder_of_flows_is_validated_with_each_other(call: Call, flows: Path) -> None:
    checked = call("validate", flows, "--json")
    assert checked.code == 0
    assert [Path(one["file"]).name for one in json.loads(checked.out)["files"]] == ["battle.json", "main.json"]
    (flows / "below" / "battle.json").write_text(json.dumps({**BATTLE, "entry": "ghost"}))
    assert call("validate", flows).code == 1


def test_flows_that_run_each_other_and_a_reference_in_two_files_are_refused(call: Call, flows: Path) -> None:
    twice = flow(
        "battle", sequence("again"), {"id": "again", "type": "Subflow", "subflow": {"ref": "main@2"}}, version=3
    )
    (flows / "twice.json").write_text(json.dumps(twice))
    checked = call("simulate", flows, "main")
    assert checked.code == 2 and "battle@3 is defined in two files" in checked.err
    (flows / "below" / "battle.json").unlink()
    checked = call("validate", flows)
    assert checked.code == 1 and "battle@3 calls itself through main@2" in checked.out


def test_a_pipe_in_a_folder_of_flows_or_actions_is_passed_over(call: Call, flows: Path) -> None:
    pipe(flows / "pipe.json")
    assert call("validate", flows).code == 0
    actions = flows.parent / "actions"
    actions.mkdir()
    pipe(actions / "pipe.json")
    pipe(actions / "simulation_data.json")
    assert call("simulate", flows, "--actions", actions, "--input", "items:=[]").code == 0


def test_a_folder_of_flows_is_simulated_from_the_flow_that_no_other_calls(call: Call, flows: Path) -> None:
    for words in ((), ("main",), ("main@2",)):
        ran = call("simulate", flows, *words, "--input", 'items:=[{"hp": 7}]', "--json")
        assert ran.code == 0, ran.err
        assert '"hp": 7' in ran.out or '\\"hp\\": 7' in ran.out
    assert call("simulate", flows, "ghost").code == 2


def test_what_is_added_keeps_its_id_and_version(call: Call, flows: Path, project: Make) -> None:
    folder = project()
    assert call("workflows", folder, "--add", flows).code == 0
    assert {"main@2", "battle@3"} <= {line.split("\t")[0] for line in call("workflows", folder).out.splitlines()}
    other = {**BATTLE, "nodes": [sequence("hit"), {"id": "hit", "type": "Map", "params": {"set": {"mp": "mp"}}}]}
    (flows / "below" / "battle.json").write_text(json.dumps(other))
    again = call("workflows", folder, "--add", flows / "below" / "battle.json")
    assert again.code == 0 and "stored as battle@4" in again.err


def test_what_validate_finds_is_not_added(call: Call, tmp_path: Path, project: Make) -> None:
    node = {"id": "a", "type": "action", "action_id": "x", "params": {"text": "{% if a %}b{% endif %}"}}
    file = tmp_path / "w.json"
    file.write_text(json.dumps({"workflow_name": "w", "nodes": [node]}))
    assert call("validate", file).code == 1
    added = call("workflows", project(), "--add", file)
    assert added.code == 2 and "NOT_CARRIED_OVER" in added.err
    assert call("simulate", file).code == 2


def test_inputs_that_are_not_given_are_named_together(call: Call, tmp_path: Path, project: Make) -> None:
    prompt = [{"kind": "text", "text": "{{input.place}} {{input.hero}}"}]
    file = tmp_path / "w.json"
    file.write_text(json.dumps({"id": "w", "nodes": [{"id": "a", "params": {"prompt": prompt}}]}))
    folder = project()
    assert call("workflows", folder, "--add", file).code == 0
    for words in (("run", folder, "w"), ("simulate", file)):
        ran = call(*words, "--input", "other=x")
        assert ran.code == 2 and ran.err.index("place") < ran.err.index("hero")


def test_errors_of_single_items_are_seen_in_the_run_its_events_and_its_history(
    call: Call, tmp_path: Path, project: Make
) -> None:
    folder, file = project(), tmp_path / "strict.json"
    file.write_text(json.dumps(BAD_ITEMS))
    assert call("workflows", folder, "--add", file).code == 0
    ran = call("run", folder, "strict", "--input", 'items:=[{"n": "ab"}, {"n": 5}]', "--json")
    events = [json.loads(line) for line in ran.out.splitlines()]
    (done,) = [one for one in events if one["type"] == "node:completed"]
    assert done["errors"][0].startswith("Item 2: ")
    run = next(one["run"] for one in events if "run" in one)
    assert "Item 2: " in call("runs", folder, run).out
    assert "! Item 2: " in call("replay", folder, run).out
    assert "! Item 2: " in call("simulate", file, "--input", 'items:=[{"n": "ab"}, {"n": 5}]').out


def test_keys_keep_the_order_in_which_they_were_written(call: Call, tmp_path: Path) -> None:
    set_them = {"id": "hit", "type": "Map", "params": {"set": {"names": "keys(@)"}}}
    file = tmp_path / "keys.json"
    first = {"id": "first", "type": "Map", "params": {"set": {"z": "z"}}}
    file.write_text(json.dumps(flow("keys", sequence("first", "hit"), first, set_them)))
    ran = call("simulate", file, "--input", 'items:=[{"z": 1, "a": 2, "m": 3}]')
    shown = ran.out.replace("\n", "").replace(" ", "")
    assert '"names":["z","a","m"]' in shown
