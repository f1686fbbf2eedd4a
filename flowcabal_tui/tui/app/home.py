"""The start page: recent books with their state, and ways to create or open one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.writing_days import day_of
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.settings.book_summary import BookState, BookSummary
from flowcabal_tui.tui.app.entry import Recent
from flowcabal_tui.tui.shared.actions import ACTIONS, bindings
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.known_books import NO_BOOKS, KnownBooks
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.words import counted, one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.progress import GOAL_CELLS, progress_bar
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, key_words
from flowcabal_tui.tui.widgets.roles import Role, role_style

_WAYS: Final = (
    ("n", "new", mark("New project"), "home.new"),
    ("i", "import", mark("New project from a manuscript (txt, md, docx, epub)"), "home.import"),
    ("d", "demo", mark("Sample novel: see everything, nothing is sent or paid"), "home.demo"),
    ("o", "open", mark("Open a folder"), "home.open"),
    ("w", "wizard", mark("First steps: language, model, sample"), "home.wizard"),
)
_RECENT: Final = "recent-"


class HomeList(PickList):
    """Recent books, followed by ways to create or open one."""

    help = HelpData(mark("Start page"), mark("Choose a project with the arrow keys and Enter, or press a letter."))


class HomeScreen(Screen[None]):
    """A list, and beside it the state of the book under the cursor. Every line has a key."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("home")

    @dataclass
    class OpenWanted(Message):
        """A project's folder was chosen."""

        path: Path

    @dataclass
    class Wanted(Message):
        """The writer chose `what`: "new", "import", "demo", "open" or "wizard"."""

        what: str

    @dataclass
    class ForgetWanted(Message):
        """The writer asks to remove a project from the list."""

        recent: Recent

    def __init__(
        self, recents: tuple[Recent, ...], books: KnownBooks = NO_BOOKS, now: Callable[[], datetime] = datetime.now
    ) -> None:
        super().__init__()
        self._recent_projects, self._books, self._now = recents, books, now
        self._states: dict[Path, BookState] = {}

    def compose(self) -> ComposeResult:
        """Yields a title, the list with details of the row under its cursor, and the keys."""
        with Vertical(classes="home"):
            yield Static("FlowCabal", markup=False, classes="home-title")
            yield Static(_("Write long novels with language models, and keep control."), markup=False)
            with ListDetail(classes="home-body"):
                yield HomeList()
                yield DetailText()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the newest project; checks after the first frame whether the books can be opened."""
        lines = self.query_one(HomeList)
        lines.add_options(self._lines())
        lines.action_first()
        lines.focus()
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        if self._recent_projects:
            self.run_worker(self._look_at_books(), group="books", exclusive=True)

    async def _look_at_books(self) -> None:
        """A folder may be gone, damaged or open elsewhere; a slow disk holds up nothing."""
        for recent in self._recent_projects:
            self._states[recent.path] = await asyncio.to_thread(self._books.state, recent.path)
        if self.query(HomeList):  # the page may be gone by now
            self._fill()

    def show_recents(self, recents: tuple[Recent, ...]) -> None:
        """Shows another list of recent books."""
        self._recent_projects = recents
        self._fill()

    def _fill(self) -> None:
        """Shows the rows as they are now; the cursor stays in its row."""
        lines = self.query_one(HomeList)
        row = lines.highlighted or 0
        lines.set_options(self._lines())
        lines.highlighted = min(row, lines.option_count - 1)
        self._show_detail()

    def _lines(self) -> list[Option | None]:
        """Projects, a rule if there are any, and the five ways."""
        columns = Columns(
            Column(least=16),
            Column(rank=2, is_number=True, role="secondary"),
            Column(rank=3, least=12, role="secondary"),
            Column(rank=4, is_number=True, role="secondary"),
            Column(rank=1, least=6, fill=True, is_phrase=True, role="waiting"),
        )
        recent: list[Option | None] = [
            Option(self._row(columns, item), id=f"{_RECENT}{number}")
            for number, item in enumerate(self._recent_projects)
        ]
        rule: list[Option | None] = [None] if recent else []
        keyed = [(what, Content.assemble((key, role_style("key")), f"  {_(words)}")) for key, what, words, _id in _WAYS]
        return recent + rule + [Option(row, id=what) for what, row in keyed]

    def _row(self, columns: Columns, recent: Recent) -> ColumnRow:
        """Name, length, the chapter that was open last, words of today, and what waits or keeps it from opening."""
        name = Cell(one_line(recent.name, 60), is_bold=True)
        summary, state = recent.summary, self._states.get(recent.path, "there")
        trouble = state_words(state)
        last = Cell(trouble, "failed" if state != "open" else "stale") if trouble else Cell("")
        if summary is None:
            return columns.row(name, "", "", "", last)
        if not trouble and (waiting := waiting_count(summary)):
            last = Cell(_("{n} waiting").format(n=waiting))
        today = self._today(summary)
        return columns.row(
            name, counted(summary.length, chinese=_is_chinese(summary)), chapter_words(summary),
            f"{today:+,}" if today else "", last,
        )  # fmt: skip

    def _today(self, summary: BookSummary) -> int:
        """The words of the writing day; 0 when the summary is of another day."""
        return summary.today if _is_of_today(summary, self._now()) else 0

    @on(OptionList.OptionHighlighted)
    def _show_detail(self) -> None:
        """Shows the full details of the row under the cursor."""
        picked = self.query_one(HomeList).picked or ""
        detail = self.query_one(DetailText)
        if (recent := self._picked()) is None:
            ids = {what: known for _key, what, _words, known in _WAYS}
            words = next((_(each.description) for each in ACTIONS if each.id == ids.get(picked)), "")
            detail.show([words])
            return
        detail.show([head_words(one_line(recent.name, 200)), *self._detail(recent)])

    def _detail(self, recent: Recent) -> Iterator[Content]:
        """The actions that are possible first, then the state in which the book was left."""
        summary, state = recent.summary, self._states.get(recent.path, "there")
        if state != "there":
            yield key_words(state_advice(state)).stylize(role_style("stale" if state == "open" else "failed"))
        elif summary is not None and summary.chapter:
            yield Content.styled(_("Enter continues where you left off."), role_style("secondary"))
        plain = is_plain(self.app)
        cells = 0 if self.has_class("-narrow") else GOAL_CELLS
        lines = list(summary_lines(summary, self._now(), cells=cells, plain=plain)) if summary is not None else []
        lines.append((_short(recent.path), "secondary"))
        if recent.opened_at:
            lines.append((_("last open {day}").format(day=recent.opened_at.strftime("%Y-%m-%d %H:%M")), "secondary"))
        if self.has_class("-narrow"):  # few rows are left below the list
            roles = {role: [words for words, of in lines if of == role] for _words, role in lines}
            lines = [(facts_words(*together), role) for role, together in roles.items()]
        last: Role | None = None
        for words, role in lines:
            if role != last and not self.has_class("-narrow"):  # a blank row between facts, what waits, and the folder
                yield Content()
            yield Content.styled(words, role_style(role))
            last = role

    def on_resize(self) -> None:
        """Changes the layout of the details in a narrow terminal."""
        self.call_after_refresh(self._show_detail)

    def _picked(self) -> Recent | None:
        """The book under the cursor."""
        picked = self.query_one(HomeList).picked or ""
        return self._recent_projects[int(picked.removeprefix(_RECENT))] if picked.startswith(_RECENT) else None

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Opens the row on Enter."""
        event.stop()
        if (recent := self._picked()) is not None:
            self.post_message(self.OpenWanted(recent.path))
        else:
            self.post_message(self.Wanted(event.option_id or ""))

    def action_forget(self) -> None:
        """Removes the book under the cursor from the list."""
        if (recent := self._picked()) is not None:
            self.post_message(self.ForgetWanted(recent))
        else:
            self.notify(_("Move the cursor to a book in the list."), markup=False)

    def action_want(self, what: str) -> None:
        """Asks for one of the ways to create or open a book."""
        self.post_message(self.Wanted(what))


