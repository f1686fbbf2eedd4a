"""Pictures of the outline beside the text."""

from __future__ import annotations

import pytest

from tests.snapshots.test_shell import SIZES, app, pressed
from tests.tui.fakes import FakeProject
from tests.tui.test_beats_beside import BEATS


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_outline_beside_the_text(snap_compare, size, language, monkeypatch):
    monkeypatch.setattr(FakeProject, "outlined", BEATS[language])
    keys = ("1", "g", "enter", "ctrl+d", "j")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=pressed(*keys))
