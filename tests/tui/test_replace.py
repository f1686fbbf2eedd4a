from __future__ import annotations

from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.tui.book.replace import ReplaceScreen
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host, shown

PROJECT = FakeProject("en")


async def text_of(place: TextPlace) -> str:
    return await PROJECT.book.chapter_text(place.chapter, place.version)


async def page() -> ReplaceScreen:
    return ReplaceScreen("the", "that", await PROJECT.book.occurrences("the"), text_of)


async def test_every_place_shows_what_goes_and_what_comes() -> None:
    app = Host()
    places = await PROJECT.book.occurrences("the")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page())
        await pilot.pause()
        rows = [row.strip() for row in shown(app)]
        counted = f"{len(places)} of {len(places)} places chosen"
        assert " ".join(rows[:2]) == f"the > that   {counted}   whole words; the search counts each paragraph once"
        assert all("[-the-]{+that+}" in row and row.startswith("[x]") for row in rows[2 : 2 + len(places)])


async def test_places_are_left_out_one_by_one_by_chapter_and_all_at_once() -> None:
    app, given = Host(), []
    places = await PROJECT.book.occurrences("the")
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page(), given.append)
        await pilot.press("space")
        assert f"{len(places) - 1} of {len(places)}" in shown(app)[0]
        await pilot.press("asterisk", "asterisk")
        assert f"0 of {len(places)}" in shown(app)[0]
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, ReplaceScreen), "nothing is chosen, so nothing is done"
        await pilot.press("g", "c", "ctrl+s")
        await pilot.pause()
        assert given == [tuple(each.place for each in places if each.place.chapter == books.chapter_id(1))]


async def test_d_shows_how_the_chapter_would_change() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page())
        await pilot.press("d")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, DiffScreen)
        first = [each for each in await PROJECT.book.occurrences("the") if each.place.chapter == books.chapter_id(1)]
        assert app.screen.query_one(DiffView).hunk_count == len(first)
