"""Memory with a long novel open in the screen, and the echo of keys while sixteen streams and an import run."""

from __future__ import annotations

import asyncio
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import ImportManuscript
from flowcabal_tui.settings.project_file import KnowledgeSettings
from tests.bench.processes import named, rss_mib, tree
from tests.bench.projects import model_at, new_project, novel, own_folders
from tests.bench.report import Figure, checked, percentile
from tests.bench.servers import PacedServer
from tests.bench.stalled import begun, start_streams
from tests.bench.streams import RATE, STREAMS, project_for_streams
from tests.bench.terminal import ENTER, ESCAPE, SAVE, Terminal

SECONDS = 60.0
RARE = "龘靐齉齾爩鱻麤龗灪吁" * 4
"""Characters that no text holds, so that a painted one is an echo."""


def measure() -> list[Figure]:
    """Without and with the knowledge server, and under load."""
    source = novel()
    figures = [_open(source, knowledge=False)]
    if os.environ.get("FLOWCABAL_OPENVIKING_SERVER"):
        figures.append(_open(source, knowledge=True))
    else:
        figures.append(Figure("with the knowledge server", "skipped: FLOWCABAL_OPENVIKING_SERVER"))
    return [*figures, *_echoes(source)]


def _open(source: Path, *, knowledge: bool) -> Figure:
    """All processes of the screen with the whole novel, once everything is indexed and the server has started."""
    with own_folders() as folder:
        book = folder / "book"
        nobody = model_at("http://127.0.0.1:9", "openai")  # never called: an import spends nothing
        new_project(book, nobody, nobody, knowledge=KnowledgeSettings(enabled=knowledge))
        asyncio.run(_import(book, source))
        with Terminal("--lang", "en", "open", book) as terminal:
            terminal.wait_for("knowledge: ready" if knowledge else "Chapters", 300)
            terminal.read(10.0)
            parts = {pid: rss_mib(pid) for pid in tree(terminal.pid)}
            shown = ", ".join(f"{_short(named(pid))} {size:.0f}" for pid, size in parts.items())
    what = f"memory, {'with' if knowledge else 'without'} the knowledge server ({shown})"
    return checked(what, sum(parts.values()), 700 if knowledge else 200, "MiB")


def _short(command: str) -> str:
    words = {"guard": "guard", "openviking": "openviking", "project.helper": "helper"}
    return next((word for part, word in words.items() if part in command), "screen")


async def _import(folder: Path, source: Path) -> None:
    project = await Project.open(folder, knowledge=False)
    try:
        await project.carry_out(ImportManuscript(str(source)))
        await project.memory.settled()
    finally:
        await project.close()


def _echoes(source: Path) -> Iterator[Figure]:
    """Keys typed into the manuscript: with nothing else, while all streams run, and while an import runs besides."""
    with own_folders() as folder, PacedServer(RATE, SECONDS) as server:
        book = folder / "book"
        project_for_streams(book, server.url)
        asyncio.run(begun(book))
        with Terminal("--lang", "en", "open", book) as terminal:
            terminal.wait_for(f"n{STREAMS - 1}")
            terminal.read(3.0)
            _edit(terminal)
            quiet = _typed(terminal)
            _leave(terminal)
            start_streams(terminal)
            _edit(terminal)
            streaming = _typed(terminal)
            _leave(terminal)
            terminal.press("1", "I")
            terminal.wait_for("import")
            terminal.press(str(source), ENTER)
            terminal.wait_for("Import", 30)
            terminal.read(0.5)
            terminal.press("y")
            _edit(terminal)
            importing = _typed(terminal)
    for what, times, limit in (
        ("alone", quiet, 60),
        ("16 streams", streaming, 60),
        ("16 streams, import", importing, 60),
    ):
        yield checked(f"key echo, {what}: median", statistics.median(times), limit, "ms")
        yield Figure(f"key echo, {what}: p95, worst", f"{percentile(times, 0.95):.0f}, {max(times):.0f} ms")


def _edit(terminal: Terminal) -> None:
    """Into the editor of the chapter."""
    terminal.press("3")
    terminal.read(0.3)
    terminal.press("e")
    terminal.read(0.5)


def _leave(terminal: Terminal) -> None:
    """Saves and goes out of the editor."""
    for key in (SAVE, ESCAPE):
        terminal.press(key)
        terminal.read(0.7)


def _typed(terminal: Terminal) -> list[float]:
    """Milliseconds of each echo."""
    times = []
    for character in RARE:
        times.append(terminal.echo(character, character))
        terminal.read(0.1)
    return times
