"""Chapter 81 of a novel of 80: run, kept, remembered, and run again without a model call.

With our fault server, and with the one that FLOWCABAL_BENCH_FAULTSERVER names, as OpenAI and as Anthropic.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived
from flowcabal_tui.domain.providers import Provider
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project import Project
from tests.bench.processes import MIB
from tests.bench.projects import Child, model_at, new_project, novel, openviking, own_folders
from tests.bench.report import Figure, checked, none_of, percentile
from tests.bench.servers import GivenServer, ModelServer, OurServer

LAST = 80
L0_TOKENS = 50
CONTEXT_TOKENS = 25_000
GIVEN = "FLOWCABAL_BENCH_FAULTSERVER"


def measure() -> list[Figure]:
    """Once for each server and provider."""
    source = novel()
    openviking()
    figures: list[Figure] = []
    chapter = read_manuscript(source).chapters[LAST].text
    for label, writer, helper in _servers(chapter):
        with writer, helper:
            for provider in ("openai", "anthropic"):
                with own_folders() as folder:
                    found = _one(folder / "book", source, (writer, helper), provider)
                figures.append(Figure(f"-- {label} as {provider}", ""))
                figures += found
    return figures


def _servers(chapter: str) -> Iterator[tuple[str, ModelServer, ModelServer]]:
    """Each: its name, who writes (the chapter as it is in the novel, so that it names people), who helps."""
    written = {"content": chapter, "times": -1}
    yield "our fault server", OurServer(written), OurServer()
    if os.environ.get(GIVEN):
        script = Path(os.environ[GIVEN])
        yield "the given server", GivenServer(script, written), GivenServer(script)


def _one(folder: Path, source: Path, servers: tuple[ModelServer, ModelServer], provider: Provider) -> list[Figure]:
    new_project(folder, *(model_at(server.url, provider) for server in servers))
    child = Child(folder, source, LAST)
    phases: dict[str, dict[str, Any]] = {}
    calls = {"before": _requests(servers)}
    for line in child.lines():
        if line.get("begins") is False:
            phases[line["phase"]] = line
            calls[line["phase"]] = _requests(servers)
    return [
        *(
            Figure(f"{name}: seconds (our CPU)", f"{at['seconds']:.1f} ({at['cpu']:.1f})")
            for name, at in phases.items()
        ),
        none_of("requests: import, index, ingest", calls["ingest"] - calls["before"]),
        Figure(
            "requests: run; background after the keep",
            f"{_between(calls, 'ingest', 'run')}; {_between(calls, 'run', 'background')}",
        ),
        none_of("requests: the same run again", _between(calls, "background", "again")),
        none_of("background work that failed", len(phases["background"]["failed"])),
        Figure("knowledge server", phases["background"]["knowledge"]),
        Figure("memory: ours / with servers, MiB", "{ours:.0f} / {all:.0f}".format(**phases["background"]["rss"])),
        *_nodes(phases["run"]),
        *asyncio.run(_book(folder)),
    ]


def _requests(servers: tuple[ModelServer, ...]) -> int:
    return sum(len(server.log()) for server in servers)


def _between(calls: dict[str, int], before: str, after: str) -> int:
    return calls[after] - calls[before]


def _nodes(run: dict[str, Any]) -> Iterator[Figure]:
    """Context of each node: how long it took, how large it is."""
    for node, times in run["previews"].items():
        sizes = run["nodes"][node]
        yield Figure(f"{node}: context in the run", f"{run['assembly'].get(node, 0) * 1000:.0f} ms")
        if node == "plan":  # what a later node would be given takes the assembly of those before it too
            yield checked(f"{node}: context assembled again, p95", percentile(times, 0.95), 150, "ms")
        yield checked(f"{node}: context", sizes["context"], CONTEXT_TOKENS, "tokens")
        yield Figure(f"{node}: prompt, as the server counts", f"{sizes['prompt'] or 0:,} tokens")


async def _book(folder: Path) -> list[Figure]:
    """What the memory holds in the end."""
    project = await Project.open(folder, knowledge=False)
    try:
        await project.check()
        chapters = await project.book.chapters()
        derived = [
            state for row in await project.memory.profiles() for state in (await project.memory.profile(row.uri)).levels
        ]
        texts = {chapter.id: await project.book.chapter_text(chapter.id) for chapter in chapters}
    finally:
        await project.close()
    figures = [_l0(derived, chapters), *_l1(derived, texts)]
    figures.append(Figure("profiles", str(len({state.uri for state in derived if state.uri.startswith("profiles/")}))))
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        (mentions,) = database.execute("SELECT count(*) FROM mention WHERE died IS NULL").fetchone()
        (of_last,) = database.execute(
            "SELECT count(*) FROM mention WHERE died IS NULL AND chapter=?", (chapters[-1].id,)
        ).fetchone()
    figures.append(Figure("mention rows: all / of the new chapter", f"{mentions} / {of_last}"))
    size = sum(path.stat().st_size for path in (folder / ".flowcabal").iterdir()) / MIB
    length = sum(len(text.encode()) for text in texts.values()) / MIB
    figures.append(Figure("database / text, MiB", f"{size:.2f} / {length:.2f} = {size / length:.2f}x"))
    return figures


def _l0(derived: list[Derived], chapters: tuple[Chapter, ...]) -> Figure:
    count = TokenEstimator("").count
    sizes = [count(state.text) for state in derived if state.level == "L0" and state.uri.startswith("manuscript/")]
    met = len(sizes) == len(chapters) and max(sizes) <= L0_TOKENS
    return Figure(
        f"L0 of {len(chapters)} chapters: how many, largest", f"{len(sizes)}, {max(sizes)} tokens", "<= 50", met
    )


def _l1(derived: list[Derived], texts: dict[Any, str]) -> Iterator[Figure]:
    """Every sentence has its evidence, and the evidence lies in the text."""
    overviews = [state for state in derived if state.level == "L1" and state.uri.startswith("manuscript/")]
    bare = outside = sentences = 0
    for state in overviews:
        rest = state.text
        for item in state.evidence:
            sentences += 1
            rest = rest.replace(item.sentence, "", 1)
            outside += not 0 <= item.start < item.end <= len(texts[item.chapter])
        bare += bool(rest.strip(" \n#-*"))
    yield Figure("L1: chapters, sentences with evidence", f"{len(overviews)}, {sentences}")
    yield none_of("L1: texts with words that no evidence bears", bare)
    yield none_of("L1: evidence outside of its chapter", outside)
