"""The outline on the screen: what fits no chapter is assigned by a key, beats are edited beside their chapter."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol import AddChapter, WriteChapter, WriteMeta
from flowcabal_tui.tui.panes.lists import PickList
from flowcabal_tui.tui.screens.choose import ChooseScreen
from flowcabal_tui.tui.screens.outline import BeatsScreen, OutlineScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from tests.tui.hosts import shown
from tests.tui.test_ghost_drafts import opened
from tests.tui.waiting import settled, until

TEXT = "# 潮灯\n总纲\n\n## 第一章 船\n- 她来了。\n\n## 伏笔\n- 灯要灭。\n"


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Two chapters, an outline whose first heading fits the first, and one that fits none."""
    await create_project(tmp_path / "book", name="潮灯", language="zh")
    project = await Project.open(tmp_path / "book", knowledge=False)
    for title in ("船", "灯"):
        chapter = ChapterId(await project.carry_out(AddChapter(title)))
        await project.carry_out(WriteChapter(chapter, f"{title}的正文。"))
    await project.carry_out(WriteMeta("outline", TEXT))
    await project.close()
    return tmp_path / "book"


async def test_a_part_is_assigned_by_a_key_and_beats_are_edited_beside_the_chapter(
    folder: Path, tmp_path: Path
) -> None:
    async with opened(folder, tmp_path) as (project, pilot):
        screen = pilot.app.screen
        await pilot.press("O")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await until(pilot, lambda: "not assigned" in "\n".join(shown(pilot.app)))
        text = "\n".join(shown(pilot.app))
        assert "1 part fits no chapter" in text and "nothing in the outline yet" in text
        await pilot.press("u", "a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "not assigned" not in "\n".join(shown(pilot.app)))
        second = (await project.chapters())[1].id
        outline, _version = await project.outline()
        assert outline.beats(second) == "- 灯要灭。"
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BeatsScreen))
        assert "灯的正文" in pilot.app.screen.query_one("#chapter", ProseArea).text
        pilot.app.screen.query_one("#beats", ProseArea).load_text("- 灯灭了。")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await settled(pilot)
        outline, _version = await project.outline()
        assert outline.beats(second) == "- 灯灭了。"
        assert outline.text == TEXT.replace("灯要灭", "灯灭了")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_a_long_outline_begins_at_the_chapter_in_view_and_has_all_its_rows(folder: Path, tmp_path: Path) -> None:
    text = "".join(f"## 伏笔{n}\n- {n}\n" for n in range(400)) + "## 船\n- 她来了。\n## 灯\n- 灭。\n## 尾注\n- 完。\n"
    project = await Project.open(folder, knowledge=False)
    await project.carry_out(WriteMeta("outline", text))
    await project.close()
    async with opened(folder, tmp_path) as (_project, pilot):
        await pilot.press("O")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await settled(pilot)
        lines = pilot.app.screen.query_one(PickList)
        assert lines.option_count == 404 and lines.picked == "402"
        assert any("灯" in line for line in shown(pilot.app))
        await pilot.press("G")
        assert lines.picked == "403"
