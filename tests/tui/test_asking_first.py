"""What costs money or stops work asks first: one dialog, the same words for every action of the keys page."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from textual.pilot import Pilot

import flowcabal_tui.tui
from flowcabal_tui.domain.memory import BackgroundTask, StaleText
from flowcabal_tui.domain.text import digest
from flowcabal_tui.tui.app.effects import effect_of
from flowcabal_tui.tui.app.keys_page import all_keys
from flowcabal_tui.tui.runs.controller import RunController
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.test_maintenance import screen_text
from tests.tui.test_workspace_whole import opened, press

_STOPS = "queue.cancel cancel-all memory.cancel stop stop-node stop-all branch"
"""Ids of actions that stop work, or their parts after the point."""
PAYING = {
    "run.start": ("f5", "enter"),
    "chapters.run": ("1", "r", "enter"),
    "workflow.run": ("2", "r", "enter"),
    "workflow.step": ("2", "S", "enter"),
    "memory.retry": ("R",),
    "models.check": ("shift+f7",),
    "profile.regenerate": ("7", "home", "j", "k", "j", "r"),
    "queue.retry": ("Q", "r"),
    "queue.retry-all": ("Q", "R"),
    "queue.make": ("Q", "m"),
    "queue.make-all": ("Q", "M"),
}
"""Keys from the workspace to the question of an action that is paid for."""
STOPPING = {
    "run.stop": ("f9",),
    "workflow.stop-node": ("2", "g", "j", "x"),
    "workflow.branch": ("2", "g", "j", "b"),
    "workflow.stop-all": ("2", "X"),
    "memory.cancel": ("shift+f9",),
    "queue.cancel": ("Q", "j", "x"),
    "queue.cancel-all": ("Q", "X"),
}
"""The same of an action that stops work."""
ELSEWHERE = {
    "book.read": "test_reading_import",
    "workflow.again": "test_workspace_graph",
    "output.again": "test_workspace_graph",
    "output.continue": "test_cut_off",
    "block.run": "test_workspace_graph",
    "workflows.build": "test_build_review",
    "workflows.update": "test_build_review",
    "builds.build": "test_build_review",
    "build.revise": "test_build_review",
    "build.resume": "test_build_review",
    "build.stop": "test_build_review",
    "output.stop": "test_panes_output, by the same function as workflow.stop-node",
    "manuscript.rewrite": "test_panes_manuscript",
    "knowledge.stop": "test_knowledge_controller",
    "findings.check": "test_findings",
    "impact.patch": "test_impact",
    "beats-panel.check": "test_beats_beside",
    "runs.resume": "test_resumed_runs",
    "candidates.sift": "test_comparison",
    "candidates.seams": "test_comparison",
    "candidates.more": "test_comparison",
    "model-form.try": "test_settings_page",
    "revision.rewrite": "test_revision",
    "revision.rewrite-so": "test_revision",
}
"""Actions of other screens, which ask by the same functions."""
AGREED = {
    "decision.retry": "within the price of the run",
    "decision.mend": "within the price of the run",
    "output.retry": "within the price of the run",
    "talk.send": "typing the question is the wish; its price is below the line",
    "talk.stop": "the text of the answer is kept, and the next question goes on",
}
"""Actions without a question of their own, and why."""


def failed(project: FakeProject) -> None:
    chapter = books.chapter_id(2)
    project.tasks = [
        BackgroundTask(1, "l1", chapter, digest("1"), "failed", 2, 5, "HTTP 503"),
        BackgroundTask(2, "story", chapter, digest("2"), "waiting"),
    ]
    project.stale_rows = []


def _asks_first(action: str) -> bool:
    """True for an action that costs money or stops work."""
    return not {action, action.partition(".")[2]}.isdisjoint(_STOPS.split()) or effect_of(action) == "pays"


def test_every_action_that_pays_or_stops_is_in_one_of_the_tables() -> None:
    asking = {row.id for row in all_keys() if _asks_first(row.id) and not row.id.startswith("leader.")}
    assert asking == {*PAYING, *STOPPING, *ELSEWHERE, *AGREED}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("action", PAYING)
async def test_what_is_paid_for_asks_with_model_likely_and_at_most(action: str, language: str, tmp_path: Path) -> None:
    async with opened(tmp_path, offline=False, language=language) as (project, pilot):
        failed(project)
        if "make" in action:
            project.stale_rows = [StaleText(f"manuscript/{books.chapter_id(2)}", 2, (books.chapter_id(2),))]
            project.tasks = []
        before = list(project.sent)
        await press(pilot, *PAYING[action])
        words = asked(pilot)
        said = {
            "en": ("This costs money.", "Model: ", "Likely: ", "At most: ", "Pay and continue", "Not now"),
            "zh": ("这会产生费用。", "模型：", "预计：", "上限：", "付费继续", "暂不"),
        }
        assert [each for each in said[language] if each not in words] == []
        await press(pilot, "n")
        assert project.sent == before


@pytest.mark.parametrize("action", STOPPING)
async def test_what_stops_work_asks_in_the_same_words(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as (project, pilot):
        failed(project)
        monkeypatch.setattr(RunController, "active", property(lambda _self: (books.RUN,)))
        if "queue" not in action and "memory" not in action:
            await running(pilot)
        await press(pilot, *STOPPING[action])
        words = asked(pilot)
        for said in ("Finished parts are kept. The rest can be continued later.", "Stop", "Let it continue"):
            assert said in words
        await press(pilot, "n")
        assert project.sent == []
        await press(pilot, STOPPING[action][-1], "y")
        assert len(project.sent) == 1


async def running(pilot: Pilot[int]) -> None:
    """The run of the project is in view and at work."""
    await press(pilot, "f3", "enter")


def asked(pilot: Pilot[int]) -> str:
    assert isinstance(pilot.app.screen, ConfirmScreen), type(pilot.app.screen)
    return screen_text(pilot)


def test_prices_are_asked_about_in_one_place_only() -> None:
    """No screen puts a price into a dialog of its own."""
    folder = Path(next(iter(flowcabal_tui.tui.__path__)))
    wrong = []
    for path in folder.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "ConfirmScreen":
                inside = {getattr(each, "id", "") for each in ast.walk(call)}
                wrong += [str(path)] if inside & {"spend_lines", "price_lines", "reading_again", "quote_words"} else []
    assert wrong == []
