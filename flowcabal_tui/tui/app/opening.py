"""The shell of the workspace while the project is being opened: painted before anything heavy is loaded."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from flowcabal_tui.locale import _


class OpeningScreen(Screen[None]):
    """Shows three empty columns and the name of the project. Keys typed meanwhile are dropped."""

    is_opening: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self._project_name = name

    def compose(self) -> ComposeResult:
        """Yields columns that stay empty until the project is open."""
        with Horizontal(classes="columns"):
            yield Vertical(classes="column left")
            with Vertical(classes="column centre -current"):
                yield Static(
                    _("Opening {name} ...").format(name=self._project_name)
                    + "\n"
                    + _("Keys that you press now are not used."),
                    markup=False,
                    classes="opening-words",
                )
            yield Vertical(classes="column right")
