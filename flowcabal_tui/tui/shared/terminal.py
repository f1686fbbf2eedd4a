"""What is written to the terminal beside the screen: its title."""

from __future__ import annotations

from typing import Any

from textual.app import App

from flowcabal_tui.domain.text import clean


def set_terminal_title(app: App[Any], title: str) -> None:
    """Sets the title of the terminal window, through the driver that writes everything else in order."""
    driver = app._driver  # Textual writes OSC 52 the same way and offers no public method
    if driver is not None and not app.is_headless:
        driver.write(f"\x1b]2;{clean(title)}\x07")
