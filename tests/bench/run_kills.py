"""kill -9 at random moments of a run of 200 nodes: what is done twice, what is lost, how soon it goes on.

FLOWCABAL_BENCH_KILLS kills (100 without it), FLOWCABAL_BENCH_SEED seeds the moments. A run is killed again and again
until it comes to its end before its moment; then the next one begins.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.errors import ProjectReadOnly
from flowcabal_tui.domain.ids import Digest, NodeId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.runner.fold import RunFold, fold
from flowcabal_tui.store import Store
from tests.bench.echo import EchoServer, prompt_of
from tests.bench.report import Figure, checked, none_of, percentile
from tests.bench.run_document import COUNTER
from tests.bench.run_victim import LEDGER, RUN, now

KILLS: Final = int(os.environ.get("FLOWCABAL_BENCH_KILLS", "100"))
SEED: Final = int(os.environ.get("FLOWCABAL_BENCH_SEED", "81"))
HANGS: Final = 60.0
"""Seconds after which a process that goes on undisturbed counts as hung."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a folder holds after a process has ended."""

    log: tuple[RunEvent, ...]
    fold: RunFold
    texts: Mapping[Digest, str]
    counted: int
    acts: Counter[str]

    @property
    def done(self) -> dict[NodeId, Digest]:
        return {path: node.digest for path, node in self.fold.nodes.items() if node.state == "done"}

    @property
    def paid(self) -> frozenset[Digest]:
        """The prompts whose answers were kept."""
        return frozenset(prompt for text in self.texts.values() if (prompt := prompt_of(text)))

    @property
    def acted(self) -> set[str]:
        """The names of the actions whose ends were kept."""
        return {
            json.loads(self.texts[event.payload["digest"]])["noted"]
            for event in self.log
            if event.kind == "node-done" and event.node.rpartition("/")[2].startswith(("act", "noted"))
        }

    @property
    def effects(self) -> int:
        """How often the log says that the counter was changed."""
        return sum(COUNTER in event.payload.get("effect", {}).get("updates", {}) for event in self.log)


@dataclass
class Wrong:
    """What must not be, and what cannot be helped."""

    called_again: int = 0
    acted_again: int = 0
    ended_twice: int = 0
    lost: int = 0
    changed: int = 0
    effects: int = 0
    unlike: int = 0
    cut: int = 0
    """Calls that a kill cut off: they are made again."""
    unkept: int = 0
    """Actions that were carried out in the moment before the kill, their ends not on disk: they are done again."""
    resumes: list[float] = field(default_factory=list)
    """Seconds from opening the store to the first new node."""
    processes: list[int] = field(default_factory=list)


def measure() -> list[Figure]:
    """One line a kill, and the sums."""
    chance, wrong, runs, kills = random.Random(SEED), Wrong(), 0, 0
    began = time.monotonic()
    with EchoServer() as server, tempfile.TemporaryDirectory(prefix="flowcabal-bench-") as folder:
        unkilled = Victim(Path(folder) / "unkilled", server, wrong)
        whole = unkilled.process(HANGS)
        assert whole is not None, "the unkilled run did not end"
        end = unkilled.kept
        nodes = len(end.done)
        wrong.resumes.clear()
        while kills < KILLS:
            victim = Victim(Path(folder) / str(runs), server, wrong)
            killed = 0
            while kills < KILLS and victim.process(moment := chance.uniform(0, whole)) is None:
                kills, killed = kills + 1, killed + 1
                print(
                    f"  {kills:>3} run {runs:>2} at {moment:.2f} s: {len(victim.kept.done)} nodes done", file=sys.stderr
                )
            if not victim.ended:
                assert victim.process(HANGS) is not None, "a resumed run did not end"
            wrong.unlike += _unlike(victim.kept, end)
            wrong.processes.append(killed)
            runs += 1
    return [
        Figure("kills, in so many runs, of so many nodes", f"{kills} / {runs} / {nodes}"),
        Figure("seconds of an unkilled run; of all", f"{whole:.1f}; {time.monotonic() - began:.0f}"),
        none_of("calls made again whose answers were kept", wrong.called_again),
        none_of("actions done again whose ends were kept", wrong.acted_again),
        none_of("nodes that ended twice in the log", wrong.ended_twice),
        none_of("nodes told as done, or done before, that were lost", wrong.lost),
        none_of("outputs that changed after they had ended", wrong.changed),
        none_of("state effects that were lost or doubled", wrong.effects),
        none_of("runs that ended unlike an unkilled one", wrong.unlike),
        Figure("calls cut off by a kill, made again", str(wrong.cut)),
        Figure("actions carried out whose ends a kill cut off", str(wrong.unkept)),
        Figure("open to first new node, median, ms", f"{percentile(wrong.resumes, 0.5) * 1000:.0f}"),
        checked("open to first new node, worst", max(wrong.resumes) * 1000, 1000, "ms"),
    ]


