"""Measures the widgets that carry long texts; prints one line a figure.

    python -m tests.bench.widgets [bytes|stream|keys|all]

`bytes`: what reaches a real pseudo-terminal of 160x48 for a key, beside Textual's TextArea.
`stream`: CPU milliseconds for an append as the text grows. `keys`: CPU milliseconds for a key, and for
a page, in a million characters and in one long paragraph. Painting is included everywhere.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import termios
import time
from collections.abc import Callable
from functools import partial

from textual.app import App, ComposeResult
from textual.events import Key
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import TextArea

from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.rail_graph import RailGraph, RailNode
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.writing_area import WritingArea

SENTENCE = "她推开门，雨正落在院子里。「你怎么来了？」他问，声音很轻。"
SCREEN = (160, 48)


def paragraphs(length: int, each: int) -> str:
    """Chinese prose of `length` characters in paragraphs of `each`."""
    one = (SENTENCE * (each // len(SENTENCE) + 1))[: each - 1]
    return "\n".join([one] * (length // each))


class Bench(App[None]):
    """One widget that fills the screen."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.widget.focus()


# Bytes in a real terminal


def spawn(kind: str) -> tuple[int, int]:
    """This module as `child kind` in a pty; its process id and the terminal."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS="160", LINES="48")
        os.execv(sys.executable, [sys.executable, "-m", "tests.bench.widgets", "child", kind])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", SCREEN[1], SCREEN[0], 0, 0))
    return process, terminal


def received(terminal: int, quiet: float) -> int:
    """Bytes until nothing has come for `quiet` seconds."""
    count = 0
    while select.select([terminal], [], [], quiet)[0]:
        try:
            count += len(os.read(terminal, 65536))
        except OSError:
            break
    return count


def measure_bytes() -> None:
    """Bytes a key at the end of a paragraph of 200 characters, in its middle, and for cursor down."""
    for kind in ("TextArea", "ProseArea"):
        process, terminal = spawn(kind)
        received(terminal, 2.0)
        for what, keys in (
            ("letter at the end of a paragraph", ["x", "y", "z", "的", "了", "在"]),
            ("backspace", ["\x7f"] * 4),
            ("cursor down", ["\x1b[B"] * 4),
            ("letter in the middle of a paragraph", ["\x1b[D", *"abcd"]),
            ("enter", ["\r"] * 2),
            ("page down", ["\x1b[6~"] * 2),
        ):
            counts = []
            for key in keys:
                os.write(terminal, key.encode())
                counts.append(received(terminal, 0.25))
            print(f"bytes  {kind:<9} {what:<36} median {statistics.median(counts):>7.0f}  {counts}", flush=True)
        os.write(terminal, b"\x11")
        received(terminal, 0.5)
        os.close(terminal)
        os.waitpid(process, 0)


def child(kind: str) -> None:
    """The app inside the terminal."""
    text = paragraphs(20_000, 200)
    area = TextArea(text) if kind == "TextArea" else ProseArea(text)
    area.cursor_blink = False
    app = Bench(area)
    app.call_later(area.move_cursor, (3, 199))
    app.run()


# Processor time


async def painted(app: Bench, pilot: Pilot[None], act: Callable[[], object]) -> float:
    """CPU milliseconds for `act`, what it causes, and the paint."""
    started = time.process_time()
    act()
    for _round in range(2):
        taken = asyncio.Event()
        app.call_later(taken.set)
        await taken.wait()
        await pilot._wait_for_screen()
    app.screen._on_timer_update()
    return (time.process_time() - started) * 1000


def told(kind: str, what: str, times: list[float]) -> None:
    """One line: median and worst."""
    print(f"{kind}  {what:<58} median {statistics.median(times):7.1f} ms  worst {max(times):7.1f} ms", flush=True)


async def measure_stream(length: int, each: int) -> None:
    """Appends of 29 characters: followed at the end, and unseen while the reader is elsewhere."""
    what = f"{length:,} characters in paragraphs of {each:,}"
    text = paragraphs(length, each)
    view = StreamView(follow_step=1)
    app = Bench(view)
    async with app.run_test(size=SCREEN) as pilot:
        told("stream", f"{what}: load", [await painted(app, pilot, lambda: view.append(text))])
        follow = [await painted(app, pilot, lambda: view.append(SENTENCE)) for _ in range(30)]
        told("stream", f"{what}: append", follow)
        pages = [await painted(app, pilot, lambda: view.action_page(-1)) for _ in range(10)]
        told("stream", f"{what}: page up", pages)
        unseen = [await painted(app, pilot, lambda: view.append(SENTENCE)) for _ in range(30)]
        told("stream", f"{what}: append out of sight", unseen)
        resized = []
        for width in (100, 160):
            started = time.process_time()
            await pilot.resize_terminal(width, 48)
            resized.append((time.process_time() - started) * 1000)
        told("stream", f"{what}: resize", resized)


async def measure_keys(kind: type[TextArea], length: int, each: int, repeat: int) -> None:
    """Keys in the middle of the document and of a paragraph."""
    area = kind(paragraphs(length, each))
    area.cursor_blink = False
    app = Bench(area)
    async with app.run_test(size=SCREEN) as pilot:
        if isinstance(area, WritingArea):
            area.is_typewriter = area.fades_others = True
            area.watch(area, "selection", lambda: area.length, init=False)
        await pilot.pause()
        area.move_cursor((area.document.line_count // 2, each // 2))
        for key in ("x", "down", "pagedown", "backspace"):
            press = partial(_press, app, key)
            times = [await painted(app, pilot, press) for _ in range(repeat)]
            told("keys", f"{kind.__name__} {length:,} in paragraphs of {each:,}: {key}", times)


def _press(app: Bench, key: str) -> None:
    app.post_message(Key(key, key if len(key) == 1 else None))


async def measure_rails() -> None:
    """A graph of five thousand nodes: laid out, walked, one state changed."""
    nodes = [RailNode(f"n{at}", f"第 {at} 章", parents=(f"n{at - 1}", f"n{max(0, at - 7)}")) for at in range(5000)]
    graph = RailGraph()
    app = Bench(graph)
    async with app.run_test(size=SCREEN) as pilot:
        told("rails", "set_graph, 5,000 nodes", [await painted(app, pilot, lambda: graph.set_graph(nodes))])
        told("rails", "cursor down", [await painted(app, pilot, lambda: graph.action_move(1)) for _ in range(20)])
        graph.action_first()
        changes = [partial(graph.set_state, "n1", state) for state in ("running", "done") * 10]
        told("rails", "set_state", [await painted(app, pilot, change) for change in changes])


def main() -> None:
    """Measure what was asked."""
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    if what == "child":
        child(sys.argv[2])
        return
    if what in ("bytes", "all"):
        measure_bytes()
    if what in ("stream", "all"):
        for length, each in ((2_000, 200), (20_000, 200), (100_000, 200), (1_000_000, 200), (1_000_000, 1_000_000)):
            asyncio.run(measure_stream(length, each))
        asyncio.run(measure_rails())
    if what in ("keys", "all"):
        for kind, repeat in ((ProseArea, 20), (WritingArea, 20), (TextArea, 5)):
            for length, each in ((200_000, 200), (1_000_000, 200), (20_000, 20_000), (100_000, 100_000)):
                asyncio.run(measure_keys(kind, length, each, repeat))


if __name__ == "__main__":
    main()
