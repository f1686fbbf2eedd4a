"""`build --tools velvetflow`: the recorded tools over the wire, hybrid search, and one version in the end."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint

TEXT = {"type": "string"}
ACTIONS = [
    {
        "action_id": "ward.read",
        "name": "Read the temperatures",
        "description": "All temperatures of a day.",
        "arg_schema": {"type": "object", "properties": {"day": TEXT}, "required": ["day"]},
        "output_schema": {"type": "object", "properties": {"lines": TEXT}},
    },
    {"action_id": "shop.order", "name": "Order", "description": "Orders goods.", "arg_schema": {"type": "object"}},
]
SEARCH = {"name": "search_business_actions", "arguments": {"query": "temperatures", "top_k": 1}}
READ = {"name": "add_action_node", "arguments": {"id": "read", "action_id": "ward.read", "params": {"day": "today"}}}
ORDER = {"name": "add_action_node", "arguments": {"id": "order", "action_id": "shop.order"}}
AGREED = ("--json", "--yes")
FINAL = {"name": "finalize_workflow", "arguments": {"ready": True}}


def test_the_recorded_tools_build_what_is_accepted(
    project: Make, server: FaultServer, call: Call, tmp_path: Path
) -> None:
    folder, registry = project(both(endpoint(server))), tmp_path / "actions.json"
    registry.write_text(json.dumps(ACTIONS), "utf-8")
    covered = {"content": '{"is_covered": true, "missing_points": []}'}
    server.push({"tool_calls": [SEARCH]}, {"tool_calls": [READ, ORDER]}, {"tool_calls": [FINAL]}, covered)
    server.push({"content": "The node stands alone."})
    words = (
        "build",
        folder,
        "Read the temperatures.",
        "--tools",
        "velvetflow",
        "--actions",
        registry,
        "--json",
        "--yes",
    )
    ended = call(*words)
    assert ended.code == 3, ended.err
    (record,) = ended.told("build:record")
    assert [node["id"] for node in record["document"]["nodes"]] == ["read"]
    rounds = ended.told("build:round")
    assert json.loads(rounds[1]["calls"][1]["answer"])["allowed_action_ids"] == ["ward.read"]
    assert len(rounds) == calls(server) == 5
    again = call(*words)
    assert (again.code, calls(server)) == (3, 5), "equal requests are paid once"
    assert call("decide", folder, "build-1", "approve").code == 0
    listed = json.loads(call("workflows", folder, "--json").out)
    assert [node["kind"] for each in listed if each["id"] == "workflow" for node in each["nodes"]] == ["action"]


def test_a_workflow_that_velvetflow_has_no_words_for_costs_nothing(
    project: Make, server: FaultServer, call: Call
) -> None:
    folder = project(both(endpoint(server)))
    ended = call("update", folder, "chapter", "Add a step.", "--tools", "velvetflow", *AGREED)
    assert (ended.code, calls(server)) == (1, 0)
    assert "VelvetFlow" in ended.out + ended.err
