from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.search import SearchAnswer, SearchHit, SearchKind
from flowcabal_tui.tui.book.search import _COLUMNS, SearchScreen, _row
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.widgets.cells import cell_width, cut_before
from flowcabal_tui.tui.widgets.column_rows import Columns
from flowcabal_tui.tui.widgets.list_detail import DetailText
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.waiting import answered, until


class Controller:
    """Answers from an invented project; `hold` keeps answers back until it is set."""

    def __init__(self, language: str = "en") -> None:
        self.project = FakeProject(language)
        self.asked: list[tuple[str, tuple[SearchKind, ...]]] = []
        self.held: dict[str, asyncio.Event] = {}
        self.replaced: list[str] = []
        self._search, self.project.book.search = self.project.book.search, self.search

    async def search(self, query: str, kinds: Sequence[SearchKind], limit: int) -> SearchAnswer:
        self.asked.append((query, tuple(kinds)))
        if query in self.held:
            await self.held[query].wait()
        return await self._search(query, kinds, limit)

    async def replace(self, words: str) -> None:
        self.replaced.append(words)

    async def take_back(self) -> None:
        self.replaced.clear()


async def typed(app: Host, pilot: Pilot[None], words: str) -> None:
    """Types all at once and waits until the answer is there."""
    app.screen.query_one(Input).value = words
    await answered(pilot)


def page_text(app: Host) -> str:
    return "\n".join(shown(app))


async def test_what_is_typed_is_found_by_kind_with_its_line() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(Controller()))
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "In the text, names, story, profiles, summaries, outline and rules." in page_text(app)
        await typed(app, pilot, "Mara")
        rows = [row.strip() for row in shown(app)]
        assert rows[1].startswith("3 places   names 1   text 2   best first")
        assert rows.index("names  1") < rows.index("text  2")
        assert any(row.split()[:6] == ["1", "Rain", "It", "rained", "all", "night."] for row in rows)
        await typed(app, pilot, "nowhere")
        assert "Nothing was found: F4" in page_text(app)


async def test_the_place_under_the_cursor_is_beside_the_list_where_there_is_room() -> None:
    app = Host()
    async with app.run_test(size=(140, 40)) as pilot:
        await app.push_screen(SearchScreen(Controller()))
        await typed(app, pilot, "Mara")
        await pilot.press("down")
        await until(pilot, lambda: "counted the third" in app.screen.query_one(DetailText).plain)
        assert app.screen.query_one(DetailText).size.width > 40
        await pilot.resize_terminal(80, 24)
        assert not app.screen.query_one(DetailText).size.width


def test_the_indent_of_a_chinese_paragraph_is_no_part_of_a_row() -> None:
    hit = SearchHit("chapters", "manuscript/1", "雨夜", "　　沈月回来了。", (Span(2, 4),), position=1)
    assert str(_row(Columns(*_COLUMNS), hit)) == "1 沈月回来了。"


async def test_enter_gives_the_hit_back_and_escape_gives_nothing() -> None:
    app, given = Host(), []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(Controller("zh")), given.append)
        await typed(app, pilot, "左手")
        await pilot.press("enter")
        await pilot.pause()
        await app.push_screen(SearchScreen(Controller()), given.append)
        await pilot.press("escape")
        await pilot.pause()
    hit, nothing = given
    assert (hit.uri, hit.kind, nothing) == ("manuscript/chapter-1", "text", None)
    text = await FakeProject("zh").chapter_text(hit.uri.removeprefix("manuscript/"))
    assert text[hit.start : hit.end] == "左手"


async def test_enter_on_words_that_still_rest_opens_what_they_find_and_not_what_is_shown() -> None:
    app, given, controller = Host(), [], Controller()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(controller), given.append)
        await typed(app, pilot, "Joss")
        controller.held["lost her"] = asyncio.Event()
        app.screen.query_one(Input).value = "lost her"
        await pilot.press("enter")
        assert given == []
        controller.held["lost her"].set()
        await until(pilot, lambda: bool(given))
    assert "lost her" in given[0].line


async def test_up_and_down_move_in_the_list_while_the_line_keeps_the_focus() -> None:
    app, given = Host(), []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(Controller()), given.append)
        await typed(app, pilot, "the")
        await pilot.press("down", "down", "up", "enter")
        await pilot.pause()
        assert given[0].kind in ("chapters", "text")
        assert not isinstance(app.screen, SearchScreen)


async def test_an_older_answer_never_takes_the_place_of_a_newer_one() -> None:
    app, controller = Host(), Controller()
    controller.held["Mara"] = asyncio.Event()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(controller))
        app.screen.query_one(Input).value = "Mara"
        await until(pilot, lambda: controller.asked[-1][0] == "Mara")
        app.screen.query_one(Input).value = "Joss"
        await until(pilot, lambda: "text  1" in page_text(app))  # newer answers do not wait for an older question
        controller.held["Mara"].set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "text  1" in page_text(app) and "text  2" not in page_text(app)


