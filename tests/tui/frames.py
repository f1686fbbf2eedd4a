"""Of the frames of a test's screens the last one is drawn, with all that changed before it.

Nobody sees the others, and drawing them takes a third of the time of these tests. `shown` draws what it needs;
the snapshots draw every frame.
"""

from __future__ import annotations

from typing import Any

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App


@pytest.fixture(autouse=True)
def last_frames_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame is put off until the app ends; `widgets/conftest.py` draws every one."""
    draw, end = Compositor.render_update, App._shutdown

    def put_off(_self: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> None:
        """What changed stays marked as changed; the screens below are set as for a drawing."""
        visible_screen_stack.set(screen_stack or [])

    async def ended(app: App[Any]) -> None:
        if app._exception is None and app._screen_stack and app.screen.is_attached and app.screen.size:
            draw(app.screen._compositor, full=True, screen_stack=app._background_screens)
        await end(app)

    monkeypatch.setattr(Compositor, "render_update", put_off)
    monkeypatch.setattr(App, "_shutdown", ended)
