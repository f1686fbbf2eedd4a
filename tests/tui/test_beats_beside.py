"""The outline beside the text: one key in all panes and in the writing view, rows that go to their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.beat_words import VERDICTS
from flowcabal_tui.protocol.book import AddChapter, CheckBeats, WriteChapter, WriteMeta
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.memory.beats_panel import BeatsPanel
from flowcabal_tui.tui.memory.outline import BeatsScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.writing_area import WritingArea
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_ghost_drafts import book, opened
from tests.tui.test_workspace import pane_in_view, screen_of, settled, workspace
from tests.tui.waiting import until

__all__ = ["book"]
SIZES = [(80, 24), (140, 40)]
BEATS = {
    "en": "- It rains.\n1. Mara lost her left hand.\n2. Mara meets Dover’s lamplighter at Northgate.\n",
    "zh": "- 下雨。\n1. 沈月失去左手。\n2. 沈月翻开《盐经》。\n",
}


def outlined(language: str) -> FakeProject:
    """Three beats for the first chapter: one without names, one that came, one of which a part came."""
    project = FakeProject(language)
    project.outlined = BEATS[language].replace("Mara", project.words.hero)
    return project


def panel(pilot: Pilot[int]) -> BeatsPanel:
    return screen_of(pilot).query_one(BeatsPanel)


def is_shown(pilot: Pilot[int]) -> bool:
    found = screen_of(pilot).query(BeatsPanel)
    return bool(found) and bool(found.first().region.area)


def said(pilot: Pilot[int]) -> str:
    """The rows of the panel in one line."""
    lines = panel(pilot).query_one(PickList)
    return " ".join(str(option.prompt) for option in lines.options)


async def opened_beside(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press("1", "g", "enter")
    await settled(pilot)
    await pilot.press(*keys, "ctrl+d")
    await settled(pilot)
    await until(pilot, lambda: panel(pilot).query_one(PickList).option_count > 0 and panel(pilot).has_focus_within)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_one_key_shows_what_came_beside_the_text_and_hides_it_again(tmp_path: Path, size, language: str) -> None:
    async with workspace(outlined(language), tmp_path, size=size) as pilot:
        await opened_beside(pilot)
        assert is_shown(pilot) and panel(pilot).has_focus_within
        rows = " ".join(shown(pilot.app))
        assert all(sign in rows for sign in ("●", "◐", "·")) and "1 of 2" in rows
        assert size[0] < 100 or screen_of(pilot).query_one(ManuscriptPane).region.width > 50
        await pilot.press("ctrl+d")
        await settled(pilot)
        assert not is_shown(pilot) and screen_of(pilot).query_one("#read").has_focus


@pytest.mark.parametrize("size", SIZES)
async def test_wide_characters_at_its_edge_are_whole(tmp_path: Path, size) -> None:
    project = outlined("zh")
    project.outlined = f"#### 灯\n- {'雨' * 200}\n"
    async with workspace(project, tmp_path, size=size) as pilot:
        await opened_beside(pilot)
        rows = "\n".join(shown(pilot.app))
        assert "灯" in rows and rows.count("雨") >= 200


@pytest.mark.parametrize("size", SIZES)
async def test_enter_goes_to_the_place_in_the_reader_and_in_the_editor(tmp_path: Path, size) -> None:
    project = outlined("en")
    hero = project.words.hero
    async with workspace(project, tmp_path, size=size) as pilot:
        await opened_beside(pilot)
        await pilot.press("j", "enter")
        await settled(pilot)
        reader = screen_of(pilot).query_one("#read", StreamView)
        assert reader.has_focus and is_shown(pilot) == (size[0] >= 100)
        await pilot.press(*(["ctrl+d"] if is_shown(pilot) else []), "e", "ctrl+d")
        await settled(pilot)
        await pilot.press("g", "j", "enter")
        await settled(pilot)
        area = screen_of(pilot).query_one(WritingArea)
        assert area.has_focus and area.selected_span == (project.words.texts[0].index(hero),) * 2


async def test_it_follows_what_is_typed_in_the_writing_view(tmp_path: Path) -> None:
    async with workspace(outlined("en"), tmp_path) as pilot:
        await opened_beside(pilot, "ctrl+n")
        assert is_shown(pilot) and screen_of(pilot).has_class("-writing")
        await pilot.press("escape")
        await settled(pilot)
        area = screen_of(pilot).query_one(WritingArea)
        assert area.has_focus and screen_of(pilot).has_class("-writing"), "Esc goes to the text, the view stays"
        area.insert("Dover. Northgate. ")
        area.report_edit()
        await until(pilot, lambda: "2 of 2" in " ".join(shown(pilot.app)))


async def test_another_pane_takes_its_place_and_the_text_brings_it_back(tmp_path: Path) -> None:
    async with workspace(outlined("en"), tmp_path) as pilot:
        await opened_beside(pilot)
        await pilot.press("6")
        await settled(pilot)
        assert not is_shown(pilot) and pane_in_view(pilot) == "context"
        await pilot.press("3")
        await settled(pilot)
        assert is_shown(pilot)


async def test_in_a_small_terminal_another_pane_closes_it(tmp_path: Path) -> None:
    async with workspace(outlined("en"), tmp_path, size=SIZES[0]) as pilot:
        await opened_beside(pilot)
        await pilot.press("1")
        await settled(pilot)
        assert pane_in_view(pilot) == "chapters"
        await pilot.press("3")
        await settled(pilot)
        assert pane_in_view(pilot) == "manuscript" and not is_shown(pilot)


async def test_a_beat_without_a_place_says_so_and_a_chapter_without_beats_names_the_key(tmp_path: Path) -> None:
    project = outlined("en")
    async with workspace(project, tmp_path) as pilot:
        await opened_beside(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert any("names nobody" in row for row in shown(pilot.app))
        project.outlined = ""
        await pilot.press("1", "j", "enter")
        await until(pilot, lambda: "e writes its beats" in said(pilot))


async def test_the_beats_are_edited_beside_the_chapter(book: tuple[Path, ChapterId], tmp_path: Path) -> None:
    folder, chapter = book
    project = await Project.open(folder, knowledge=False)
    await project.carry_out(PutEntity(Entity(EntityId("maud"), "character", "Maud")))
    await project.close()
    async with opened(folder, tmp_path) as (project, pilot):
        await pilot.press("ctrl+d")
        await until(pilot, lambda: is_shown(pilot) and "e writes its beats" in said(pilot))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, BeatsScreen))
        pilot.app.screen.query_one("#beats", ProseArea).load_text("- Maud lights the lamp.")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "not found: Maud" in said(pilot))
        assert (await project.book.outline())[0].beats(chapter) == "- Maud lights the lamp."
        await project.carry_out(WriteChapter(chapter, "Maud lit the lamp."))
        await until(pilot, lambda: "Maud (1)" in said(pilot))
        await project.carry_out(WriteMeta("outline", "# Rain\n## Part One\nThe war.\n## 1 Rain\n- It rains.\n"))
        await project.carry_out(AddChapter("Snow"))
        await until(pilot, lambda: "It rains" in said(pilot))


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_model_is_asked_after_the_price_and_enter_goes_to_its_quotation(tmp_path: Path, language: str) -> None:
    project = outlined(language)
    async with workspace(project, tmp_path) as pilot:
        await opened_beside(pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("escape")
        await settled(pilot)
        assert project.advised_on is None
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: "✦" in said(pilot))
        assert said(pilot).count("✦") == 3 and _(VERDICTS["not checked"]) in said(pilot)
        assert "✦ 1" in str(panel(pilot).query_one(".head").render())
        await pilot.press("g", "enter")
        await settled(pilot)
        assert screen_of(pilot).query_one("#read", StreamView).has_focus
        project.beats_quote = None
        await pilot.press("ctrl+d", "ctrl+d", "m")
        await settled(pilot)
        assert project.sent.count(CheckBeats(project.chapter_rows[0].id)) == 1
        assert not isinstance(pilot.app.screen, ConfirmScreen)


async def test_advice_on_another_text_is_out_of_date(tmp_path: Path) -> None:
    project = outlined("en")
    async with workspace(project, tmp_path) as pilot:
        await opened_beside(pilot, "e")
        await pilot.press("m")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: "✦" in said(pilot))
        assert "✦◌" not in said(pilot)
        await pilot.press("escape", "x")
        await until(pilot, lambda: said(pilot).count("✦◌") == 3)
        assert "(out of date)" in said(pilot)
