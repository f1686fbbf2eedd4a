"""Pictures of the graph with bodies and marks, the versions of a node and a story."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.ids import NodeId, QuestionId
from flowcabal_tui.domain.run import Choice, Decision, Question
from flowcabal_tui.domain.versions import StaleMark
from flowcabal_tui.examples import example
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.protocol.runs import NodeNeedsHuman, QuestionAnswered
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.decisions.play import PlayScreen
from flowcabal_tui.tui.editing.places import graph_at, spot_of
from flowcabal_tui.tui.runs.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.workflows.data_editor import DataEditor
from flowcabal_tui.tui.workflows.params_form import ParamsForm
from flowcabal_tui.tui.workflows.rows import node_marks
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from tests.snapshots.test_shell import SIZES, app, settled
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject

ASK = NodeId("rounds/0/ask")
BOTH = pytest.mark.parametrize("language", ["en", "zh"])
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)


def on_top(screen):
    """Waits for the first page, then lays a screen over it."""

    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.app.push_screen(screen)
        await settled(pilot)

    return before


def words(language: str) -> books.Words:
    return books.ZH if language == "zh" else books.EN


def adventure(language: str) -> Question:
    """The first question of the example."""
    document = example("text_adventure", language)
    spot = spot_of(document, NodeId("rounds/scenes"))
    assert spot is not None
    scene = graph_at(document, spot.owners).node(spot.node)
    assert scene is not None
    beach = scene.params["source"][0]
    choices = tuple(Choice(each["label"]) for each in beach["choices"])
    return Question(QuestionId("q"), books.RUN, ASK, "choice", beach["text"], books.NOW, choices=choices, options=())


@EVERY_SIZE
@BOTH
def test_the_tree_with_bodies_and_marks(snap_compare, size, language):
    running: FlowCabalApp = app(language, opened=True)

    async def before(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("2")
        await settled(pilot)
        document = example("text_adventure", language)
        pane = pilot.app.screen.query_one(WorkflowPane)
        states = {"init": "done", "rounds/0/here": "done", "rounds/0/ask": "waiting", "endings": "failed"}
        pane.show(document, {NodeId(path): state for path, state in states.items()})
        pane.follow(ASK)
        findings = await FakeProject(language).validate(document.model_copy(update={"entry": NodeId("nowhere")}))
        marks = node_marks((), findings, (NodeId("story"),))
        stale = StaleMark(NodeId("init"), "direct", ())
        marks[NodeId("init")] = replace(marks.get(NodeId("init"), next(iter(marks.values()))), stale=stale.kind)
        pane.show_marks(marks)
        await settled(pilot)

    assert snap_compare(running, terminal_size=size, run_before=before)


@EVERY_SIZE
@BOTH
def test_a_story(snap_compare, size, language):
    question = adventure(language)
    following = replace(question, id=QuestionId("next"))
    told = (NodeNeedsHuman(question), QuestionAnswered(question.id, Decision("choose", 2)), NodeNeedsHuman(following))

    async def load():
        return told

    page = PlayScreen(example("text_adventure", language).name, books.RUN, load, [following])
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(page))


@EVERY_SIZE
@BOTH
def test_versions_of_a_node(snap_compare, size, language):
    title, project = words(language).node_names[1], FakeProject(language)

    async def before(pilot: Pilot[int]) -> None:
        await on_top(NodeVersionsScreen(title, project, "chapter", books.DRAFT, None))(pilot)
        await pilot.press("d")
        await settled(pilot)

    assert snap_compare(app(language), terminal_size=size, run_before=before)


@EVERY_SIZE
@BOTH
def test_parameters_of_a_loop(snap_compare, size, language):
    node = example("text_adventure", language).node(NodeId("rounds"))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(ParamsForm(node, kinds()["loop"])))


@EVERY_SIZE
@BOTH
def test_a_node_as_text(snap_compare, size, language):
    node = example("text_adventure", language).node(NodeId("ending"))
    editor = DataEditor(node.title, node.model_dump(mode="json"), lambda _value: ("source: -", "where: -"))
    assert snap_compare(app(language), terminal_size=size, run_before=on_top(editor))
