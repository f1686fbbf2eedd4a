"""What is said while a run is made ready."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.locale import _
from flowcabal_tui.tui.panes.status_line import StatusLine

_MOST_SECONDS: Final = 60.0


@contextmanager
def preparing(screen: Screen[Any]) -> Iterator[None]:
    """Says so while it lasts; and that a knowledge server which is starting is waited for."""
    words = _("The run is being prepared ...")
    if screen.query_one(StatusLine).is_knowledge_starting:
        words = _("The run is being prepared; the knowledge server that it will ask is starting ...")
    screen.notify(words, timeout=_MOST_SECONDS, markup=False)
    try:
        yield
    finally:
        screen.app.call_later(screen.app.clear_notifications)  # after the notice, which waits in the same queue
