"""Opening outlines of 2 MB: from the key to the first rows in sight, with the reading from the database."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

from flowcabal_tui.domain.garbage import begin_loading
from flowcabal_tui.headings.numerals import in_chinese
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, WriteMeta
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.memory.outline import OutlineScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.bench.drawn import drawn_after
from tests.bench.projects import own_folders
from tests.bench.report import Figure, checked
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

BYTES: Final = 2_000_000
CHAPTERS: Final = 1_200
REPEAT: Final = 5
MOST: Final = 300.0
_BEAT: Final = "- 林黛玉在潇湘馆见了宝玉，说起旧事；雨落在竹上，两人都没有再提那封信。\n"


def outlines() -> Iterator[tuple[str, str]]:
    """Outlines of 2 MB each, by what they are like."""
    yield "1,200 chapters", _chapters(CHAPTERS, lambda n: f"## 第{in_chinese(n)}章 雪\n")
    yield "10,000 headings", _chapters(10_000, lambda n: f"## Chapter {n}: Snow\n")
    yield "prose without a heading", _BEAT[2:] * (BYTES // len(_BEAT[2:].encode()))
    yield "one line", _BEAT[2:-1] * (BYTES // len(_BEAT[2:-1].encode()))


def _chapters(count: int, heading: Callable[[int], str]) -> str:
    beats = _BEAT * max(1, (BYTES // count - 24) // len(_BEAT.encode()))
    return "# 雪\n" + "".join(f"{heading(n)}{beats}\n" for n in range(1, count + 1))


def measure() -> Iterable[Figure]:
    """A project of 1,200 chapters; each opening reads and parses the outline again."""
    begin_loading()  # as the command does; the screen ends it
    with own_folders() as folder:
        return asyncio.run(_measure(folder))


async def _measure(folder: Path) -> list[Figure]:
    book = folder / "book"
    await create_project(book, name="雪", language="zh")
    project = await Project.open(book, knowledge=False)
    for n in range(CHAPTERS):
        await project.carry_out(AddChapter(f"第{in_chinese(n + 1)}章 雪"))
    await project.close()
    projects: list[Project] = []

    async def opener(path: Path, read_only: bool) -> Project:
        projects.append(await Project.open(path, read_only=read_only, knowledge=False))
        return projects[-1]

    access = replace(invented_access("en"), opener=opener)
    app = FlowCabalApp(access, ScreenSettings(language="en"), path=book, state_folder=folder / "state")
    figures: list[Figure] = []
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        await settled(pilot)
        for kind, text in outlines():
            await projects[0].carry_out(WriteMeta("outline", text))
            times = [await _opened(pilot) for _n in range(REPEAT)]
            walls, used = zip(*times, strict=True)
            what = f"{len(text.encode()):,} bytes in sight, {kind}"
            figures.append(checked(what, statistics.median(walls), MOST, "ms"))
            figures.append(Figure(f"{what}: of the processor", f"{statistics.median(used):,.1f} ms"))
        await app.departure.close_project()
    return figures


async def _opened(pilot: Pilot[int]) -> tuple[float, float]:
    """Milliseconds from Enter in the list of `O` until rows are drawn, and those of the processor; none is cached."""
    read_outline.cache_clear()
    await pilot.press("O")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
    await pilot.press("end")
    await settled(pilot)
    return await drawn_after(pilot, Key("enter", None), _has_rows)


def _has_rows(screen: Screen[object]) -> bool:
    lists = screen.query(PickList)
    return isinstance(screen, OutlineScreen) and bool(lists) and lists.first().option_count > 0
