"""A text that was cut off: kept as it is after a question, or continued with one key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.protocol.book import PersistOutput
from flowcabal_tui.protocol.runs import ResumeRun
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import screen_of, settled, until, workspace


def cut_off(**how: bool) -> FakeProject:
    """The run of chapter 4, stopped while its last node wrote."""
    project = FakeProject(**how)
    project.waiting = []
    (attempt,) = books.attempts(project.words)[:1]
    project.put_node(books.RUN, books.POLISH, "cancelled", (replace(attempt, complete=False),))
    states = ((books.PLAN, "done"), (books.DRAFT, "done"), (books.POLISH, "cancelled"))
    project.run_rows = [replace(project.run_rows[0], state="cancelled", nodes=states)]
    return project


async def at_output(pilot) -> None:
    await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
    await screen_of(pilot).controllers.nodes.show_node(books.POLISH)
    await pilot.press("4")
    await settled(pilot)


async def test_one_key_continues_the_run_in_view(tmp_path: Path) -> None:
    project = cut_off()
    async with workspace(project, tmp_path) as pilot:
        await at_output(pilot)
        assert any("was cut off" in row for row in shown(pilot.app))
        await pilot.press("C")
        await settled(pilot)
        assert project.sent == [ResumeRun(books.RUN, continues=True)]


async def test_continuing_asks_first_where_it_costs_money(tmp_path: Path) -> None:
    project = cut_off(offline=False)
    async with workspace(project, tmp_path) as pilot:
        await at_output(pilot)
        await pilot.press("C")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("n")
        await settled(pilot)
        assert project.sent == []


async def test_keeping_it_asks_and_marks_it_as_partial(tmp_path: Path) -> None:
    project = cut_off()
    async with workspace(project, tmp_path) as pilot:
        await at_output(pilot)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await settled(pilot)
        assert project.sent == [PersistOutput(books.RUN, books.POLISH, 1, chapter=books.chapter_id(4), partial=True)]


def broken_off(**how: bool) -> FakeProject:
    """The run of chapter 4, which the end of the program broke off while its last node wrote."""
    project = cut_off(**how)
    project.run_rows = [replace(project.run_rows[0], state="interrupted")]
    return project


async def at_the_question(pilot) -> None:
    """F3, the first run, and yes to going on with it: the question that follows is on the screen."""
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
    await pilot.press("y")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (("enter",), [ResumeRun(books.RUN, continues=True)]),
        (("down", "enter"), [ResumeRun(books.RUN, continues=False)]),
        (("escape",), []),
    ],
)
async def test_going_on_with_a_run_asks_whether_its_cut_off_text_is_continued_or_written_again(
    tmp_path: Path, keys: tuple[str, ...], sent: list[ResumeRun]
) -> None:
    project = broken_off()
    async with workspace(project, tmp_path) as pilot:
        await at_the_question(pilot)
        title = project.node_views[books.RUN, books.POLISH].title
        assert any(f"The text of {title} was cut off" in row for row in shown(pilot.app))
        await pilot.press(*keys)
        await settled(pilot)
        assert project.sent == sent


async def test_going_on_with_a_run_without_cut_off_text_asks_nothing_more(tmp_path: Path) -> None:
    project = broken_off()
    project.put_node(books.RUN, books.POLISH, "cancelled", ())
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await settled(pilot)
        assert project.sent == [ResumeRun(books.RUN, continues=False)]


async def test_the_key_that_continues_does_nothing_else_where_no_text_was_cut_off(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await at_output(pilot)
        before = list(project.sent)
        await pilot.press("C")
        await settled(pilot)
        assert project.sent == before
        assert [notice.words for notice in pilot.app.announcer.notices.listed] == [
            "The text was not cut off: there is nothing to continue."
        ]


async def test_a_run_opens_at_the_step_that_was_cut_off(tmp_path: Path) -> None:
    async with workspace(broken_off(), tmp_path) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        assert screen_of(pilot).view.node == books.POLISH