def state_words(state: BookState) -> str:
    """The reason why a book cannot be opened normally, for its row; "" if it can."""
    return {"missing": _("folder not found"), "damaged": _("damaged"), "open": _("open elsewhere"), "there": ""}[state]


def state_advice(state: BookState) -> str:
    """The state in full, with advice."""
    return {
        "missing": _("The folder was not found; a disk may be missing. `Delete` removes the book from this list."),
        "damaged": _(
            "Its flowcabal.toml cannot be read. Enter shows the reason; `flowcabal-tui doctor` checks further."
        ),
        "open": _("Another program has it open. Enter opens it for reading."),
        "there": "",
    }[state]


def waiting_count(summary: BookSummary) -> int:
    """The number of items that wait for the writer."""
    return summary.decisions + summary.findings + summary.proposals


def chapter_words(summary: BookSummary) -> str:
    """The chapter that was open last: its position and title."""
    return f"{summary.position} {one_line(summary.title, 60) or _('untitled')}" if summary.position else ""


def summary_lines(
    summary: BookSummary, now: datetime, *, cells: int = 0, plain: bool = False
) -> Iterator[tuple[str, Role]]:
    """Lines of text with their roles: length, chapter, today with a bar of `cells` cells (`plain`: in ASCII), waiting
    items, unsaved text."""
    chinese = _is_chinese(summary)
    chapters = ngettext("{n} chapter", "{n} chapters", summary.chapters).format(n=summary.chapters)
    yield _("{length} in {chapters}").format(length=counted(summary.length, chinese=chinese), chapters=chapters), "text"
    if words := chapter_words(summary):
        yield _("chapter {chapter}").format(chapter=words), "text"
    if _is_of_today(summary, now) and (summary.today or summary.goal):
        if summary.goal:
            bar = progress_bar(summary.today / summary.goal, cells, plain=plain)
            words = _("today {n} of {goal}").format(n=f"{summary.today:,}", goal=f"{summary.goal:,}")
            yield facts_words(words, bar), "text"
        else:
            yield _("today {n}").format(n=f"{summary.today:+,}"), "text"
    for count, words in (
        (summary.decisions, ngettext("{n} decision waits for you", "{n} decisions wait for you", summary.decisions)),
        (summary.findings, ngettext("{n} finding waits", "{n} findings wait", summary.findings)),
        (summary.proposals, ngettext("{n} proposal waits", "{n} proposals wait", summary.proposals)),
        (summary.unsaved, ngettext("{n} chapter is not saved", "{n} chapters are not saved", summary.unsaved)),
    ):
        if count:
            yield words.format(n=count), "waiting"


def _is_of_today(summary: BookSummary, now: datetime) -> bool:
    """Whether its words were counted in the present writing day."""
    return summary.day == day_of(now, summary.day_begins).isoformat()


def _is_chinese(summary: BookSummary) -> bool:
    return summary.language.startswith("zh")


def _short(path: Path) -> str:
    """A folder, from the home folder on."""
    home, folder = str(Path.home()), clean(str(path))
    return "~" + folder[len(home) :] if folder.startswith(home + "/") else folder
