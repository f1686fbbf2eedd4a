"""Pictures of the card of a name beside and below a text."""

from __future__ import annotations

from tests.snapshots.test_graph import BOTH, EVERY_SIZE
from tests.snapshots.test_shell import app, pressed


@EVERY_SIZE
@BOTH
def test_the_card(snap_compare, size, language):
    keys = pressed("1", "g", "j", "enter", "full_stop", "tab")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=keys)
