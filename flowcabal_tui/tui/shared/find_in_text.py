"""`/` in a text: asks for the words to find, goes to the first place, and shows the number of places."""

from __future__ import annotations

from textual.app import App

from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.tui.widgets.prompt_line import FindLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView


def ask_to_find(app: App[object], place: StreamView | ProseArea) -> None:
    """Asks for words and finds them in `place`; empty words end the search."""

    def find(words: str | None) -> None:
        if words is None:
            return
        count = place.find(words)
        if words and not count:
            app.notify(_("Not found."), markup=False)
        elif words:
            app.notify(ngettext("Found {n} time.", "Found {n} times.", count).format(n=count), markup=False)

    app.push_screen(FindLine(), find)
