"""`/` in a text: asks for the words to find, goes to the first place, and shows the number of places."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import App

from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.tui.widgets.prompt_line import FindLine


def ask_to_find(app: App[object], find: Callable[[str], int]) -> None:
    """Asks for words and calls `find` with them, which returns the number of places; empty words end the search."""

    def show(words: str | None) -> None:
        if words is None:
            return
        count = find(words)
        if words and not count:
            app.notify(_("Not found."), markup=False)
        elif words:
            app.notify(ngettext("Found {n} time.", "Found {n} times.", count).format(n=count), markup=False)

    app.push_screen(FindLine(), show)
