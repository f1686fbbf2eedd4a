"""The versions of a text or a document: reading, comparing with the newest, restoring."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.manuscript import ChapterVersion
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.change_words import version_words
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import author_role, length_words, one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, Columns
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.stream_view import StreamView

T = TypeVar("T")


class VersionsPage(ModalScreen[T | None]):
    """A list of versions, newest first, above the changes from the one under the cursor to the newest.

    Returns what is to be restored, or None. `load` reads the contents of a version by the id of its row.
    """

    DEFAULT_CSS = """
    VersionsPage { background: $background; }
    VersionsPage > .head { height: 1; padding: 0 1; text-style: bold; }
    VersionsPage > PickList { height: auto; max-height: 30%; }
    VersionsPage > .details { height: 1; padding: 0 1; color: $text-muted; }
    VersionsPage > DiffView { height: 1fr; padding: 0 1; }
    """

    def __init__(self, title: str, rows: Sequence[Option], load: Callable[[str], Awaitable[T]]) -> None:
        super().__init__()
        self._heading, self._rows, self._load = title, rows, load
        self._contents: dict[str, T] = {}

    def compose(self) -> ComposeResult:
        """Yields the versions above; below, the changes from the chosen one to the newest."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        yield PickList()
        yield Static(markup=False, classes="details")
        yield DiffView()
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the version before the newest, which is the most likely choice."""
        names = self.query_one(PickList)
        names.add_options(self._rows)
        names.focus()
        names.highlighted = min(1, len(self._rows) - 1)

    async def show_version(self, key: str) -> None:
        """Shows the version with this id."""
        raise NotImplementedError

    async def contents(self, key: str) -> T:
        """The contents of a version, which are read once."""
        if key not in self._contents:
            self._contents[key] = await self._load(key)
        return self._contents[key]

    @on(OptionList.OptionHighlighted)
    def _follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        if message.option.id is not None:
            attempt(self, self.show_version(message.option.id), group="show", exclusive=True)

    @attempted()
    async def action_restore(self) -> None:
        """Returns the version under the cursor, to be saved as the newest."""
        if (picked := self.query_one(PickList).picked) is not None:
            self.dismiss(await self.contents(picked))


class VersionsScreen(VersionsPage[str]):
    """The versions of a text, which is shown as well; `load` reads a version."""

    help = HelpData(
        mark("Versions"),
        mark("Every state of the text. `d` switches between difference and text, `a` restores the one shown."),
    )
    DEFAULT_CSS = """
    VersionsScreen > #text { display: none; height: 1fr; padding: 0 1; }
    VersionsScreen.-text > #text { display: block; }
    VersionsScreen.-text > DiffView { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="versions.back"),
        Binding("d", "text", mark("Text or difference"), id="versions.text"),
        Binding("a", "restore", mark("Restore"), tooltip=mark("Make this text the newest version."),
                id="versions.restore"),
        HELP_KEYS,
    ]  # fmt: skip
    is_text = var(False, toggle_class="-text")

    def __init__(
        self,
        title: str,
        versions: Sequence[ChapterVersion],
        load: Callable[[int], Awaitable[str]],
        book_language: str = "",
    ) -> None:
        super().__init__(title, _rows(versions), lambda key: load(int(key)))
        self._newest, self._book_language = max(item.version for item in versions), book_language

    def compose(self) -> ComposeResult:
        """Adds the text of the chosen version, which takes the place of its difference."""
        *parts, keys = super().compose()
        yield from (*parts, StreamView(id="text"), keys)

    async def show_version(self, key: str) -> None:
        """Loads the two texts, once each, and shows them."""
        text, newest = await self.contents(key), await self.contents(str(self._newest))
        words = _("from version {old} to version {new}").format(old=key, new=self._newest)
        length = _("this one has {length}").format(length=length_words(text, self._book_language))
        self.query_one(".details", Static).update(facts_words(words, length))
        self.query_one(DiffView).set_texts(text, newest)
        self.query_one("#text", StreamView).set_text(text, follow=False)

    def action_text(self) -> None:
        """Switches between the difference and the text."""
        self.is_text = not self.is_text


def _rows(versions: Sequence[ChapterVersion]) -> list[Option]:
    columns = Columns(
        Column(is_number=True), Column(role="secondary"), Column(rank=1), Column(rank=2, fill=True, role="secondary")
    )
    rows = []
    for each in versions:
        author = Cell(version_words(each), None if each.rebuilt else author_role(each.author))
        row = columns.row(f"v{each.version}", f"{each.at:%Y-%m-%d %H:%M}", author, one_line(each.note))
        rows.append(Option(row, id=str(each.version)))
    return rows
