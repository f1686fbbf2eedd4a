"""Pictures of the first page, the wizard and the workspace."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.errors import ProjectLocked
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from tests.tui.fakes import FakeProject
from tests.tui.try_out import PROPOSALS, invented_access
from tests.tui.waiting import settled

NOW = datetime(2026, 11, 21, 9, 41)
SIZES = [(80, 24), (140, 40)]


def app(language: str = "en", *, opened: bool = False, locked: bool = False, wizard_done: bool = True) -> FlowCabalApp:
    async def opener(folder: Path, read_only: bool) -> FakeProject:
        if locked and not read_only:
            raise ProjectLocked("The project is open elsewhere.", "Host desk, process 4711.", "Close it there.")
        return FakeProject(language, read_only=read_only)

    return FlowCabalApp(
        replace(invented_access(language), opener=opener),
        ScreenSettings(language=language, theme="ink", wizard_done=wizard_done),
        path=Path("lamp") if opened else None,
        proposals=PROPOSALS,
        state_folder=Path("state"),
        clock=lambda: NOW,
    )


def pressed(*keys: str):
    """Waits for the screen, then presses keys one after the other."""

    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return before


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_home(snap_compare, size, language):
    assert snap_compare(app(language), terminal_size=size, run_before=pressed())


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_wizard(snap_compare, step):
    before = pressed(*["enter"] * step)
    assert snap_compare(app(wizard_done=False), terminal_size=(80, 24), run_before=before)


def test_locked_project_is_offered_for_reading(snap_compare):
    async def before(pilot: Pilot[int]) -> None:
        await pilot.pause()
        await pilot.pause()

    assert snap_compare(app(opened=True, locked=True), terminal_size=(80, 24), run_before=before)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_workspace_with_a_chapter(snap_compare, size, language):
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=pressed("up", "enter"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_workspace_with_a_run_that_waits(snap_compare, size, language):
    before = pressed("end", "enter", "4")
    assert snap_compare(app(language, opened=True), terminal_size=size, run_before=before)


def test_too_small(snap_compare):
    assert snap_compare(app(), terminal_size=(50, 12), run_before=pressed())
