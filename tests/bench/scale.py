"""Does a context stay as good, as short and as fast as the book grows: 50 to 1,000 chapters in front of the target.

The same queries at every length: those of one novel a language whose target is among its first 50 chapters. Chapters
of the other novels in that language stand before those 50, in full, and again from the first where they are too few.
Each length is imported in one process and asked in another, whose memory is measured. FLOWCABAL_BENCH_EVERY: each so
many'th query; FLOWCABAL_BENCH_SCALE: the novels instead of those below, by folder, with blanks between.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.project.bench.bench_report import LabelledQueries, tried
from flowcabal_tui.project.bench.bench_scores import read_labels
from flowcabal_tui.project.bench.context_bench import BenchSettings, chapter_lengths, imported, read_queries
from tests.bench.report import Figure, checked, given

NOVELS: Final = tuple(os.environ.get("FLOWCABAL_BENCH_SCALE", "xiyouji nicholas-nickleby").split())
OWN: Final = 50
"""Chapters of the novel itself."""
SIZES: Final = (OWN, 120, 200, 500, 1_000)
USUAL: Final = 120
"""The length that longer ones are held against."""
EVERY: Final = int(os.environ.get("FLOWCABAL_BENCH_EVERY", "1"))
KEPT: Final = 0.9
SPREAD: Final = 0.05
MOST_MS: Final = 300.0


def measure() -> list[Figure]:
    """A line for each length of each novel, and what of it has a target."""
    bench = given("FLOWCABAL_BENCH_CONTEXT", "the context benchmark")
    return [figure for novel in NOVELS for figure in _novel(bench, novel)]


def _novel(bench: Path, novel: str) -> Iterator[Figure]:
    rows: dict[int, dict[str, Any]] = {}
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _beside(bench, novel, Path(folder))
            for task in ("import", "ask"):
                command = [sys.executable, "-m", "tests.bench.scale", task, str(bench), novel, str(size), folder]
                said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        row = rows[size] = json.loads(said.splitlines()[-1])
        scores = " / ".join(f"{row[name]:.3f}" for name in ("ndcg", "chapters", "evidence"))
        yield Figure(f"{novel}, {size:,} chapters, {row['queries']} queries: nDCG@10 / rB / evB", scores)
        yield Figure(f"{novel}, {size:,}: tokens, mean and most", f"{row['tokens']:,.0f}, {row['most']:,}")
        yield Figure(
            f"{novel}, {size:,}: assembly p50, p95, the first", "{median:.0f}, {p95:.0f}, {first:.0f} ms".format(**row)
        )
        yield Figure(f"{novel}, {size:,}: memory; database over text", "{rss:.0f} MiB; {disk:.2f}".format(**row))
    for name in ("chapters", "evidence"):
        part = rows[SIZES[-1]][name] / rows[USUAL][name]
        yield Figure(f"{novel}: {name} at 1,000 over 120", f"{part:.1%}", f">= {KEPT:.0%}", part >= KEPT)
    tokens = [row["tokens"] for row in rows.values()]
    spread = max(tokens) / min(tokens) - 1
    yield Figure(f"{novel}: tokens, the most over the least", f"{spread:.1%}", f"<= {SPREAD:.0%}", spread <= SPREAD)
    yield checked(f"{novel}: assembly at 1,000, p95", rows[SIZES[-1]]["p95"], MOST_MS, "ms")


def _beside(bench: Path, novel: str, folder: Path) -> None:
    """A folder of novels in which this one has its first chapters only."""
    for each in (bench / "novels").iterdir():
        if each.name != novel:
            (folder / each.name).symlink_to(each)
    (folder / novel).mkdir()
    for file in sorted((bench / "novels" / novel).glob("*.txt"))[:OWN]:
        (folder / novel / file.name).symlink_to(file)


async def _child(task: str, bench: Path, novel: str, size: int, folder: Path) -> None:
    """Imports the book of this length, or asks it and says what came out."""
    file = next(file for file in (bench / "queries").glob("dev.*.jsonl") if f'"{novel}"' in file.read_text("utf-8"))
    queries = tuple(each for each in read_queries(file) if each.novel == novel and each.now <= OWN)[::EVERY]
    book = await imported(folder / novel, queries[0].language, size)
    if task == "import":
        return
    asked = LabelledQueries(book, queries, read_labels(file), chapter_lengths(folder / novel))
    trial, found = await tried("", [asked], BenchSettings())
    core, database = trial.means[-1], book.folder / ".flowcabal" / "project.db"
    texts = sum(each.stat().st_size for each in (book.folder / "manuscript").glob("*.md"))
    row = {
        "queries": core.queries,
        "ndcg": core.ndcg,
        "chapters": core.chapters,
        "evidence": core.evidence,
        "tokens": trial.tokens,
        "most": max(each.tokens for each in found),
        "median": trial.median,
        "p95": trial.p95,
        "first": 1_000 * found[0].seconds,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "disk": database.stat().st_size / texts,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    _task, _bench, _name, _size, _folder = sys.argv[1:]
    asyncio.run(_child(_task, Path(_bench), _name, int(_size), Path(_folder)))
