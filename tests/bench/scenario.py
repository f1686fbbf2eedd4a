"""A writer's way to one more chapter, as a process: import, run, keep, memory, and the same run again.

    python -m tests.bench.scenario PROJECT NOVEL LAST [--stop-after PHASE] [--no-knowledge]

Every phase looks first at what is there, so a process that was killed anywhere is gone on with by the next one.
Prints one line of JSON a phase as it begins and ends, and what was measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, PersistOutput
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.protocol.runs import Decide, NodeCompleted, NodeStarted, ResumeRun, RunStarted, RunWorkflow
from tests.bench.processes import rss_mib, tree

PHASES = ("import", "index", "ingest", "run", "keep", "background", "again")
TITLE = "占旺相四美钓游鱼 奉严词两番入家塾"
WISH = "宝玉为迎春伤感，与黛玉相对而哭；探春、李纹等钓鱼；贾政送宝玉入家塾。"
KEPT_NODE = NodeId("polish")


def say(**values: Any) -> None:
    """One line for the parent."""
    print(json.dumps(values, ensure_ascii=False), flush=True)


@asynccontextmanager
async def phase(name: str) -> AsyncIterator[dict[str, Any]]:
    """Tells the begin and the end of a phase, with its time and what was put into the yielded dictionary."""
    found: dict[str, Any] = {}
    say(phase=name, begins=True)
    wall, cpu = time.perf_counter(), time.process_time()
    yield found
    seconds = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    say(phase=name, begins=False, **seconds, **found)


class Writer:
    """The steps of the scenario on an open project."""

    def __init__(self, project: Project, novel: Path, last: int, *, knowledge: bool) -> None:
        self._project, self._novel, self._last = project, novel, last
        self._knowledge = "starting" if knowledge else "off"
        self._idle_since = 0.0
        self.assembly: dict[NodeId, float] = {}

    async def go(self, until: str) -> None:
        """All phases up to this one."""
        async with phase("import"):
            if not await self._written():
                await self._project.carry_out(ImportManuscript(str(self._novel), self._last))
        for name, step in (
            ("index", self._indexed),
            ("ingest", self._ingested),
            ("run", self._run),
            ("keep", self._keep),
            ("background", self._ingested),
            ("again", self._again),
        ):
            if PHASES.index(until) < PHASES.index(name):
                return
            async with phase(name) as found:
                found |= await step() or {}

    async def _written(self) -> list[Chapter]:
        return [chapter for chapter in await self._project.book.chapters() if chapter.digest]

    async def _target(self) -> ChapterId:
        chapters = await self._project.book.chapters()
        if len(chapters) > self._last:
            return chapters[-1].id
        return ChapterId(await self._project.carry_out(AddChapter(TITLE)))

    async def _indexed(self) -> dict[str, Any]:
        """Waits for everything but the knowledge server."""
        while any(task.kind != "knowledge" for task in await self._open_tasks()):
            self._listen()
            await asyncio.sleep(0.05)
        return {}

    async def _ingested(self) -> dict[str, Any]:
        """Waits until nothing at all is left, or only what a server that is not there would do."""
        while open_tasks := await self._open_tasks():
            self._listen()
            if self._knowledge in ("off", "absent", "failed") and all(task.kind == "knowledge" for task in open_tasks):
                break
            await asyncio.sleep(0.05)
        failed = [task.error for task in await self._project.memory.background() if task.state == "failed"]
        return {"knowledge": self._knowledge, "failed": failed, "rss": _memory()}

    async def _open_tasks(self) -> list[Any]:
        return [task for task in await self._project.memory.background() if task.state in ("waiting", "running")]

    def _listen(self) -> None:
        for event in self._project.take():
            match event:
                case KnowledgeStatus(state=state):
                    self._knowledge = state
                case RunStarted() | NodeCompleted():
                    self._idle_since = time.perf_counter()
                case NodeStarted(node=node, attempt=1):
                    say(phase="stream", begins=True, node=node)
                    self.assembly[node] = time.perf_counter() - self._idle_since

    async def _request(self) -> RunRequest:
        return RunRequest("chapter", await self._target(), (("instruction", WISH),))

    async def _run(self) -> dict[str, Any]:
        """Begins the run or goes on with it, and answers what it asks; returns what its nodes were given."""
        runs = await self._project.runs.summaries()
        if not runs:
            run = RunId(await self._project.carry_out(RunWorkflow(await self._request())))
        else:
            run = runs[0].id
            if runs[0].state == "interrupted":
                await self._project.carry_out(ResumeRun(run))
        asked = await self._to_the_end()
        nodes = {}
        for node, _state in (await self._project.runs.summaries())[0].nodes:
            view = await self._project.runs.node(run, node)
            attempt = view.attempts[-1]
            used = attempt.receipt.used if attempt.receipt else 0
            nodes[node] = {"prompt": attempt.usage.input_tokens, "context": used}
        return {"nodes": nodes, "asked": asked, "previews": await self._previews(), "assembly": self.assembly}

    async def _to_the_end(self) -> int:
        """Approves whatever is asked until the newest run is over; returns how often it was asked."""
        asked = 0
        while (state := (await self._project.runs.summaries())[0].state) not in ("done", "failed", "cancelled"):
            self._listen()
            for question in await self._project.runs.questions():
                asked += 1
                await self._project.carry_out(Decide(question.id, Decision("approve", max(question.attempts))))
            await asyncio.sleep(0.01)
        if state != "done":
            raise SystemExit(f"the run ended as {state}: {(await self._project.runs.summaries())[0].error}")
        return asked

    async def _previews(self) -> dict[str, list[float]]:
        """Milliseconds to assemble the context of each node, five times over."""
        request = await self._request()
        times: dict[str, list[float]] = {}
        for node in ("plan", "draft", "polish"):
            for _round in range(5):
                started = time.perf_counter()
                await self._project.runs.preview_context(request, NodeId(node))
                times.setdefault(node, []).append((time.perf_counter() - started) * 1000)
        return times

    async def _keep(self) -> None:
        if not await self._project.book.kept():
            await self._project.carry_out(PersistOutput((await self._project.runs.summaries())[0].id, KEPT_NODE))

    async def _again(self) -> dict[str, Any]:
        say(phase="again", ready=True)
        await self._project.carry_out(RunWorkflow(await self._request()))
        return {"asked": await self._to_the_end()}


def _memory() -> dict[str, float]:
    """MiB of this process, and of all processes that it has started."""
    return {"ours": rss_mib(os.getpid()), "all": sum(rss_mib(pid) for pid in tree(os.getpid()))}


async def main() -> None:
    """Goes the way, or a part of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("novel", type=Path)
    parser.add_argument("last", type=int)
    parser.add_argument("--stop-after", choices=PHASES, default=PHASES[-1])
    parser.add_argument("--no-knowledge", action="store_true")
    options = parser.parse_args()
    opened = time.perf_counter()
    project = await Project.open(options.project, knowledge=not options.no_knowledge)
    say(opened=time.perf_counter() - opened)
    try:
        await Writer(project, options.novel, options.last, knowledge=not options.no_knowledge).go(options.stop_after)
    finally:
        await project.close()


if __name__ == "__main__":
    asyncio.run(main())
