"""The builds of a project, waiting ones first, each opened or purged by a key."""

from __future__ import annotations

from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.builds import BuildRow, BuildState
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.build_words import STATES
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import key_words
from flowcabal_tui.tui.widgets.roles import Role

_ROLES: Final[dict[BuildState, Role]] = {
    "building": "focus", "asks": "waiting", "finished": "waiting", "interrupted": "stale", "accepted": "done",
}  # fmt: skip
_ORDER: Final[tuple[BuildState, ...]] = (
    "asks", "finished", "building", "interrupted", "stopped", "accepted", "rejected",
)  # fmt: skip


class BuildsScreen(ModalScreen[str | None]):
    """Returns the id of the build to open, "" for a new one, or None."""

    help = HelpData(
        mark("Builds"),
        mark("Every workflow that was suggested to you, waiting ones first. Enter opens one, `B` starts another, "
             "Shift+Delete removes one from the project for good, with its request and its prompts."),
    )  # fmt: skip
    DEFAULT_CSS = """
    BuildsScreen { background: $background; }
    BuildsScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    BuildsScreen > PickList, BuildsScreen > .empty { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("B", "build", mark("Build"), tooltip=mark("Describe a new workflow in your words."), id="builds.build"),
        Binding("shift+delete", "purge", mark("Purge"), tooltip=mark("Remove this build from the project for good."),
                id="builds.purge"),
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="builds.back"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, project: Project) -> None:
        super().__init__()
        self._project = project
        self._listed: dict[str, BuildRow] = {}

    def compose(self) -> ComposeResult:
        """Yields a title and the rows."""
        yield Static(_("Builds of workflows"), markup=False, classes="head")
        yield Static(
            key_words(_("No build yet: `B` describes a new workflow in your words.")), markup=False, classes="empty"
        )
        yield PickList()
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the rows."""
        self.query_one(PickList).focus()

    def on_screen_resume(self) -> None:
        """Reads the rows, also after a page on top was left."""
        self.read_again()

    def read_again(self) -> None:
        """Reloads after progress of a build or a decision."""
        attempt(self, self._reload(), group="reload", exclusive=True)

    async def _reload(self) -> None:
        found = await self._project.builds.build_rows()
        rows = sorted(found, key=_rank)
        self._listed = {row.id: row for row in rows}
        self.query_one(".empty").display = not rows
        columns = _columns()
        self.query_one(PickList).refill([Option(_row(columns, row), id=row.id) for row in rows])

    @on(OptionList.OptionSelected)
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Opens the build under the cursor on Enter."""
        message.stop()
        self.dismiss(message.option_id)

    def action_build(self) -> None:
        """Requests a new build."""
        self.dismiss("")

    def action_purge(self) -> None:
        """Purges the build after a question."""
        if (row := self._listed.get(self.query_one(PickList).picked or "")) is not None:
            attempt(self, self._purge(row))

    async def _purge(self, row: BuildRow) -> None:
        title = _("Purge {id}?").format(id=row.id)
        words = _("It is removed with its request, its prompts and its rounds. A workflow made from it stays.")
        if await self.app.push_screen_wait(ConfirmScreen(title, words)):
            await self._project.carry_out(Purge(build=row.id))
            await self._reload()


def _rank(row: BuildRow) -> tuple[int, int]:
    """The sort key: waiting builds first, then the newest."""
    return _ORDER.index(row.state), -int(row.id.rpartition("-")[2])


def _columns() -> Columns:
    return Columns(
        Column(), Column(rank=1, most=24), Column(rank=2, fill=True, least=12), Column(rank=3, role="secondary")
    )


def _row(columns: Columns, row: BuildRow) -> ColumnRow:
    state = Cell(_(STATES[row.state]), _ROLES.get(row.state, "secondary"))
    about = row.saved or row.workflow or _("new")
    return columns.row(state, about, one_line(row.wish, 200) or _("from the form"), row.id)
