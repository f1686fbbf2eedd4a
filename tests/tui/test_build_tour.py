"""From a wish to a workflow by keys alone, over a real project: refused, edited, accepted, taken back; and the list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen
from flowcabal_tui.tui.workflows.data_editor import DataEditor
from flowcabal_tui.tui.workflows.workflow_list import WorkflowList
from flowcabal_tui.tui.workflows.workflow_versions import WorkflowVersionsScreen
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.pictures import studio
from tests.tui.test_names import press
from tests.tui.waiting import settled, until

SHOWN_STATES = {
    "en": "Plan it, show me the plan, then draft and polish it.",
    "zh": "先拟计划给我看，再写初稿，最后润色。",
}


@asynccontextmanager
async def project(folder: Path, language: str, size: tuple[int, int]) -> AsyncIterator[tuple[Pilot[int], Project]]:
    """The real app over a new project, which is closed with it."""
    await create_project(folder / "book", name="Book", language=language)
    async with studio(folder, language, size, folder / "book") as at:
        await until(
            at.pilot, lambda: isinstance(at.pilot.app.screen, WorkspaceScreen) and not at.pilot.app.screen.is_opening
        )
        await settled(at.pilot)
        yield at.pilot, at.projects[-1]


async def typed(pilot: Pilot[int], words: str) -> None:
    await pilot.press(*({" ": "space", ".": "full_stop", ",": "comma"}.get(sign, sign) for sign in words))


async def typed_at_end(pilot: Pilot[int], words: str) -> None:
    await pilot.press("end")
    await typed(pilot, words)


async def shows(pilot: Pilot[int], screen: type) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, screen))
    await settled(pilot)


def rows(pilot: Pilot[int]) -> list[str]:
    return [str(option.prompt).strip() for option in pilot.app.screen.query_one(PickList).options]


async def to_row(pilot: Pilot[int], words: str) -> None:
    """Puts the cursor on the row with these words."""
    found = next(number for number, row in enumerate(rows(pilot)) if words in row)
    pilot.app.screen.query_one(PickList).highlighted = found
    await settled(pilot)


async def nodes(opened: Project, workflow: str) -> list[str]:
    return [node.id for node in (await opened.workflows.get(workflow)).nodes]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_wish_becomes_a_workflow_by_keys(tmp_path, language, size):
    async with project(tmp_path, language, size) as (pilot, opened):
        before = [each.reference for each in await opened.workflows.newest()]
        await press(pilot, "2", "w", "B")
        await typed(pilot, SHOWN_STATES[language])
        await pilot.press("enter")
        await shows(pilot, ChooseScreen)
        assert len(rows(pilot)) > 1, "the form, and templates that do much of the wish"
        await pilot.press("enter")
        await shows(pilot, FormScreen)
        await pilot.press("ctrl+s")
        await shows(pilot, BuildReviewScreen)
        await until(pilot, lambda: any("+" in row for row in rows(pilot)))
        await to_row(pilot, "polish")
        await press(pilot, "x")
        await to_row(pilot, "polish")
        assert next(row for row in rows(pilot) if "polish" in row).startswith("[ ]")
        await to_row(pilot, "write")
        await press(pilot, "e")
        await shows(pilot, DataEditor)
        await pilot.press("ctrl+home", "down", "down", "end", "X", "ctrl+s")
        await shows(pilot, BuildReviewScreen)
        assert [each.reference for each in await opened.workflows.newest()] == before, "nothing counts yet"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "@" in str(pilot.app.screen.query_one(".head", Static).content))
        assert await nodes(opened, "workflow") == ["plan", "write"]
        assert (await opened.workflows.get("workflow")).nodes[1].name.endswith("X")
        await press(pilot, "u")
        await settled(pilot)
        assert [each.reference for each in await opened.workflows.newest()] == before


async def test_a_suggestion_outlives_the_screen_and_the_program(tmp_path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, _opened):
        await press(pilot, "2", "w", "R")
        await typed(pilot, "Put a step between draft and polish that checks the names.")
        await pilot.press("enter")
        await shows(pilot, FormScreen)
        await pilot.press("ctrl+s")
        await shows(pilot, BuildReviewScreen)
        await to_row(pilot, "polish")
        await press(pilot, "x", "escape")
    again = await Project.open(tmp_path / "book", knowledge=False)
    try:
        (row,) = await again.builds.build_rows()
        assert (row.state, row.workflow) == ("finished", "chapter")
        assert [each.ticked for each in (await again.builds.build(row.id)).changes] == [True, False]
    finally:
        await again.close()


async def test_workflows_are_made_copied_renamed_and_deleted_by_one_key(tmp_path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, opened):

        async def names() -> list[str]:
            await settled(pilot)
            return [each.id for each in await opened.workflows.newest()]

        first = await names()
        await press(pilot, "2", "w", "plus")
        await typed(pilot, "My own")
        await press(pilot, "enter")
        assert await names() == [*first, "my-own"]
        assert [node.kind for node in (await opened.workflows.get("my-own")).nodes] == ["prompt"]
        await press(pilot, "w", "c")
        await shows(pilot, PromptLine)
        await press(pilot, "enter")
        assert await names() == [*first, "my-own", "my-own-(copy)"]
        await press(pilot, "w", "n")
        await typed_at_end(pilot, "!")
        await press(pilot, "enter")
        assert (await opened.workflows.get("my-own-(copy)")).name == "My own (copy)!"
        await press(pilot, "w", "i")
        await shows(pilot, ChooseScreen)
        await press(pilot, "G", "enter")
        assert len(await names()) == len(first) + 3
        await press(pilot, "w", "D")
        await shows(pilot, ConfirmScreen)
        await press(pilot, "n")
        assert len(await names()) == len(first) + 3
        await press(pilot, "D", "y")
        assert len(await names()) == len(first) + 2


async def test_a_workflow_that_was_deleted_comes_back_with_its_versions(tmp_path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, opened):
        await press(pilot, "2", "w", "n")
        await typed_at_end(pilot, "!")
        await press(pilot, "enter")
        was = [each.reference for each in await opened.workflows.workflow_versions("chapter")]
        await press(pilot, "w", "D", "y")
        await settled(pilot)
        assert "chapter" not in [each.id for each in await opened.workflows.newest()]
        await press(pilot, "u")
        await settled(pilot)
        assert [each.reference for each in await opened.workflows.workflow_versions("chapter")] == was
        assert len(was) == 2


async def test_versions_of_a_workflow_are_compared_taken_back_and_deleted(tmp_path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, opened):
        await press(pilot, "2", "w", "n")
        await typed_at_end(pilot, "!")
        await press(pilot, "enter")
        await press(pilot, "w", "v")
        await shows(pilot, WorkflowVersionsScreen)
        assert [row.split()[0] for row in rows(pilot)] == ["v2", "v1"]
        await press(pilot, "a")
        await settled(pilot)
        newest: Workflow = await opened.workflows.get("chapter")
        assert newest.version == 3 and not newest.name.endswith("!")
        await press(pilot, "w", "v")
        await shows(pilot, WorkflowVersionsScreen)
        await press(pilot, "D", "y")
        assert [each.version for each in await opened.workflows.workflow_versions("chapter")] == [3, 1]


async def test_the_keys_of_the_nodes_rest_while_a_workflow_is_chosen(tmp_path):
    async with project(tmp_path, "en", (80, 24)) as (pilot, opened):
        await press(pilot, "2", "w", "e")
        assert pilot.app.screen.query_one(WorkflowList).has_focus
        assert await nodes(opened, "chapter") == ["plan", "draft", "polish"]
