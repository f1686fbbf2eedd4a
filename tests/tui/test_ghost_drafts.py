"""Old text does not come back over new: typed, saved at once, changed from elsewhere, with a real project."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.ids import ChapterId, CommandId
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, ReplaceText, RewriteProposed, WriteChapter, WriteMeta
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.runs.origin import BlameScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import UnsavedScreen
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.hosts import shown
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until


@pytest.fixture
async def book(tmp_path: Path) -> tuple[Path, ChapterId]:
    """A project with one chapter."""
    folder = tmp_path / "book"
    await create_project(folder, name="Rain", language="en")
    project = await Project.open(folder, knowledge=False)
    chapter = ChapterId(await project.carry_out(AddChapter("Rain")))
    await project.carry_out(WriteChapter(chapter, "The lamp was lit."))
    await project.close()
    return folder, chapter


@asynccontextmanager
async def opened(folder: Path, state: Path, language: str = "en") -> AsyncIterator[tuple[Project, Pilot[int]]]:
    projects: list[Project] = []

    async def opener(path: Path, read_only: bool) -> Project:
        projects.append(await Project.open(path, read_only=read_only, knowledge=False, pace=0.0))
        return projects[-1]

    app = FlowCabalApp(
        replace(invented_access(language), opener=opener),
        ScreenSettings(language=language),
        path=folder,
        state_folder=state,
    )
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, UnsavedScreen | WorkspaceScreen))
        await until(pilot, lambda: isinstance(app.screen, UnsavedScreen) or bool(pane(pilot).text))
        await until(pilot, lambda: isinstance(app.screen, UnsavedScreen) or not app.screen.is_opening)
        yield projects[0], pilot
        await app.departure.close_project()


def pane(pilot: Pilot[int]) -> ManuscriptPane:
    return pilot.app.screen.query_one(ManuscriptPane)


async def typed(pilot: Pilot[int], *keys: str) -> None:
    """Keys at the start of the chapter's text, in its editor."""
    await settled(pilot)  # the opening of a book may still move the focus
    pane(pilot).edit()
    area = pane(pilot).query_one(ProseArea)
    await until(pilot, lambda: area.has_focus)
    area.move_cursor((0, 0))
    await pilot.press(*keys)


async def settle(pilot: Pilot[int], project: Project, holds: Callable[[], bool]) -> None:
    """Until `holds`, with every timer of the drafts run out."""
    await until(pilot, holds)
    screen = pilot.app.screen
    assert isinstance(screen, WorkspaceScreen)
    pane(pilot).query_one(ProseArea).report_edit()
    await pilot.pause()
    await screen.save_drafts()
    await pilot.pause()


async def test_saving_at_once_leaves_nothing_that_comes_back_over_a_later_change(book, tmp_path: Path) -> None:
    folder, _chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await typed(pilot, "X", "ctrl+s")
        await settle(pilot, project, lambda: pane(pilot).version == 2)
        places = tuple(each.place for each in await project.book.occurrences("lamp"))
        await project.carry_out(ReplaceText("lamp", "torch", places))
        await until(pilot, lambda: pane(pilot).version == 3)
        assert pane(pilot).text == "XThe torch was lit."
        assert not pane(pilot).is_unsaved
        assert await project.drafts.all() == ()
    async with opened(folder, tmp_path) as (project, pilot):
        assert pane(pilot).text == "XThe torch was lit."
        assert not pane(pilot).is_unsaved


