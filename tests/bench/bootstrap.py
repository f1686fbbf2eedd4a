"""A novel that is there already: imported without a model, read by one for money, killed while it is read.

FLOWCABAL_BENCH_KILLS kills of a reading (20 without it), FLOWCABAL_BENCH_SEED seeds the moments. The model is the
embedded one behind HTTP, so that its answers quote the book. The kills are on the first twelve chapters.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.codec import from_json
from flowcabal_tui.domain.model_calls import Answer
from flowcabal_tui.domain.text import digest
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project import Project
from flowcabal_tui.store.file.blobs import unpack
from tests.bench.processes import MIB
from tests.bench.projects import Child, model_at, new_project, novel, own_folders
from tests.bench.reader import Asked, ReadingServer
from tests.bench.report import Figure, checked, none_of, percentile
from tests.trusting import confirmed

KILLS: Final = int(os.environ.get("FLOWCABAL_BENCH_KILLS", "20"))
SEED: Final = int(os.environ.get("FLOWCABAL_BENCH_SEED", "81"))
LONG: Final = 1_000_000
KILLED_CHAPTERS: Final = 12
ANSWER_SECONDS: Final = 0.05
PRICE_IN, PRICE_OUT = Decimal(1), Decimal(4)
"""Of a million tokens; only to see that the quote holds."""
QUERIES: Final = ("宝玉", "林黛玉", "大观园", "通灵宝玉", "王熙凤 贾琏", "刘姥姥", "吟诗", "元宵", "不见", "贾母 笑道")
STATES: Final = {
    "derived": "SELECT uri, level, position, digest, source, method FROM derived",
    "entity": "SELECT id, name, aliases, proposed, removed FROM entity GROUP BY id HAVING generation=max(generation)",
    "record": "SELECT id, kind, body, removed FROM record GROUP BY id HAVING generation=max(generation)",
    "mention": "SELECT chapter, entity, spans FROM mention WHERE died IS NULL",
}
"""What must be the same in the end, however often it was killed."""


def measure() -> list[Figure]:
    """The import, the whole reading, and the kills."""
    source = novel()
    with own_folders() as folder, ReadingServer(0.0) as server:
        book = _one_file(source, folder / "book.txt", 0)
        figures = [*_imported(folder, source), *_read(folder, book, server)]
        return [*figures, *_kills(folder, book)]


def _one_file(source: Path, target: Path, least: int) -> Path:
    """The chapters as one file with headings, from the first again until it has `least` characters."""
    listed = source.parent.parent / "manifest.json"
    names: dict[str, str] = {}
    if listed.exists():
        books = {each["slug"]: each for each in json.loads(listed.read_text(encoding="utf-8"))}
        parts = books.get(source.name, {}).get("chapter_list", [])
        names = {Path(each["file"]).name: each["heading"] for each in parts}
    files = sorted(source.glob("*.txt"))
    parts_made: list[str] = []
    length = 0
    while not parts_made or length < least:
        for file in files:
            text = file.read_text(encoding="utf-8").strip()
            parts_made.append(f"第{len(parts_made) + 1}回 {names.get(file.name, file.stem)}\n\n{text}\n\n")
            length += len(text)
            if 0 < least <= length:
                break
    target.write_text("".join(parts_made), encoding="utf-8")
    return target


def _imported(folder: Path, source: Path) -> Iterator[Figure]:
    """A million characters without a model, and a search over them."""
    long = _one_file(source, folder / "long.txt", LONG)
    texts = [chapter.text for chapter in read_manuscript(long).chapters]
    new_project(folder / "long", model_at("http://127.0.0.1:9", "openai"), model_at("http://127.0.0.1:9", "openai"))
    child = Child(folder / "long", long, len(texts), "--stop-after", "index", "--no-knowledge")
    seconds = {line["phase"]: (line["seconds"], line["cpu"]) for line in child.lines() if line.get("begins") is False}
    yield Figure("characters / chapters in one file", f"{sum(map(len, texts)):,} / {len(texts)}")
    yield Figure("import: read, split, names, stored", f"{seconds['import'][0]:.1f} s")
    yield Figure("then index, mirror, summaries by rule", f"{seconds['index'][0]:.1f} s")
    yield checked("import and index together", seconds["import"][0] + seconds["index"][0], 30, "s")
    size = sum(path.stat().st_size for path in (folder / "long" / ".flowcabal").iterdir()) / MIB
    yield Figure("database / text, MiB", f"{size:.1f} / {sum(len(text.encode()) for text in texts) / MIB:.1f}")
    first, times = asyncio.run(_searched(folder / "long"))
    yield Figure("search: the first after opening", f"{first * 1000:.0f} ms")
    yield checked("search over them, p95", percentile(times, 0.95) * 1000, 100, "ms")


async def _searched(folder: Path) -> tuple[float, list[float]]:
    """Seconds of the first search, and of each of those after it."""
    project = await Project.open(folder, knowledge=False, read_only=True)
    try:
        times = []
        for query in (*QUERIES, *QUERIES, *QUERIES):
            began = time.perf_counter()
            await project.book.search(query)
            times.append(time.perf_counter() - began)
        return times[0], times[1:]
    finally:
        await project.close()


def _project(folder: Path, book: Path, url: str, last: int | None = None) -> None:
    """A project with the chapters of a file, read by rule."""
    model = model_at(url, "openai").model_copy(
        update={"structured": "native", "price_in": PRICE_IN, "price_out": PRICE_OUT}
    )
    new_project(folder, model, model)
    words = ["import", str(folder), str(book), *(["--first", str(last)] if last else [])]
    subprocess.run([sys.executable, "-m", "flowcabal_tui", *words], check=True, stdout=subprocess.DEVNULL)


def _bootstrap(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "flowcabal_tui", "bootstrap", str(folder), "--yes"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _read(folder: Path, book: Path, server: ReadingServer) -> Iterator[Figure]:
    """The whole novel, read to the end."""
    place = folder / "read"
    _project(place, book, server.url)
    quote = asyncio.run(_quote(place))
    began = time.perf_counter()
    child = _bootstrap(place)
    said, _none = child.communicate()
    seconds = time.perf_counter() - began
    assert child.returncode == 0, said.decode()[-2000:]
    asked = server.news()
    yield Figure("one file: chapters found", str(quote.chapters), "120", quote.chapters == len(_files(book)))
    yield Figure(
        "quoted at most: calls; tokens in, out", f"{quote.calls}; {quote.input_tokens:,}, {quote.output_tokens:,}"
    )
    yield Figure("made: calls; tokens in", f"{len(asked)}; {sum(each.tokens for each in asked):,}")
    for task, calls in sorted(Counter(each.task for each in asked).items()):
        tokens = sum(each.tokens for each in asked if each.task == task)
        yield Figure(f"  {task}: calls; tokens in", f"{calls}; {tokens:,}")
    yield none_of("calls beyond the quote", max(0, len(asked) - quote.calls))
    yield none_of("tokens in beyond the quote", max(0, sum(each.tokens for each in asked) - quote.input_tokens))
    yield none_of("prompts sent twice", len(asked) - len({each.prompt for each in asked}))
    yield Figure("seconds (the model answers at once)", f"{seconds:.0f}")


def _files(book: Path) -> list[str]:
    """The headings of a file that we have written."""
    return [
        line for line in book.read_text(encoding="utf-8").splitlines() if line.startswith("第") and "回 " in line[:8]
    ]


async def _quote(folder: Path) -> Any:
    project = await Project.open(folder, knowledge=False, read_only=True)
    try:
        return await project.memory.quote_bootstrap()
    finally:
        await project.close()


@dataclass
class Wrong:
    """What must not be, and what cannot be helped."""

    paid_again: int = 0
    unlike: int = 0
    cut: int = 0
    """Answers that a kill came before, so that they are asked for again."""
    kills: int = 0
    runs: int = 0


def _kills(folder: Path, book: Path) -> list[Figure]:
    """Kills readings at random moments until there were enough; each is gone on with to its end."""
    chance, wrong, base = random.Random(SEED), Wrong(), folder / "base"
    with ReadingServer(ANSWER_SECONDS) as server:
        _project(base, book, server.url, KILLED_CHAPTERS)
        confirmed(shutil.copytree(base, folder / "whole"))
        began = time.perf_counter()
        assert _bootstrap(folder / "whole").wait() == 0
        whole, end = time.perf_counter() - began, _state(folder / "whole")
        calls = len(server.news())
        while wrong.kills < KILLS:
            victim = folder / f"victim{wrong.runs}"
            confirmed(shutil.copytree(base, victim))
            kept: set[str] = set()
            prompts: dict[str, str] = {}
            while wrong.kills < KILLS and _killed(victim, chance.uniform(0, whole)):
                wrong.kills += 1
                _judge(server.news(), kept, prompts, wrong)
                kept = _kept(victim)
                print(f"  {wrong.kills:>3} run {wrong.runs:>2}: {len(kept)} answers kept", file=sys.stderr, flush=True)
            assert _bootstrap(victim).wait() == 0
            _judge(server.news(), kept, prompts, wrong)
            wrong.unlike += _state(victim) != end
            wrong.runs += 1
    return [
        Figure("kills, in so many readings of 12 chapters", f"{wrong.kills} / {wrong.runs}"),
        Figure("an unkilled one: seconds, calls", f"{whole:.1f}, {calls}"),
        none_of("paid twice: kept answers asked for again", wrong.paid_again),
        none_of("readings that ended unlike an unkilled one", wrong.unlike),
        Figure("answers that a kill cut off, asked for again", str(wrong.cut)),
    ]


def _killed(folder: Path, seconds: float) -> bool:
    """Reads for so long, then kill -9; False when it came to its end before."""
    child = _bootstrap(folder)
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True
    assert child.returncode == 0
    return False


def _judge(asked: list[Asked], kept: set[str], prompts: dict[str, str], wrong: Wrong) -> None:
    """`prompts` has what was asked by the processes before, with the digest of its answer."""
    for each in asked:
        if each.prompt in prompts:
            if each.answer in kept:
                wrong.paid_again += 1
            else:
                wrong.cut += 1
        prompts[each.prompt] = each.answer


def _kept(folder: Path) -> set[str]:
    """Digests of the answers that are on disk."""
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        rows = database.execute("SELECT body FROM result JOIN blob USING (digest)").fetchall()
    return {digest(from_json(Answer, unpack(body)).text) for (body,) in rows}


def _state(folder: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        (whole,) = database.execute("PRAGMA quick_check(1)").fetchone()
        assert whole == "ok", whole
        return {name: sorted(set(database.execute(question).fetchall())) for name, question in STATES.items()}
