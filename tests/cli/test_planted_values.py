"""Hostile values in every table: a typed error or a row that is left out, and nothing reaches the terminal or a file
outside. FLOWCABAL_FUZZ sets the number of turns of each table."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from flowcabal_tui.cli.session.questions import QUESTIONS, ask
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.project import Project
from tests.cli.conftest import Call
from tests.cli.planted import Planter, arguments, tables
from tests.project.case import opened
from tests.project.hostile import tree

TURNS = int(os.environ.get("FLOWCABAL_FUZZ", "1"))
GROUPS = 8
NEED_MORE = {"validate", "texts", "preview_import"}
"""Questions whose arguments are documents."""
COMMANDS = ("status", "chapters", "runs", "names", "findings", "comments", "proposals", "workflows", "keep", "changes")
FORBIDDEN = "".join(map(chr, [*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x202E]))


@pytest.fixture
def planted(demo: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The demo with hostile values in a part of its tables, and a folder beside it that stays as it is."""
    turn, group = request.param
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "prey").write_text("not yours")
    shutil.copytree(demo, tmp_path / "book")
    with closing(sqlite3.connect(tmp_path / "book" / ".flowcabal" / "project.db")) as database, database:
        for table in tables(database)[group::GROUPS]:
            planter = Planter(database, outside, f"{table} {turn}")
            planter.fill(table)
            planter.spoil(table)
    before = tree(tmp_path / "outside"), sorted(path.name for path in tmp_path.iterdir())
    yield tmp_path / "book"
    assert (tree(tmp_path / "outside"), sorted(path.name for path in tmp_path.iterdir())) == before


async def ask_everything(folder: Path, given: dict[str, dict[str, object]]) -> list[str]:
    """Asks all questions; returns those that ended with anything but an answer or a typed error."""
    wrong = []
    project = await Project.open(folder, read_only=True, knowledge=False)
    try:
        for question in QUESTIONS.keys() - NEED_MORE:
            try:
                await ask(project, question, given.get(question, {}))
            except FlowCabalError:
                continue
            except Exception as error:  # whatever else a question raises is what this test looks for
                wrong.append(f"{question}: {error!r}")
    finally:
        await project.close()
    return wrong


async def work(folder: Path) -> None:
    """What an open project does in the background."""
    async with opened(folder, trust=True) as case:
        await case.settled()


@pytest.mark.parametrize("planted", [(turn, group) for turn in range(TURNS) for group in range(GROUPS)], indirect=True)
def test_planted_values_are_refused_or_left_out(planted: Path, demo: Path, call: Call) -> None:
    with closing(sqlite3.connect(demo / ".flowcabal" / "project.db")) as database:
        given = arguments(database)
    with suppress(FlowCabalError):
        assert asyncio.run(ask_everything(planted, given)) == []
    for command in random.Random(planted.parent.name).sample(COMMANDS, 4):
        said = call(command, planted)
        words = said.out + said.err
        assert "Traceback" not in words
        assert not [character for character in words if character in FORBIDDEN], command
    with suppress(FlowCabalError):
        asyncio.run(work(planted))
