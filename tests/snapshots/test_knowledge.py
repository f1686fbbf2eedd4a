"""Pictures of the page of the knowledge server."""

from __future__ import annotations

from tests.snapshots.test_graph import BOTH, EVERY_SIZE
from tests.snapshots.test_shell import app, pressed


@EVERY_SIZE
@BOTH
def test_what_the_server_holds(snap_compare, size, language):
    keys = pressed("ampersand", "l", "j", "j")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=keys)