async def test_a_discarded_draft_does_not_come_back(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await typed(pilot, "X", "escape")
        await until(pilot, lambda: pane(pilot).is_unsaved)
        await pilot.press("D", "y")
        await until(pilot, lambda: not pane(pilot).is_unsaved)
        await settle(pilot, project, lambda: True)
        await project.carry_out(WriteChapter(chapter, "Another text."))
        await until(pilot, lambda: pane(pilot).version == 2)
        assert await project.drafts.all() == ()
    async with opened(folder, tmp_path) as (project, pilot):
        assert pane(pilot).text == "Another text."


async def outdated(pilot: Pilot[int], project: Project, chapter: ChapterId) -> None:
    """Unsaved text, and a newer version from elsewhere; then the writer saves."""
    await typed(pilot, "X", "escape")
    await settle(pilot, project, lambda: pane(pilot).is_unsaved)
    await project.carry_out(WriteChapter(chapter, "The torch was lit."))
    await until(pilot, lambda: pane(pilot).version == 2)
    assert pane(pilot).text == "XThe lamp was lit."
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
    await pilot.pause()


async def test_text_on_an_older_version_is_saved_only_after_both_were_shown(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await outdated(pilot, project, chapter)
        screen = "\n".join(shown(pilot.app))
        assert "torch" in screen
        assert "lamp" in screen
        assert await project.book.chapter_text(chapter) == "The torch was lit."
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and pane(pilot).version == 3)
        assert await project.book.chapter_text(chapter) == "XThe lamp was lit."
        assert await project.book.chapter_text(chapter, 2) == "The torch was lit."
        assert not pane(pilot).is_unsaved
        assert await project.drafts.all() == ()


async def test_the_newer_text_can_be_taken_instead(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await outdated(pilot, project, chapter)
        await pilot.press("D")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pane(pilot).is_unsaved)
        assert pane(pilot).text == "The torch was lit."
        assert (await project.book.chapters())[0].version == 2
        assert await project.drafts.all() == ()


async def test_editing_on_keeps_the_unsaved_text_and_asks_again(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await outdated(pilot, project, chapter)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        await typed(pilot, "Y", "ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
        assert await project.book.chapter_text(chapter) == "The torch was lit."
        await pilot.press("escape")


async def test_a_restored_version_is_not_overwritten_by_unsaved_text_unseen(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await project.carry_out(WriteChapter(chapter, "Second."))
        await until(pilot, lambda: pane(pilot).version == 2)
        await typed(pilot, "X", "escape")
        await settle(pilot, project, lambda: pane(pilot).is_unsaved)
        await project.carry_out(WriteChapter(chapter, "The lamp was lit.", note="restored"))
        await until(pilot, lambda: pane(pilot).version == 3)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
        assert await project.book.chapter_text(chapter) == "The lamp was lit."
        await pilot.press("escape")


async def test_what_is_typed_while_a_save_is_under_way_builds_on_what_was_saved(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await typed(pilot, "X", "ctrl+s", "Y")
        await settle(pilot, project, lambda: pane(pilot).version == 2)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pane(pilot).version == 3)
        assert isinstance(pilot.app.screen, WorkspaceScreen)
        assert not isinstance(pilot.app.screen, ConfirmScreen)
        assert await project.book.chapter_text(chapter) == "XYThe lamp was lit."


async def test_unsaved_text_survives_and_knows_at_the_next_start_that_it_is_old(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        await typed(pilot, "X", "escape")
        await settle(pilot, project, lambda: pane(pilot).is_unsaved)
    project = await Project.open(folder, knowledge=False)
    await project.carry_out(WriteChapter(chapter, "The torch was lit."))
    await project.close()
    async with opened(folder, tmp_path) as (project, pilot):
        await until(pilot, lambda: pane(pilot).is_unsaved)
        assert "version 2" in "\n".join(shown(pilot.app))
        pane(pilot).focus()
        pane(pilot).action_save()
        await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
        await pilot.press("escape")


async def test_an_outline_that_changed_while_it_was_edited_is_overwritten_only_after_both_were_shown(
    book, tmp_path: Path
) -> None:
    folder, _chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        pilot.app.screen.action_key("book.meta")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProseScreen))
        await project.carry_out(WriteMeta("outline", "Theirs."))
        await pilot.press(*"Mine", "full_stop", "ctrl+s")
        await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
        assert await project.book.meta("outline") == "Theirs."
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        await until(pilot, lambda: all(worker.is_finished for worker in pilot.app.workers))
        assert await project.book.meta("outline") == "Mine."
        subject = ChapterId("meta/outline")
        assert [
            await project.book.chapter_text(subject, one.version)
            for one in await project.book.chapter_versions(subject)
        ] == [
            "Mine.",
            "Theirs.",
        ]


async def test_what_came_back_from_an_editor_is_not_saved_over_a_newer_text_unseen(
    book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):

        async def editor(*_given: object) -> str:
            await project.carry_out(WriteChapter(chapter, "Theirs."))
            return "Mine."

        monkeypatch.setattr("flowcabal_tui.tui.book.controller.edit_outside", editor)
        pane(pilot).action_editor()
        await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
        assert await project.book.chapter_text(chapter) == "Theirs."
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        assert pane(pilot).text == "Mine."
        assert [draft.text for _chapter, draft in await project.drafts.all()] == ["Mine."]


async def test_edits_of_a_workflow_that_has_a_newer_version_are_shown_beside_it(book, tmp_path: Path) -> None:
    folder, _chapter = book
    project = await Project.open(folder, knowledge=False)
    first = (await project.workflows.newest())[0]
    mine = first.model_copy(update={"description": "Mine."})
    await project.drafts.put_draft(f"workflow/{first.id}", mine.model_dump_json())
    await project.carry_out(SaveWorkflow(first.model_copy(update={"description": "Theirs."})))
    await project.close()
    async with opened(folder, tmp_path) as (project, pilot):
        await until(pilot, lambda: isinstance(pilot.app.screen, UnsavedScreen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        await until(pilot, lambda: pilot.app.screen.controllers.document.workflow is not None)
        assert pilot.app.screen.controllers.document.workflow.description == "Mine."
        await pilot.app.screen.save_drafts()
        assert [each.description for each in await project.workflows.newest() if each.id == first.id] == ["Mine."]
        assert await project.drafts.draft(f"workflow/{first.id}") is None


async def test_an_accepted_rewrite_is_the_models_in_the_origin_of_the_saved_chapter(book, tmp_path: Path) -> None:
    folder, chapter = book
    async with opened(folder, tmp_path) as (project, pilot):
        proposal = RewriteProposed(CommandId("c"), chapter, 4, 8, "lamp", "torch", "writer-1", "brighter")
        pilot.app.screen.book._requested.add((chapter, 4, "lamp"))
        pilot.app.screen.book.propose(proposal)
        await settled(pilot)
        pane(pilot).query_one(DiffView).focus()
        await settled(pilot)
        await pilot.press("a")
        await until(pilot, lambda: pane(pilot).is_unsaved)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: pane(pilot).version == 2)
        (line,) = await project.book.blame(chapter)
        pieces = [(line.text[span.start : span.end], span.origin.model) for span in line.spans]
        assert pieces == [("The ", ""), ("torch", "writer-1"), (" was lit.", "")]
        pane(pilot).action_origin()
        await until(pilot, lambda: isinstance(pilot.app.screen, BlameScreen))
        await until(pilot, lambda: "rewritten by writer-1: brighter" in " ".join(shown(pilot.app)))
        await pilot.press("escape")
