"""The tests of widgets are about what these draw, so every frame is drawn."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def last_frames_are_drawn() -> None:
    """Instead of the fixture of `tests/tui/frames.py`."""
