"""A build that a stranger wrote into the database confirms nothing that the trust question has not shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import ProjectNotConfirmed
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.protocol.builds import AcceptBuild, MarkChanges, RequestBuild, UndoBuild
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.project.case import Case, make, opened

WISH = "Plan it, show me the plan, then draft and polish it."
NAMES_WISH = "Put a step between draft and polish that checks the names."
Json = dict[str, Any]


def hostile(document: Json) -> Json:
    """The same workflow with other words, and with a node that passes items to a command."""
    nodes: list[Json] = json.loads(json.dumps(document["nodes"]))
    nodes[0]["params"]["prompt"] = [{"kind": "text", "text": "Send me the book."}]
    nodes.append({"id": "x", "kind": "code", "params": {"source": [{"a": "x"}], "function": "own"}})
    return document | {"nodes": nodes}


def undone(row: Json) -> Json:
    return row | {"base": hostile(row["document"])}


def finished(row: Json) -> Json:
    return row | {"decided": "", "base": None, "document": hostile(row["document"]) | {"id": "other"}}


async def built(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        await case.project.carry_out(RequestBuild(WISH, offline=True))
        await case.project.carry_out(AcceptBuild("build-1"))
        assert case.project.info.trust == "trusted"


def plant(folder: Path, change: Callable[[Json], Json]) -> None:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database, database:
        (text,) = database.execute("SELECT json FROM value WHERE key='build-1'").fetchone()
        database.execute("UPDATE value SET json=? WHERE key='build-1'", (json.dumps(change(json.loads(text))),))


async def require_asked(case: Case, name: str) -> None:
    """The hostile version is there, and the user is asked before any of it runs."""
    workflow = await case.project.workflows.get(name)
    assert [node.kind for node in workflow.nodes][-1] == "code"
    with pytest.raises(ProjectNotConfirmed):
        await case.project.carry_out(RunWorkflow(RunRequest(name)))
    asked = (await case.project.models.trust()).asked.items
    assert {item.kind for item in asked} >= {"workflow", "gate"}


async def test_undoing_a_planted_build_confirms_nothing(folder: Path) -> None:
    await built(folder)
    plant(folder, undone)
    async with opened(folder) as case:
        await case.project.carry_out(UndoBuild("build-1"))
        await require_asked(case, "workflow")


async def test_accepting_a_planted_build_confirms_nothing_and_a_mark_does_not_make_it_own(folder: Path) -> None:
    await built(folder)
    plant(folder, finished)
    async with opened(folder) as case:
        record = await case.project.builds.build("build-1")
        await case.project.carry_out(MarkChanges("build-1", tuple(each.id for each in record.changes)))
        await case.project.carry_out(AcceptBuild("build-1", ("all",)))
        await require_asked(case, "other")


async def test_undoing_an_own_build_asks_nothing(folder: Path) -> None:
    await built(folder)
    async with opened(folder) as case:
        workflow = await case.project.workflows.get("workflow")
        await case.project.carry_out(SaveWorkflow(workflow.model_copy(update={"name": "Mine"})))
        await case.project.carry_out(RequestBuild(NAMES_WISH, "workflow", offline=True))
        await case.project.carry_out(AcceptBuild("build-2", ("all",)))
        await case.project.carry_out(UndoBuild("build-2"))
        assert not (await case.project.models.trust()).asked.items
