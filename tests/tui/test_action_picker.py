"""Actions found by words, and taken into a node by keys; 80x24, no mouse."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.versions import ActionRow
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.action_picker import ActionPicker
from flowcabal_tui.tui.workflows.params_form import ParamsForm
from tests.tui.fakes import FakeProject
from tests.tui.test_workspace import workspace
from tests.tui.test_workspace_graph import at_workflow, chosen, document, pressed, words_on
from tests.tui.waiting import settled, until

SMALL = (80, 24)
ACTIONS = (
    ActionRow("mail.send.v1", "Send", "mail", "sends a [b]letter[/b]", gated=True),
    ActionRow("news.find.v1", "News", "news", "finds news"),
)


def project(*nodes: Node) -> FakeProject:
    made = FakeProject()
    made.documents, made.run_rows = [Workflow(id="chapter", nodes=nodes)], []
    made.action_rows = ACTIONS
    return made


def rows(pilot: Pilot[int]) -> list[str | None]:
    return [option.id for option in pilot.app.screen.query_one(PickList).options]


async def typed(pilot: Pilot[int], words: str) -> None:
    pilot.app.screen.query_one(Input).value = words
    await pressed(pilot, "enter")
    await settled(pilot)


async def test_an_action_is_searched_and_taken_in_the_form_of_its_node(tmp_path: Path) -> None:
    made = project(Node(id=NodeId("send"), kind="action", params={"action": "old"}))
    async with workspace(made, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "p")
        await until(pilot, lambda: isinstance(pilot.app.screen, ParamsForm))
        await pressed(pilot, "f4")
        await until(pilot, lambda: isinstance(pilot.app.screen, ActionPicker) and len(rows(pilot)) == 2)
        assert "[b]letter[/b]" in words_on(pilot) and "asks first" in words_on(pilot)
        assert pilot.app.screen.query_one(".dialog").region.x > 0, "in the middle"
        await typed(pilot, "nothing like it")
        assert rows(pilot) == [] and "Nothing was found" in words_on(pilot)
        await typed(pilot, "news")
        assert rows(pilot) == ["news.find.v1"]
        await pressed(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ParamsForm))
        await pressed(pilot, "ctrl+s")
        await settled(pilot)
        assert document(pilot).nodes[0].params == {"action": "news.find.v1"}


async def test_a_new_action_node_begins_with_its_action(tmp_path: Path) -> None:
    async with workspace(project(Node(id=NodeId("ask"), kind="human")), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "plus")
        await chosen(pilot, "action")
        await until(pilot, lambda: isinstance(pilot.app.screen, ActionPicker) and len(rows(pilot)) == 2)
        await pressed(pilot, "down", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await typed(pilot, "news")
        assert document(pilot).nodes[1].params["action"] == "news.find.v1"


async def test_f4_lists_no_actions_for_another_kind_of_node(tmp_path: Path) -> None:
    async with workspace(project(Node(id=NodeId("ask"), kind="human")), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "p")
        await until(pilot, lambda: isinstance(pilot.app.screen, ParamsForm))
        await pressed(pilot, "f4")
        assert isinstance(pilot.app.screen, ParamsForm)
