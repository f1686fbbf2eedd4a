"""A workflow that is edited and cannot run yet: nothing of it is lost, wherever the writer goes."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from tests.tui.fakes import FakeProject
from tests.tui.test_workspace import screen_of, settled, until, workspace
from tests.tui.test_workspace_graph import at_workflow, chosen, document, ids, pressed, typed, words_on


class Strict(FakeProject):
    """Stores only what can run, as a project does."""

    async def carry_out(self, command: Command) -> str:
        if isinstance(command, SaveWorkflow):
            require_valid(command.workflow)
        return await super().carry_out(command)


async def hollow_node_added(pilot: Pilot[int]) -> None:
    """A node whose prompt is empty still, so that the document is wrong."""
    await at_workflow(pilot)
    await pressed(pilot, "plus")
    await chosen(pilot, "prompt")
    await typed(pilot, "critic")
    await until(pilot, lambda: "critic" in ids(pilot))
    await settled(pilot)


async def test_another_pane_and_another_chapter_open_and_the_edits_wait(tmp_path: Path) -> None:
    project = Strict()
    async with workspace(project, tmp_path) as pilot:
        await hollow_node_added(pilot)
        await pressed(pilot, "5", "2")
        await settled(pilot)
        assert not isinstance(pilot.app.screen, ErrorScreen)
        await pressed(pilot, "1", "g", "enter")
        await settled(pilot)
        assert screen_of(pilot).view.chapter == project.chapter_rows[0].id
        await at_workflow(pilot)
        assert "critic" in ids(pilot)


async def test_the_next_start_takes_the_edits_up_and_ctrl_z_leaves_them(tmp_path: Path) -> None:
    project = Strict()
    async with workspace(project, tmp_path) as pilot:
        await hollow_node_added(pilot)
    assert all(node.id != "critic" for stored in project.documents for node in stored.nodes)
    async with workspace(project, tmp_path) as pilot:
        await at_workflow(pilot)
        assert "critic" in ids(pilot)
        await pressed(pilot, "ctrl+z")
        await settled(pilot)
        assert "critic" not in ids(pilot)
        await pressed(pilot, "ctrl+s")
        await settled(pilot)
        assert not [key for key in project.drafts.fields if key.startswith("workflow/")]


async def test_a_chapter_shows_the_newest_document_so_that_an_edit_loses_none_before_it(tmp_path: Path) -> None:
    project = Strict()
    async with workspace(project, tmp_path) as pilot:
        ran = document(pilot)
        assert screen_of(pilot).view.run is not None
        newer = ran.model_copy(update={"version": ran.version + 1, "nodes": ran.nodes[:-1]})
        project.documents = [newer if item.id == ran.id else item for item in project.documents] + [ran]
        await screen_of(pilot).controllers.runs.load(screen_of(pilot).view.chapter)
        await settled(pilot)
        assert document(pilot) == newer
        await screen_of(pilot).controllers.runs.show_run(project.run_rows[0])
        assert document(pilot) == ran


async def test_a_node_without_a_receipt_does_not_show_that_of_another(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path) as pilot:
        words = "No receipt yet"
        assert words not in words_on(pilot)
        await at_workflow(pilot)
        assert words in words_on(pilot)
        assert "This node has no output yet" not in words_on(pilot)
        await pressed(pilot, "4")
        assert "This node has no output yet" in words_on(pilot)
