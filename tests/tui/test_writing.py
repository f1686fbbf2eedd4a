"""The writing view: the text alone, counts that follow every key, the cursor at half height."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from flowcabal_tui.domain.lengths import text_length
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.writing_line import WritingLine
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.widgets.writing_area import WritingArea
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host, shown
from tests.tui.test_key_order import BACKSPACE, OrderlyHost, burst
from tests.tui.test_workspace import pane_in_view, screen_of, settled, workspace

SENTENCE = "她推开门，雨正落在院子里。「你怎么来了？」他问，声音很轻。"


async def write(pilot: Pilot[int]) -> WritingArea:
    """Opens the first chapter in the writing view."""
    await pilot.press("1", "g", "enter")
    await settled(pilot)
    await pilot.press("ctrl+n")
    await settled(pilot)
    return screen_of(pilot).query_one(WritingArea)


def line(pilot: Pilot[int]) -> str:
    return next(row.strip() for row in shown(pilot.app) if "session" in row)


def visible(pilot: Pilot[int], *kinds: type[Widget]) -> list[bool]:
    return [bool(screen_of(pilot).query_one(kind).region.area) for kind in kinds]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_one_key_shows_the_text_alone_in_a_measure_and_the_same_key_goes_back(tmp_path: Path, size):
    async with workspace(FakeProject(), tmp_path, size=size) as pilot:
        area = await write(pilot)
        assert visible(pilot, WritingLine, HintLine, StatusLine) == [True, False, False]
        assert 60 <= area.wrap_width <= 80
        assert abs(area.region.x - (size[0] - area.region.right)) <= 1, "centred"
        await pilot.press("X", "ctrl+n")
        await settled(pilot)
        assert area.fades_others
        await pilot.press("ctrl+n")
        await settled(pilot)
        assert visible(pilot, WritingLine, HintLine, StatusLine) == [False, True, True]
        assert not area.is_typewriter and area.text.startswith("X") and area.has_focus


async def test_esc_and_another_pane_leave_it_and_a_zoom_of_before_stays(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await write(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert (visible(pilot, HintLine), screen_of(pilot).query_one(ManuscriptPane).face) == ([True], "read")
        await pilot.press("z", "ctrl+n")
        await settled(pilot)
        await pilot.press("f6")
        await settled(pilot)
        assert visible(pilot, HintLine) == [True] and pane_in_view(pilot) == "output"
        assert screen_of(pilot).has_class("-zoom")


async def test_without_a_chapter_nothing_changes(tmp_path: Path):
    project = FakeProject()
    project.chapter_rows = []
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("ctrl+n")
        await settled(pilot)
        assert visible(pilot, HintLine) == [True]
        assert "No chapter is open" in pilot.app.announcer.notices.listed[-1].words


async def test_where_it_fits_the_line_names_the_key_to_the_next_view(tmp_path: Path):
    project = FakeProject()
    project.goals = Goals()
    async with workspace(project, tmp_path) as pilot:
        await write(pilot)
        assert line(pilot).endswith("Ctrl+n: next view")


async def test_of_a_line_that_is_too_long_the_title_goes_and_no_count(tmp_path: Path):
    project = FakeProject()
    project.goals = Goals(chapter=100, day=200)
    async with workspace(project, tmp_path) as pilot:
        await write(pilot)
        await pilot.resize_terminal(60, 24)
        await settled(pilot)
        assert line(pilot).endswith("of 100 words   session +0   today 120 of 200 words")


async def test_counts_follow_what_is_typed_selected_and_taken_back(tmp_path: Path):
    project = FakeProject()
    project.goals = Goals(chapter=100, day=200)
    async with workspace(project, tmp_path) as pilot:
        await write(pilot)
        length = project.chapter_rows[0].length
        assert line(pilot) == f"1 Rain   {length} of 100 words   session +0   today 120 of 200 words"
        await pilot.press(*"two", "space", *"more", "space")
        await pilot.pause()
        assert line(pilot) == f"1 Rain   {length + 2} of 100 words   session +2   today 122 of 200 words"
        await pilot.press("shift+left", "shift+left", "shift+left", "shift+left", "shift+left")
        await pilot.pause()
        assert "  selected 1  " in line(pilot)
        await pilot.press("delete", "ctrl+z", "ctrl+z")
        await settled(pilot)
        area = screen_of(pilot).query_one(WritingArea)
        assert area.length == text_length(area.text)


async def test_chinese_is_counted_as_the_project_says(tmp_path: Path):
    project = FakeProject("zh")
    project.goals = Goals(counting="platform")
    async with workspace(project, tmp_path) as pilot:
        area = await write(pilot)
        area.insert("雨，")
        await pilot.pause()
        assert f"{area.length.characters:,} characters" in line(pilot)
        assert "session +2" in line(pilot)


async def test_the_row_of_the_cursor_stays_at_half_height_to_the_end_of_the_text():
    area = WritingArea("\n".join(f"line {n}" for n in range(60)))
    app = Host(area)
    async with app.run_test(size=(40, 20)) as pilot:
        area.is_typewriter = True
        for place in ((30, 0), (59, 3), (58, 0)):
            area.move_cursor(place)
            await pilot.pause()
            assert shown(app)[area.size.height // 2 + area.content_region.y].strip(" ▊▎") == f"line {place[0]}"
        area.move_cursor((2, 0))
        await pilot.pause()
        assert area.scroll_offset.y == 0, "there is no empty room above the text"
        area.is_typewriter = False
        area.move_cursor((59, 0))
        await pilot.pause()
        assert area.scroll_offset.y + area.size.height <= 60, "nor below it, without the typewriter"


async def test_only_the_paragraph_of_the_cursor_is_in_full_colour():
    area = WritingArea("One.\nTwo.\nThree.")
    app = Host(area)
    async with app.run_test(size=(40, 8)) as pilot:
        area.fades_others = True
        area.move_cursor((1, 0))
        await pilot.pause()
        assert [area._face(row).is_faded for row in range(4)] == [True, False, True, False]
        colours = [
            next(segment.style.color for segment in area.render_line(row) if segment.text.strip()) for row in (0, 2)
        ]
        assert colours[0] == colours[1] != area.render_line(1)._segments[-1].style.color


def chapter(length: int) -> str:
    paragraph = SENTENCE * 6
    return "\n".join([paragraph] * (length // (len(paragraph) + 1) + 1))


async def test_what_an_input_method_commits_and_pastes_come_whole_and_in_order_into_a_long_chapter():
    """All at once, which is closer than keys 5 ms apart."""
    text, chance = chapter(200_000), random.Random(20261123)
    assert len(text) >= 200_000
    phrases = [chance.choice(["雨停了，", "她", "推门进来。", f"错{BACKSPACE}", "Anna", "——"]) for _ in range(150)]
    pasted = SENTENCE * 40
    area = WritingArea(text)
    app = OrderlyHost(area)
    async with app.run_test(size=(100, 40)) as pilot:
        area.is_typewriter = area.fades_others = True
        area.move_cursor((500, 10))
        before = area.document.get_line(500)
        await burst(pilot, f"{''.join(phrases)}\x1b[200~{pasted}\x1b[201~尾")
        typed = "".join(phrase for phrase in phrases if BACKSPACE not in phrase)
        assert area.document.get_line(500) == f"{before[:10]}{typed}{pasted}尾{before[10:]}"
        assert len(area.text) == len(text) + len(typed) + len(pasted) + 1
        assert area.length == text_length(area.text)


async def test_edits_anywhere_keep_the_count_true():
    chance = random.Random(7)
    area = WritingArea(f"{books.ZH.texts[0]}\n\n{books.EN.texts[0]}")
    app = Host(area)
    async with app.run_test():
        assert area.length == text_length(area.text)
        for _edit in range(200):
            size = len(area.text)
            start = chance.randrange(size + 1)
            end = min(size, start + chance.randrange(8))
            area.replace_span(start, end, chance.choice(["", "雨", "a b", "\n", "——\n\nx", "，"]))
            if chance.random() < 0.2:
                area.undo()
        assert area.length == text_length(area.text)


async def test_one_key_breaks_the_scene_at_the_cursor_and_the_same_key_on_the_break_takes_it_away(tmp_path: Path):
    async with workspace(FakeProject("zh"), tmp_path) as pilot:
        area = await write(pilot)
        before = area.text
        assert before.count("\n") == 2, "paragraphs are lines"
        area.move_cursor((1, 0))
        await pilot.press("ctrl+right_square_bracket")
        await settled(pilot)
        first, rest = before.split("\n", 1)
        assert area.text == f"{first}\n***\n{rest}"
        area.move_cursor((1, 1))
        await pilot.press("ctrl+right_square_bracket")
        await settled(pilot)
        assert area.text == before
        await pilot.press("ctrl+z")
        assert area.text == f"{first}\n***\n{rest}", "one step for undo"
        area.move_cursor((0, 0))
        await pilot.press("ctrl+right_square_bracket")
        await settled(pilot)
        assert "would be empty" in pilot.app.announcer.notices.listed[-1].words
