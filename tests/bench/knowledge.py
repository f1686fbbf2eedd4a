"""What the knowledge server's find brings: the context benchmark without a server and with one.

A sample of the queries (FLOWCABAL_BENCH_EVERY: each so many'th) of one novel a language, the novel wholly indexed in a
real server with the offline embedder.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from flowcabal_tui.agents.context.gather import Finder, Found
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.project.bench.context_bench import BenchQuery, BenchSettings, answers, imported, read_queries
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
from flowcabal_tui.project.memory.sources import Sources
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.store import Store
from tests.bench.projects import openviking
from tests.bench.report import Figure, given, percentile
from tests.guards import NOTHING_GUARDED

NOVELS: Final = {"zh": "hongloumeng", "en": "nicholas-nickleby"}
CORE: Final = ("summary", "callback", "continue", "relation")
EVERY: Final = int(os.environ.get("FLOWCABAL_BENCH_EVERY", "6"))
START_SECONDS: Final = 300.0


def measure() -> list[Figure]:
    """nDCG@10, rB and evB as means over the core kinds, and the times of find."""
    bench = given("FLOWCABAL_BENCH_CONTEXT", "the context benchmark")
    openviking()
    return [figure for language in NOVELS for figure in asyncio.run(_language(bench, language))]


async def _language(bench: Path, language: str) -> list[Figure]:
    novel, labelled = NOVELS[language], bench / "queries" / f"dev.{language}.jsonl"
    kinds = {row["id"]: row["kind"] for row in map(json.loads, labelled.read_text("utf-8").splitlines())}
    asked = [one for one in read_queries(labelled) if one.novel == novel and kinds[one.id] in CORE][::EVERY]
    book = await imported(bench / "novels" / novel, language)
    figures = []
    async with _served(book.folder, language) as (timed, seconds):
        figures.append(Figure(f"{novel}: sent to the server (0: it was there)", f"{seconds:.0f} s"))
        for name, finder in (("no server", None), ("with find", timed)):
            run = book.folder / "bench-run.jsonl"
            lines = [answer.line async for answer in answers(book, asked, BenchSettings(), language, finder)]
            run.write_text("\n".join(lines), encoding="utf-8")
            figures.append(Figure(f"{novel}, {len(asked)} queries, {name}", _scored(bench, labelled, asked, run)))
    milliseconds = [1000 * taken for taken in timed.seconds]
    figures.append(
        Figure(f"{novel}: find, p50 and p95", f"{median(milliseconds):.0f}, {percentile(milliseconds, 0.95):.0f} ms")
    )
    return figures


class TimedFinder:
    """Asks another, and keeps how long each answer took."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self.seconds: list[float] = []

    async def find(self, query: str, before: int, limit: int) -> Sequence[Found]:
        began = time.perf_counter()
        found = await self._finder.find(query, before, limit)
        self.seconds.append(time.perf_counter() - began)
        return found


@asynccontextmanager
async def _served(folder: Path, language: str) -> AsyncIterator[tuple[TimedFinder, float]]:
    """A finder of a server that holds the whole novel, and the seconds that sending it took."""
    settings = load_project(folder)
    store = await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language=language)
    place = (settings.project.id, settings.project.name, folder)
    held: dict[str, str] = {}

    async def ready(there: Mapping[str, str]) -> None:
        held.update(there)

    case = KnowledgeConnection(settings.knowledge, place, language, lambda _event: None, ready, NOTHING_GUARDED)
    try:
        await case.start(LexicalEmbedder(), None)
        async with asyncio.timeout(START_SECONDS):
            while not case.is_up:  # noqa: ASYNC110  # it may be started more than once on a machine that is busy
                await asyncio.sleep(0.1)
        queries, began = Sources(store), time.perf_counter()
        steps = KnowledgeSteps(store, queries, case.sync)
        chapters = [task for task in await store.outbox.all(("waiting", "fresh")) if task.kind == "knowledge"]
        lacking = [task for task in chapters if held.get(task.subject) != task.source]
        for task in lacking:
            await steps.do(task)
        finder = RememberingFinder(case, store, queries, await store.memory.generation(), remember=False)
        yield TimedFinder(finder), time.perf_counter() - began if lacking else 0.0
    finally:
        await case.close()
        await store.close()


def _scored(bench: Path, labelled: Path, asked: Sequence[BenchQuery], run: Path) -> str:
    """The benchmark's own judge over the queries that were asked: a mean over their kinds."""
    wanted, part = {query.id for query in asked}, run.with_name("bench-queries.jsonl")
    rows = [line for line in labelled.read_text("utf-8").splitlines() if json.loads(line)["id"] in wanted]
    part.write_text("\n".join(rows), encoding="utf-8")
    command = [sys.executable, str(bench / "score.py"), str(part), str(run), "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return " / ".join(f"{said['table']['MACRO'][name]:.3f}" for name in ("ndcg10", "rB", "evB"))
