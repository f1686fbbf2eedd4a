"""Searching a million characters: by single characters, names, sentences and words that stand apart."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.search import SEARCH_KINDS
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import ImportManuscript, ReplaceText, RevertChange
from tests.bench.projects import TITLE, novel, own_folders
from tests.bench.report import Figure, checked, percentile

CHARACTERS: Final = 1_000_000
QUERIES: Final = 200
LIMIT: Final = 100
NAME: Final = "鸳鸯"


def measure() -> Iterable[Figure]:
    """The novel is imported as often as it takes; nothing works in the background meanwhile."""
    source = novel()
    with own_folders() as folder:
        return asyncio.run(_measure(folder / "book", source))


async def _measure(folder: Path, source: Path) -> list[Figure]:
    await create_project(folder, name=TITLE, language="zh")
    project = await Project.open(folder, knowledge=False)
    try:
        await project.carry_out(ImportManuscript(str(source)))
        texts = await _texts(project)
        while (missing := CHARACTERS - sum(map(len, texts))) > 0:
            more = missing * len(texts) // sum(map(len, texts)) + 1
            await project.carry_out(ImportManuscript(str(source), more))
            texts = await _texts(project)
    finally:
        await project.close()
    project = await Project.open(folder, knowledge=False, read_only=True)
    try:
        figures = await _searched(project, texts)
    finally:
        await project.close()
    project = await Project.open(folder, knowledge=False)
    try:
        return figures + await _replaced(project)
    finally:
        await project.close()


async def _texts(project: Project) -> list[str]:
    return [await project.book.chapter_text(chapter.id) for chapter in await project.book.chapters()]


async def _searched(project: Project, texts: list[str]) -> list[Figure]:
    begun = time.perf_counter()
    await project.book.search("")
    ready = time.perf_counter() - begun
    times = []
    for query in _queries(texts):
        begun = time.perf_counter()
        await project.book.search(query, SEARCH_KINDS, LIMIT)
        times.append(time.perf_counter() - begun)
    return [
        Figure("characters", f"{sum(map(len, texts)):,}"),
        Figure("texts made ready when the search is opened", f"{ready * 1000:,.0f} ms"),
        checked("a search, median", percentile(times, 0.5) * 1000, 100, "ms"),
        checked("a search, 95 of 100", percentile(times, 0.95) * 1000, 100, "ms"),
        Figure("a search, the slowest", f"{max(times) * 1000:,.1f} ms"),
    ]


def _queries(texts: list[str]) -> Iterable[str]:
    """Pieces of the text, two of them together, and now and then something that stands nowhere."""
    chance = random.Random(81)
    pieces = []
    for length in (1, 1, 2, 2, 3, 4, 6, 12):
        for _time in range(QUERIES // 8):
            text = chance.choice(texts)
            at = chance.randrange(len(text) - length)
            pieces.append(text[at : at + length])
    pieces += [" ".join(chance.sample(pieces, 2)) for _time in range(QUERIES // 8)]
    return [*pieces, "nowhere", "无此一语也无此一人"]


async def _replaced(project: Project) -> list[Figure]:
    places = tuple(each.place for each in await project.book.occurrences(NAME))
    begun = time.perf_counter()
    made = Generation(int(await project.carry_out(ReplaceText(NAME, NAME[::-1], places))))
    replaced = time.perf_counter() - begun
    begun = time.perf_counter()
    await project.carry_out(RevertChange(made))
    chapters: set[ChapterId] = {place.chapter for place in places}
    return [
        Figure("a name replaced", f"{replaced * 1000:,.0f} ms", f"{len(places)} places, {len(chapters)} chapters"),
        Figure("and taken back", f"{(time.perf_counter() - begun) * 1000:,.0f} ms"),
    ]
