"""A terminal that is not read for ten seconds while streams run: nothing may be missing in the journal."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import AddChapter
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.bench.pacer import whole
from tests.bench.projects import own_folders
from tests.bench.report import Figure, none_of
from tests.bench.servers import PacedServer
from tests.bench.streams import RATE, SLOW, STREAMS, many_streams, project_for_streams
from tests.bench.terminal import ENTER, F5, Terminal

STALL_SECONDS, SECONDS = 10.0, 25.0
CHAPTER = "钓鱼"


def measure() -> list[Figure]:
    """Sixteen streams in the screen, of which ten seconds are not read."""
    with own_folders() as folder, PacedServer(RATE, SECONDS) as server:
        book = folder / "book"
        project_for_streams(book, server.url)
        asyncio.run(begun(book))
        with Terminal("--lang", "en", "open", book) as terminal:
            terminal.wait_for(f"n{STREAMS - 1}")
            terminal.read(1.0)
            start_streams(terminal)
            before = len(server.streams()[0])
            terminal.read(2.0)
            time.sleep(STALL_SECONDS)
            back = terminal.wait_for("字", 5.0)
            while any(not stream["seconds"] for stream in server.streams()[0][before - STREAMS :]):
                terminal.read(0.2)
            terminal.read(2.0)
            terminal.leave()
        streams = server.streams()[0][before - STREAMS :]
        texts = asyncio.run(_texts(book))
    return [
        Figure("streams; seconds that the terminal was not read", f"{len(streams)}; {STALL_SECONDS:g}"),
        none_of("journalled texts that differ from what was sent", sum(text != whole(server.tokens) for text in texts)),
        none_of("streams slowed", sum(stream["seconds"] > SECONDS * SLOW for stream in streams)),
        Figure("bytes that ever waited at the server", f"{max(stream['unsent'] for stream in streams):.0f}"),
        Figure("seconds until the screen painted text again", f"{back:.2f}"),
    ]


def start_streams(terminal: Terminal) -> None:
    """Presses what runs the workflow in view, and waits for its text."""
    terminal.press(F5)
    terminal.wait_for("Instruction")
    terminal.press(ENTER)
    terminal.wait_for("Run?")
    terminal.press("y")
    terminal.wait_for("running")
    terminal.press("4")
    terminal.wait_for("字")


async def begun(folder: Path) -> None:
    """A chapter with a run of all streams that was left at once, so that the screen opens with its workflow."""
    project = await Project.open(folder, knowledge=False)
    try:
        await project.carry_out(SaveWorkflow(many_streams(STREAMS)))
        chapter = await project.carry_out(AddChapter(CHAPTER))
        await project.carry_out(RunWorkflow(RunRequest("streams", ChapterId(chapter))))
    finally:
        await project.close()


async def _texts(folder: Path) -> list[str]:
    """What the journal holds of each node of the newest run, finished or not."""
    project = await Project.open(folder, knowledge=False)
    try:
        run = (await project.runs.summaries())[0].id
        views = [await project.runs.node(RunId(run), NodeId(f"n{number:02d}")) for number in range(STREAMS)]
    finally:
        await project.close()
    return [view.attempts[-1].text if view.attempts and view.attempts[-1].complete else view.partial for view in views]
