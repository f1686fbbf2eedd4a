"""The output and context panes while a run goes on: after a decision, inside a sub-flow, before the first call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.protocol.runs import Decide, NodeStateChanged, NodeStreaming
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.runs.answered_text import AnsweredText
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.view import GRACE
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.test_workspace import screen_of, settled, told, workspace
from tests.tui.waiting import until

SCENE, INNER = NodeId("scene"), NodeId("scene/flow/draft")


async def test_after_a_decision_the_output_leads_to_the_node_that_waits_for_the_model(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        page = screen_of(pilot)
        await page.controllers.runs.open_chapter(books.chapter_id(4))
        await page.controllers.questions.decide(project.waiting[0].id, Decision("approve", 2))
        view = project.node_views[books.RUN, books.DRAFT]
        project.node_views[books.RUN, books.DRAFT] = replace(view, state="done", question=None)
        await told(
            pilot, project,
            NodeStateChanged(books.RUN, books.DRAFT, "done"), NodeStateChanged(books.RUN, books.POLISH, "ready"),
        )  # fmt: skip
        assert page.query_one(OutputPane).view is not None
        assert (page.view.node, page.query_one(OutputPane).view.node, page.query_one(OutputPane).view.state) == (
            books.POLISH,
            books.POLISH,
            "ready",
        )
        receipt = str(page.query_one(ReceiptPane).query_one(".head", Static).render())
        assert receipt.startswith("The context is being gathered")


async def test_a_decision_about_another_run_leaves_the_writer_where_they_are(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        page = screen_of(pilot)
        page.view.run = None
        page.action_pane("manuscript")
        await page.controllers.questions.decide(project.waiting[0].id, Decision("approve", 2))
        await settled(pilot)
        assert page.view.pane == "manuscript"


@pytest.mark.parametrize("key", ["a", "e", "r"])
async def test_a_text_that_waits_is_approved_edited_or_retried_from_the_output(tmp_path: Path, key: str) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        await settled(pilot)
        screens, text = len(pilot.app.screen_stack), screen_of(pilot).query_one(OutputPane).query_one(AnsweredText)
        text._now = lambda: text._appeared
        await pilot.press("4", "[", key)
        await settled(pilot)
        assert len(pilot.app.screen_stack) == screens and not [x for x in project.sent if isinstance(x, Decide)]
        text._now = lambda: text._appeared + GRACE  # the question has been there for a moment
        await pilot.press(key)
        await until(
            pilot, lambda: len(pilot.app.screen_stack) > screens or any(isinstance(x, Decide) for x in project.sent)
        )
        await settled(pilot)
        top = pilot.app.screen
        if key == "a":
            assert [x.decision for x in project.sent if isinstance(x, Decide)] == [Decision("approve", 1)]
            assert isinstance(top, WorkspaceScreen)
        elif key == "e":
            assert isinstance(top, DecisionsScreen) and (top.face, top.attempts.number) == ("editor", 1)
        else:
            assert isinstance(top, PromptLine)


async def test_a_node_that_contains_others_shows_the_one_at_work(tmp_path: Path) -> None:
    project = FakeProject()
    called = project.documents[0]
    scene = Node(id=SCENE, kind="subflow", name="The scene", params={"ref": called.id})
    project.documents = [called.model_copy(update={"id": "day", "nodes": (scene,), "edges": ()}), called]
    day = project.documents[0]
    view = project.node_views[books.RUN, books.POLISH]
    project.node_views[books.RUN, SCENE] = replace(view, node=SCENE, title="The scene", kind="subflow")
    project.node_views[books.RUN, INNER] = replace(view, node=INNER, title="draft")
    row = project.run_rows[0]
    project.run_rows = [replace(row, workflow=day.reference, state="running", nodes=((SCENE, "pending"),))]
    async with workspace(project, tmp_path) as pilot:
        page = screen_of(pilot)
        await page.controllers.runs.open_chapter(books.chapter_id(4))
        page.view.following = False
        await told(pilot, project, NodeStateChanged(books.RUN, INNER, "running"))
        assert page.view.node == SCENE and project.watched == (books.RUN, INNER)
        await told(pilot, project, NodeStreaming(books.RUN, INNER, 1, 0, "The tide came in."))
        view = page.query_one(OutputPane).view
        assert view is not None
        assert (view.node, view.title) == (INNER, f"The scene: {called.node(books.DRAFT).title}")
        assert page.query_one(OutputPane)._live_text == "The tide came in."
