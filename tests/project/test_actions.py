"""Actions, functions and sub-flows of a project, as its runs use them."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import StaleQuestion, WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.protocol.runs import Decide, NodeNeedsHuman, WorkflowFailed
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.desk import Desk, change, make_one, opened

ECHO = "import json, sys; print(json.dumps({'said': json.load(sys.stdin)}))"
HOW = {"arg_schema": {"type": "object"}, "command": "echo"}
ACTIONS = [
    {"action_id": "echo", "description": "says it again 重复", **HOW},
    {"action_id": "send", "description": "sends", "requires_approval": True, **HOW},
    {"action_id": "own", "description": "for owners", "allowed_roles": ["owner"], **HOW},
]


def one(kind: str, name: str = "flow", node: str = "n", **params: Any) -> Workflow:
    return Workflow(id=name, nodes=(Node(id=NodeId(node), kind=kind, params=params),))


@pytest_asyncio.fixture
async def desk(folder: Path) -> AsyncIterator[Desk]:
    await make_one(folder)
    (folder / "actions").mkdir()
    (folder / "actions" / "ours.json").write_text(json.dumps(ACTIONS), encoding="utf-8")
    change(folder, "actions", commands={"echo": (sys.executable, "-c", ECHO)})
    async with opened(folder) as desk:
        yield desk


async def gives(desk: Desk, workflow: Workflow, **how: Any) -> Any:
    await desk.project.carry_out(SaveWorkflow(workflow))
    run = await desk.run(workflow.id, **how)
    (version,) = [v for v in await desk.project.workflows.versions(workflow.id, workflow.nodes[0].id) if v.run == run]
    (text,) = await desk.project.workflows.texts([version])
    return json.loads(text)


async def test_an_action_runs_a_command_of_the_allow_list(desk):
    found = await gives(desk, one("action", action="echo", params={"a": [1]}))
    assert found["said"] == {"a": [1]}


async def test_a_gated_action_waits_for_a_person_and_shows_what_it_would_do(desk):
    seen = []

    def answer(question):
        seen.append((question.kind, question.required, question.proposal))
        return Decision("approve")

    await gives(desk, one("action", action="send", params={"to": "Ines"}), answer=answer)
    assert [(kind, required, "Ines" in shown) for kind, required, shown in seen] == [("gate", True, True)]


async def test_a_gate_takes_no_other_answer_and_no_choice(desk):
    await desk.project.carry_out(SaveWorkflow(one("action", action="send")))
    run = await desk.start("flow")
    question = (await desk.until(NodeNeedsHuman)).question
    for wrong in (Decision("choose", attempt=1), Decision("edit", text="x"), Decision("approve", attempt=1)):
        with pytest.raises(StaleQuestion):
            await desk.project.carry_out(Decide(question.id, wrong))
    assert await desk.follow(run, lambda _question: Decision("reject")) == "failed"


async def test_an_action_that_the_role_may_not_use_is_refused_without_asking(desk):
    await desk.project.carry_out(SaveWorkflow(one("action", action="own")))
    run = await desk.start("flow")
    assert await desk.follow(run) == "failed"
    assert "owner" in desk.told(WorkflowFailed)[0].detail
    assert desk.told(NodeNeedsHuman) == []


async def test_an_unknown_action_is_found_before_the_run(desk):
    await desk.project.carry_out(SaveWorkflow(one("action", action="ecko")))
    with pytest.raises(WorkflowError, match="ecko"):
        await desk.start("flow")
    findings = await desk.project.workflows.validate(await desk.project.workflows.get("flow"))
    assert [finding.severity for finding in findings] == ["error"]


async def test_actions_are_found_by_words_in_either_language(desk):
    assert [row.id for row in await desk.project.workflows.actions()] == ["echo", "send"], (
        "no role: not those of owners"
    )
    assert (await desk.project.workflows.actions("重复"))[0].id == "echo"
    (send,) = [row for row in await desk.project.workflows.actions() if row.id == "send"]
    assert send.gated


async def test_a_code_node_calls_a_command_of_the_allow_list_and_nothing_else(desk):
    found = await gives(desk, one("code", source=[{"a": "x"}], function="echo"))
    assert found[0]["said"] == {"a": "x"}
    await desk.project.carry_out(SaveWorkflow(one("code", "bad", source=[{}], function="os.system")))
    run = await desk.start("bad")
    assert await desk.follow(run) == "failed"
    told = desk.told(WorkflowFailed)[-1]
    assert "os.system" in told.error + told.detail
    assert "echo" in told.detail


async def test_a_sub_flow_is_one_of_the_project_or_a_template(desk):
    inner = Workflow(id="inner", nodes=(Node(id=NodeId("e"), kind="action", params={"action": "echo", "params": {}}),))
    await desk.project.carry_out(SaveWorkflow(inner))
    found = await gives(desk, one("subflow", "outer", ref="inner@1"))
    assert found["said"] == {}
    await desk.project.carry_out(SaveWorkflow(one("subflow", "lost", ref="nowhere@3")))
    with pytest.raises(WorkflowError, match="nowhere@3"):
        await desk.start("lost")


async def test_a_broken_registry_is_told_and_spoils_nothing_else(desk, folder):
    (folder / "actions" / "broken.json").write_text("[{]", encoding="utf-8")
    (finding, *_others) = await desk.project.workflows.validate(one("action", action="echo"))
    assert (finding.code, "broken.json" in finding.message) == ("BAD_ACTIONS", True)


async def test_a_project_without_actions_loads_nothing_of_them(folder):
    await make_one(folder)
    async with opened(folder) as desk:
        assert await desk.project.workflows.actions() == ()
