"""Every notice since the start of the program, newest first."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.notices import Notice
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.role_words import without_backticks
from flowcabal_tui.tui.widgets.stream_view import StreamView


class NoticesScreen(ModalScreen[None]):
    """A text with the time and words of each notice; warnings have a `!`."""

    help = HelpData(mark("Notices"), mark("Each notice of this session with its time; `!` is a warning or an error."))
    DEFAULT_CSS = """
    NoticesScreen { background: $background; }
    NoticesScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    NoticesScreen > StreamView { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="notices.back"),
        HELP_KEYS,
    ]

    def __init__(self, notices: tuple[Notice, ...]) -> None:
        """`notices` are sorted oldest first."""
        super().__init__()
        self._listed = notices

    def compose(self) -> ComposeResult:
        """Yields the title and the text."""
        yield Static(_("Notices, newest first"), markup=False, classes="head")
        yield StreamView()
        yield HintLine()

    def on_mount(self) -> None:
        """Scrolls to the newest notice."""
        rows = [f"{notice.at:%H:%M:%S}  {without_backticks(notice.line)}" for notice in reversed(self._listed)]
        reader = self.query_one(StreamView)
        reader.set_text("\n".join(rows) or _("No notice yet. Esc goes back."), follow=False)
        reader.focus()
