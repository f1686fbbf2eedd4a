"""The graph edited by keys in a whole workspace, its marks, and runs under control; 80x24, no mouse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from flowcabal_tui.domain.errors import ProjectError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.versions import NodeVersion, StaleMark
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.examples import example
from flowcabal_tui.protocol.runs import AdvanceRun, CancelRun, NodeStateChanged, RunStateChanged, RunWorkflow
from flowcabal_tui.protocol.workflows import EditOutput, FreezeNode, SaveWorkflow, SelectVersion, UnfreezeNode
from flowcabal_tui.tui.runs.node_versions import NodeVersionsScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.workflows.data_editor import DataEditor, as_yaml
from flowcabal_tui.tui.workflows.params_form import ParamsForm
from flowcabal_tui.tui.workflows.rows import NodeMarks, ShownState, row_label
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import screen_of, settled, told, until, workspace

SMALL = (80, 24)


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    """Keys, one after the other, each with what comes of it."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
        await pilot.pause()


async def chosen(pilot: Pilot[int], option: str) -> None:
    """A row of a list of choices, by its id."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
    pilot.app.screen.query_one(PickList).pick(option)
    await pressed(pilot, "enter")


async def typed(pilot: Pilot[int], words: str) -> None:
    """A line of input."""
    await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
    pilot.app.screen.query_one(Input).value = words
    await pressed(pilot, "enter")
    await until(pilot, lambda: not isinstance(pilot.app.screen, PromptLine))


async def at_workflow(pilot: Pilot[int]) -> WorkflowPane:
    """The workflow as a template, the cursor at its first node."""
    workspace_screen = screen_of(pilot)
    await workspace_screen.controllers.runs.show_template(workspace_screen.controllers.document.workflow.reference)
    await pressed(pilot, "2", "g")
    await settled(pilot)
    return workspace_screen.query_one(WorkflowPane)


async def calm(pilot: Pilot[int]) -> None:
    """What was begun has come to rest, under a screen that a worker waits for."""
    for _round in range(10):
        await pilot.pause()


def document(pilot: Pilot[int]) -> Workflow:
    found = screen_of(pilot).controllers.document.workflow
    assert found is not None
    return found


def ids(pilot: Pilot[int]) -> list[str]:
    return [node.id for node in document(pilot).nodes]


def words_on(pilot: Pilot[int]) -> str:
    return "\n".join(shown(pilot.app))


async def test_a_node_is_added_connected_and_taken_back(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        before = document(pilot)
        await pressed(pilot, "plus")
        await chosen(pilot, "prompt")
        await typed(pilot, "critic")
        await until(pilot, lambda: len(ids(pilot)) == 4)
        await settled(pilot)
        assert screen_of(pilot).query_one(WorkflowPane).highlighted == "critic"
        assert "error" in words_on(pilot)
        await pressed(pilot, "i")
        await chosen(pilot, "0")
        await chosen(pilot, "0")
        await until(pilot, lambda: bool(document(pilot).node(NodeId("critic")).params.get("prompt")))
        await settled(pilot)
        assert "error" not in words_on(pilot)
        await pressed(pilot, "ctrl+z", "ctrl+z")
        await settled(pilot)
        assert document(pilot) == before
        await pressed(pilot, "ctrl+y")
        await settled(pilot)
        assert len(ids(pilot)) == 4


async def test_removing_asks_when_others_read_it_and_says_who(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "delete")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert document(pilot).node(books.DRAFT).title in words_on(pilot)
        await pressed(pilot, "n")
        assert books.PLAN in ids(pilot)
        await pressed(pilot, "delete", "y")
        await settled(pilot)
        assert books.PLAN not in ids(pilot)
        blocks = document(pilot).node(books.DRAFT).params["prompt"]
        assert all(block["kind"] != "virtual" for block in blocks)


async def test_a_copy_is_put_into_another_workflow(tmp_path: Path) -> None:
    project = FakeProject()
    project.documents.append(Workflow(id="other", name="Other", nodes=(Node(id=NodeId("only")),)))
    async with workspace(project, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "y")
        await screen_of(pilot).controllers.runs.show_template("other@1")
        await settled(pilot)
        await pressed(pilot, "v")
        await settled(pilot)
        assert ids(pilot) == ["only", "plan"]


async def test_moving_renaming_and_saving_make_one_new_version(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "n")
        await typed(pilot, "Skeleton")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pressed(pilot, "y")
        await settled(pilot)
        await pressed(pilot, "greater_than_sign")
        await settled(pilot)
        assert ids(pilot)[1] == books.PLAN
        await pressed(pilot, "ctrl+s")
        await settled(pilot)
        saved = [command.workflow for command in project.sent if isinstance(command, SaveWorkflow)]
        assert [node.title for node in saved[0].nodes if node.id == books.PLAN] == ["Skeleton"]
        assert len(saved) == 1
        assert document(pilot).version == 2


@pytest.mark.parametrize("wish", ["not so many beats", "Name the people first", "drop the polish", "Delay the draft"])
async def test_prose_that_is_typed_into_the_pane_removes_and_renames_nothing(wish: str, tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        before = {node.id: node for node in document(pilot).nodes}
        await pressed(pilot, *("space" if letter == " " else letter for letter in wish), "enter")
        await calm(pilot)
        after = {node.id: node for node in document(pilot).nodes}
        assert {name: after.get(name) for name in before} == before


async def test_a_node_is_edited_as_text_with_what_is_wrong_beside_it(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "e")
        await until(pilot, lambda: isinstance(pilot.app.screen, DataEditor))
        area = pilot.app.screen.query_one(ProseArea)
        area.load_text("id: plan\nkind: prompt\nparams: [")
        await pilot.pause()
        assert "line" in words_on(pilot)
        await pressed(pilot, "ctrl+s")
        assert isinstance(pilot.app.screen, DataEditor)
        area.load_text(as_yaml({"id": "plan", "kind": "human", "params": {"question": "你要去哪里？"}}))
        await pilot.pause()
        assert "There are no errors" in words_on(pilot)
        await pressed(pilot, "ctrl+s")
        await settled(pilot)
        assert document(pilot).node(books.PLAN).params == {"question": "你要去哪里？"}


async def test_parameters_of_any_kind_have_a_form_that_says_what_each_is_for(tmp_path: Path) -> None:
    project = FakeProject()
    loop = Node(id=NodeId("loop"), kind="loop", params={"body": {"nodes": [{"id": "step", "kind": "start"}]}})
    project.documents = [Workflow(id="chapter", nodes=(loop,))]
    project.run_rows = []
    async with workspace(project, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "p")
        await until(pilot, lambda: isinstance(pilot.app.screen, ParamsForm))
        field = pilot.app.screen.query_one("#field-max_iterations", Input)
        field.focus()
        await pilot.pause()
        assert "for_each refuses a longer list" in words_on(pilot)
        field.value = "many"
        await pressed(pilot, "ctrl+s")
        assert "max_iterations" in words_on(pilot)
        field.value = "7"
        await pressed(pilot, "ctrl+s")
        await settled(pilot)
        assert document(pilot).nodes[0].params == {**loop.params, "max_iterations": 7}
        await pressed(pilot, "5", "p")
        await until(pilot, lambda: isinstance(pilot.app.screen, ParamsForm))


async def test_nodes_inside_a_loop_appear_live_under_their_round(tmp_path: Path) -> None:
    project = FakeProject()
    adventure = example("text_adventure", "en").model_copy(update={"id": "chapter"})
    project.documents, project.run_rows = [adventure], []
    async with workspace(project, tmp_path, SMALL) as pilot:
        pane = await at_workflow(pilot)
        await pressed(pilot, "j", "l")
        assert "○ What do you do?" in words_on(pilot)
        screen_of(pilot).view.run, screen_of(pilot).view.following = books.RUN, True
        for path in ("rounds/0/here", "rounds/0/ask", "rounds/1/ask"):
            await told(pilot, project, NodeStateChanged(books.RUN, NodeId(path), "done"))
        project.node_views[books.RUN, NodeId("rounds/1/ask")] = project.node_views[books.RUN, books.PLAN]
        await told(pilot, project, NodeStateChanged(books.RUN, NodeId("rounds/1/ask"), "waiting"))
        words = words_on(pilot)
        assert "round 1" in words and "round 2" in words
        assert "? What do you do? waiting for you" in words
        assert "Step by step running" in words
        assert pane.highlighted == "rounds/1/ask"


async def test_a_node_inside_a_body_is_renamed_there(tmp_path: Path) -> None:
    project = FakeProject()
    project.documents = [example("text_adventure", "en").model_copy(update={"id": "chapter"})]
    project.run_rows = []
    async with workspace(project, tmp_path, SMALL) as pilot:
        pane = await at_workflow(pilot)
        pane.follow(NodeId("rounds/ask"))
        await pressed(pilot, "n")
        await typed(pilot, "Well?")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pressed(pilot, "y")
        await settled(pilot)
        inner = document(pilot).node(NodeId("rounds")).params["body"]["nodes"]
        assert [node["name"] for node in inner if node["id"] == "ask"] == ["Well?"]
        assert pane.highlighted == "rounds/ask"


async def test_versions_are_compared_selected_frozen_and_written(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        pane = await at_workflow(pilot)
        pane.follow(books.DRAFT)
        await pressed(pilot, "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodeVersionsScreen))
        await calm(pilot)
        assert "300 tokens" in words_on(pilot)
        await pressed(pilot, "j")
        await calm(pilot)
        await pressed(pilot, "d")
        await calm(pilot)
        assert "from version 2 to version 1" in words_on(pilot)
        await pressed(pilot, "a", "f", "f")
        await calm(pilot)
        await pressed(pilot, "d", "e")
        pilot.app.screen.query_one(ProseArea).load_text("By hand.")
        await pressed(pilot, "ctrl+s")
        await calm(pilot)
        assert "by hand" in words_on(pilot)
        assert "run" not in [row.strip() for row in shown(pilot.app)]
        wishes = (SelectVersion, FreezeNode, UnfreezeNode, EditOutput)
        assert [type(each) for each in project.sent if isinstance(each, wishes)] == list(wishes)
        await pressed(pilot, "escape")
        assert isinstance(pilot.app.screen, WorkspaceScreen)


async def test_a_version_that_could_not_be_read_once_is_read_the_next_time(tmp_path: Path) -> None:
    failures = [ProjectError("The disk is busy.")]

    class FailingOnce(FakeProject):
        async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
            if failures and versions[0].number == 1:
                raise failures.pop()
            return await super().texts(versions)

    project = FailingOnce()
    async with workspace(project, tmp_path, SMALL) as pilot:
        pane = await at_workflow(pilot)
        pane.follow(books.DRAFT)
        await pressed(pilot, "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, NodeVersionsScreen))
        await pressed(pilot, "j")
        await calm(pilot)
        shown_text = pilot.app.screen.query_one("#text", StreamView)
        assert (failures, shown_text.text) == ([], project.words.second_draft)
        await pressed(pilot, "k", "j")
        await calm(pilot)
        assert shown_text.text == project.words.first_draft


async def test_what_is_out_of_date_or_frozen_has_a_word_and_a_sign(tmp_path: Path) -> None:
    project = FakeProject()
    project.put_versions(books.PLAN, "A plan.")
    project.put_versions(books.POLISH, "A text.")
    project.marks[books.POLISH] = StaleMark(books.POLISH, "propagated", ((books.PLAN, "edited"),))
    async with workspace(project, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "f")
        await settled(pilot)
        words = words_on(pilot)
        assert "■" in words and "frozen" in words
        assert "◌" in words and "out of date" in words and "out of date upstream" in words


@pytest.mark.parametrize("state", ["waiting", "stale", "running"])
def test_a_frozen_node_is_said_to_be_frozen_whatever_its_state(state: ShownState) -> None:
    assert row_label("Plan", state, NodeMarks(frozen=True), plain=True).plain.endswith(" frozen")


async def test_starred_nodes_are_what_a_run_is_for_and_are_remembered(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "j", "s")
        await settled(pilot)
        assert "★ target" in words_on(pilot)
        await pressed(pilot, "r")
        await typed(pilot, "")
        await settled(pilot)
        requests = [command.request for command in project.sent if isinstance(command, RunWorkflow)]
        assert requests[0].targets == (books.DRAFT,)
        assert project.drafts.fields["targets/chapter"] == books.DRAFT


async def test_to_do_is_listed_by_levels_and_leads_to_a_node(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path, SMALL) as pilot:
        pane = await at_workflow(pilot)
        await pressed(pilot, "T")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        assert "level 2" in words_on(pilot)
        await chosen(pilot, books.POLISH)
        await settled(pilot)
        assert pane.highlighted == books.POLISH


async def test_a_run_level_by_level_says_what_comes_next_and_waits_for_f7(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        await pressed(pilot, "S")
        await typed(pilot, "")
        await settled(pilot)
        request = next(command.request for command in project.sent if isinstance(command, RunWorkflow))
        assert request.step
        run = screen_of(pilot).view.run
        project.script.clear()
        await told(pilot, project, RunStateChanged(run, "waiting"))
        await pressed(pilot, "f7")
        await settled(pilot)
        assert AdvanceRun(run) not in project.sent
        await told(pilot, project, NodeStateChanged(run, books.PLAN, "done"), RunStateChanged(run, "paused"))
        words = screen_of(pilot).status.words
        assert "1 paused: F7" in words and "running" not in words
        screen_of(pilot).status._spin()
        assert str(screen_of(pilot).status.query_one(".status-spinner", Static).render()) == "", "nothing turns"
        title = document(pilot).node(books.DRAFT).title
        await pressed(pilot, "2")
        await settled(pilot)
        assert f"F7 starts: {title}" in words_on(pilot)
        await pressed(pilot, "f7")
        await settled(pilot)
        assert AdvanceRun(run) in project.sent


async def test_a_branch_is_stopped_and_a_node_runs_again_from_here(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path, SMALL) as pilot:
        await pressed(pilot, "end", "enter", "2")
        await settled(pilot)
        pane = screen_of(pilot).query_one(WorkflowPane)
        pane.follow(books.DRAFT)
        await pressed(pilot, "b", "y")
        await settled(pilot)
        assert CancelRun(books.RUN, books.DRAFT, branch=True) in project.sent
        await pressed(pilot, "R")
        await settled(pilot)
        assert not [command for command in project.sent if isinstance(command, RunWorkflow)], "it waits for an answer"
        await told(pilot, project, NodeStateChanged(books.RUN, books.DRAFT, "cancelled"))
        await pressed(pilot, "R")
        await settled(pilot)
        again = [command.request.again for command in project.sent if isinstance(command, RunWorkflow)]
        assert again == [(books.DRAFT,)]


async def test_a_project_that_is_read_only_is_not_edited(tmp_path: Path) -> None:
    async with workspace(FakeProject(read_only=True), tmp_path, SMALL) as pilot:
        await at_workflow(pilot)
        before = document(pilot)
        await pressed(pilot, "delete")
        await until(pilot, lambda: any("read-only" in each.words for each in pilot.app.announcer.notices.listed))
        await pressed(pilot, "plus", "ctrl+z")
        await settled(pilot)
        assert document(pilot) == before