async def test_places_found_by_meaning_come_after_those_found_by_words() -> None:
    app, controller = Host(), Controller()
    like = SearchHit("similar", "manuscript/chapter-2", "The Ferry", "The fog lifted.", (), 0, 10, position=2)
    controller.project.similar = (like,)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(controller))
        await typed(app, pilot, "bell")
        rows = [row.strip() for row in shown(app)]
        assert rows.index("text  1") < rows.index("places with similar words  1")
        assert any(row.startswith("2 The Ferry ") and row.endswith(" The fog lifted.") for row in rows)


async def test_similar_places_are_few_and_named_by_what_makes_them_similar() -> None:
    app, controller = Host(), Controller()
    like = SearchHit("similar", "manuscript/chapter-2", "The Ferry", "The fog lifted.", (), 0, 10, position=2)
    controller.project.similar = tuple(replace(like, start=at) for at in range(40))
    endpoint = Endpoint(provider="openai", model="vectors-1")
    info = controller.project._info
    controller.project._info = replace(info, models=(*info.models, ("embedding", endpoint)))
    async with app.run_test(size=(60, 24)) as pilot:
        await app.push_screen(SearchScreen(controller))
        await typed(app, pilot, "haze")
        assert any(row.strip().startswith("places similar in meaning  10") for row in shown(app))
        assert "best first" in shown(app)[2], "the line of the counts is not cut"


async def test_where_only_places_near_the_words_are_found_that_is_said() -> None:
    app, controller = Host(), Controller()
    like = SearchHit("similar", "manuscript/chapter-2", "The Ferry", "The fog lifted.", (), 0, 10, position=2)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(controller))
        await typed(app, pilot, "Mara lost")
        assert shown(app)[1].strip().startswith("no exact match, 2 similar places   names 1   text 1")
        await typed(app, pilot, "Mara had lost")
        assert shown(app)[1].strip().startswith("1 place   text 1")
        controller.project.similar = (like,)
        await typed(app, pilot, "haze")
        assert shown(app)[1].strip().startswith("no exact match, 1 similar place   places with similar words 1")


async def test_f3_sorts_by_the_story_and_f4_shows_one_kind() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(Controller()))
        await typed(app, pilot, "Mara")
        await pilot.press("f3")
        await pilot.pause()
        rows = [row.strip() for row in shown(app)]
        assert "in story order" in rows[1]
        assert [row.split()[0] for row in rows if row and row[0] in "13" and "places" not in row] == ["1", "3"]
        await pilot.press("f4")
        await pilot.pause()
        assert "names  1" in page_text(app) and "text  2" not in page_text(app)


async def test_what_is_no_chapter_is_read_over_the_search() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(Controller()))
        await typed(app, pilot, "outline")
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, SourceScreen)
        await pilot.press("escape")
        assert isinstance(app.screen, SearchScreen)


async def test_ctrl_r_has_the_words_replaced_ctrl_z_takes_that_back_and_both_search_again() -> None:
    app, controller = Host(), Controller()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(controller, "Mara"))
        await app.workers.wait_for_complete()
        asked = len(controller.asked)
        await pilot.press("ctrl+r")
        await app.workers.wait_for_complete()
        assert (controller.replaced, len(controller.asked)) == (["Mara"], asked + 2)
        await pilot.press("ctrl+z")
        await app.workers.wait_for_complete()
        assert (controller.replaced, len(controller.asked)) == ([], asked + 4)


async def test_an_earlier_search_is_there_again_with_its_cursor() -> None:
    app, controller, given = Host(), Controller(), []
    hits = (await controller.project.book.search("Mara", ("text",), 5)).hits
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(SearchScreen(controller, "Mara", replace(hits[-1], score=9.0)), given.append)
        await app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert given == [hits[-1]]


async def test_hostile_text_is_shown_as_words() -> None:
    app, controller = Host(), Controller()
    nasty = SearchHit("similar", "manuscript/chapter-2", HOSTILE, "[b]bold[/b] [/] x", (Span(0, 3),), 0, 10, position=2)
    controller.project.similar = (nasty,)
    async with app.run_test(size=(120, 24)) as pilot:
        await app.push_screen(SearchScreen(controller))
        await typed(app, pilot, "bell")
        assert "[b]bold[/b] [/] x" in page_text(app)
        assert "\x1b" not in page_text(app)


def test_a_place_far_into_its_line_is_within_the_first_third_of_the_row() -> None:
    line = "雨" * 100 + "沈月" + "风" * 100
    start = cut_before(line, 100, 60)
    assert 0 < start <= 100
    assert cell_width(line[start:100]) <= 20
    assert cut_before("short 沈月", 6, 60) == 0
