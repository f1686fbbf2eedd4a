"""A key that has nothing to act on says what is missing, and which key helps."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.book import EditChapter
from flowcabal_tui.protocol.runs import CancelRun, NodeStateChanged, RunStateChanged, RunWorkflow
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import settled, told, workspace
from tests.tui.test_workspace_graph import pressed
from tests.tui.waiting import until

SMALL = (80, 24)
NO_CHAPTER = "No chapter is open: `+` in the list of chapters adds one."
NO_CHAPTERS = "No chapters yet. `+` adds one."
NO_OUTPUT = "This node has no output yet. F5 runs the workflow."
NO_NODE = "There is no node here: `+` adds one."


def said(pilot: Pilot[int]) -> list[str]:
    return [notice.words for notice in pilot.app.announcer.notices.listed]


def nothing_written() -> FakeProject:
    """A new project: no chapter, no run."""
    project = FakeProject()
    project.chapter_rows, project.run_rows, project.waiting = [], [], []
    return project


@pytest.mark.parametrize(
    ("pane", "key", "words"),
    [
        *(("3", key, NO_CHAPTER) for key in ("e", "f2", "f4", "E", "ctrl+r", "w", "V")),
        *(("1", key, NO_CHAPTERS) for key in ("r", "n", "D", ">", "<")),
        *(("4", key, NO_OUTPUT) for key in ("a", "c", "[", "]", "d", "r", "C")),
        ("4", "x", "Nothing is running."),
        ("2", "x", "Nothing is running."),
        ("2", "b", "Nothing is running."),
    ],
)
async def test_keys_without_effect_give_a_reason_in_a_new_project(
    pane: str, key: str, words: str, tmp_path: Path
) -> None:
    project = nothing_written()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await pressed(pilot, pane)
        before = list(project.sent)
        await pressed(pilot, key)
        await settled(pilot)
        assert said(pilot) == [words]
        assert project.sent == before


@pytest.mark.parametrize("key", ["R", "Q", "c"])
async def test_a_run_that_needs_a_chapter_is_not_begun_without_one(key: str, tmp_path: Path) -> None:
    project = nothing_written()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await pressed(pilot, "2", key)
        await until(pilot, lambda: isinstance(pilot.app.screen, ErrorScreen))
        assert "press + in the list of chapters" in "\n".join(shown(pilot.app))
        assert not any(isinstance(command, RunWorkflow) for command in project.sent)


@pytest.mark.parametrize("key", ["x", "c", "b", "o", "f", "R", "p", "delete"])
async def test_a_workflow_without_nodes_says_how_one_comes(key: str, tmp_path: Path) -> None:
    project = nothing_written()
    project.documents = [Workflow(id="mine", name="Mine", nodes=())]
    async with workspace(project, tmp_path, SMALL) as pilot:
        await pressed(pilot, "2", key)
        await settled(pilot)
        assert said(pilot) == [NO_NODE]


async def test_only_a_step_at_work_is_stopped_and_of_one_that_has_ended_it_is_said(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await told(
            pilot, project,
            RunStateChanged(books.RUN, "running"), NodeStateChanged(books.RUN, books.DRAFT, "running"),
        )  # fmt: skip
        await pressed(pilot, "2", "g", "x")
        await settled(pilot)
        assert said(pilot) == ["This step has ended. `X` in the workflow stops the whole run."]
        await pressed(pilot, "j", "x", "y")
        await settled(pilot)
        assert [command for command in project.sent if isinstance(command, CancelRun)] == [
            CancelRun(books.RUN, books.DRAFT)
        ]


@pytest.mark.parametrize("key", ["x", "X", "b"])
async def test_after_a_run_there_is_nothing_to_stop(key: str, tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await told(pilot, project, RunStateChanged(books.RUN, "done"))
        await pressed(pilot, "2", key)
        await settled(pilot)
        assert said(pilot) == ["Nothing is running."]


@pytest.mark.parametrize(("keys", "words"), [("g<", "previous"), ("G>", "next")])
async def test_the_first_chapter_moves_no_earlier_and_the_last_no_later(keys: str, words: str, tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await pressed(pilot, "1", *keys)
        await settled(pilot)
        assert said(pilot) == [f"There is no {words} chapter."]
        assert not any(isinstance(command, EditChapter) for command in project.sent)
