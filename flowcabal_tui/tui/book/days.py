"""Words by day: the goals and their progress, the speed, and a calendar."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import date
from typing import ClassVar, Final, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.lengths import Counting
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.writing_days import SPANS, WritingDay, WritingLog
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.tui.book.month import MonthCalendar
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import counted, one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.progress import goal_rows
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words
from flowcabal_tui.tui.widgets.roles import role_sign, role_style

_COUNTING: Final[dict[Counting, str]] = {
    "plain": mark("characters and foreign words"),
    "word": mark("with full-width punctuation, as Word counts"),
    "platform": mark("every character that is not blank, as platforms count"),
}


class DaysScreen(ModalScreen[None]):
    """Shows the days. `read` returns the days and the titles of the chapters, `write` sets goals."""

    help = HelpData(
        mark("Words by day"),
        mark("How much was written on each day: the growth of the chapters between their versions, by hand and "
             "by a model separately. Imports, restores, splits, merges and replacements in the whole book do not "
             "count. `●` marks days that reached the goal. `e` sets the goals: the length of the book, of a "
             "volume, a chapter and a day, the day by which the book should be done, and the hour at which your "
             "day begins."),
    )  # fmt: skip
    DEFAULT_CSS = """
    DaysScreen { background: $background; }
    DaysScreen > .head { height: auto; max-height: 9; padding: 0 1; margin-bottom: 1; }
    DaysScreen > VerticalScroll { height: 1fr; padding: 0 1; }
    DaysScreen .details { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="days.back"),
        Binding("e", "goals", mark("Goals"), tooltip=mark("Set the goals of the book."), id="days.goals"),
        HELP_KEYS,
    ]

    def __init__(
        self,
        name: str,
        language: str,
        read: Callable[[], Awaitable[tuple[WritingLog, Mapping[ChapterId, str]]]],
        write: Callable[[Goals], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._book_name, self._chinese, self._read, self._write = name, language.startswith("zh"), read, write
        self._log: WritingLog | None = None
        self._titles: Mapping[ChapterId, str] = {}

    def compose(self) -> ComposeResult:
        """Yields goals and speed, the month, the day under the cursor."""
        yield Static(markup=False, classes="head")
        yield MonthCalendar()
        with VerticalScroll(can_focus=False):
            yield Static(markup=False, classes="details")
        yield HintLine()

    def on_mount(self) -> None:
        """Selects today."""
        self.query_one(MonthCalendar).focus()
        attempt(self, self.reload())

    async def reload(self) -> None:
        """Reads the days and shows them."""
        self._log, self._titles = await self._read()
        self.query_one(".head", Static).update(Content("\n").join(self._head(self._log)))
        self.query_one(MonthCalendar).show_log(self._log)
        self._show_details()

    def _head(self, log: WritingLog) -> Iterator[Content]:
        length = counted(log.length, chinese=self._chinese)
        yield head_words(one_line(self._book_name), length)
        goals, today = log.goals, log.day(log.today).counted(log.goals)
        volume = log.volumes[-1] if log.volumes else ("", 0)
        rows = [
            (_("the book"), log.length, goals.book),
            (one_line(volume[0], 30), volume[1], goals.volume if volume[0] else 0),
        ]
        set_goals = [row for row in rows if row[2]]
        yield from goal_rows([*set_goals, (_("today"), today, goals.day)], plain=is_plain(self.app))
        if not goals.day:
            yield Content(_("today {n}").format(n=f"{today:+,}"))
        yield Content(facts_words(*self._speed(log)))
        if forecast := facts_words(*self._forecast(log)):
            yield Content(forecast)

    def _speed(self, log: WritingLog) -> Iterator[str]:
        words = ngettext("{n} day in a row", "{n} days in a row", log.streak).format(n=log.streak)
        yield _("{words} (at most {most})").format(words=words, most=log.longest_streak)
        for span in SPANS:
            yield _("{n} a day over {days} days").format(n=f"{log.speed(span):,}", days=span)

    def _forecast(self, log: WritingLog) -> Iterator[str]:
        if log.goals.until is not None:
            yield _("to be done by {day}").format(day=log.goals.until)
        if log.needed:
            yield _("which needs {n} a day").format(n=f"{log.needed:,}")
        if log.expected:
            yield _("at this speed {day}").format(day=log.expected)

    @on(MonthCalendar.DayChosen)
    def _show_details(self) -> None:
        if self._log is not None:
            day = self._log.day(self.query_one(MonthCalendar).day)
            self.query_one(".details", Static).update(Content("\n").join(self._day_lines(day)))

    def _day_lines(self, day: WritingDay) -> Iterator[Content]:
        if not day.saves:
            yield Content(_("{day}: nothing was written.").format(day=day.day))
            return
        plain = is_plain(self.app)
        saves = ngettext("{n} save", "{n} saves", day.saves).format(n=day.saves)
        hand, model = _("by hand {n}").format(n=f"{day.hand:+,}"), _("by a model {n}").format(n=f"{day.model:+,}")
        yield Content.assemble(
            (f"{day.day}", "bold"), "  ",
            (f"{role_sign('hand', plain=plain)} {hand}", role_style("hand")), "  ",
            (f"{role_sign('model', plain=plain)} {model}", role_style("model")), "  ",
            (saves, role_style("secondary")),
        )  # fmt: skip
        for chapter, words in day.chapters:
            title = self._titles.get(chapter) or _("a deleted chapter")
            yield Content(f"{words:>+8,}  {one_line(title, 60)}")

    @attempted()
    async def action_goals(self) -> None:
        """Opens a form with the goals."""
        if self._log is None:
            return
        goals = await self.app.push_screen_wait(goals_form(self._log.goals))
        if goals is not None:
            await self._write(goals)
            await self.reload()


def goals_form(goals: Goals) -> FormScreen[Goals]:
    """The form with all goals of a book; an empty length means no goal."""
    lengths = (("book", _("The book")), ("volume", _("A volume")), ("chapter", _("A chapter")), ("day", _("A day")))
    ways = {str(each): each for each in get_args(Counting)}
    choices = tuple((way, _(words)) for way, words in _COUNTING.items())

    def read(typed: Typed) -> Goals:
        book, volume, chapter, day = (_length(typed.text(name), words) for name, words in lengths)
        return Goals(
            book, chapter, day, ways[typed.text("counting")], volume, _until(typed.text("until")),
            _hour(typed.text("day_begins")), typed.tick("hand_only"),
        )  # fmt: skip

    fields = (
        *(Field(name, words, str(getattr(goals, name) or ""), _("a length, or empty")) for name, words in lengths),
        Field("until", _("Done by"), goals.until.isoformat() if goals.until else "", _("as 2027-03-31, or empty")),
        Field("day_begins", _("Hour of a new day"), str(goals.day_begins), _("0 is midnight")),
        Field("hand_only", _("only words by hand count for the day"), goals.hand_only),
        Field("counting", _("Writing view counts"), goals.counting, choices=choices),
    )  # fmt: skip
    return FormScreen(_("Goals"), fields, read)


def _length(words: str, name: str) -> int:
    digits = words.replace(",", "").replace("，", "").replace(" ", "")
    if digits and not (digits.isascii() and digits.isdigit() and len(digits) < 12):
        raise Unreadable(_("{name}: write a whole number.").format(name=name))
    return int(digits or 0)


def _hour(words: str) -> int:
    if words and not (words.isascii() and words.isdigit() and int(words) < 24):
        raise Unreadable(_("The hour of a new day must be a number from 0 to 23."))
    return int(words or 0)


def _until(words: str) -> date | None:
    try:
        return date.fromisoformat(words) if words else None
    except ValueError:
        raise Unreadable(_("Write the date as year-month-day, such as 2027-03-31.")) from None
