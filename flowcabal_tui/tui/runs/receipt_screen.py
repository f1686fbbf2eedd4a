"""A receipt on the whole screen; its sources open at the included span."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.locale import mark
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.help import HELP_KEYS

OpenSource = Callable[[str, int, int, Level, Receipt | None], Awaitable[OpenedSource]]


class ReceiptScreen(ModalScreen[None]):
    """Shows one receipt, or its changes since `before`."""

    DEFAULT_CSS = "ReceiptScreen { background: $background; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", mark("Back"), priority=True, id="receipt-page.back"),
        HELP_KEYS,
    ]

    def __init__(self, receipt: Receipt, title: str, source: OpenSource) -> None:
        super().__init__()
        self._receipt, self._heading, self._source = receipt, title, source

    def compose(self) -> ComposeResult:
        """Yields the receipt pane."""
        yield ReceiptPane()
        yield HintLine()

    def on_mount(self) -> None:
        """Focuses the list."""
        pane = self.query_one(ReceiptPane)
        pane.show(self._receipt, self._heading)
        pane.focus_list()

    @on(ReceiptPane.SourceOpened)
    def open_source(self, message: ReceiptPane.SourceOpened) -> None:
        """Opens the included text."""
        message.stop()
        attempt(self, self._open(message))

    async def _open(self, message: ReceiptPane.SourceOpened) -> None:
        source = await self._source(message.uri, message.start, message.end, message.level, message.receipt)
        self.app.push_screen(SourceScreen(source))
