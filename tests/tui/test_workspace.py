"""The workspace over an invented project: what keys do, what events do, what commands are sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
from textual.events import DescendantFocus
from textual.pilot import Pilot
from textual.widgets import Input, Static

from flowcabal_tui.domain.errors import ProjectLocked, ProjectReadOnly
from flowcabal_tui.domain.ids import ChapterId, OutputId, RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.locale import language_in_use
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.book import (
    AddChapter,
    EditChapter,
    OutputChecked,
    OutputPersisted,
    PersistOutput,
    WriteChapter,
)
from flowcabal_tui.protocol.memory import BackgroundChanged, KnowledgeStatus
from flowcabal_tui.protocol.runs import CancelRun, Decide, NodeStreaming, RunStateChanged, RunWorkflow, UsageChanged
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.writing_area import WritingArea
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeDrafts, FakeProject
from tests.tui.hosts import shown
from tests.tui.try_out import invented_access
from tests.tui.waiting import until

NOW = datetime(2026, 11, 21, 9, 41)
PANE_IDS = ("chapters", "workflow", "manuscript", "output", "prompt", "context", "profiles")


class LingeringProject(FakeProject):
    """An invented project that notes in which order it is left, and may refuse to close."""

    def __init__(self, *, hangs: bool = False, **how: bool) -> None:
        super().__init__("en", **how)
        self.ends: list[str] = []
        self._hangs = hangs
        self.drafts.put = self.put

    async def put(self, chapter, text, base):
        self.ends.append("draft")
        return await FakeDrafts.put(self.drafts, chapter, text, base)

    async def close(self) -> None:
        self.ends.append("close")
        if self._hangs:
            await asyncio.Event().wait()
        await super().close()

    async def linger(self) -> None:
        self.ends.append("linger")


def app_over(project: FakeProject, tmp_path: Path, **preferences: object) -> FlowCabalApp:
    async def opener(folder: Path, read_only: bool) -> FakeProject:
        return project

    doors = replace(invented_access("en"), opener=opener)
    settings = ScreenSettings(language="en", **preferences)
    return FlowCabalApp(doors, settings, path=Path("lamp"), state_folder=tmp_path, clock=lambda: NOW)


@asynccontextmanager
async def workspace(
    project: FakeProject, tmp_path: Path, size: tuple[int, int] = (140, 40), **preferences: object
) -> AsyncIterator[Pilot[int]]:
    app = app_over(project, tmp_path, **preferences)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[int]) -> None:
    """Every worker has ended and every message was handled."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def told(pilot: Pilot[int], project: FakeProject, *events: Event) -> None:
    """The engine tells something, and the screen has heard it."""
    project.emit(*events)
    screen_of(pilot).drain()
    await settled(pilot)


def screen_of(pilot: Pilot[int]) -> WorkspaceScreen:
    return next(screen for screen in pilot.app.screen_stack if isinstance(screen, WorkspaceScreen))


def pane_in_view(pilot: Pilot[int]) -> str:
    """The pane that holds the focus."""
    focused = pilot.app.screen.focused
    assert focused is not None
    return next(str(item.id) for item in focused.ancestors_with_self if item.id in PANE_IDS)


