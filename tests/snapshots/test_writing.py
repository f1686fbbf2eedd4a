"""Pictures of the writing view."""

from __future__ import annotations

import pytest

from flowcabal_tui.locale import use_language
from tests.snapshots.test_shell import SIZES, app, pressed


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    """The same number of looks at the feed everywhere; English again afterwards."""
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    yield
    use_language("en")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_writing_view_with_the_current_paragraph_in_focus(snap_compare, size, language):
    keys = ("1", "g", "enter", "ctrl+n", "ctrl+n", "down", "shift+right", "shift+right")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=pressed(*keys))
