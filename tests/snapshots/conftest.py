"""Pictures are taken when the loop is idle, with cursors that do not blink: after half a second one is not there."""

from __future__ import annotations

import pytest
from textual.widgets import Input, TextArea

from tests.tui.waiting import pilots_wait_for_the_loop

__all__ = ["cursors_do_not_blink", "pilots_wait_for_the_loop"]


@pytest.fixture(autouse=True)
def cursors_do_not_blink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")  # the editor's does not blink there
    for widget in (Input, TextArea):
        monkeypatch.setattr(widget.__dict__["cursor_blink"], "_default", False)
