"""The outline on the screen: what fits no chapter is assigned by a key, beats are edited beside their chapter."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, EditChapter, WriteChapter, WriteMeta
from flowcabal_tui.store.rows.outline import book_outline
from flowcabal_tui.tui.memory.outline import BeatsScreen, OutlineScreen, _rows
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from tests.tui.hosts import shown
from tests.tui.test_ghost_drafts import opened
from tests.tui.waiting import settled, until
from tests.tui.widgets.test_column_rows import drawn

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
        assert "! 1 part fits no chapter" in text and "+ 1 without an outline" in text
        await pilot.press("u", "c")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: "not assigned" not in "\n".join(shown(pilot.app)))
        second = (await project.book.chapters())[1].id
        outline, _version = await project.book.outline()
        assert outline.beats(second) == "- 灯要灭。"
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, BeatsScreen))
        assert "灯的正文" in pilot.app.screen.query_one("#chapter", ProseArea).text
        assert "伏笔 2 灯" in "\n".join(shown(pilot.app)), "the heading and the chapter that it belongs to"
        pilot.app.screen.query_one("#beats", ProseArea).load_text("- 灯灭了。")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await settled(pilot)
        outline, _version = await project.book.outline()
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


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_volume_and_a_chapter_get_a_heading_by_enter_which_the_footer_names(
    folder: Path, tmp_path: Path, language: str
) -> None:
    project = await Project.open(folder, knowledge=False)
    for chapter in await project.book.chapters():
        await project.carry_out(EditChapter(chapter.id, volume="远海"))
    await project.carry_out(WriteMeta("outline", "## 船\n- 她来了。\n"))
    await project.close()
    async with opened(folder, tmp_path, language) as (project, pilot):
        await pilot.resize_terminal(80, 24)
        await pilot.press("O")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await settled(pilot)
        keys = shown(pilot.app)[-1]
        named = {
            "en": ("Enter Edit", "c Assign", "u Not assigned", "Esc Back", "Ctrl+p Commands", "F1 Help"),
            "zh": ("回车 编辑", "c 归入章节", "u 未归章", "V 版本", "Esc 返回", "Ctrl+p 命令", "F1 帮助"),
        }
        assert [each for each in named[language] if each not in keys] == [], keys
        for row in (2, 3):  # the volume, then the chapter; both before the cursor knew of neither
            lines = pilot.app.screen.query_one(PickList)
            lines.highlighted = row
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, BeatsScreen))
            pilot.app.screen.query_one("#beats", ProseArea).load_text(f"- {row}")
            pilot.app.announcer.notices.listed.clear()
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
            await until(pilot, lambda: bool(pilot.app.announcer.notices.listed))
        outline, _version = await project.book.outline()
        second = (await project.book.chapters())[1].id
        assert outline.beats(second) == "- 3"
        volume = outline.part_of_volume("远海")
        assert volume is not None and outline.outline.body(volume.part) == "- 2"
        assert outline.volume_of(second) == volume


async def test_an_earlier_version_of_the_outline_is_restored_by_keys(folder: Path, tmp_path: Path) -> None:
    async with opened(folder, tmp_path) as (project, pilot):
        await project.carry_out(WriteMeta("outline", TEXT.replace("她来了", "她走了")))
        await pilot.press("O")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await settled(pilot)
        await pilot.press("V")
        await until(pilot, lambda: isinstance(pilot.app.screen, VersionsScreen))
        await settled(pilot)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        await settled(pilot)
        assert await project.book.meta("outline") == TEXT
        await pilot.press("V", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutlineScreen))
        assert await project.book.meta("outline") == TEXT


@pytest.mark.parametrize("width", [30, 60, 120])
def test_rows_are_columns_with_the_number_of_their_chapter(width: int) -> None:
    """Also those of parts that belong to no chapter, to one, and to several."""
    text = f"# 雪\n## 第一章 {'雪' * 30}\n- a\n## 第二至三章\n- b\n## 伏笔\n- c\n## 第九章 {'x' * 50}\n- d\n"
    chapters = [Chapter(ChapterId(f"c{n}"), n, f"第{n}章 {'灯' * n}") for n in range(1, 5)]
    book = book_outline(text, "", chapters)
    rows = [drawn(each.prompt, width) for each in _rows(book, OutlineScreen._names(book))]
    assert {cell_len(row) for row in rows} == {width}
    assert [row.split()[0] for row in rows if row[0] != " "] == ["!", "+"]
    if width > 60:
        assert "2、3" in rows[2] or "2, 3" in rows[2]


def test_a_volume_of_the_book_s_own_name_does_not_repeat_it() -> None:
    chapters = [Chapter(ChapterId(f"c{n}"), n, f"{n}", volume=volume) for n, volume in ((1, "第一卷 雨"), (2, "远海"))]
    book = book_outline("# 第一卷 雨\n## 1\n- a\n# 第二卷\n## 2\n- b\n", "", chapters)
    shown = [str(each.prompt).strip() for each in _rows(book, OutlineScreen._names(book))]
    assert "第一卷 雨" in shown and "第二卷 volume 远海" in shown
