"""What is said while a run is made ready."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.screen import Screen

from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.notices import GoesOn
from flowcabal_tui.tui.shared.status_line import StatusLine


@contextmanager
def preparing(screen: Screen[Any]) -> Iterator[None]:
    """Says so while it lasts; and that a knowledge server which is starting is waited for."""
    words = _("The run is being prepared ...")
    if screen.query_one(StatusLine).is_knowledge_starting:
        words = _("The run is being prepared; the knowledge server that it will ask is starting ...")
    screen.app.post_message(GoesOn("preparing", words))
    try:
        yield
    finally:
        screen.app.post_message(GoesOn("preparing", ""))
