"""Esc in an editor throws nothing away unasked."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.screen import ModalScreen

from flowcabal_tui.domain.run import Choice
from flowcabal_tui.tui.panes.bench import Bench
from flowcabal_tui.tui.screens.data_editor import DataEditor
from flowcabal_tui.tui.screens.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.screens.prose_form import ProseScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from tests.tui import fake_books as books
from tests.tui.fakes import FakeWorkbench
from tests.tui.hosts import Host
from tests.tui.test_workspace import until, workspace
from tests.tui.test_workspace_graph import at_workflow, calm, pressed


@pytest.mark.parametrize("make", [lambda: ProseScreen("A note", "Rain."), lambda: DataEditor("A node", "Rain.", list)])
async def test_a_full_screen_editor_asks_before_it_forgets(make) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        editor: ModalScreen[object] = make()
        await app.push_screen(editor)
        await pilot.press("X", "escape")
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("enter")
        assert app.screen is editor
        assert editor.query_one(ProseArea).text.startswith("X")
        await pilot.press("delete", "backspace", "R", "escape", "y")
        assert app.screen is not editor


async def test_an_untouched_editor_is_left_at_once() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        editor = ProseScreen("A note", "Rain.")
        await app.push_screen(editor)
        await pilot.press("X", "backspace", "escape")
        assert app.screen is not editor


async def test_a_version_that_is_written_by_hand_is_not_lost_by_esc(tmp_path: Path) -> None:
    async with workspace(FakeWorkbench(), tmp_path, (80, 24)) as pilot:
        pane = await at_workflow(pilot)
        pane.follow(books.DRAFT)
        await pressed(pilot, "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodeVersionsScreen))
        await calm(pilot)
        versions = pilot.app.screen
        await pressed(pilot, "e", "X", "escape")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pressed(pilot, "n")
        assert versions.query_one(ProseArea).text.startswith("X")
        await pressed(pilot, "escape", "y")
        await calm(pilot)
        assert pilot.app.screen is versions
        assert versions.face == "text"


async def test_a_text_that_was_put_together_on_the_bench_is_not_lost_by_esc() -> None:
    bench = Bench()
    app = Host(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        bench.show([Choice("one", text="Rain.\n\nSnow."), Choice("two", text="Wind.")], blind=False)
        await pilot.pause()
        bench.action_preview()
        bench.leave_preview()
        assert not bench.is_preview
        bench.action_preview()
        await pilot.press("X")
        bench.leave_preview()
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("n")
        assert bench.is_preview
        assert bench.put_together.startswith("X")
