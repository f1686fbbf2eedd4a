"""The first page: recent projects, and the ways to a new one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

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
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.app.entry import Recent
from flowcabal_tui.tui.shared.actions import bindings
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.roles import role_style


class HomeList(PickList):
    """Recent projects, then the ways to a new one."""

    help = HelpData(mark("Start page"), mark("Choose a project with the arrow keys and Enter, or press a letter."))


class HomeScreen(Screen[None]):
    """A list from top to bottom: no mouse, no tabs, every line has a key."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("home")

    @dataclass
    class OpenWanted(Message):
        """A project's folder was chosen."""

        path: Path

    @dataclass
    class Wanted(Message):
        """`what` is "new", "import", "demo", "open" or "wizard"."""

        what: str

    def __init__(self, recents: tuple[Recent, ...]) -> None:
        super().__init__()
        self._recent_projects = recents

    def compose(self) -> ComposeResult:
        """A name, the list, and the keys."""
        with Vertical(classes="home"):
            yield Static("FlowCabal", markup=False, classes="home-title")
            yield Static(_("Write long novels with language models, and keep control."), markup=False)
            yield HomeList()
        yield HintLine()

    def on_mount(self) -> None:
        """The newest project is under the cursor."""
        lines = self.query_one(HomeList)
        lines.add_options(self._lines())
        lines.action_first()
        lines.focus()

    def _lines(self) -> list[Option | None]:
        """Projects, a rule if there are any, and the five ways."""
        columns = Columns(
            Column(least=16), Column(rank=1, role="secondary"), Column(rank=2, fill=True, role="secondary")
        )
        recent: list[Option | None] = [
            Option(columns.row(Cell(clean(item.name), is_bold=True), *_opened(item)), id=f"recent-{number}")
            for number, item in enumerate(self._recent_projects)
        ]
        ways = (
            ("n", "new", _("New project")),
            ("i", "import", _("New project from a manuscript (txt, md, docx, epub)")),
            ("d", "demo", _("Sample novel: see everything, nothing is sent or paid")),
            ("o", "open", _("Open a folder")),
            ("w", "wizard", _("First steps: language, model, sample")),
        )
        rule: list[Option | None] = [None] if recent else []
        keyed = [(what, Content.assemble((key, role_style("key")), f"  {words}")) for key, what, words in ways]
        return recent + rule + [Option(row, id=what) for what, row in keyed]

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Enter on a line."""
        event.stop()
        chosen = event.option_id or ""
        if chosen.startswith("recent-"):
            self.post_message(self.OpenWanted(self._recent_projects[int(chosen.removeprefix("recent-"))].path))
        else:
            self.post_message(self.Wanted(chosen))

    def action_new(self) -> None:
        """A new project."""
        self.post_message(self.Wanted("new"))

    def action_import_book(self) -> None:
        """A new project from a manuscript."""
        self.post_message(self.Wanted("import"))

    def action_demo(self) -> None:
        """The sample novel."""
        self.post_message(self.Wanted("demo"))

    def action_open_folder(self) -> None:
        """A project by its folder."""
        self.post_message(self.Wanted("open"))

    def action_wizard(self) -> None:
        """The first steps again."""
        self.post_message(self.Wanted("wizard"))


def _opened(recent: Recent) -> tuple[str, str]:
    """The day on which it was last open, and its folder."""
    day = recent.opened_at.strftime("%Y-%m-%d") if recent.opened_at else ""
    home = str(Path.home())
    folder = str(recent.path)
    return day, "~" + folder[len(home) :] if folder.startswith(home + "/") else folder
