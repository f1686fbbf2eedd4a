"""What a call waits for, with its seconds, in whatever pane is in view."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.memory import BackgroundChanged
from flowcabal_tui.protocol.runs import NodeRetrying, NodeStarted, NodeStateChanged, NodeStreaming, RunStateChanged
from flowcabal_tui.tui.runs.waiting import Waits
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import NOW, screen_of, settled, told, until, workspace

RUN, NODE = RunId("r"), NodeId("draft")


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def waits(clock: Clock) -> Waits:
    return Waits(clock)


def test_a_repetition_counts_down_with_its_reason(waits, clock):
    waits.again(RUN, NODE, 12.0, "Too many requests (429).")
    assert waits.words(RUN, NODE).startswith("Waiting 12 s")
    waits.moved(RUN, NODE, "retrying", "Too many requests (429).")
    clock.seconds = 9.5
    words = waits.words(RUN, NODE)
    assert words.startswith("Waiting 3 s") and "Too many requests (429)." in words
    waits.moved(RUN, NODE, "running", "")
    assert waits.words(RUN, NODE) == ""


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (lambda waits: waits.moved(RUN, NODE, "ready", ""), "Waiting for the model: 7 s."),
        (lambda waits: waits.moved(RUN, NODE, "running", "queued by the provider"), "Queued by the provider: 7 s. F9"),
        (lambda waits: waits.moved(RUN, NODE, "running", "checking facts"), "Checking facts: 7 s. F9"),
        (lambda waits: waits.sent(RUN, NODE), "No answer for 7 s."),
        (lambda waits: waits.arrived(RUN, NODE), "Nothing has arrived for 7 s."),
    ],
)
def test_queues_and_stalls_count_up_once_they_are_long_enough(waits, clock, event, words):
    event(waits)
    clock.seconds = 4.0
    assert waits.words(RUN, NODE) == ""
    clock.seconds = 7.9
    assert waits.words(RUN, NODE).startswith(words)


def test_signs_of_life_of_a_queue_do_not_begin_the_count_anew(waits, clock):
    waits.moved(RUN, NODE, "running", "queued")
    clock.seconds = 6.0
    waits.moved(RUN, NODE, "running", "queued")
    assert "6 s" in waits.words(RUN, NODE)


@pytest.mark.parametrize("state", ["done", "failed", "cancelled", "waiting"])
def test_a_node_that_has_ended_or_asks_waits_for_nothing(waits, clock, state):
    waits.sent(RUN, NODE)
    waits.moved(RUN, NODE, state, "")
    clock.seconds = 60.0
    assert waits.words(RUN, NODE) == "" and not waits


class TickingWorkspace:
    """A clock of the workspace that a test sets."""

    def __init__(self) -> None:
        self.passed = 0.0

    def __call__(self) -> datetime:
        return NOW + timedelta(seconds=self.passed)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("digit", ["1", "2", "3", "4", "5", "6", "7"])
async def test_429_shows_its_reason_and_the_seconds_in_every_pane(tmp_path: Path, size, digit, monkeypatch) -> None:
    clock = TickingWorkspace()
    project = FakeProject()
    async with workspace(project, tmp_path, size) as pilot:
        screen = screen_of(pilot)
        screen.controllers.waiting.waits._now = lambda: clock().timestamp()
        await screen.controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press(digit)
        await settled(pilot)
        run, node = screen.view.run, screen.view.node
        reason = "服务繁忙 (429)"
        await told(pilot, project, NodeRetrying(run, node, 23.0, reason, 2))
        rows = "\n".join(shown(pilot.app))
        assert "Waiting 23 s" in rows and all(part in rows for part in reason.split())
        clock.passed = 20.0
        screen.controllers.waiting.show()
        await settled(pilot)
        assert "Waiting 3 s" in "\n".join(shown(pilot.app))
        await told(pilot, project, RunStateChanged(run, "cancelled"))
        assert "Waiting" not in "\n".join(shown(pilot.app))


async def test_a_node_that_waits_for_the_model_names_the_background_work_that_is_running(tmp_path: Path) -> None:
    clock = TickingWorkspace()
    project = FakeProject()
    async with workspace(project, tmp_path, (140, 40)) as pilot:
        screen = screen_of(pilot)
        screen.controllers.waiting.waits._now = lambda: clock().timestamp()
        await screen.controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press("4")
        reading = BackgroundTask(1, "story", books.chapter_id(3), digest("3"), "running", 3)
        waits = NodeStateChanged(screen.view.run, screen.view.node, "ready")
        await told(pilot, project, waits, BackgroundChanged((("running", 1),), reading))
        clock.passed = 9.0
        screen.controllers.waiting.show()
        await settled(pilot)
        words = "Waiting for the model: 9 s. In the background: relations, facts, promises; Q cancels it."
        assert screen.controllers.waiting.waits.words(screen.view.run, screen.view.node) == words
        assert "In the background" in "\n".join(shown(pilot.app))
        await told(pilot, project, BackgroundChanged((("fresh", 1),), replace(reading, state="fresh")))
        screen.controllers.waiting.show()
        await settled(pilot)
        assert "In the background" not in "\n".join(shown(pilot.app))


async def test_a_stall_is_told_and_gone_with_the_next_piece(tmp_path: Path) -> None:
    clock = TickingWorkspace()
    project = FakeProject()
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        screen = screen_of(pilot)
        screen.controllers.waiting.waits._now = lambda: clock().timestamp()
        await screen.controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press("4")
        await settled(pilot)
        run, node = screen.view.run, screen.view.node
        await told(
            pilot, project, NodeStateChanged(run, node, "running"), NodeStarted(run, node, "Draft", 9),
            NodeStreaming(run, node, 9, 0, "One "),
        )  # fmt: skip
        clock.passed = 31.0
        screen.controllers.waiting.show()
        await settled(pilot)
        await until(pilot, lambda: "Nothing has arrived for 31 s" in "\n".join(shown(pilot.app)))
        await told(pilot, project, NodeStreaming(run, node, 9, 4, "two"))
        await until(pilot, lambda: "Nothing has arrived" not in "\n".join(shown(pilot.app)))


async def test_an_answer_that_arrives_shows_the_seconds_since_it_was_asked_for(tmp_path: Path) -> None:
    clock = TickingWorkspace()
    project = FakeProject()
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        screen = screen_of(pilot)
        screen.controllers.waiting.waits._now = lambda: clock().timestamp()
        await screen.controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press("4")
        await settled(pilot)
        run, node = screen.view.run, screen.view.node
        await told(pilot, project, NodeStateChanged(run, node, "running"), NodeStarted(run, node, "Draft", 9))
        clock.passed = 1_265.0
        await told(pilot, project, NodeStreaming(run, node, 9, 0, "One "))
        screen.controllers.waiting.show()
        await until(pilot, lambda: "1,265 s" in "\n".join(shown(pilot.app)))
        await told(pilot, project, RunStateChanged(run, "cancelled"))
        await until(pilot, lambda: "1,265 s" not in "\n".join(shown(pilot.app)))


async def test_another_step_that_waits_has_its_title_in_the_language_of_the_screen(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, (140, 40)) as pilot:
        screen = screen_of(pilot)
        await screen.controllers.runs.open_chapter(books.chapter_id(4))
        await settled(pilot)
        run = screen.view.run
        await told(pilot, project, NodeRetrying(run, NodeId("draft/1/candidate-5"), 23.0, "busy", 2))
        rows = "\n".join(shown(pilot.app))
        assert "candidate 5: " in rows and "candidate-5" not in rows
