"""Sixteen streams of 200 tokens/s for a minute: does the engine keep up, and at what cost?"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import AgentsSettings, KnowledgeSettings, RunSettings
from tests.bench.pacer import whole
from tests.bench.processes import rss_mib
from tests.bench.projects import model_at, new_project, own_folders
from tests.bench.report import Figure, checked, none_of, percentile
from tests.bench.servers import PacedServer

STREAMS, RATE = 16, 200
SECONDS = float(os.environ.get("FLOWCABAL_BENCH_SECONDS", "60"))
DRAIN_SECONDS = 0.1
SLOW = 1.02
"""A stream is slowed when it takes more than this much of its ideal time until the node is done."""


def many_streams(count: int) -> Workflow:
    """A workflow whose nodes all stream at once, without context or checks."""
    nodes = [
        Node(
            id=NodeId(f"n{number:02d}"),
            params=PromptParams(prompt=(TextBlock(text=f"stream {number}"),), context=False, review="never").model_dump(
                mode="json"
            ),
        )
        for number in range(count)
    ]
    return Workflow(id="streams", name="Streams", nodes=tuple(nodes))


def project_for_streams(folder: Path, url: str) -> None:
    """A project in which so many nodes may call the model at once, and nothing else happens."""
    model = model_at(url, "openai", concurrency=STREAMS)
    new_project(
        folder,
        model,
        model,
        run=RunSettings(concurrency=STREAMS),
        agents=AgentsSettings(context=False, monitor=False, curator=False),
        knowledge=KnowledgeSettings(enabled=False),
    )


def measure() -> list[Figure]:
    """One run; lags of the engine's loop beside those of the server's, which has the machine to itself as little."""
    with own_folders() as folder, PacedServer(RATE, SECONDS) as server:
        project_for_streams(folder / "book", server.url)
        return asyncio.run(_streams(folder / "book", server))


async def _streams(folder: Path, server: PacedServer) -> list[Figure]:
    project = await Project.open(folder, knowledge=False)
    try:
        await project.carry_out(SaveWorkflow(many_streams(STREAMS)))
        lags: list[float] = []
        probe = project._engine.submit(_probe(lags))  # the loop that is measured is the engine's own
        await asyncio.sleep(1.0)
        idle = list(lags)
        lags.clear()
        began, cpu = time.perf_counter(), time.process_time()
        run = RunId(await project.carry_out(RunWorkflow(RunRequest("streams"))))
        project.watch(run, NodeId("n07"))
        finished: list[float] = []
        shown = 0
        while len(finished) < STREAMS:
            await asyncio.sleep(DRAIN_SECONDS)
            for event in project.take():
                shown += len(getattr(event, "chunk", ""))
                finished += [time.perf_counter() - began] if event.type == "node:completed" else []
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        probe.cancel()
        texts = [
            (await project.runs.node(run, NodeId(f"n{number:02d}"))).attempts[-1].text for number in range(STREAMS)
        ]
    finally:
        await project.close()
    sent, machine = server.streams()
    expected = whole(server.tokens)
    slowed = sum(seconds > SECONDS * SLOW for seconds in finished)
    return [
        Figure(
            "engine loop lag p50: idle / streaming, ms",
            f"{percentile(idle, 0.5) * 1000:.2f} / {percentile(lags, 0.5) * 1000:.2f}",
        ),
        checked("engine loop lag p99", percentile(lags, 0.99) * 1000, 20, "ms"),
        Figure(
            "engine loop lag worst; the server's own p99, ms",
            f"{max(lags) * 1000:.1f}; {percentile(machine, 0.99) * 1000:.1f}",
        ),
        checked("CPU of a core", cpu / wall * 100, 15, "%"),
        none_of(f"streams slowed by more than {(SLOW - 1) * 100:.0f} %", slowed),
        Figure(
            "time beside the ideal: median / slowest",
            f"{percentile(finished, 0.5) / SECONDS:.4f} / {max(finished) / SECONDS:.4f}",
        ),
        Figure("bytes that ever waited at the server", f"{max(stream['unsent'] for stream in sent):.0f}"),
        none_of("texts that differ from what was sent", sum(text != expected for text in texts)),
        Figure("characters shown of the watched node", f"{shown} of {len(expected)}"),
        Figure("memory at its highest, MiB", f"{rss_mib(os.getpid(), 'VmHWM'):.0f}"),
    ]


async def _probe(lags: list[float]) -> None:
    """How late this loop comes back from a sleep, in seconds."""
    clock = asyncio.get_running_loop().time
    while True:
        due = clock() + 0.01
        await asyncio.sleep(0.01)
        lags.append(clock() - due)
