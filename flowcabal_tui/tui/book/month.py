"""A month of writing days: the words of each, and a sign if the daily goal was reached."""

from __future__ import annotations

from calendar import monthcalendar
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.writing_days import WritingDay, WritingLog
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.widgets.cells import cell_width, is_plain, padded
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.roles import Role, role_sign, role_style

_WEEKDAYS: Final = (
    mark("Mon"), mark("Tue"), mark("Wed"), mark("Thu"), mark("Fri"), mark("Sat"), mark("Sun"),
)  # fmt: skip
_MONTHS: Final = (
    mark("January"), mark("February"), mark("March"), mark("April"), mark("May"), mark("June"), mark("July"),
    mark("August"), mark("September"), mark("October"), mark("November"), mark("December"),
)  # fmt: skip
_WIDEST: Final = 14
"""Cells of a day, at most."""


class MonthCalendar(Widget, can_focus=True):
    """A month of the calendar. The cursor is on a day up to today."""

    help = HelpData(
        mark("Calendar"),
        mark("The arrows move by day, PageUp and PageDown by month, `t` goes to today."),
    )
    DEFAULT_CSS = "MonthCalendar { height: 9; padding: 0 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "go(-1)", mark("Previous day"), show=False, id="month.left"),
        Binding("right,l", "go(1)", mark("Next day"), show=False, id="month.right"),
        Binding("up,k", "go(-7)", mark("Previous week"), show=False, id="month.up"),
        Binding("down,j", "go(7)", mark("Next week"), show=False, id="month.down"),
        Binding("pageup,left_square_bracket", "month(-1)", mark("Previous month"), id="month.before"),
        Binding("pagedown,right_square_bracket", "month(1)", mark("Next month"), show=False, id="month.after"),
        Binding("t", "today", mark("Today"), show=False, id="month.today"),
    ]

    @dataclass
    class DayChosen(Message):
        """The cursor moved to another day."""

        day: date

    def __init__(self) -> None:
        super().__init__()
        self._today = self.day = date.min
        """The day under the cursor."""
        self._written: Mapping[date, WritingDay] = {}
        self._goals = Goals()

    def show_log(self, log: WritingLog) -> None:
        """Shows the days of a book; the cursor starts on today and then stays."""
        self._written, self._goals = {each.day: each for each in log.days}, log.goals
        if self.day == date.min:
            self.day = log.today
        self._today = log.today
        self.refresh()

    def render(self) -> Content:
        """Draws the month, the days of the week, and one row per week."""
        width = min(_WIDEST, max(4, self.size.width // 7))
        title = _("{month} {year}").format(month=_(_MONTHS[self.day.month - 1]), year=self.day.year)
        head = "".join(padded(f" {_(each)}", width) for each in _WEEKDAYS)
        rows = [Content.styled(title, "bold"), Content.styled(head, role_style("secondary"))]
        rows += [Content("").join(self._week(week, width)) for week in monthcalendar(self.day.year, self.day.month)]
        return Content("\n").join(rows)

    def _week(self, week: list[int], width: int) -> Iterator[Content]:
        for number in week:
            if not number:
                yield Content(" " * width)
                continue
            day = self.day.replace(day=number)
            words, role = self._cell(day, width - 1)
            cursor = " reverse" if day == self.day else ""
            bold = "bold " if day == self._today else ""
            yield Content.assemble((words, f"{bold}{role_style(role)}{cursor}"), " ")

    def _cell(self, day: date, width: int) -> tuple[str, Role]:
        """The number of the day, a sign where its goal was reached, and its words."""
        known = self._written.get(day)
        if known is None:
            return f"{day.day:>2}".ljust(width), "secondary"
        reached = 0 < self._goals.day <= known.counted(self._goals)
        plain = is_plain(self.app)
        begins = f"{day.day:>2}{role_sign('done', plain=plain) if reached else ' '}"
        words = f"{known.counted(self._goals):,}"
        return begins + " " * max(0, width - cell_width(begins) - len(words)) + words, "done" if reached else "text"

    def action_go(self, days: int) -> None:
        """Moves by a number of days, not into the future."""
        self._choose(self.day + timedelta(days=days))

    def action_month(self, step: int) -> None:
        """Goes to the same day of another month, or to its last day."""
        first = self.day.replace(day=1)
        other = (first + timedelta(days=31)).replace(day=1) if step > 0 else first - timedelta(days=1)
        last = (other.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
        self._choose(other.replace(day=min(self.day.day, last.day)))

    def action_today(self) -> None:
        """Goes to today."""
        self._choose(self._today)

    def _choose(self, day: date) -> None:
        day = min(day, self._today)
        if day != self.day:
            self.day = day
            self.refresh()
            self.post_message(self.DayChosen(day))
