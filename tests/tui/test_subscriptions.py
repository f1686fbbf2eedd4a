"""Events, requests and keys reach the methods that are marked for them."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

import pytest

import flowcabal_tui.tui as tui
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.messages import EVENTS
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.shared.actions import ACTIONS
from flowcabal_tui.tui.shared.subscriptions import Request, Subscriptions, on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import Trouble
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host
from tests.tui.waiting import settled

SILENT = {
    "command:done", "command:failed", "feed:resync", "node:evaluated", "node:iteration",
    "workflow:completed", "workflow:deleted", "workflow:saved",
}  # fmt: skip
"""Events that change nothing on the screen. Whoever awaited a command got its error."""


@dataclass
class Wanted(Request):
    """Two values are wanted."""

    what: str
    times: int


class Began:
    """An event."""


class Ended:
    """Another."""


class Notes:
    """Notes what it is given."""

    def __init__(self, *, fails: bool = False) -> None:
        self.seen: list[Any] = []
        self._fails = fails

    @on_event
    def take(self, event: Began | Ended) -> None:
        if self._fails:
            raise ValueError("odd")
        self.seen.append(type(event))

    @on_request(Wanted)
    async def want(self, what: str, times: int) -> None:
        self.seen.append((what, times))

    @on_key("one", loud=False)
    @on_key("two", loud=True)
    def press(self, *, loud: bool) -> None:
        self.seen.append(loud)


async def test_a_handler_that_raises_is_reported_and_stops_no_other():
    app = Host()
    async with app.run_test() as pilot:
        first, second, table = Notes(fails=True), Notes(), Subscriptions(app.screen)
        table.add(first, second)
        table.publish(Began())
        table.publish(Ended())
        await settled(pilot)
        assert (first.seen, second.seen) == ([], [Began, Ended])
        assert [type(each.error) for each in app.seen if isinstance(each, Trouble)] == [ValueError, ValueError]


async def test_a_request_that_comes_before_the_controllers_waits_for_them_and_a_key_does_not():
    app = Host()
    async with app.run_test() as pilot:
        notes, table = Notes(), Subscriptions(app.screen)
        assert table.request(Wanted("early", 1))
        assert not table.carry_out("two")
        table.add(notes)
        await settled(pilot)
        assert notes.seen == [("early", 1)]


async def test_the_fields_of_a_request_and_the_words_of_a_key_are_the_arguments():
    app = Host()
    async with app.run_test() as pilot:
        notes, table = Notes(), Subscriptions(app.screen)
        table.add(notes)
        assert table.request(Wanted("more", 2))
        await settled(pilot)
        assert table.carry_out("two")
        assert table.carry_out("one")
        assert not table.carry_out("three")
        assert notes.seen == [("more", 2), True, False]


@pytest.fixture
async def table() -> Subscriptions:
    """In a loop: some controllers begin to look at something at once."""
    screen = WorkspaceScreen(FakeProject("en"), lambda: None)  # type: ignore[arg-type, return-value]
    screen.add_controllers(OutputPane())
    return screen._subscriptions


def requests() -> Iterator[type[Request]]:
    for module in pkgutil.walk_packages(tui.__path__, "flowcabal_tui.tui."):
        import_module(module.name)
    yield from (kind for kind in Request.__subclasses__() if kind.__module__.startswith("flowcabal_tui."))


def test_every_request_of_a_pane_is_handled_by_one_method_with_its_fields(table):
    for kind in requests():
        assert len(table._methods[kind]) == (4 if kind is ManuscriptPane.DraftEdited else 1), (
            "drafts, hints, comments, beats"
        )
        given = [(field.name, field.type) for field in fields(kind)]
        for method, _mark in table._methods[kind]:
            taken = [(each.name, each.annotation) for each in inspect.signature(method).parameters.values()]
            assert [name for name, _type in taken][: len(given)] == [name for name, _type in given], kind
            for (name, wants), (_name, gets) in zip(taken, given, strict=False):
                assert set(str(gets).split(" | ")) <= set(str(wants).split(" | ")), (kind, name)


def test_every_key_of_the_workspace_is_handled_by_one_method_or_by_the_screen(table):
    for action in ACTIONS:
        if action.where == "workspace":
            assert len(table._methods[action.id]) == (0 if action.does else 1), action.id


def test_what_no_controller_hears_of_is_known(table):
    assert {name for name, kind in EVENTS.items() if kind not in table._methods} == SILENT
    assert all(issubclass(kind, Event) for kind in EVENTS.values())
