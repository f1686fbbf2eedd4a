"""Pictures of the settings page and of the form of a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.protocol.settings import SetModel
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from tests.snapshots.test_shell import pressed
from tests.tui.fakes import FakeProject
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled

HOSTED = Endpoint(
    model="deepseek-chat", base_url="https://api.deepseek.com/v1", secret="deepseek", price_in=Decimal(2),
    price_out=Decimal(3), price_cached=Decimal("0.2"), currency="CNY", context_window=128_000,
)  # fmt: skip


def app(language: str) -> FlowCabalApp:
    async def opener(folder: Path, read_only: bool) -> FakeProject:
        project = FakeProject(language)
        project.settings.apply(SetModel("user", HOSTED))
        project.settings.shown = replace(project.settings.shown, later=("knowledge",))
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
def test_the_settings_page(snap_compare, size, language):
    assert snap_compare(app(language), terminal_size=size, run_before=pressed("dollar_sign"))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_form_of_a_model(snap_compare, size, language):
    async def opened(pilot: Pilot[int]) -> None:
        await pressed("dollar_sign")(pilot)
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)

    assert snap_compare(app(language), terminal_size=size, run_before=opened)
