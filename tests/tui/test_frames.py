"""What the fixture of `frames.py` leaves: no frame in between is drawn, and a widget that cannot be drawn fails."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.strip import Strip
from textual.widget import Widget


class Drawn(Widget):
    """Notes when it is drawn, or cannot be."""

    def __init__(self, *, broken: bool = False) -> None:
        super().__init__()
        self.times, self._broken = 0, broken

    def render_line(self, y: int) -> Strip:
        self.times += 1
        if self._broken:
            raise ValueError("it cannot be drawn")
        return Strip.blank(self.size.width)


class Stage(App[None]):
    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


async def test_a_frame_is_drawn_when_the_app_ends_and_not_before():
    widget = Drawn()
    async with Stage(widget).run_test() as pilot:
        await pilot.pause()
        assert widget.times == 0
    assert widget.times > 0


async def test_a_widget_that_cannot_be_drawn_fails_its_test():
    with pytest.raises(ValueError, match="it cannot be drawn"):
        async with Stage(Drawn(broken=True)).run_test() as pilot:
            await pilot.pause()
