"""kill -9 of a large Chinese novel with its knowledge server: what is lost, what doubled, which processes stay behind.

`kills.py` has the operations one by one, and needs nothing from outside.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import select
import shutil
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.project import Project
from tests.bench.processes import left_over
from tests.bench.projects import Child, model_at, new_project, novel, openviking, own_folders
from tests.bench.report import Figure, checked, none_of
from tests.bench.servers import OurServer

SEED: Final = int(os.environ.get("FLOWCABAL_BENCH_SEED", "81"))
KILLS: Final = int(os.environ.get("FLOWCABAL_BENCH_KILLS", "20"))
STAGES: Final = ("import", "run", "keep", "background")
CHAPTERS, MANY, EVERY = 20, 80, 4
"""Every fourth kill meets the large book."""
SERVED = 5
"""Every fifth book goes on with its knowledge server after the kill; the others without, which takes less time."""
GONE_SECONDS = 15
DELAY = 0.005
TEXT = "".join(f"第{number:03d}日，宝玉来看黛玉，袭人笑着迎了出来。\n" for number in range(40))
"""What the writing model streams: two characters an event, one event every DELAY seconds."""

STREAM_SECONDS: Final = 3 * len(TEXT) / 2 * DELAY
"""How long the three nodes of a run stream; a run is killed in that time, not while it waits to begin."""


@dataclass(frozen=True, slots=True)
class Killed:
    """What one kill did. `lost` is streamed text in seconds; `moment` how far into its stage it came."""

    stage: str
    chapters: int
    moment: float
    kept_lost: int
    doubled: int
    lost: float
    stayed: tuple[str, ...]
    unlike: tuple[str, ...]


def measure() -> list[Figure]:
    """One line a kill, and the sums."""
    source, chance = novel(), random.Random(SEED)
    openviking()
    kills: list[Killed] = []
    with (
        own_folders() as folder,
        OurServer({"content": TEXT, "delay": DELAY, "times": -1}) as writer,
        OurServer() as helper,
    ):
        bases: dict[int, _Base] = {}
        for number in range(KILLS):
            chapters = MANY if number % EVERY == number // EVERY % EVERY else CHAPTERS
            if chapters not in bases:
                bases[chapters] = _Base(folder / f"of{chapters}", source, chapters, writer, helper)
            kills.append(bases[chapters].kill(STAGES[number % len(STAGES)], chance, served=number % SERVED == 0))
            print(f"  {number + 1:>2} {_line(kills[-1])}", file=sys.stderr, flush=True)
    return [
        Figure("kills", ", ".join(f"{n} {stage}" for stage, n in Counter(kill.stage for kill in kills).items())),
        Figure("files checked after kill and end, all whole", str(2 * len(kills))),
        none_of("kept texts lost", sum(kill.kept_lost for kill in kills)),
        none_of("kept texts or chapters doubled", sum(kill.doubled for kill in kills)),
        checked("streamed text lost, at most", max(kill.lost for kill in kills), 1.0, "s"),
        none_of(f"processes left after {GONE_SECONDS} s", sum(len(kill.stayed) for kill in kills)),
        none_of("books that ended unlike an unkilled one", sum(bool(kill.unlike) for kill in kills)),
    ]


def _line(kill: Killed) -> str:
    return (
        f"{kill.stage:<10} {kill.chapters} chapters, {kill.moment:5.2f} s in: lost {kill.kept_lost}, doubled"
        f" {kill.doubled}, text {kill.lost:.2f} s, left {list(kill.stayed)}, unlike {list(kill.unlike)}"
    )


class _Base:
    """An unkilled book: its imported state to begin with, how long each stage takes, and what the end looks like.

    Everything happens in one folder that is filled anew for each kill: the knowledge server's files are kept by path.
    """

    def __init__(self, folder: Path, source: Path, chapters: int, writer: OurServer, helper: OurServer) -> None:
        self._source, self._chapters, self._writer = source, chapters, writer
        self._place, self._empty, self._imported = folder / "at", folder / "empty", folder / "imported"
        new_project(self._place / "book", model_at(writer.url, "openai"), model_at(helper.url, "openai"))
        shutil.copytree(self._place, self._empty)
        self._seconds = self._go("ingest")
        self._after_import = self._seconds["index"] + self._seconds["ingest"]
        shutil.copytree(self._place, self._imported)
        later = self._go("background")
        self._seconds |= {stage: later[stage] for stage in ("run", "keep", "background")}
        self._end = asyncio.run(_state(self._place / "book"))

    def _child(self, until: str, *options: str) -> Child:
        os.environ["FLOWCABAL_CACHE_DIR"] = str(self._place / "cache")
        return Child(self._place / "book", self._source, self._chapters, "--stop-after", until, *options)

    def _go(self, until: str, *options: str) -> dict[str, float]:
        """Goes on undisturbed; seconds of each phase."""
        lines = self._child(until, *options).lines()
        return {line["phase"]: line["seconds"] for line in lines if line.get("begins") is False}

    def kill(self, stage: str, chance: random.Random, *, served: bool) -> Killed:
        """Kills at a random moment of a stage, looks, waits, goes on to the end, looks again."""
        while left_over(str(self._place)):
            time.sleep(0.2)
        shutil.rmtree(self._place)
        shutil.copytree(self._empty if stage == "import" else self._imported, self._place)
        moment = chance.uniform(0, STREAM_SECONDS if stage == "run" else self._seconds[stage])
        if stage == "import" and chance.random() < 0.5:  # what follows an import counts as import
            moment += chance.uniform(0, self._after_import)
        seen = len(self._writer.log())
        child = self._child("background")
        child.until("stream" if stage == "run" else stage, begins=True)
        ended = _said_within(child, moment)
        child.process.kill()
        streams = [request.sent for request in self._writer.log()[seen:] if request.outcome != "complete"]
        child.process.wait()
        killed_at = time.monotonic()
        book = self._place / "book"
        before = asyncio.run(_state(book))
        lost = asyncio.run(_lost(book, streams))
        time.sleep(max(0.0, GONE_SECONDS - (time.monotonic() - killed_at)))
        stayed = left_over(str(self._place))
        self._go("background", *(() if served else ("--no-knowledge",)))
        end = asyncio.run(_state(book))
        kept_lost = int("keep" in ended and not before["kept"]) + len(set(before["texts"]) - set(end["texts"]))
        doubled = max(0, len(end["texts"]) - len(self._end["texts"])) + max(0, end["kept"] - self._end["kept"])
        unlike = tuple(key for key in end if end[key] != self._end[key])
        return Killed(stage, self._chapters, moment, kept_lost, doubled, lost, tuple(stayed), unlike)


def _said_within(child: Child, seconds: float) -> set[str]:
    """The phases that the child has ended within so many seconds."""
    assert child.process.stdout is not None
    ended, until = set(), time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([child.process.stdout], [], [], left)[0]:
        line = child.process.stdout.readline()
        if not line:
            break
        said = json.loads(line)
        if said.get("begins") is False:
            ended.add(said["phase"])
    with contextlib.suppress(ValueError):
        time.sleep(until - time.monotonic())
    return ended


async def _state(folder: Path) -> dict[str, Any]:
    """What must be the same in the end, however often it was killed. Raises when the file is not whole."""
    project = await Project.open(folder, read_only=True)
    try:
        await project.check()
        chapters = await project.book.chapters()
        state: dict[str, Any] = {
            "texts": [await project.book.chapter_text(chapter.id) for chapter in chapters if chapter.digest],
            "kept": len(await project.book.kept()),
            "versions": [len(await project.book.chapter_versions(chapter.id)) for chapter in chapters],
            "names": len(await project.story.entities()),
            "profiles": sorted(row.name for row in await project.memory.profiles()),
        }
    finally:
        await project.close()
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        for table in ("mention", "passage"):
            (state[table],) = database.execute(f"SELECT count(*) FROM {table} WHERE died IS NULL").fetchone()
    return state


async def _lost(folder: Path, sent: list[int]) -> float:
    """Seconds of streamed text that the server had sent and the journal does not have."""
    if not sent:
        return 0.0
    project = await Project.open(folder, knowledge=False, read_only=True)
    try:
        runs = await project.runs.summaries()
        kept = 0
        for node, state in runs[0].nodes if runs else ():
            if state not in ("done", "waiting"):
                kept = len((await project.runs.node(runs[0].id, NodeId(node))).partial)
    finally:
        await project.close()
    return max(0.0, (min((sent[0] - 1) * 2, len(TEXT)) - kept) / 2 * DELAY)
