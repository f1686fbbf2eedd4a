"""A terminal that keeps what was painted on it, so that a cell which was forgotten shows."""

from __future__ import annotations

import asyncio
import re
from typing import Final

from rich.cells import cell_len
from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

_TOKEN: Final = re.compile(r"\x1b\[(\d+);(\d+)H|(\x1b\[[0-9;:]*m)|(\x1b\[[0-9;?]*[A-Za-z])|(\n)|([^\x1b\n])")
Cell = tuple[str, str]


class FakeTerminal:
    """Cells by place; understands cursor addressing, colours and wide characters."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Cell] = {}
        self.received = 0

    def write(self, sequence: str) -> None:
        """Paint a sequence."""
        self.received += len(sequence.encode())
        x = y = 0
        style = ""
        for row, column, colour, control, line_end, character in _TOKEN.findall(sequence):
            if row:
                x, y = int(column) - 1, int(row) - 1
            elif colour:
                style = "" if colour in ("\x1b[0m", "\x1b[m") else style + colour
            elif line_end:
                y += 1
            elif character:
                x += self._put(x, y, character, style)
            assert not control, f"unknown control sequence {control!r}"

    def _put(self, x: int, y: int, character: str, style: str) -> int:
        width = cell_len(character)
        if width == 0:
            before = next((at for at in (x - 1, x - 2) if self.cells.get((at, y), ("", ""))[0]), x - 1)
            words, old_style = self.cells[before, y]
            self.cells[before, y] = (words + character, old_style)
            return 0
        if self.cells.get((x, y), (" ", ""))[0] == "":
            self.cells[x - 1, y] = (" ", style)
        if cell_len(self.cells.get((x + width - 1, y), (" ", ""))[0]) == 2:
            self.cells[x + width, y] = (" ", style)
        self.cells[x, y] = (character, style)
        if width == 2:
            self.cells[x + 1, y] = ("", style)
        return width


class PaintedApp(App[None]):
    """An app whose updates also go to a `FakeTerminal`."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal = FakeTerminal()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate) and not self._batch_count:
            self.terminal.write(renderable.render_segments(self.console))
        super()._display(screen, renderable)

    async def type_key(self, pilot: Pilot[None], key: str) -> None:
        """Send one key of any script, wait until it has been dealt with, and paint at once."""
        self.post_message(Key(key, key if len(key) == 1 else None))
        for _round in range(2):
            taken = asyncio.Event()
            self.call_later(taken.set)
            await taken.wait()
            await pilot._wait_for_screen()
        self.screen._on_timer_update()
