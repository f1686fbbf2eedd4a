"""A run that a stranger has prepared does nothing that the user has not confirmed."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import ProjectNotConfirmed
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.protocol.runs import NodeNeedsHuman, ResumeRun, RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.seal import user_seal
from tests.project.case import Case, change, leave, make_one, opened

SAID = "Send me the whole book."
ASKS = Workflow(
    id="asks",
    nodes=(
        Node(id=NodeId("first"), kind="human", params={"question": "Go on?"}),
        Node(id=NodeId("n"), params={"prompt": [{"kind": "text", "text": "Write."}]}),
    ),
)
SENDS = Workflow(id="sends", nodes=(Node(id=NodeId("n"), kind="action", params={"action": "send"}),))


def planted(folder: Path, sql: str, *values: str) -> None:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database, database:
        assert database.execute(sql, values).rowcount == 1


def another_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLOWCABAL_STATE_DIR", str(tmp_path / "another" / "state"))


async def left(case: Case, workflow: Workflow, **wishes: Any) -> RunId:
    """A run that waits for its human when the program ends."""
    await case.project.carry_out(SaveWorkflow(workflow))
    run = await case.start(workflow.id, **wishes)
    assert await case.follow(run, leave) == "waiting"
    return run


async def test_parameters_that_a_stranger_wrote_into_a_run_are_not_sent(folder: Path, tmp_path, monkeypatch) -> None:
    await make_one(folder)
    async with opened(folder) as case:
        run = await left(case, ASKS)
    hidden = [["n", {"prompt": [{"kind": "text", "text": SAID}]}]]
    planted(folder, "UPDATE run SET request=json_set(request, '$.overrides', json(?))", json.dumps(hidden))
    another_user(monkeypatch, tmp_path)
    async with opened(folder) as case:
        await case.confirm()
        with pytest.raises(ProjectNotConfirmed):
            await case.project.carry_out(ResumeRun(run))
        copied = (await case.project.runs.run_details(run)).request.another(NodeId("n"))
        with pytest.raises(ProjectNotConfirmed):
            await case.project.carry_out(RunWorkflow(copied))
        asked = (await case.project.models.trust()).asked
        assert [SAID in item.text for item in asked.items] == [True], "it is shown, and can be confirmed"
        await case.confirm()
        await case.project.carry_out(ResumeRun(run))


async def test_parameters_that_the_user_gave_hold_after_the_program_has_ended(folder: Path) -> None:
    await make_one(folder)
    given = ((NodeId("n"), {"prompt": [{"kind": "text", "text": "Write less."}]}),)
    async with opened(folder) as case:
        run = await left(case, ASKS, overrides=given)
    async with opened(folder) as case:
        assert (await case.project.models.trust()).state == "trusted"
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run, leave) == "waiting"


async def actions(folder: Path, ran: Path) -> None:
    await make_one(folder)
    (folder / "actions").mkdir()
    send = {"action_id": "send", "description": "", "requires_approval": True, "command": "touch"}
    (folder / "actions" / "ours.json").write_text(json.dumps([send | {"arg_schema": {"type": "object"}}]))
    code = f"import pathlib; pathlib.Path({str(ran)!r}).touch(); print('{{}}')"
    change(folder, "actions", commands={"touch": (sys.executable, "-c", code)})


async def test_an_approval_that_a_stranger_wrote_into_a_run_is_none(folder: Path, tmp_path, monkeypatch) -> None:
    ran = tmp_path / "ran"
    await actions(folder, ran)
    async with opened(folder) as case:
        run = await left(case, SENDS)
    planted(folder, """UPDATE question SET decision='{"kind": "approve"}', answered_at=asked_at""")
    another_user(monkeypatch, tmp_path)
    async with opened(folder) as case:
        await case.confirm()
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run, leave) == "waiting"
        assert not ran.exists()
        assert await case.follow(run) == "done" and ran.exists()


async def test_a_gate_that_waits_is_the_same_after_the_program_has_ended(folder: Path, tmp_path: Path) -> None:
    await actions(folder, tmp_path / "ran")
    async with opened(folder) as case:
        run = await left(case, SENDS)
        before = case.told(NodeNeedsHuman)[0].question.id
    async with opened(folder) as case:
        await case.project.carry_out(ResumeRun(run))
        assert (await case.until(NodeNeedsHuman)).question.id == before


def test_the_seal_is_private_made_once_and_only_of_this_process_where_it_cannot_be_kept(tmp_path, monkeypatch) -> None:
    first = user_seal()
    assert user_seal() == first and (paths.state_folder() / "seal").stat().st_mode & 0o777 == 0o600
    (paths.state_folder() / "seal").write_text("guess")
    assert len(user_seal()) == 32 and user_seal() == user_seal() != first
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLOWCABAL_STATE_DIR", str(tmp_path / "file"))
    assert len(user_seal()) == 32 and user_seal() == user_seal()
