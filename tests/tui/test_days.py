"""Words by day on the screen: a month, the goals, and the form that sets them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.writing_days import WritingLog
from flowcabal_tui.protocol.book import SetGoals
from flowcabal_tui.tui.book.days import DaysScreen
from flowcabal_tui.tui.book.month import MonthCalendar
from flowcabal_tui.tui.shared.form import FormScreen
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import workspace
from tests.tui.waiting import settled, until


async def days(pilot: Pilot[int]) -> DaysScreen:
    await settled(pilot)
    await pilot.press("number_sign")
    await until(pilot, lambda: isinstance(pilot.app.screen, DaysScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, DaysScreen)
    return screen


def page(pilot: Pilot[int]) -> str:
    return "\n".join(row.rstrip() for row in shown(pilot.app))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_month_shows_words_and_the_days_that_reached_the_goal(tmp_path: Path, size):
    async with workspace(FakeProject(), tmp_path, size=size) as pilot:
        await days(pilot)
        told = page(pilot)
        assert "March 2026" in told and "Mon" in told and "Sun" in told
        assert " 3●" in told and " 2●" not in told, "230 words on the third, 140 on the second"
        assert "by hand +80" in told and "by a model +40" in told and "+80  1 Rain" in told
        assert "7 days in a row (at most 7)" in told


async def test_the_cursor_goes_from_day_to_day_and_never_into_the_future(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        screen = await days(pilot)
        month = screen.query_one(MonthCalendar)
        await pilot.press("right", "left", "up")
        assert month.day == date(2026, 3, 10)
        await pilot.press("right")
        await settled(pilot)
        assert "2026-03-11: nothing was written." in page(pilot)
        await pilot.press("pageup")
        assert month.day == date(2026, 2, 11)
        await pilot.press("pageup", "pageup", "pagedown", "pagedown", "pagedown", "pagedown")
        assert month.day == date(2026, 3, 18)
        await pilot.press("escape")
        await settled(pilot)
        assert not isinstance(pilot.app.screen, DaysScreen)


async def test_the_last_day_of_a_longer_month_has_one_in_a_shorter(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        month = (await days(pilot)).query_one(MonthCalendar)
        month.show_log(WritingLog(date(2026, 3, 31)))
        month.action_today()
        month.action_month(-1)
        assert month.day == date(2026, 2, 28)


async def test_goals_are_set_by_a_form_that_says_what_it_cannot_read(tmp_path: Path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await days(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
        form = pilot.app.screen
        form.query_one("#field-day", Input).value = "1，500"
        form.query_one("#field-until", Input).value = "next week"
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert "Write the date as year-month-day" in page(pilot) and not project.sent
        form.query_one("#field-until", Input).value = "2027-03-31"
        form.query_one("#field-day_begins", Input).value = "4"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: project.sent)
        assert project.sent == [SetGoals(Goals(1_000, 100, 1_500, "plain", 0, date(2027, 3, 31), 4))]
