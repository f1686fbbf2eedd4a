"""Pictures of the question of trust: a folder that was never confirmed, and one that was changed outside."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from flowcabal_tui.domain.trust import TrustView
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from tests.snapshots.test_shell import pressed
from tests.tui.fake_trust import CHANGED, RESTRICTED
from tests.tui.fakes import FakeProject
from tests.tui.try_out import invented_access


def app(language: str, view: TrustView) -> FlowCabalApp:
    async def opener(folder: Path, read_only: bool) -> FakeProject:
        project = FakeProject(language)
        project.trust_view = view
        return project

    return FlowCabalApp(
        replace(invented_access(language), opener=opener),
        ScreenSettings(language=language, theme="ink", wizard_done=True),
        path=Path("lamp"),
        state_folder=Path("state"),
        clock=lambda: datetime(2026, 11, 21, 9, 41),
    )


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_folder_that_was_never_confirmed(snap_compare, size, language):
    assert snap_compare(app(language, RESTRICTED), terminal_size=size, run_before=pressed("f10"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_project_that_was_changed_outside(snap_compare, language):
    assert snap_compare(app(language, CHANGED), terminal_size=(80, 24), run_before=pressed("f10"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_status_line_of_a_restricted_project(snap_compare, language):
    assert snap_compare(app(language, RESTRICTED), terminal_size=(80, 24), run_before=pressed())
