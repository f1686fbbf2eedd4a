"""A text behind a receipt, a quotation or a profile, opened at the cited place."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.stream_view import StreamView


class SourceScreen(ModalScreen[None]):
    """Shows a source, with the cited span marked and in view."""

    help = HelpData(mark("Source"), mark("The cited text, with the place marked. Esc goes back."))
    DEFAULT_CSS = """
    SourceScreen { background: $background; }
    SourceScreen > .head { height: 1; padding: 0 1; text-style: bold; }
    SourceScreen > StreamView { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="source.back"),
        Binding("c", "cited", mark("Cited place"), id="source.cited"),
        HELP_KEYS,
    ]

    def __init__(self, source: OpenedSource) -> None:
        super().__init__()
        self._source = source

    def compose(self) -> ComposeResult:
        """Yields the title and the text."""
        yield Static(one_line(self._source.title) or _("untitled"), markup=False, classes="head")
        yield StreamView()
        yield HintLine()

    def on_mount(self) -> None:
        """Scrolls to the cited place."""
        reader = self.query_one(StreamView)
        reader.set_text(self._source.text, follow=False)
        reader.focus()
        self.call_after_refresh(self.action_cited)

    def action_cited(self) -> None:
        """Goes to the cited place."""
        if 0 <= self._source.start < self._source.end:
            reader = self.query_one(StreamView)
            reader.highlight(self._source.start, self._source.end)
            reader.scroll_to_offset(self._source.start)