class Victim:
    """One run in a folder of its own, in one process after the other."""

    def __init__(self, folder: Path, server: EchoServer, wrong: Wrong) -> None:
        folder.mkdir()
        self._folder, self._server, self._wrong = folder, server, wrong
        self.kept = Kept((), fold(()), {}, 0, Counter())
        self.ended = False

    def process(self, moment: float) -> float | None:
        """Goes on with the run; kills it so many seconds after it began to open.

        Returns the seconds that the process took when it ended before its moment, else None.
        """
        command = [sys.executable, "-m", "tests.bench.run_victim", str(self._folder), self._server.url]
        before, called = self.kept, len(self._server.calls)
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        told: dict[str, Any] = {"done": []}
        for line in _said(child, moment):
            if "done" in line:
                told["done"].append(line["done"])
            else:
                told |= line
        child.kill()
        child.wait()
        self.ended = "ended" in told
        assert told.get("ended", "done") == "done", told["ended"]
        if before.log and "resumed" in told:
            self._wrong.resumes.append(told["resumed"])
        self.kept = asyncio.run(_kept(self._folder))
        self._judge(before, called, told["done"])
        return told["seconds"] if self.ended else None

    def _judge(self, before: Kept, called: int, told: list[NodeId]) -> None:
        """Compares what is kept now with what was kept, with what was told, and with what the world has seen."""
        wrong, after = self._wrong, self.kept
        calls = self._server.calls[called:]
        wrong.called_again += (
            sum(call.prompt in before.paid for call in calls) + len(calls) - len({c.prompt for c in calls})
        )
        wrong.cut += sum(call.prompt not in after.paid for call in calls)
        wrong.acted_again += sum(after.acts[name] > before.acts[name] for name in before.acted)
        wrong.unkept += len(set(after.acts) - after.acted)
        ends = Counter(event.node for event in after.log if event.kind == "node-done")
        wrong.ended_twice += sum(count > 1 for count in ends.values())
        wrong.lost += len((set(told) | set(before.done)) - set(after.done))
        wrong.lost += len(before.paid - after.paid)
        wrong.changed += sum(after.done.get(path, name) != name for path, name in before.done.items())
        wrong.effects += abs(after.counted - after.effects)


def _said(child: subprocess.Popen[bytes], moment: float) -> Iterator[dict[str, Any]]:
    """The lines of a process until its moment, counted from when it opens, and what it had written by then."""
    assert child.stdout is not None
    file, rest, until = child.stdout.fileno(), b"", time.monotonic() + HANGS
    while (left := until - time.monotonic()) > 0 and select.select([file], [], [], left)[0]:
        if not (read := os.read(file, 65536)):
            return
        *lines, rest = (rest + read).split(b"\n")
        for line in map(json.loads, lines):
            if "opens" in line:
                until = time.monotonic() + moment
            yield line
    child.kill()
    *lines, _cut = (rest + child.stdout.read()).split(b"\n")
    yield from map(json.loads, lines)


async def _kept(folder: Path) -> Kept:
    """What the next process will find. Raises when the file is not whole, or an output is not there."""
    acts = (folder / LEDGER).read_text().split("\n")[:-1] if (folder / LEDGER).exists() else []
    nothing = Kept((), fold(()), {}, 0, Counter(acts))
    if not (folder / ".flowcabal" / "project.db").exists():
        return nothing
    try:
        store = await Store.open(folder, read_only=True, clock=now, language="en")
    except ProjectReadOnly:  # killed before its tables were made
        return nothing
    try:
        await store.check()
        log = await store.journal.history(RUN)
        names = {Digest(event.payload["digest"]) for event in log if event.payload.get("digest")}
        texts = await store.journal.texts(tuple(names))
        state = (await store.states.load()).view()
    finally:
        await store.close()
    return Kept(log, fold(log), texts, int(state.get(COUNTER, 0)), Counter(acts))


def _unlike(kept: Kept, end: Kept) -> bool:
    """Are there other nodes, other states or other outputs? What counts the steps may count them in another order."""
    states = {path: node.state for path, node in kept.fold.nodes.items()}
    outputs = {path: name for path, name in kept.done.items() if "count" not in path}
    return (
        states != {path: node.state for path, node in end.fold.nodes.items()}
        or outputs != {path: name for path, name in end.done.items() if "count" not in path}
        or (kept.counted, sorted(set(kept.acts))) != (end.counted, sorted(set(end.acts)))
    )
