"""The screen over a real project whose model is the embedded one, which costs nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from flowcabal_tui.project import Project, create_demo
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.wait import WaitScreen
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.try_out import invented_access
from tests.tui.waiting import until


async def test_a_chapter_of_the_demo_runs_to_the_review_of_its_plan_and_nothing_asks_about_money(
    tmp_path: Path,
) -> None:
    folder = await create_demo(tmp_path / "demo", "en")
    projects: list[Project] = []

    async def opener(path: Path, read_only: bool) -> Project:
        projects.append(await Project.open(path, read_only=read_only, pace=0.0, knowledge=False))
        return projects[-1]

    access = replace(invented_access("en"), opener=opener)
    app = FlowCabalApp(
        access,
        ScreenSettings(language="en", wizard_done=True),
        path=folder,
        state_folder=tmp_path,
        clock=lambda: datetime(2026, 11, 21, 9, 41),
    )
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(
                pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening
            )
            screen = pilot.app.screen
            assert isinstance(screen, WorkspaceScreen)
            await until(
                pilot, lambda: screen.controllers.document.workflow is not None and screen.view.chapter is not None
            )
            await pilot.press("f5")
            await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
            asked = pilot.app.screen
            await pilot.press("enter")
            await until(
                pilot,
                lambda: (
                    not isinstance(pilot.app.screen, WaitScreen)
                    and (
                        screen.controllers.document.node_states.get("plan") == "waiting"
                        or pilot.app.screen not in (asked, screen)
                    )
                ),
            )
            assert pilot.app.screen is screen, "no question stands between the instruction and the run"
    finally:
        for project in projects:
            await project.close()
