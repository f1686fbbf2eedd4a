from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.beats import BeatCount
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.shared.lists import PickList
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

CHAPTERS = books.chapters(books.ZH)


def host() -> tuple[Host, ChapterList]:
    pane = ChapterList()
    return Host(pane), pane


async def test_the_list_shows_numbers_titles_lengths_and_what_is_empty() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 12)) as pilot:
        pane.show(CHAPTERS, CHAPTERS[1].id)
        await pilot.pause()
        rows = shown(app)
        assert rows[0].split() == ["1", "雨夜", "46", "●"]
        assert rows[1].startswith("▸ 2 渡口")
        assert rows[3].split() == ["4", "归途", "—", "○"]
        assert pane.highlighted == CHAPTERS[1].id


async def test_a_chapter_whose_beats_are_not_all_there_has_another_sign_and_a_volume_counts_them() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 12)) as pilot:
        first, second = (replace(each, volume="上卷") for each in CHAPTERS[:2])
        pane.show((first, second), second.id)
        pane.show_beats({first.id: BeatCount(1, 3), second.id: BeatCount(2, 2)})
        await pilot.pause()
        rows = [row.split() for row in shown(app)]
        assert (rows[0], rows[1][-1], rows[2][-1]) == (["上卷", "3/5"], "◐", "●")


async def test_hjkl_moves_and_keys_ask_for_what_is_under_the_cursor() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(CHAPTERS, CHAPTERS[0].id)
        await pilot.press("tab", "j", "j", "k", "enter", "r", "n", "greater_than_sign", "less_than_sign", "D", "plus")
        second = CHAPTERS[1].id
        assert app.posted(ChapterList) == [
            ChapterList.Chosen(second),
            ChapterList.RunRequested(second),
            ChapterList.RenameRequested(second),
            ChapterList.MoveRequested(second, 1),
            ChapterList.MoveRequested(second, -1),
            ChapterList.DeleteRequested(second),
            ChapterList.AddRequested(),
        ]


async def test_a_filter_leaves_matching_titles_and_escape_brings_all_back() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(CHAPTERS, None)
        await pilot.press("tab", "slash", *"渡口", "enter", "enter")
        assert pane.query_one(PickList).option_count == 1
        assert app.posted(ChapterList) == [ChapterList.Chosen(CHAPTERS[1].id)]
        await pilot.press("escape")
        assert pane.query_one(PickList).option_count == 4
        assert pane.highlighted == CHAPTERS[1].id


async def test_new_values_keep_the_cursor_at_its_chapter() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(CHAPTERS, CHAPTERS[0].id)
        await pilot.press("tab", "j", "j")
        moved = [replace(CHAPTERS[2], position=1), *CHAPTERS[:2], CHAPTERS[3]]
        pane.show(moved, CHAPTERS[0].id)
        assert pane.highlighted == CHAPTERS[2].id
        pane.show(moved, CHAPTERS[3].id)
        assert pane.highlighted == CHAPTERS[3].id


async def test_volumes_are_headings_that_the_cursor_passes_over() -> None:
    app, pane = host()
    async with app.run_test(size=(40, 12)) as pilot:
        pane.show([replace(item, volume=f"卷{(item.position + 1) // 2}") for item in CHAPTERS], CHAPTERS[1].id)
        await pilot.press("tab", "j")
        assert shown(app)[0].startswith("卷1")
        assert pane.highlighted == CHAPTERS[2].id


async def test_an_empty_book_says_how_to_begin() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 12)) as pilot:
        pane.show([], None)
        pane.show(CHAPTERS, None)
        pane.show([], None)
        await pilot.pause()
        assert "No chapters yet" in "\n".join(shown(app))
        await pilot.press("tab", "r", "plus")
        assert app.posted(ChapterList) == [ChapterList.AddRequested()]


async def test_hostile_titles_are_shown_as_words() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 12)) as pilot:
        pane.show([replace(CHAPTERS[0], title=HOSTILE + "\n" + "长" * 100_000)], None)
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "[/]" in screen
        assert "\x1b" not in screen
        assert "\u202e" not in screen


async def test_an_empty_book_says_how_a_chapter_is_added_and_a_filter_says_when_nothing_matches() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show((), None)
        await pilot.pause()
        assert "No chapters yet. + adds one." in shown(app)[0]
        pane.show(CHAPTERS, None)
        await pilot.press("tab", "slash", *"zzz")
        await pilot.pause()
        assert "No title or number matches: Esc shows all." in "".join(shown(app))


async def test_a_long_title_is_cut_and_the_length_stays_in_view() -> None:
    app, pane = host()
    async with app.run_test(size=(26, 12)) as pilot:
        pane.show((replace(CHAPTERS[0], title="贾宝玉神游太虚境 警幻仙曲演红楼梦"),), None)
        await pilot.pause()
        row = shown(app)[0].rstrip()
        assert "…" in row
        assert row.endswith(f" {CHAPTERS[0].length:,} ●")
