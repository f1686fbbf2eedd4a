"""The knowledge server from the workspace: installed, stopped, removed, found in, written again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.protocol.memory import KnowledgeStatus, Rebuild
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.memory.knowledge import KnowledgeScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.viking.installed import installed
from tests.tui import fake_books as books
from tests.tui.test_maintenance import said, screen_text, typed
from tests.tui.test_workspace_whole import opened, press, settled
from tests.tui.waiting import until
from tests.viking.fake_tool import FakeTool, Way


def tool(monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    monkeypatch.setattr("flowcabal_tui.viking.install_tools.find_tool", lambda: FakeTool(way))


async def asked(pilot: Pilot[int]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))


async def test_the_server_is_installed_used_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(monkeypatch, "whole")
    async with opened(tmp_path) as (project, pilot):
        server = project.knowledge
        server.now = replace(server.now, status=KnowledgeStatus("absent"), entries=())
        await press(pilot, "ampersand", "plus")
        await asked(pilot)
        words = screen_text(pilot)
        assert "AGPL-3.0" in words and "index.example, by pip" in words and "MB" in words
        await pilot.press("y")
        await until(pilot, lambda: server.asked)
        assert server.asked == ["look"] and installed()
        assert "openviking 0.5.2 was installed; the book uses it now." in said(pilot)
        await press(pilot, "D")
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "The knowledge server was removed." in said(pilot))
        assert server.asked == ["look", "stop", "look"] and not installed()


async def test_declining_installs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(monkeypatch, "whole")
    async with opened(tmp_path) as (project, pilot):
        await press(pilot, "ampersand", "plus")
        await asked(pilot)
        await pilot.press("n")
        await until(pilot, lambda: not any(worker.group == "install" for worker in pilot.app.workers))
        assert not installed() and not project.knowledge.asked


async def test_an_installation_goes_on_without_the_page_and_is_stopped_by_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(monkeypatch, "waits")
    async with opened(tmp_path) as (_project, pilot):
        await press(pilot, "ampersand", "plus")
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "fetching: 1 of" in screen_text(pilot))
        await press(pilot, "plus")
        assert said(pilot)[-1] == "It is already being installed."
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, KnowledgeScreen))
        await pilot.press("ampersand")
        await until(pilot, lambda: "fetching: 1 of" in screen_text(pilot))
        await press(pilot, "x", "y")
        await until(pilot, lambda: "Installation:" not in screen_text(pilot))
        await pilot.press("x")
        await until(pilot, lambda: said(pilot)[-1] == "Nothing is being installed.")
        assert not installed()


async def test_a_failed_installation_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(monkeypatch, "full")
    async with opened(tmp_path) as (_project, pilot):
        await press(pilot, "ampersand", "plus")
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(pilot.app.screen, ErrorScreen))
        assert "could not be installed" in screen_text(pilot) and "disk is full" in screen_text(pilot)
        assert not installed()


async def test_a_search_that_costs_asks_first_and_a_part_is_written_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        server = project.knowledge
        server.costs = True
        await press(pilot, "ampersand", "slash")
        await typed(pilot, "ferry")
        await asked(pilot)
        await press(pilot, "n")
        assert server.asked == []
        await press(pilot, "slash")
        await typed(pilot, "ferry")
        await asked(pilot)
        await press(pilot, "y")
        assert server.asked == ["find ferry"] and "near in meaning" in screen_text(pilot)
        await press(pilot, "m")
        await asked(pilot)
        await press(pilot, "y")
        assert project.sent == [Rebuild("knowledge", (f"manuscript/{books.chapter_id(2)}",))]
        await settled(pilot)
