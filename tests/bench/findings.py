"""Opening the list of findings with 5,000 of them, and that of comments with 2,000: from the key to the first rows in
sight, each time read anew; the first time when the workspace has loaded the list of findings, a second after it is
filled.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from inspect import getfile
from pathlib import Path
from typing import Final

from textual.events import Key
from textual.screen import Screen

from flowcabal_tui.domain.comments import Comment
from flowcabal_tui.domain.garbage import begin_loading
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.proposals import Difference, Finding, Origin, Proposal, ProposalPlace
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.store import Store
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.story.findings import FindingList, FindingsScreen
from flowcabal_tui.tui.story.passages import Passages
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.bench.drawn import drawn_after
from tests.bench.projects import own_folders
from tests.bench.report import Figure, checked
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

FINDINGS: Final = 5_000
COMMENTS: Final = 2_000
CHAPTERS: Final = 120
REPEAT: Final = 9
MOST: Final = 150.0
_TEXT: Final = "林黛玉在潇湘馆见了宝玉，说起旧事；雨落在竹上，两人都没有再提那封信。\n" * 100


def measure() -> Iterable[Figure]:
    """A book of 120 chapters; the project reads its database for each opening."""
    begin_loading()  # as the command does; the screen ends it
    with own_folders() as folder:
        return asyncio.run(_measure(folder))


async def _measure(folder: Path) -> list[Figure]:
    book = folder / "book"
    await _make(book)

    async def opener(path: Path, read_only: bool) -> Project:
        return await Project.open(path, read_only=read_only, knowledge=False)

    access = replace(invented_access("en"), opener=opener)
    app = FlowCabalApp(access, ScreenSettings(language="en"), path=book, state_folder=folder / "state")
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        await until(pilot, lambda: app.stylesheet.has_source(getfile(Passages), "Passages.DEFAULT_CSS"))
        await settled(pilot)
        figures: list[Figure] = []
        for key, is_listed, what in (
            ("L", _has_findings, f"{FINDINGS:,} findings of {CHAPTERS} chapters in sight"),
            (";", _has_comments, f"{COMMENTS:,} comments of {CHAPTERS} chapters in sight"),
        ):
            name = "semicolon" if key == ";" else key
            times = [await drawn_after(pilot, Key(name, key), is_listed) for _n in range(REPEAT)]
            walls, used = zip(*times, strict=True)
            first = f"{what}: the first time"
            figures += [
                checked(what, statistics.median(walls), MOST, "ms"),
                checked(first, walls[0], MOST, "ms") if key == "L" else Figure(first, f"{walls[0]:,.1f} ms"),
                Figure(f"{what}: of the processor", f"{statistics.median(used):,.1f} ms, first {used[0]:,.1f}"),
            ]
        await app.departure.close_project()
    return figures


async def _make(book: Path) -> None:
    await create_project(book, name="雪", language="zh")
    project = await Project.open(book, knowledge=False)
    for n in range(CHAPTERS):
        await project.carry_out(WriteChapter(await _added(project, n), _TEXT))
    await project.memory.settled()
    chapters = await project.book.chapters()
    await project.close()
    store = await Store.open(book, clock=lambda: datetime.now(UTC), language="zh")
    try:
        found = [_finding(chapters, n) for n in range(FINDINGS)]
        for start in range(0, FINDINGS, 500):
            await store.findings.raise_all(found[start : start + 500])
        for n in range(COMMENTS):
            await store.comments.add(_comment(chapters[n % CHAPTERS], n))
    finally:
        await store.close()


async def _added(project: Project, number: int) -> ChapterId:
    await project.carry_out(AddChapter(f"第{number + 1}章"))
    return (await project.book.chapters())[-1].id


def _finding(chapters: Sequence[Chapter], number: int) -> Proposal:
    """Five of each chapter have words of their own places; the rest is folded."""
    here, there = chapters[number % CHAPTERS], chapters[number % 7]
    at = number // CHAPTERS * 34 % 3_000
    quoted = _TEXT[at : at + 12]
    source = Quotation(_TEXT[:12], f"manuscript/{there.id}", 0, 12)
    finding = Finding("quantitative mismatch", "An age does not agree.", source, 0.7, number % 3 > 0)
    origin = Origin("rule", f"rule-{number}")
    place = ProposalPlace(here.id, at, at + 12)
    return Proposal("finding", place, quoted, Difference(finding), origin=origin)


def _comment(chapter: Chapter, number: int) -> Comment:
    at = number // CHAPTERS * 34 % 3_000
    return Comment(chapter.id, f"第{number}条批注", "question", _TEXT[at : at + 12], at, at + 12)


def _has_comments(screen: Screen[object]) -> bool:
    lists = screen.query(PickList)
    return isinstance(screen, CommentsScreen) and bool(lists) and lists.first().option_count > 0


def _has_findings(screen: Screen[object]) -> bool:
    lists = screen.query(FindingList)
    return isinstance(screen, FindingsScreen) and bool(lists) and lists.first().option_count > 0
