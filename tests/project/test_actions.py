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
from tests.project.case import Case, change, make_one, opened

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
async def case(folder: Path) -> AsyncIterator[Case]:
    await make_one(folder)
    (folder / "actions").mkdir()
    (folder / "actions" / "ours.json").write_text(json.dumps(ACTIONS), encoding="utf-8")
    change(folder, "actions", commands={"echo": (sys.executable, "-c", ECHO)})
    async with opened(folder) as case:
        yield case


async def gives(case: Case, workflow: Workflow, **how: Any) -> Any:
    await case.project.carry_out(SaveWorkflow(workflow))
    run = await case.run(workflow.id, **how)
    (version,) = [v for v in await case.project.workflows.versions(workflow.id, workflow.nodes[0].id) if v.run == run]
    (text,) = await case.project.workflows.texts([version])
    return json.loads(text)


async def test_an_action_runs_a_command_of_the_allow_list(case):
    found = await gives(case, one("action", action="echo", params={"a": [1]}))
    assert found["said"] == {"a": [1]}


async def test_a_gated_action_waits_for_a_person_and_shows_what_it_would_do(case):
    seen = []

    def answer(question):
        seen.append((question.kind, question.required, question.proposal))
        return Decision("approve")

    await gives(case, one("action", action="send", params={"to": "Ines"}), answer=answer)
    assert [(kind, required, "Ines" in shown) for kind, required, shown in seen] == [("gate", True, True)]


async def test_a_gate_takes_no_other_answer_and_no_choice(case):
    await case.project.carry_out(SaveWorkflow(one("action", action="send")))
    run = await case.start("flow")
    question = (await case.until(NodeNeedsHuman)).question
    for wrong in (Decision("choose", attempt=1), Decision("edit", text="x"), Decision("approve", attempt=1)):
        with pytest.raises(StaleQuestion):
            await case.project.carry_out(Decide(question.id, wrong))
    assert await case.follow(run, lambda _question: Decision("reject")) == "failed"


async def test_an_action_that_the_role_may_not_use_is_refused_without_asking(case):
    await case.project.carry_out(SaveWorkflow(one("action", action="own")))
    run = await case.start("flow")
    assert await case.follow(run) == "failed"
    assert "owner" in case.told(WorkflowFailed)[0].detail
    assert case.told(NodeNeedsHuman) == []


async def test_an_unknown_action_is_found_before_the_run(case):
    await case.project.carry_out(SaveWorkflow(one("action", action="ecko")))
    with pytest.raises(WorkflowError, match="ecko"):
        await case.start("flow")
    findings = await case.project.workflows.validate(await case.project.workflows.get("flow"))
    assert [finding.severity for finding in findings] == ["error"]


async def test_actions_are_found_by_words_in_either_language(case):
    assert [row.id for row in await case.project.workflows.actions()] == ["echo", "send"], (
        "no role: not those of owners"
    )
    assert (await case.project.workflows.actions("重复"))[0].id == "echo"
    (send,) = [row for row in await case.project.workflows.actions() if row.id == "send"]
    assert send.gated


async def test_a_code_node_calls_a_command_of_the_allow_list_and_nothing_else(case):
    found = await gives(case, one("code", source=[{"a": "x"}], function="echo"))
    assert found[0]["said"] == {"a": "x"}
    await case.project.carry_out(SaveWorkflow(one("code", "bad", source=[{}], function="os.system")))
    run = await case.start("bad")
    assert await case.follow(run) == "failed"
    told = case.told(WorkflowFailed)[-1]
    assert "os.system" in told.error + told.detail
    assert "echo" in told.detail


async def test_a_sub_flow_is_one_of_the_project_or_a_template(case):
    inner = Workflow(id="inner", nodes=(Node(id=NodeId("e"), kind="action", params={"action": "echo", "params": {}}),))
    await case.project.carry_out(SaveWorkflow(inner))
    found = await gives(case, one("subflow", "outer", ref="inner@1"))
    assert found["said"] == {}
    await case.project.carry_out(SaveWorkflow(one("subflow", "lost", ref="nowhere@3")))
    with pytest.raises(WorkflowError, match="nowhere@3"):
        await case.start("lost")


async def test_a_broken_registry_is_told_and_spoils_nothing_else(case, folder):
    (folder / "actions" / "broken.json").write_text("[{]", encoding="utf-8")
    (finding, *_others) = await case.project.workflows.validate(one("action", action="echo"))
    assert (finding.code, "broken.json" in finding.message) == ("BAD_ACTIONS", True)


async def test_a_project_without_actions_loads_nothing_of_them(folder):
    await make_one(folder)
    async with opened(folder) as case:
        assert await case.project.workflows.actions() == ()
