"""Pictures are taken when the loop is idle, with cursors that stay visible: else one is there half of the time."""

from __future__ import annotations

import pytest
from textual.widgets import Input, TextArea

from tests.tui.list_rows import rows_chain_nothing
from tests.tui.waiting import pilots_wait_for_the_loop

__all__ = ["cursors_stay_visible", "pilots_wait_for_the_loop", "rows_chain_nothing"]


@pytest.fixture(autouse=True)
def cursors_stay_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tick of the blinking hides a cursor; the feed is read as often everywhere, which is less often over SSH."""
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setattr(Input, "_toggle_cursor", lambda _self: None)
    monkeypatch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _self: None)
