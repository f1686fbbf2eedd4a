"""Pictures of the screens over the whole book: search, replace, the manuscript, origins of lines, background work."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.memory import BackgroundTask, StaleText
from flowcabal_tui.domain.text import digest
from flowcabal_tui.locale import language_in_use
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.snapshots.test_shell import SIZES, app, settled
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.waiting import answered

EVERY_SIZE = pytest.mark.parametrize("size", SIZES)
BOTH = pytest.mark.parametrize("language", ["en", "zh"])
SOUGHT = {"en": "Mara", "zh": "沈月"}


def project(pilot: Pilot[int]) -> FakeProject:
    found = next(screen for screen in pilot.app.screen_stack if isinstance(screen, WorkspaceScreen))._project
    assert isinstance(found, FakeProject)
    return found


def typed(*keys: str):
    """Opens the project, then presses keys one after the other; what rests has rested."""

    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        rows = project(pilot).chapter_rows
        names = ("One", "One", "Two", "Two") if language_in_use() == "en" else ("卷一", "卷一", "卷二", "卷二")
        project(pilot).chapter_rows = [replace(row, volume=name) for row, name in zip(rows, names, strict=True)]
        project(pilot).tasks += [
            BackgroundTask(2, "profile", f"hero@{books.chapter_id(2)}", digest("2"), "failed", 2, 5, "HTTP 503"),
            BackgroundTask(3, "index", books.chapter_id(1), digest("3"), "running", 1),
            BackgroundTask(4, "mirror", books.chapter_id(1), digest("4"), "fresh", 1),
        ]
        stale = StaleText(f"manuscript/{books.chapter_id(2)}", 2, (books.chapter_id(2),))
        project(pilot).stale_rows = [stale]
        for key in keys:
            await pilot.press(key)
            await answered(pilot)

    return before


def opened(language: str) -> FlowCabalApp:
    return app(language, opened=True)


@EVERY_SIZE
@BOTH
def test_search(snap_compare, size, language):
    assert snap_compare(opened(language), terminal_size=size, run_before=typed("F", *SOUGHT[language]))


@BOTH
def test_replace(snap_compare, language):
    keys = typed("F", *SOUGHT[language], "ctrl+r", "x", "enter", "space")
    assert snap_compare(opened(language), terminal_size=SIZES[0], run_before=keys)


@EVERY_SIZE
@BOTH
def test_the_manuscript(snap_compare, size, language):
    keys = typed("M", "g", "j", "l", "j")
    assert snap_compare(opened(language), terminal_size=size, run_before=keys)


@EVERY_SIZE
@BOTH
def test_where_lines_come_from(snap_compare, size, language):
    keys = typed("up", "up", "up", "enter", "w", "G")
    assert snap_compare(opened(language), terminal_size=size, run_before=keys)


@BOTH
def test_background_work(snap_compare, language):
    assert snap_compare(opened(language), terminal_size=SIZES[0], run_before=typed("Q", "f"))
