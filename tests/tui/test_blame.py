from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.origin import Provenance
from flowcabal_tui.tui.runs.origin import BlameScreen
from flowcabal_tui.tui.runs.receipt_screen import ReceiptScreen
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host, shown

FIRST = books.chapter_id(1)
LAST = len(books.EN.texts[0].split("\n"))


async def page(line: int, project: FakeProject | None = None) -> BlameScreen:
    project = project or FakeProject("en")
    chapter = (await project.book.chapters())[0]
    return BlameScreen(chapter, await project.book.blame(FIRST), project, line)


async def settle(app: Host, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


def page_text(app: Host) -> str:
    return "\n".join(shown(app))


async def test_every_line_stands_with_its_version_and_the_one_that_was_meant_is_told_of() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page(LAST))
        await settle(app, pilot)
        rows = [row.strip() for row in shown(app)]
        assert rows[0] == "1 Rain   line origins"
        assert rows[1].startswith("1 v1 by hand")
        assert any(row.startswith(f"{LAST} v1 draft #2") for row in rows)
        assert "written by offline: Chapter, Draft, attempt 2   given: 5 sources, 2,310 tokens" in page_text(app)
        before = f"before: version 1 by hand 2026-03-14 09:26 {books.EN.draft_quote}"
        assert before in " ".join(page_text(app).split())


async def test_enter_goes_to_what_was_given_and_opens_it_at_the_cited_place() -> None:
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        await app.push_screen(await page(LAST))
        await settle(app, pilot)
        await pilot.press("enter", "G", "enter")
        await settle(app, pilot)
        assert isinstance(app.screen, SourceScreen)
        reader = app.screen.query_one(StreamView)
        start, end = reader._text_marks.span or (0, 0)
        assert reader.text[start:end] == books.EN.source_quote
        await pilot.press("escape", "escape")
        assert isinstance(app.screen, BlameScreen), "the first escape after the source leads back to the lines"


async def test_what_was_typed_says_that_nothing_was_given_for_it() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page(1))
        await settle(app, pilot)
        await pilot.press("enter", "o", "c")
        assert next(item.message for item in app._notifications).startswith("Nothing was given for this line")
        assert isinstance(app.screen, BlameScreen)


async def test_d_shows_what_the_version_changed_and_c_the_whole_receipt() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page(LAST))
        await settle(app, pilot)
        await pilot.press("d")
        await settle(app, pilot)
        assert isinstance(app.screen, DiffScreen)
        await pilot.press("escape", "c")
        await settle(app, pilot)
        assert isinstance(app.screen, ReceiptScreen)
        assert "Draft, attempt 2" in page_text(app)
        await pilot.press("enter")
        await settle(app, pilot)
        assert isinstance(app.screen, SourceScreen)


async def test_o_closes_the_page_with_the_run_of_the_line() -> None:
    app, given = Host(), []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page(LAST), given.append)
        await settle(app, pilot)
        await pilot.press("o")
        await pilot.pause()
        assert given == [(books.RUN, books.DRAFT)]


async def test_a_key_that_comes_before_the_line_is_told_of_acts_on_the_line_under_the_cursor() -> None:
    app, answers = Host(), list[tuple[RunId, NodeId] | None]()
    may_tell = asyncio.Event()

    project = FakeProject("en")
    provenance = project.book.provenance

    async def slow(chapter: ChapterId, line: int) -> Provenance:
        if line == LAST:
            await may_tell.wait()
        return await provenance(chapter, line)

    project.book.provenance = slow
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(await page(1, project), answers.append)
        await settle(app, pilot)
        await pilot.press("G", "o")
        may_tell.set()
        await settle(app, pilot)
        assert answers == [(books.RUN, books.DRAFT)]
