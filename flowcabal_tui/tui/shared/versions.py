"""The versions of a chapter: reading, comparing with the newest, restoring."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.manuscript import ChapterVersion
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.words import AUTHORS
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import author_role, length_words, one_line
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import facts_words
from flowcabal_tui.tui.widgets.stream_view import StreamView

Load = Callable[[int], Awaitable[str]]


class VersionsScreen(ModalScreen[str | None]):
    """Returns the text to restore, or None. `versions` are newest first."""

    help = HelpData(
        mark("Versions"),
        mark("Every state of the text. `d` switches between difference and text, `a` restores the one shown."),
    )
    DEFAULT_CSS = """
    VersionsScreen { background: $background; }
    VersionsScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    VersionsScreen > PickList { height: auto; max-height: 30%; }
    VersionsScreen > .details { height: 1; padding: 0 1; color: $text-muted; }
    VersionsScreen > DiffView { height: 1fr; padding: 0 1; }
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

    def __init__(self, title: str, versions: Sequence[ChapterVersion], load: Load, book_language: str = "") -> None:
        super().__init__()
        self._heading, self._versions, self._load_text = title, tuple(versions), load
        self._book_language = book_language
        self._texts: dict[int, str] = {}

    def compose(self) -> ComposeResult:
        """Yields the versions above; below, the changes from the chosen one to the newest."""
        yield Static(one_line(self._heading), markup=False, classes="head")
        names = PickList()
        columns = Columns(
            Column(is_number=True),
            Column(role="secondary"),
            Column(rank=1),
            Column(rank=2, fill=True, role="secondary"),
        )
        names.add_options([Option(self._row(columns, item), id=str(item.version)) for item in self._versions])
        yield names
        yield Static(markup=False, classes="details")
        yield DiffView()
        yield StreamView(id="text")
        yield HintLine()

    def on_mount(self) -> None:
        """Selects the version before the newest, which is the most likely choice."""
        names = self.query_one(PickList)
        names.focus()
        names.highlighted = min(1, len(self._versions) - 1)

    def _row(self, columns: Columns, version: ChapterVersion) -> ColumnRow:
        author = Cell(_(AUTHORS[version.author]), author_role(version.author))
        return columns.row(f"v{version.version}", f"{version.at:%Y-%m-%d %H:%M}", author, one_line(version.note))

    @on(OptionList.OptionHighlighted)
    def _follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        if message.option.id is not None:
            attempt(self, self._show(int(message.option.id)), group="show", exclusive=True)

    async def _show(self, version: int) -> None:
        """Loads the two texts, once each, and shows them."""
        newest = max(item.version for item in self._versions)
        for needed in (version, newest):
            if needed not in self._texts:
                self._texts[needed] = await self._load_text(needed)
        words = _("from version {old} to version {new}").format(old=version, new=newest)
        length = _("this one has {length}").format(length=length_words(self._texts[version], self._book_language))
        self.query_one(".details", Static).update(facts_words(words, length))
        self.query_one(DiffView).set_texts(self._texts[version], self._texts[newest])
        self.query_one("#text", StreamView).set_text(self._texts[version], follow=False)

    def action_text(self) -> None:
        """Switches between the difference and the text."""
        self.is_text = not self.is_text

    def action_restore(self) -> None:
        """Returns the text, to be saved as the newest version."""
        picked = self.query_one(PickList).picked
        if picked is not None:
            attempt(self, self._restore(int(picked)))

    async def _restore(self, version: int) -> None:
        if version not in self._texts:  # the key came before the text
            self._texts[version] = await self._load_text(version)
        self.dismiss(self._texts[version])
