"""A plain notice for a terminal in which nothing fits."""

from __future__ import annotations

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from flowcabal_tui.locale import _

SMALLEST: Final = Size(60, 16)


def is_too_small(size: Size) -> bool:
    """Is the terminal smaller than the smallest that the panes fit in?"""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


class TooSmallScreen(ModalScreen[None]):
    """Says how large the terminal must be; goes away by itself."""

    HIDES_NOTICES: ClassVar[bool] = True
    DEFAULT_CSS = """
    TooSmallScreen { align: center middle; background: $background; }
    TooSmallScreen Static { width: auto; }
    """

    def compose(self) -> ComposeResult:
        """Two lines."""
        yield Static(
            _("This terminal is too small.\nAt least {width} x {height} characters are needed.").format(
                width=SMALLEST.width, height=SMALLEST.height
            ),
            markup=False,
        )
