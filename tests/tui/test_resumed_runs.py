"""A run that stopped or failed is resumed from the list of runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.run import RunState
from flowcabal_tui.protocol.runs import ResumeRun
from flowcabal_tui.tui.runs.history import RunsScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_maintenance import screen_text
from tests.tui.test_workspace import pane_in_view, settled, workspace
from tests.tui.waiting import until


@pytest.mark.parametrize(
    ("state", "sent"), [("cancelled", [ResumeRun(books.RUN)]), ("failed", [ResumeRun(books.RUN)]), ("done", [])]
)
async def test_r_resumes_a_run_that_stopped_or_failed(tmp_path: Path, state: RunState, sent: list[ResumeRun]) -> None:
    project = FakeProject()
    nodes = ((books.PLAN, "done"), (books.DRAFT, "cancelled"), (books.POLISH, "pending"))
    project.run_rows = [replace(project.run_rows[0], state=state, nodes=nodes)]
    project.put_node(books.RUN, books.DRAFT, "cancelled", ())
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        assert any("r: resume" in row for row in shown(pilot.app))
        await pilot.press("r")
        await pilot.pause()
        if not sent:
            assert isinstance(pilot.app.screen, RunsScreen), "the list stays until a run is chosen"
            await pilot.press("escape")
        await settled(pilot)
        assert [each for each in project.sent if isinstance(each, ResumeRun)] == sent
        assert (pane_in_view(pilot) == "output") == bool(sent)


@pytest.mark.parametrize(("answer", "sent"), [("n", []), ("y", [ResumeRun(books.RUN)])])
async def test_a_run_with_a_price_is_resumed_only_after_its_quote_was_accepted(
    tmp_path: Path, answer: str, sent: list[ResumeRun]
) -> None:
    project = FakeProject(offline=False)
    project.run_rows = [replace(project.run_rows[0], state="cancelled")]
    project.put_node(books.RUN, books.DRAFT, "cancelled", ())
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        words = screen_text(pilot)
        assert [each for each in ("This costs money.", "Likely: ", "At most: ") if each not in words] == []
        assert not any(isinstance(each, ResumeRun) for each in project.sent)
        await pilot.press(answer)
        await settled(pilot)
        assert [each for each in project.sent if isinstance(each, ResumeRun)] == sent
