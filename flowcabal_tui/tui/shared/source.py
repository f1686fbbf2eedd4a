"""A text on the whole screen, such as the one behind a receipt, a quotation or a profile, opened at the cited place."""

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


class TextPage(ModalScreen[None]):
    """Shows a text from its start."""

    DEFAULT_CSS = """
    TextPage { background: $background; }
    TextPage > .head { height: 1; padding: 0 1; text-style: bold; }
    TextPage > StreamView { height: 1fr; padding: 0 1; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._heading, self._text = title, text

    def compose(self) -> ComposeResult:
        """Yields the title and the text."""
        yield Static(self._heading, markup=False, classes="head")
        yield StreamView()
        yield HintLine()

    def on_mount(self) -> None:
        """Goes to the start of the text."""
        reader = self.query_one(StreamView)
        reader.set_text(self._text, follow=False)
        reader.focus()


class SourceScreen(TextPage):
    """Shows a source, with the cited span marked and in view."""

    help = HelpData(mark("Source"), mark("The cited text, with the place marked. Esc goes back."))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="source.back"),
        Binding("c", "cited", mark("Cited place"), id="source.cited"),
        HELP_KEYS,
    ]

    def __init__(self, source: OpenedSource) -> None:
        super().__init__(one_line(source.title) or _("untitled"), source.text)
        self._source = source

    def on_mount(self) -> None:
        """Scrolls to the cited place, after the method of the base."""
        self.call_after_refresh(self.action_cited)

    def action_cited(self) -> None:
        """Goes to the cited place."""
        if 0 <= self._source.start < self._source.end:
            reader = self.query_one(StreamView)
            reader.highlight(self._source.start, self._source.end)
            reader.scroll_to_offset(self._source.start)
