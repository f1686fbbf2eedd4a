from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from flowcabal_tui.project.views import ProfileView
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.shared.lists import PickList, PickTree
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

PROFILES = books.profiles(books.ZH)
ROWS = [row for row, _view in PROFILES.values()]
HERO: ProfileView = PROFILES["profiles/characters/hero"][1]
CHAPTER: ProfileView = PROFILES["manuscript/chapter-1"][1]
START = books.ZH.texts[0].index(books.ZH.source_quote)
END = START + len(books.ZH.source_quote)


def host() -> tuple[Host, ProfilePane]:
    pane = ProfilePane()
    return Host(pane), pane


async def open_hero(pilot: Pilot[None], pane: ProfilePane) -> None:
    pane.show(ROWS)
    pane.query_one(PickTree).focus()
    await pilot.pause()
    pane.show_profile(HERO)
    await pilot.pause()


async def test_a_state_of_the_line_or_the_summary_is_pinned_the_full_text_has_none() -> None:
    app, pane = host()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await open_hero(pilot, pane)
        for _level in range(3):
            await pilot.press("p", "l")
        await pilot.pause()
        pins = [each for each in app.posted(ProfilePane) if isinstance(each, ProfilePane.PinRequested)]
        assert pins == [ProfilePane.PinRequested(HERO.uri, HERO.levels[0].generation)] * 2
        assert [each.message for each in app._notifications] == ["Only the one line and the summary are pinned."]


async def test_profiles_stand_by_kind_with_their_one_line() -> None:
    app, pane = host()
    async with app.run_test(size=(80, 24)) as pilot:
        pane.show(ROWS)
        await pilot.pause()
        rows = [row.strip() for row in shown(app)]
        assert "人物 (1)" in rows[0]
        assert "沈月  失去左手的刀客" in rows[1]
        assert "章节 (1)" in rows[2]


async def test_a_kind_of_the_writer_s_own_stands_where_its_rows_do() -> None:
    app, pane = host()
    async with app.run_test(size=(80, 24)) as pilot:
        pane.show([replace(ROWS[0], kind="weapons", uri="profiles/weapons/book", kind_title="Weapons"), *ROWS])
        await pilot.pause()
        titles = [row.strip() for row in shown(app) if " (1)" in row]
        assert [each.partition(" (")[0].split()[-1] for each in titles] == ["Weapons", "人物", "章节"]


@pytest.mark.parametrize("width", range(34, 50, 3))
async def test_a_row_of_the_head_ends_between_two_facts(width: int) -> None:
    app, pane = host()
    async with app.run_test(size=(width, 24)) as pilot:
        await open_hero(pilot, pane)
        await pilot.press("t")
        await pilot.pause()
        head = pane.query_one(".head").region
        facts = [fact for row in shown(app)[head.y + 1 : head.bottom] for fact in row.strip().split("   ")]
        assert list(filter(None, facts)) == ["沈月", "summary", "as of chapter 3", "2026-03-14 09:26", "2 states"]


async def test_a_row_of_the_tree_that_is_too_long_ends_in_three_dots() -> None:
    app, pane = host()
    async with app.run_test(size=(30, 24)) as pilot:
        pane.show([replace(ROWS[0], abstract="The scarred ferryman who lit the lamp")])
        await pilot.pause()
        (row,) = [row.rstrip() for row in shown(app) if "scarred" in row]
        assert row.endswith("…") and len(row) <= 30


async def test_moving_asks_for_the_profile_under_the_cursor() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(ROWS)
        pane.query_one(PickTree).focus()
        await pilot.pause()
        await pilot.press("j", "j", "h", "k")
        chosen = [ProfilePane.ProfileChosen(HERO.uri), ProfilePane.ProfileChosen(CHAPTER.uri)]
        assert app.posted(ProfilePane)[:2] == chosen


async def test_showing_the_tree_again_asks_for_nothing_and_keeps_the_cursor() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_hero(pilot, pane)
        app.seen.clear()
        pane.show([replace(row, abstract=row.abstract + "。") for row in ROWS])
        await pilot.pause()
        await pilot.pause()
        assert app.posted(ProfilePane) == []
        cursor = pane.query_one(PickTree).cursor_node
        assert cursor is not None
        assert cursor.data == HERO.uri


