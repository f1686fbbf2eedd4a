"""The line of F5: a wish and, for a workflow that reads it, the length of the chapter."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.demo import templates
from flowcabal_tui.domain.overview import Goals, usual_length
from flowcabal_tui.locale import use_language
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.tui.widgets.prompt_line import RunLine
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import workspace
from tests.tui.waiting import until

CHAPTER = books.chapter_id(4)


def writing(language: str = "en") -> FakeProject:
    project = FakeProject(language)
    project.documents = [templates(language)[0].model_copy(update={"id": "chapter"})]
    project.run_rows.clear()
    return project


async def asked(pilot: Pilot[int]) -> list[Input]:
    await pilot.press("f5")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunLine))
    return list(pilot.app.screen.query(Input))


async def inputs(pilot: Pilot[int], project: FakeProject) -> dict[str, object]:
    await until(pilot, lambda: any(isinstance(item, RunWorkflow) for item in project.sent))
    return dict(next(item for item in project.sent if isinstance(item, RunWorkflow)).request.inputs)


@pytest.mark.parametrize(("language", "label"), [("en", "Length in words:"), ("zh", "Length in characters:")])
async def test_the_goal_is_shown_and_a_length_typed_over_it_goes_with_the_run(
    tmp_path: Path, language: str, label: str
) -> None:
    project = writing(language)
    project.goals = Goals(chapter=1_500)
    async with workspace(project, tmp_path) as pilot:
        _wish, length = await asked(pilot)
        assert length.placeholder == "1,500 (the goal of a chapter)"
        assert any(label in row and "1,500" in row for row in shown(pilot.app))
        await pilot.press(*"storm", "tab", *"7x00", "enter")
        assert await inputs(pilot, project) == {"instruction": "storm", "length": "700"}
    assert project.drafts.fields[f"length/{CHAPTER}"] == "700"


async def test_an_empty_field_leaves_the_length_to_the_wish_and_the_book(tmp_path: Path) -> None:
    project = writing()
    project.goals = Goals()
    async with workspace(project, tmp_path) as pilot:
        _wish, length = await asked(pilot)
        usual = usual_length([row.length for row in project.chapter_rows[:3] if row.length])
        assert length.placeholder == f"{usual:,} (as in the previous chapters)"
        await pilot.press("enter")
        assert await inputs(pilot, project) == {"instruction": ""}


async def test_the_length_of_the_last_run_of_a_chapter_is_there_again(tmp_path: Path) -> None:
    project = writing()
    project.drafts.fields[f"length/{CHAPTER}"] = "900"
    async with workspace(project, tmp_path) as pilot:
        assert [field.value for field in await asked(pilot)] == ["", "900"]
        await pilot.press("enter")
        assert (await inputs(pilot, project))["length"] == "900"


async def test_a_length_that_no_chapter_has_is_refused_and_stays_to_be_mended(tmp_path: Path) -> None:
    project = writing()
    async with workspace(project, tmp_path) as pilot:
        await asked(pilot)
        await pilot.press("tab", *"70000", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, RunLine) and not project.sent
        await pilot.press("backspace", "enter")
        assert (await inputs(pilot, project))["length"] == "7000"


async def test_no_blank_follows_a_full_width_colon_before_the_length(tmp_path: Path) -> None:
    project = writing("zh")
    project.goals = Goals(chapter=1_500)
    async with workspace(project, tmp_path) as pilot:
        use_language("zh")
        await asked(pilot)
        assert any("篇幅（字）：1,500" in row for row in shown(pilot.app))
