"""How long it takes to find the passages beside a chapter's statements, in books of 120 and 1,000 chapters.

The drafts are chapters of a novel at their own places; statements and ranking are computed in the helper process, as in
a check. In the longer book chapters of the other novels in the language come before them. Each length is imported and
measured in a process of its own; an import is kept in the user's cache folder, and an interrupted one goes on where it
was. Processor time of both processes is given too: it says more where the machine has other work.
FLOWCABAL_BENCH_CONTEXT names the folder with the novels.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from flowcabal_tui.agents.checking.evidence.search import evidence_for
from flowcabal_tui.agents.context.gather import read_book
from flowcabal_tui.domain.garbage import begin_loading, end_loading
from flowcabal_tui.project.bench.check_bench import chapter_texts
from flowcabal_tui.project.bench.context_bench import imported
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.store import Store
from tests.bench.report import Figure, checked, given, percentile

NOVELS: Final = (("hongloumeng", "zh"), ("monte-cristo", "en"))
SIZES: Final = ((120, 300.0), (1_000, 600.0))
"""Chapters, and the most milliseconds."""
_FIRST, _STEP = 12, 3


def measure() -> Iterator[Figure]:
    """Two lines a novel and length: the drafts after the first, and the first, which reads what all of them share."""
    novels = given("FLOWCABAL_BENCH_CONTEXT", "the context benchmark") / "novels"
    for name, language in NOVELS:
        for size, most in SIZES:
            command = [sys.executable, "-m", "tests.bench.evidence", str(novels / name), language, str(size)]
            said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            row = json.loads(said.splitlines()[-1])
            what = f"{name}, {size:,} chapters, {row['drafts']} drafts"
            yield Figure(f"{what}: import, unless kept", "{imported:.0f} s".format(**row))
            yield checked(f"{what}: p95", row["p95"], most, "ms")
            yield Figure(f"{what}: p95 of processor time", "{busy:.0f} ms".format(**row))
            yield Figure(
                f"{what}: median; the first; memory", "{half:.0f}; {first:.0f} ms; {rss:.0f} MiB".format(**row)
            )


async def _measured(novel: Path, language: str, size: int) -> dict[str, float]:
    begin_loading()
    end_loading()  # as the program does
    begun = time.perf_counter()
    book = await imported(novel, language, size)
    importing = time.perf_counter() - begun
    texts = chapter_texts(novel)
    store = await Store.open(book.folder, read_only=True, clock=lambda: datetime.now(UTC), language=language)
    workshop = Workshop()
    try:
        chapters = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        generation, took, busy = await store.memory.generation(), [], []
        for number in range(_FIRST, len(texts) + 1, _STEP):
            seen = await read_book(await store.memory.view(chapters[book.fillers + number], generation))
            before = await _processor_time(workshop)
            begun = time.perf_counter()
            await evidence_for(seen, texts[number - 1], workshop.do)
            took.append(1_000 * (time.perf_counter() - begun))
            busy.append(1_000 * (await _processor_time(workshop) - before))
    finally:
        await workshop.close()
        await store.close()
    return {
        "imported": importing,
        "drafts": len(took),
        "first": took[0],
        "half": percentile(took[1:], 0.5),
        "p95": percentile(took[1:], 0.95),
        "busy": percentile(busy[1:], 0.95),
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def _processor_time(workshop: Workshop) -> float:
    """Seconds of this process and of the helper process."""
    return time.process_time() + await workshop.do(time.process_time)


if __name__ == "__main__":
    _novel, _language, _size = sys.argv[1:]
    print(json.dumps(asyncio.run(_measured(Path(_novel), _language, int(_size)))))
