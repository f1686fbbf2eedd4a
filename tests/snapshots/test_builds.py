"""Pictures of the list of workflows, of the form and of a build under review."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from tests.snapshots.test_shell import NOW, SIZES, pressed
from tests.tui.fake_builds import suggestion
from tests.tui.fakes import FakeProject
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled

EVERY_SIZE = pytest.mark.parametrize("size", SIZES)
BOTH = pytest.mark.parametrize("language", ["en", "zh"])


def opened(language: str) -> FlowCabalApp:
    """A project in which a suggestion waits."""

    async def opener(_folder: Path, read_only: bool) -> FakeProject:
        made = FakeProject(language, read_only=read_only)
        made.build_records["build-1"] = suggestion(language)
        return made

    settings = ScreenSettings(language=language, theme="ink", wizard_done=True)
    access = replace(invented_access(language), opener=opener)
    return FlowCabalApp(access, settings, path=Path("lamp"), state_folder=Path("state"), clock=lambda: NOW)


def wished(words: str):
    """Asks for a new workflow by a wish."""

    async def before(pilot: Pilot[int]) -> None:
        await pressed("2", "w", "B", *words, "enter")(pilot)
        await settled(pilot)

    return before


@EVERY_SIZE
@BOTH
def test_a_build_with_one_change_turned_down(snap_compare, size, language):
    assert snap_compare(opened(language), run_before=pressed("V", "x"), terminal_size=size)


@BOTH
def test_the_graph_before_and_after(snap_compare, language):
    assert snap_compare(opened(language), run_before=pressed("V", "g"), terminal_size=SIZES[1])


@EVERY_SIZE
@BOTH
def test_the_form_of_a_new_workflow(snap_compare, size, language):
    assert snap_compare(opened(language), run_before=wished("plan"), terminal_size=size)


@EVERY_SIZE
@BOTH
def test_the_list_of_workflows(snap_compare, size, language):
    assert snap_compare(opened(language), run_before=pressed("2", "w"), terminal_size=size)