async def test_l_goes_through_the_levels() -> None:
    app, pane = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await open_hero(pilot, pane)
        assert "沈月   summary   as of chapter 3" in "\n".join(shown(app))
        await pilot.press("l")
        assert pane.query_one("#text", StreamView).text == "\n".join(books.ZH.profile)
        await pilot.press("l")
        await pilot.pause()
        assert pane.query_one("#text", StreamView).text == books.ZH.abstract
        assert "沈月   one line" in "\n".join(shown(app))


async def test_a_sentence_opens_the_place_that_it_rests_on() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_hero(pilot, pane)
        assert f"{books.ZH.profile[0]}  [雨夜]" in "\n".join(shown(app))
        await pilot.press("enter", "enter")
        assert app.posted(ProfilePane)[-1] == ProfilePane.SourceOpened("manuscript/chapter-1", START, END)


async def test_history_shows_states_and_what_changed_between_two() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await open_hero(pilot, pane)
        await pilot.press("t")
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "as of chapter 3 2026-03-14 09:26 by a model" in screen
        assert "as of chapter 1" in screen
        await pilot.press("d")
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "{+" in screen
        assert "compared with as of chapter 1" in screen
        await pilot.press("escape", "t", "j", "enter")
        assert pane.query_one("#text", StreamView).text == books.ZH.older_profile


async def test_the_oldest_state_has_nothing_before_it() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await open_hero(pilot, pane)
        await pilot.press("t", "j", "d")
        assert pane.query_one("#history").has_focus


async def test_a_profile_that_changes_while_it_is_read_is_shown_anew() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await open_hero(pilot, pane)
        await pilot.press("l")
        levels = tuple(replace(item, text="新的。", evidence=()) for item in HERO.levels)
        pane.show_profile(replace(HERO, levels=levels))
        assert pane.query_one("#text", StreamView).text == "新的。"


async def test_slash_finds_a_profile_by_name_or_one_line() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_hero(pilot, pane)
        app.seen.clear()
        await pilot.press("slash", *"雨夜", "enter")
        await pilot.pause()
        assert app.posted(ProfilePane) == [ProfilePane.ProfileChosen(CHAPTER.uri)]


async def test_hostile_text_is_shown_as_words() -> None:
    app, pane = host()
    async with app.run_test(size=(120, 30)) as pilot:
        nasty = replace(HERO.levels[1].evidence[0], sentence=HOSTILE + "雨" * 1_000_000)
        levels = (replace(HERO.levels[1], evidence=(nasty,)), replace(HERO.levels[2], text=HOSTILE + "雨" * 1_000_000))
        pane.show([replace(ROWS[0], name=HOSTILE, abstract=HOSTILE)])
        pane.show_profile(replace(HERO, name=HOSTILE, levels=levels))
        pane.query_one(PickTree).focus()
        await pilot.pause()
        screen = "\n".join(shown(app))
        await pilot.press("l")
        await pilot.pause()
        screen += "\n".join(shown(app))
        assert screen.count("[/] [b]bold[/b] red") >= 5
        assert "\x1b" not in screen
        assert "\u202e" not in screen


async def test_the_history_holds_the_states_of_the_level_in_view_only() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 24)) as pilot:
        await open_hero(pilot, pane)
        older_line = replace(HERO.levels[0], text="从前的一句。", position=2)
        history = (HERO.history[0], HERO.levels[0], HERO.history[1], older_line)
        pane.show_profile(replace(HERO, history=history))
        await pilot.press("t")
        await pilot.pause()
        rows = [str(row.prompt) for row in pane.query_one("#history", PickList).options]
        assert [row.strip()[:15] for row in rows] == ["as of chapter 3", "as of chapter 1"]
        await pilot.press("escape", "l", "l", "t", "j", "enter")
        assert pane.query_one("#text", StreamView).text == "从前的一句。"