async def test_digits_go_to_the_seven_panes(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        for digit, pane in zip("1234567", PANE_IDS, strict=True):
            await pilot.press(digit)
            await pilot.pause()
            assert screen_of(pilot).query_one(f"#{pane}").region.area
            assert pane_in_view(pilot) == pane


async def test_a_focus_of_before_that_is_told_late_does_not_take_the_view_back(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("3")
        await settled(pilot)
        page, reader = screen_of(pilot), pilot.app.screen.focused
        page.action_pane("output")
        page.post_message(DescendantFocus(reader))
        await settled(pilot)
        page.post_message(DescendantFocus(reader))
        await settled(pilot)
        assert (page.view.pane, pane_in_view(pilot)) == ("output", "output")


async def test_a_key_pressed_while_the_project_opens_does_not_land_in_a_hidden_line(tmp_path):
    app = app_over(FakeProject(), tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        await pilot.press("1")
        await settled(pilot)
        assert [item.value for item in screen_of(pilot).query_one(ChapterList).query(Input)] == [""]


async def test_below_100_columns_one_pane_is_shown_with_all_seven_names_above_it(tmp_path):
    async with workspace(FakeProject(), tmp_path, (80, 24)) as pilot:
        await pilot.press("3")
        await pilot.pause()
        shown = [pane for pane in PANE_IDS if screen_of(pilot).query_one(f"#{pane}").region.area]
    assert shown == ["manuscript"]


async def test_zoom_shows_only_the_pane_with_the_focus_and_all_again(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        chapters = screen_of(pilot).query_one("#chapters")
        await pilot.press("3", "z")
        await pilot.pause()
        assert not chapters.region.area
        await pilot.press("z")
        await pilot.pause()
        assert chapters.region.area


async def test_f6_goes_round_the_panes_and_the_focus_follows(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        assert pane_in_view(pilot) == "chapters"
        await pilot.press("f6")
        await pilot.pause()
        assert pane_in_view(pilot) == "workflow"
        await pilot.press("shift+f6")
        await pilot.pause()
        assert pane_in_view(pilot) == "chapters"


async def test_a_chapter_and_f5_is_all_that_a_run_needs(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press(*"storm", "enter")
        await until(pilot, lambda: any(isinstance(item, RunWorkflow) for item in project.sent))
        request = next(item for item in project.sent if isinstance(item, RunWorkflow)).request
        assert request.chapter == books.chapter_id(4)
        assert request.inputs == (("instruction", "storm"),)
        await until(pilot, lambda: not project.script)
        await settled(pilot)
        assert project.words.second_draft.split()[0] in screen_of(pilot).query_one(OutputPane).view.attempts[-1].text


async def test_a_run_that_spends_money_shows_its_quote_first_and_no_is_the_default(tmp_path):
    project = FakeProject(offline=False)
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        words = str(pilot.app.screen.query_one(".confirm-words").render())
        assert "3 of 3 nodes would run." in words
        assert "You are asked before it can cost more than this." in words and "108 calls" not in words
        await pilot.press("enter")
        await settled(pilot)
        assert not any(isinstance(item, RunWorkflow) for item in project.sent)


async def test_streamed_text_goes_to_the_output_only_if_its_node_is_in_view(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        assert project.watched == (books.RUN, books.DRAFT)
        shown: list[str] = []
        screen_of(pilot).query_one(OutputPane).append = lambda attempt, offset, text: shown.append(text)
        await told(
            pilot, project,
            NodeStreaming(books.RUN, books.POLISH, 1, 0, "elsewhere"),
            NodeStreaming(books.RUN, books.DRAFT, 3, 0, "here"),
        )  # fmt: skip
    assert shown == ["here"]


@pytest.mark.parametrize("state", ["running", "waiting"])
async def test_stop_cancels_the_run_in_view(tmp_path, state):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        await told(pilot, project, RunStateChanged(books.RUN, state))
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: CancelRun(books.RUN) in project.sent)


async def test_the_status_line_tells_runs_questions_money_saved_and_knowledge(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(
            pilot, project,
            RunStateChanged(RunId("run-9"), "running"), UsageChanged(Totals(9, 12_000, 400, None)),
            KnowledgeStatus("failed", "port taken"), BackgroundChanged((("waiting", 2), ("running", 1))),
            OutputPersisted(OutputId("o"), books.chapter_id(1), 2, True),
        )  # fmt: skip
        assert screen_of(pilot).status.words == (
            "? 1 waiting for you: F8   1 running   today 120 of 200 ██████░░░░   12.4k tok   3 in background   "
            "✗ knowledge: off (port taken)"
        )


async def test_what_is_said_of_kept_text_is_shown_and_hinders_nothing(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(
            pilot, project,
            OutputPersisted(OutputId("o"), books.chapter_id(1), 2, True),
            OutputChecked(books.chapter_id(1), 2, (), ("It says [b]nothing[/b] new.",)),
        )  # fmt: skip
        (notice,) = pilot.app.announcer.notices.listed
        assert (notice.title, notice.words) == ("Advice on the kept text", "It says [b]nothing[/b] new.")
        assert "saved 09:41" in screen_of(pilot).status.words


async def test_a_narrow_status_line_keeps_what_waits_and_drops_what_can_wait(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path, (60, 16)) as pilot:
        await told(pilot, project, KnowledgeStatus("ready"), RunStateChanged(RunId("run-9"), "running"))
        words = screen_of(pilot).status.words
    assert "1 waiting: F8   1 running" in words
    assert "knowledge" not in words
    assert len(words) <= 58


async def test_at_80_columns_the_cost_of_the_run_and_the_background_work_stay(tmp_path):
    project, run = FakeProject(), RunId("run-9")
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        spent = UsageChanged(
            Totals(90, 812_000, 9_400, Decimal("7.4"), "USD"), run, Totals(3, 9_000, 700, Decimal("0.12"), "USD")
        )
        await told(pilot, project, RunStateChanged(run, "running"), spent, BackgroundChanged((("waiting", 3),)))
        words = screen_of(pilot).status.words
    assert words == "? 1 waiting: F8   1 running ($0.12)   today 120/200   $7.40   3 in background"


async def test_a_free_run_shows_no_cost_beside_the_number_of_runs(tmp_path):
    project, run = FakeProject(), RunId("run-9")
    async with workspace(project, tmp_path, (80, 24)) as pilot:
        free = Totals(3, 9_000, 700, Decimal(0), "USD", free_calls=3)
        await told(pilot, project, RunStateChanged(run, "running"), UsageChanged(free, run, free))
        words = screen_of(pilot).status.words
    assert "1 running   " in words


async def test_a_decision_by_one_key_is_sent_and_the_queue_is_empty(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, DecisionsScreen))
        await settled(pilot)
        pilot.app.screen._appeared = -10.0
        await pilot.press("a")
        await until(pilot, lambda: any(isinstance(item, Decide) for item in project.sent))
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        screen_of(pilot).drain()
        await settled(pilot)
        assert screen_of(pilot).controllers.questions.count == 0
    assert next(item for item in project.sent if isinstance(item, Decide)).decision.kind == "approve"


async def test_the_bell_rings_for_a_decision_only_when_nobody_looks(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        rung: list[int] = []
        pilot.app.bell = lambda: rung.append(1)
        project.ask(replace(books.review(project.words), id="q-2"))
        await told(pilot, project)
        assert rung == []
        pilot.app.app_focus = False
        project.ask(replace(books.review(project.words), id="q-3"))
        await told(pilot, project)
        assert rung == [1]


async def test_chapters_are_added_renamed_moved_and_deleted(tmp_path):
    project = FakeProject()
    chapter = books.chapter_id(1)
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("plus")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press(*"Storm", "enter")
        await settled(pilot)
        screen = screen_of(pilot)
        screen.post_message(ChapterList.RenameRequested(chapter))
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        pilot.app.screen.query_one(Input).value = "Hail"
        await pilot.press("enter")
        await settled(pilot)
        screen.post_message(ChapterList.MoveRequested(chapter, 1))
        await settled(pilot)
        screen.post_message(ChapterList.DeleteRequested(chapter))
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await settled(pilot)
    assert project.sent == [
        AddChapter("Storm", ""),
        EditChapter(chapter, title="Hail"),
        EditChapter(chapter, position=2),
        EditChapter(chapter, deleted=True),
    ]


async def test_the_open_chapter_tells_its_place_anew_when_another_goes_and_a_deleted_one_leaves_its_neighbour(tmp_path):
    project = FakeProject()
    first, third = books.chapter_id(1), books.chapter_id(3)
    async with workspace(project, tmp_path) as pilot:
        screen = screen_of(pilot)
        await screen.book.open(third)
        head = screen.query_one(ManuscriptPane).query_one(".head", Static)

        async def delete(chapter: ChapterId) -> None:
            screen.post_message(ChapterList.DeleteRequested(chapter))
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            await pilot.press("y")

        await delete(first)
        await until(pilot, lambda: str(head.content).startswith(f"2 {project.words.titles[2]}"))
        await delete(third)
        await until(pilot, lambda: screen.view.chapter == books.chapter_id(4))


async def test_names_that_are_looked_at_follow_what_the_index_counts(tmp_path):
    class Counting(FakeProject):
        count = 6

        async def seen(self):
            return tuple(replace(each, mentions=self.count) for each in await super().seen())

    project = Counting()
    async with workspace(project, tmp_path, size=(120, 40)) as pilot:
        await pilot.press("8")
        await until(pilot, lambda: any(" 6 " in row for row in shown(pilot.app)))
        project.count = 1466
        await told(pilot, project, BackgroundChanged((("fresh", 9),)))
        await until(pilot, lambda: any("1,466" in row for row in shown(pilot.app)))


async def test_saving_a_chapter_keeps_it_with_the_version_it_was_made_from_and_drops_the_draft(tmp_path):
    project = FakeProject()
    chapter = books.chapter_id(3)
    async with workspace(project, tmp_path) as pilot:
        screen = screen_of(pilot)
        screen.post_message(ManuscriptPane.DraftEdited(chapter, "half", 1))
        await settled(pilot)
        await screen.save_drafts()
        assert project.drafts.texts == {chapter: ("half", 1)}
        screen.post_message(ManuscriptPane.SaveRequested(chapter, "whole", 1))
        await settled(pilot)
    assert project.sent == [WriteChapter(chapter, "whole", expected_version=1, settles_draft=True)]
    assert project.drafts.texts == {}


async def test_a_refused_command_is_shown_and_the_draft_stays(tmp_path):
    project = LingeringProject(read_only=True)
    chapter = books.chapter_id(3)
    async with workspace(project, tmp_path) as pilot:
        screen_of(pilot).post_message(ManuscriptPane.DraftEdited(chapter, "half", 1))
        screen_of(pilot).post_message(ManuscriptPane.SaveRequested(chapter, "whole", 1))
        await until(pilot, lambda: isinstance(pilot.app.screen, ErrorScreen))
        await pilot.press("escape")
        await screen_of(pilot).save_drafts()
    assert project.drafts.texts == {chapter: ("half", 1)}


async def test_keeping_an_output_names_its_run_node_attempt_and_chapter(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        project.put_node(books.RUN, books.POLISH, "done", books.attempts(project.words))
        told = await screen_of(pilot).controllers.keeping.keep(books.RUN, books.POLISH, 1, books.chapter_id(1))
    assert project.sent == [PersistOutput(books.RUN, books.POLISH, 1, chapter=books.chapter_id(4))]
    assert told == "Kept as version 1 of chapter 4. Background work follows."


async def test_keeping_a_step_on_which_others_build_is_asked_first_and_no_is_the_default(tmp_path):
    project = FakeProject()
    project.waiting = []
    project.put_node(books.RUN, books.DRAFT, "done", books.attempts(project.words))
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        await pilot.press("4", "a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert "Polish" in str(pilot.app.screen.query_one(".confirm-words").render())
        await pilot.press("enter")
        await settled(pilot)
        assert project.sent == []
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await settled(pilot)
        assert project.sent == [PersistOutput(books.RUN, books.DRAFT, 2, chapter=books.chapter_id(4))]
        assert pane_in_view(pilot) == "manuscript"


async def test_the_language_of_the_screen_changes_without_leaving_the_chapter(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).book.open(books.chapter_id(2))
        await pilot.press("ctrl+l")
        await settled(pilot)
        assert language_in_use() == "zh_CN"
        assert screen_of(pilot).view.chapter == books.chapter_id(2)


async def test_a_project_that_is_open_elsewhere_is_offered_for_reading_with_its_holder(tmp_path):
    opened: list[bool] = []

    async def opener(folder: Path, read_only: bool) -> FakeProject:
        opened.append(read_only)
        if not read_only:
            raise ProjectLocked("The project is open elsewhere.", "Host desk, process 4711.")
        return FakeProject(read_only=True)

    doors = replace(invented_access("en"), opener=opener)
    app = FlowCabalApp(doors, ScreenSettings(language="en"), path=Path("lamp"), state_folder=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        assert "process 4711" in str(app.screen.query_one(".confirm-words").render())
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        await settled(pilot)
        assert screen_of(pilot).status.words.startswith("READ ONLY")
    assert opened == [False, True]


async def test_a_project_that_cannot_be_opened_leads_home_with_the_error(tmp_path):
    async def opener(folder: Path, read_only: bool) -> FakeProject:
        raise ProjectReadOnly("It cannot be opened.", "", "Ask its owner.")

    doors = replace(invented_access("en"), opener=opener)
    app = FlowCabalApp(doors, ScreenSettings(language="en"), path=Path("lamp"), state_folder=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ErrorScreen))
        await pilot.press("escape")
        assert isinstance(app.screen, HomeScreen)


async def test_quitting_asks_while_something_runs_and_saves_drafts_before_it_closes(tmp_path):
    project = LingeringProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, RunStateChanged(books.RUN, "running"))
        screen_of(pilot).book.drafts.edited(books.chapter_id(3), "half", 1)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("n")
        await settled(pilot)
        assert "close" not in project.ends
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.return_code is not None)
    assert "draft" in project.ends and project.ends[-1] == "close"
    assert pilot.app.return_code == 0


async def test_a_project_that_does_not_close_does_not_hold_up_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("flowcabal_tui.tui.app.departure.CLOSING_SECONDS", 0.05)
    project = LingeringProject(hangs=True)
    async with workspace(project, tmp_path) as pilot:
        pilot.app.departure.terminate()
        await until(pilot, lambda: pilot.app.return_code is not None)
    assert pilot.app.return_code == 143


async def test_after_a_hang_up_the_screen_goes_and_runs_may_finish(tmp_path, monkeypatch):
    monkeypatch.setattr("flowcabal_tui.tui.app.departure.let_go_of_terminal", lambda: None)
    project = LingeringProject()
    async with workspace(project, tmp_path) as pilot:
        screen_of(pilot).book.drafts.edited(books.chapter_id(3), "half", 1)
        pilot.app.departure.hang_up()
        await until(pilot, lambda: pilot.app.return_code is not None)
    assert project.ends == ["draft"]
    await pilot.app.departure.finish()
    assert project.ends == ["draft", "linger", "close"]


async def test_words_from_outside_are_never_markup(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, KnowledgeStatus("failed", "[/b] [red]"))
        assert "[/b] [red]" in screen_of(pilot).status.words


async def test_what_was_just_typed_is_saved_when_the_program_has_to_end(tmp_path: Path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("1", "g", "enter", "3", "e")
        await settled(pilot)
        area = screen_of(pilot).query_one(WritingArea)
        area.insert("Typed a moment ago. ", (0, 0))
        await screen_of(pilot).save_drafts()
        assert project.drafts.texts[books.chapter_id(1)][0].startswith("Typed a moment ago. ")


async def test_a_project_that_is_only_read_opens_no_editor_and_can_be_left(tmp_path: Path):
    async with workspace(FakeProject(read_only=True), tmp_path) as pilot:
        await pilot.press("1", "g", "enter", "3", "e", "x")
        await settled(pilot)
        pane = screen_of(pilot).query_one(ManuscriptPane)
        assert (pane.face, pane.is_unsaved) == ("read", False)
        assert "open read-only" in pilot.app.announcer.notices.listed[-1].words
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not pilot.app.is_running)
