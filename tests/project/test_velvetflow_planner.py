"""VelvetFlow's planner on our copy: its passes, its bounds, and what is left when the model does badly."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.builder import ModelBuilder
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import BudgetExceeded
from flowcabal_tui.domain.model_calls import (
    Answer,
    ModelRequest,
    ToolCall,
    Usage,
)
from flowcabal_tui.nodes.validation import check_document
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns
from flowcabal_tui.project.builder.velvetflow_planner import LIMITS, VelvetFlowPlanner

Json = dict[str, Any]
TEXT = {"type": "string"}
ROWS = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT, "heat": {"type": "number"}}}}
ACTIONS = [
    {
        "action_id": "ward.read",
        "name": "Read the ward",
        "description": "",
        "arg_schema": {"type": "object", "properties": {"day": TEXT}, "required": ["day"]},
        "output_schema": {"type": "object", "properties": {"rows": ROWS}},
    },
    {
        "action_id": "ward.report",
        "name": "Report",
        "description": "",
        "arg_schema": {"type": "object", "properties": {"about": TEXT}, "required": ["about"]},
        "output_schema": {"type": "object", "properties": {"id": TEXT}},
        "requires_approval": True,
    },
]
COVERED = '{"is_covered": true, "missing_points": [], "analysis": ""}'
FINAL = ("finalize_workflow", {"ready": True})
SEARCH = ("search_business_actions", {"query": "ward"})
READ = ("add_action_node", {"id": "read", "action_id": "ward.read", "params": {"day": "today"}})
REPORT = (
    "add_action_node",
    {"id": "report", "action_id": "ward.report", "params": {"about": "Rows: {{result_of.read.rows}}"}},
)


class Model:
    """Answers with turns: lists of calls, or texts. `coverage` answers the requests that have no tools."""

    def __init__(self, *turns: Any, coverage: tuple[Any, ...] = (COVERED,) * 9) -> None:
        self.turns, self.coverage = list(turns), list(coverage)
        self.requests: list[ModelRequest] = []

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(model="script")

    async def answer(self, request: ModelRequest) -> Answer:
        self.requests.append(request)
        if not request.tools:
            said = self.coverage.pop(0)
            if isinstance(said, Exception):
                raise said
            return Answer(said, "stop", Usage(10, 5), "script")
        turn = self.turns.pop(0) if self.turns else ""
        if isinstance(turn, str):
            return Answer(turn, "stop", Usage(10, 5), "script")
        calls = tuple(ToolCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(turn))
        return Answer("", "tool", Usage(10, 5), "script", tool_calls=calls)

    def names(self) -> list[str]:
        """Of the first tool in each request, "" where there is none."""
        return [request.tools[0].name if request.tools else "" for request in self.requests]


async def planned(model: Model, base: Json | None = None) -> Build:
    """A build by the planner. What the writer has is never touched, and what is left always validates."""
    actions = {each["action_id"]: Action.model_validate(each) for each in ACTIONS}
    known = Known(actions=actions, library={}, models=())
    before = copy.deepcopy(base)
    build = Build("read the ward and report it", "en", WorkingCopy.of(base, known, language="en", name="ward"))
    simulate = SimulatedRuns(known)

    async def search(query: str, most: int) -> list[Json]:
        return [each.model_dump(mode="json") for each in actions.values() if query in each.action_id][:most]

    async def keep(_build: Build) -> None:
        """Nothing is kept."""

    planner = VelvetFlowPlanner(build, model, simulate, search)
    await ModelBuilder(model, simulate, keep, LIMITS).build(build, planner)
    assert build.copied.base == before == base
    assert build.status != "building"
    found = check_document(build.copied.document, actions=actions)
    assert not [each for each in found if each.severity == "error" and each.code != "NO_NODES"]
    return build


def ids(build: Build) -> list[str]:
    return [node["id"] for node in build.copied.document["nodes"]]


async def test_a_plan_becomes_a_suggestion_by_our_edits_and_says_what_waits_for_approval():
    build = await planned(Model([SEARCH], [READ, REPORT], [FINAL]))
    assert build.status == "finished", build.stopped
    assert ids(build) == ["read", "report"]
    assert {edit.edit for edit in build.copied.made} == {"set_meta", "add_node"}
    assert any("ward.report" in note for note in build.suggestion().report.notes)
    finalized = json.loads(build.rounds[2].calls[0].answer)
    assert "ward.report" in finalized["approvals"][0]
    assert build.tokens == 5 * 15


async def test_what_is_missing_is_fed_back_and_said_when_it_stays():
    lacks = json.dumps({"is_covered": False, "missing_points": ["a mail"], "analysis": "no mail"})
    model = Model([SEARCH], [READ, REPORT], [FINAL], [FINAL], [FINAL], coverage=(lacks,) * 3)
    build = await planned(model)
    reminded = [each.content for each in model.requests[-2].messages if each.role == "user"]
    assert sum("a mail" in each for each in reminded) == 2
    assert not [each for request in model.requests for each in request.messages[1:] if each.role == "system"]
    assert build.status == "finished"
    assert any("a mail" in note for note in build.suggestion().report.notes)


async def test_only_nodes_that_lack_something_are_completed_one_after_the_other():
    bare = ("add_action_node", {"id": "read", "action_id": "ward.read"})
    submit = ("submit_node_params", {"id": "read", "params": {"day": "Monday"}})
    wrong = ("submit_node_params", {"id": "read", "params": {"day": 7}})
    validate = ("validate_node_params", {"id": "read"})
    model = Model([SEARCH], [bare], [REPORT], [FINAL], "", [wrong, validate], [submit, validate])
    build = await planned(model)
    assert build.status == "finished", build.stopped
    assert build.copied.document["nodes"][0]["params"]["params"] == {"day": "Monday"}
    assert model.names()[-2:] == ["submit_node_params"] * 2
    refused = json.loads(build.rounds[-2].calls[1].answer)
    assert refused["status"] == "error" and "day" in refused["errors"][0]


async def test_repair_takes_tools_first_and_a_whole_document_last():
    lost = ("add_condition_node", {"id": "any", "kind": "list_not_empty", "params": {"source": "result_of.read.rows"}})
    lost = (lost[0], {**lost[1], "true_to_node": "ghost", "false_to_node": None})
    mend = ("update_node_field", {"node_id": "any", "field_path": "true_to_node", "value": "report"})
    build = await planned(Model([SEARCH], [READ, REPORT, lost], [FINAL], "", [mend]))
    assert build.status == "finished", build.stopped
    edges = [(each["source"], each["target"], each["condition"]) for each in build.copied.document["edges"]]
    assert ("any", "report", "true") in edges
    whole = {
        "workflow_name": "w",
        "nodes": [{"id": "read", "type": "action", "action_id": "ward.read", "params": {"day": "today"}}],
    }
    build = await planned(Model([SEARCH], [READ, REPORT, lost], [FINAL], "", f"Here:\n{json.dumps(whole)}"))
    assert (build.status, ids(build)) == ("finished", ["read"])


async def test_what_cannot_be_mended_falls_back_to_the_last_valid_version():
    lost = ("add_condition_node", {"id": "any", "kind": "list_not_empty", "params": {}, "true_to_node": "ghost"})
    model = Model([SEARCH], [READ, REPORT], [lost], [FINAL])
    build = await planned(model)
    assert (build.status, ids(build)) == ("finished", ["read", "report"])
    assert "last valid version" in build.explanation and "any" in build.explanation
    assert model.names().count("fix_loop_body_references") == 3


async def test_a_plan_that_was_never_valid_leaves_nothing_and_says_why():
    ghost = ("add_condition_node", {"id": "c", "kind": "list_not_empty", "params": {}, "true_to_node": "ghost"})
    build = await planned(Model([ghost], [FINAL]))
    assert build.status == "stopped" and not ids(build)
    assert "c" in build.stopped
    assert build.suggestion().stopped


async def test_a_question_in_prose_is_put_to_the_writer():
    build = await planned(Model("Which ward do you mean?", "Which ward do you mean?"))
    assert (build.status, build.questions) == ("asks", ("Which ward do you mean?",))


async def test_a_budget_that_ends_within_the_check_of_coverage_ends_the_build():
    build = await planned(Model([SEARCH], [READ, REPORT], [FINAL], coverage=(BudgetExceeded("The cap is reached."),)))
    assert (build.status, build.stopped) == ("stopped", "The cap is reached.")
    assert ids(build) == ["read", "report"]


async def test_calls_without_end_are_bounded():
    forever = [[("dump_model", {"n": n})] for n in range(200)]
    model = Model(*forever)
    build = await planned(model)
    assert build.status == "stopped"
    assert len(model.requests) <= LIMITS.rounds


def base() -> Json:
    nodes = [
        {"id": "read", "kind": "action", "name": "The ward", "params": {"action": "ward.read", "params": {"day": "1"}}},
        {
            "id": "report",
            "kind": "action",
            "name": "",
            "params": {"action": "ward.report", "params": {"about": "Rows: {{result_of.read.rows}}"}},
        },
    ]
    return {"id": "ward", "version": 3, "name": "Ward", "language": "en", "nodes": nodes, "edges": []}


async def test_a_change_touches_nothing_else():
    change = ("update_action_node", {"id": "read", "params": {"day": "Monday"}})
    build = await planned(Model([change], [FINAL]), base())
    assert build.status == "finished", build.stopped
    assert [(each.kind, each.node, each.field) for each in build.suggestion().changes] == [("param", "read", "params")]
    assert build.copied.document["nodes"][1] == base()["nodes"][1]


async def test_a_workflow_that_velvetflow_cannot_hold_is_refused():
    novel = {
        **base(),
        "nodes": [{"id": "draft", "kind": "prompt", "params": {"prompt": [{"kind": "text", "text": "Go"}]}}],
    }
    with pytest.raises(DialectError, match="cannot represent"):
        await planned(Model(), novel)


@pytest.mark.parametrize("arguments", ["{", "[]", "x" * 200_000])
async def test_arguments_that_cannot_be_read_change_nothing(arguments):
    class Broken(Model):
        async def answer(self, request: ModelRequest) -> Answer:
            self.requests.append(request)
            return Answer("", "tool", Usage(1, 1), "s", tool_calls=(ToolCall("c", "add_action_node", arguments),))

    build = await planned(Broken())
    assert build.status == "stopped" and not ids(build)
    assert len(build.rounds) <= LIMITS.rounds
