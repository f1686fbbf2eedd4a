"""Does a node of a graph of 10,000 cost what one of a smaller graph costs? Chain, fan and random graphs; CPU time."""

from __future__ import annotations

import asyncio
import gc
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.domain.ids import Generation, NodeId, RunId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.nodes.plan import plan
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.runner.memory_journal import MemoryJournal
from flowcabal_tui.runner.ports import JournalPort
from flowcabal_tui.runner.run import Run
from flowcabal_tui.runner.scope import RunPorts, RunScope
from flowcabal_tui.store import Store
from tests.bench.report import Figure

SIZES, ROUNDS = (1_000, 3_000, 10_000), 3
MOST: Final = 1.3
"""So many times the cost of a node of the middle graph may one of the large graph have: what grows with the square of
the nodes would show as 3.3. The small graph is shown and not judged: its whole run fits into a processor's cache."""
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
Sources = Sequence[Sequence[int]]


def chain(count: int) -> Sources:
    """Each node needs the one before."""
    return [[n - 1] if n else [] for n in range(count)]


def fan(count: int) -> Sources:
    """All nodes need the first, and the last needs all."""
    return [[], *([0] for _n in range(count - 2)), list(range(1, count - 1))]


def dag(count: int) -> Sources:
    """Each node needs up to three of the fifty before it."""
    chance = random.Random(81)
    return [sorted(chance.sample(range(max(0, n - 50), n), min(n, chance.randint(0, 3)))) for n in range(count)]


def document(sources: Sources) -> Workflow:
    """A node's output is as large as what it needs is many."""
    nodes = tuple(
        Node(
            id=NodeId(f"n{n}"),
            kind="end",
            params={"value": {"n": n, "above": [f"result_of.n{each}.n" for each in above]}},
        )
        for n, above in enumerate(sources)
    )
    return Workflow(id="linear", nodes=nodes)


def measure() -> list[Figure]:
    """A line for each graph and journal: microseconds a node at each size, and how they grow."""
    begin_loading()
    end_loading()
    return [figure for shape in (chain, fan, dag) for figure in asyncio.run(_figures(shape))]


async def _figures(shape: Callable[[int], Sources]) -> list[Figure]:
    documents = [document(shape(count)) for count in SIZES]
    rounds = [[await _costs(each) for each in documents] for _n in range(ROUNDS)]  # in turn: a machine has slow minutes
    small, middle, large = [
        {what: min(each[what] for each in same) for what in same[0]} for same in zip(*rounds, strict=True)
    ]
    found = []
    for what, before in middle.items():
        value = f"{small[what]:.0f} -> {before:.0f} -> {large[what]:.0f} us ({large[what] / before:.2f}x)"
        found.append(Figure(f"{shape.__name__}: {what}", value, f"<= {MOST}x", large[what] / before <= MOST))
    return found


async def _costs(workflow: Workflow) -> dict[str, float]:
    """Microseconds of CPU a node, by what was done."""
    found = {"plan": _planned(workflow), **await _runs(workflow, MemoryJournal(), "in memory")}
    with tempfile.TemporaryDirectory(prefix="flowcabal-bench-") as folder:
        # a chain waits for the disk at every node; only CPU time is measured, so it need not wait long
        store = await Store.open(Path(folder), clock=lambda: NOW, language="en", durability="NORMAL")
        found |= await _runs(workflow, store.journal, "in a store")
        await store.close()
    return {what: seconds / len(workflow.nodes) * 1e6 for what, seconds in found.items()}


def _planned(workflow: Workflow) -> float:
    gc.collect()
    begun = time.process_time()
    plan(workflow.nodes, workflow.edges)
    return time.process_time() - begun


async def _runs(workflow: Workflow, journal: JournalPort, where: str) -> dict[str, float]:
    """Seconds of a run, of an equal one that is served, and of the first once more, taken up from its log."""
    return {
        f"run, {where}": await _run(workflow, journal, "first"),
        f"served, {where}": await _run(workflow, journal, "second"),
        f"resumed, {where}": await _run(workflow, journal, "first", began=True),
    }


def _nobody(_event: object) -> None:
    """Nobody listens."""


async def _run(workflow: Workflow, journal: JournalPort, name: str, *, began: bool = False) -> float:
    """Seconds of CPU from the log to the end; the plan is made before."""
    run, request = RunId(name), RunRequest(workflow.reference)
    prepared = plan(workflow.nodes, workflow.edges)
    ports = RunPorts(journal, None, None, Limits(8), _nobody, lambda: NOW, str)
    if not began:
        await journal.begin_run(run, request, workflow, Generation(0))
    gc.collect()
    begun = time.process_time()
    executed = Run(
        RunScope(run, workflow, request, Generation(0), {}, ports), fold(await journal.history(run)), prepared
    )
    assert await executed.execute() == "done"
    assert len(executed.outputs) == len(workflow.nodes)
    return time.process_time() - begun
