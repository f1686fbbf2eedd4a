"""How long it takes to find the passages beside a chapter's statements, in books of 120 and 1,000 chapters.

The drafts are chapters of a novel at their own places; statements and ranking are computed in the helper process, as in
a check. In the longer book chapters of the other novels in the language come before them. Each length is imported and
measured in a process of its own. FLOWCABAL_BENCH_CONTEXT names the folder with the novels.
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
            yield checked(f"{what}: p95", row["p95"], most, "ms")
            yield Figure(
                f"{what}: median; the first; memory", "{half:.0f}; {first:.0f} ms; {rss:.0f} MiB".format(**row)
            )


async def _measured(novel: Path, language: str, size: int) -> dict[str, float]:
    book = await imported(novel, language, size)
    texts = chapter_texts(novel)
    store = await Store.open(book.folder, read_only=True, clock=lambda: datetime.now(UTC), language=language)
    workshop = Workshop()
    try:
        chapters = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        generation, took = await store.memory.generation(), []
        for number in range(_FIRST, len(texts) + 1, _STEP):
            seen = await read_book(await store.memory.view(chapters[book.fillers + number], generation))
            begun = time.perf_counter()
            await evidence_for(seen, texts[number - 1], workshop.do)
            took.append(1_000 * (time.perf_counter() - begun))
    finally:
        await workshop.close()
        await store.close()
    return {
        "drafts": len(took),
        "first": took[0],
        "half": percentile(took[1:], 0.5),
        "p95": percentile(took[1:], 0.95),
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    _novel, _language, _size = sys.argv[1:]
    print(json.dumps(asyncio.run(_measured(Path(_novel), _language, int(_size)))))
