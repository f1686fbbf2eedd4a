"""What a writer sees at the edges of the workspace: hints, sayings, what lies behind a dialog, the palette."""

from __future__ import annotations

import gc
import warnings
from dataclasses import replace

import pytest
from textual.widgets import Input, Select

from flowcabal_tui.domain.errors import ProjectError
from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.locale import use_language
from flowcabal_tui.protocol.book import OutsideEdit, PersistOutput, WriteChapter
from flowcabal_tui.protocol.memory import BackgroundChanged, KnowledgeStatus
from flowcabal_tui.protocol.runs import Decide, ResumeRun, RunStateChanged, RunWorkflow
from flowcabal_tui.tui.app.error_screen import ErrorScreen
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.app.palette import PaletteScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.words import run_cells
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import DiffScreen, OutsideScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.hint_line import HINTS, HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.shared.words import length_words
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HelpScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fake_books import digest
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import (
    PANE_IDS,
    LingeringProject,
    pane_in_view,
    screen_of,
    settled,
    told,
    until,
    workspace,
)


def hints(pilot) -> str:
    return str(pilot.app.screen.query_one(HintLine).render())


async def test_the_foot_shows_no_key_that_the_field_takes_as_a_character(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("1")
        await settled(pilot)
        assert " + Add " in hints(pilot) and " / Filter " in hints(pilot)
        await pilot.press("slash")
        await settled(pilot)
        assert " + " not in hints(pilot) and " / " not in hints(pilot) and " F5 " in hints(pilot)


@pytest.mark.parametrize(
    ("digit", "first"),
    [("3", " e Edit "), ("4", " a Approve  e Edit  r Retry  [ ] Attempts "), ("6", " c Compare "), ("7", " l Level ")],
)
async def test_the_foot_has_four_keys_of_the_pane_then_the_palette_and_the_help(tmp_path, digit, first):
    project = FakeProject()
    project.waiting = []
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.runs.open_chapter(books.chapter_id(4))
        screen_of(pilot).controllers.runs.run_states.clear()
        await screen_of(pilot).controllers.questions.load()
        await pilot.press(digit)
        await settled(pilot)
        assert hints(pilot).startswith(first)
        assert hints(pilot).endswith(" Ctrl+p Commands  F1 Help ")
        assert len(hints(pilot).strip().split("  ")) <= HINTS + 2


async def test_a_question_that_waits_and_a_run_come_first_in_the_foot(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("4")
        await told(pilot, project, RunStateChanged(books.RUN, "running"))
        await settled(pilot)
        assert hints(pilot).startswith(" F9 Stop  F8 Decisions ") and " Ctrl+p Commands " in hints(pilot)
        await told(pilot, project, RunStateChanged(books.RUN, "done"))
        await settled(pilot)
        assert "F9" not in hints(pilot)


async def test_the_palette_is_named_over_a_page_and_in_a_narrow_terminal(tmp_path):
    async with workspace(FakeProject(), tmp_path, (60, 16)) as pilot:
        await pilot.press("8")
        await settled(pilot)
        assert " Ctrl+p Commands " in hints(pilot) and len(hints(pilot)) <= 60


async def test_a_line_to_type_into_leaves_the_text_behind_it_in_sight(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.pause()
        assert any("1 Chapters" in row for row in shown(pilot.app))


async def test_the_palette_begins_with_the_pane_and_knows_no_cursor_keys(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("3")
        await settled(pilot)
        await pilot.press("ctrl+p")
        await settled(pilot)
        assert isinstance(pilot.app.screen, PaletteScreen)
        titles = [str(option.prompt).strip() for option in pilot.app.screen.query_one(PickList).options]
    assert any(title.startswith("Edit ") and title.endswith(" e") for title in titles[:12]), titles[:12]
    assert not [title for title in titles if title.startswith(("Scroll", "Page", "Up", "Down"))]


async def test_a_run_that_was_interrupted_is_told_at_the_start_unless_an_answer_lets_it_go_on(tmp_path):
    project = FakeProject()
    asked = replace(project.run_rows[0], state="interrupted")
    broken = replace(asked, id=RunId("run-8"), nodes=((books.PLAN, "pending"),))
    project.run_rows = [asked, broken]
    async with workspace(project, tmp_path) as pilot:
        assert "1 interrupted: F3" in screen_of(pilot).status.words


async def test_after_a_decision_the_output_shows_what_comes_of_it(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).controllers.questions.decide(project.waiting[0].id, Decision("approve", 2))
        await settled(pilot)
        assert pane_in_view(pilot) == "output"
        assert any(isinstance(item, Decide) for item in project.sent)


async def test_an_event_that_changes_no_word_paints_nothing(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, KnowledgeStatus("ready"), BackgroundChanged((("waiting", 2),)))
        painted: list[object] = []
        screen_of(pilot).status.query_one(".status-words").refresh = lambda *regions, **how: painted.append(how)
        await told(pilot, project, KnowledgeStatus("ready"), BackgroundChanged((("waiting", 2),)))
        assert painted == []
        await told(pilot, project, BackgroundChanged((("waiting", 1),)))
        assert painted and not any(how.get("layout") for how in painted), "the whole screen would be laid out again"


async def test_an_interrupted_run_that_is_chosen_goes_on_and_its_output_is_shown(tmp_path):
    project = FakeProject()
    nodes = ((books.PLAN, "done"), (books.DRAFT, "running"), (books.POLISH, "pending"))
    project.run_rows = [replace(project.run_rows[0], state="interrupted", nodes=nodes)]
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await settled(pilot)
        assert ResumeRun(books.RUN) in project.sent
        assert pane_in_view(pilot) == "output"


async def test_ctrl_w_closes_the_project_and_shows_the_first_page(tmp_path):
    project = LingeringProject()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("ctrl+w")
        await until(pilot, lambda: isinstance(pilot.app.screen, HomeScreen))
        assert "close" in project.ends


async def test_another_pane_repaints_the_panes_concerned_and_not_the_screen(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        screen = screen_of(pilot)
        repaints: list[object] = []
        screen.refresh = lambda *regions, **how: repaints.append(how)
        for digit in "2317":
            await pilot.press(digit)
            await settled(pilot)
        assert repaints == []


async def test_a_pane_that_was_chosen_beside_others_is_the_one_left_when_the_screen_narrows(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        for digit in "72":
            await pilot.press(digit)
            await settled(pilot)
        await pilot.resize_terminal(90, 30)
        await settled(pilot)
        shown_panes = [pane for pane in PANE_IDS if screen_of(pilot).query_one(f"#{pane}").region.area]
        assert shown_panes == ["workflow"]


def test_the_list_of_runs_stands_in_columns_of_cells_in_chinese_too():
    use_language("zh")
    row = replace(FakeProject("zh").run_rows[0], error="")
    rows = [run_cells(replace(row, state=state), 3) for state in ("done", "waiting", "interrupted")]
    assert [cells[0][:2] for cells in rows] == ["● ", "? ", "◒ "], "each state has its sign"
    assert "完成" in rows[0][0]
    assert len({cells[1:] for cells in rows}) == 1


async def test_an_empty_text_is_measured_in_the_language_of_the_book(tmp_path):
    async with workspace(FakeProject("zh"), tmp_path) as pilot:
        screen = screen_of(pilot)
        assert length_words("\n", screen.query_one(OutputPane).book_language) == "0 characters"
        assert length_words("\n", screen.query_one(ManuscriptPane).book_language) == "0 characters"
        assert length_words("rain", "zh") == "1 word"


@pytest.mark.parametrize("digit", ["1", "3", "6"])
async def test_zoom_gives_a_pane_the_whole_width_of_a_wide_screen(tmp_path, digit):
    async with workspace(FakeProject(), tmp_path, size=(140, 40)) as pilot:
        await pilot.press(digit)
        await settled(pilot)
        pane = screen_of(pilot).query_one(f"#{pane_in_view(pilot)}")
        assert pane.size.width < 100
        await pilot.press("z")
        await settled(pilot)
        assert pane.size.width >= 138
        await pilot.press("z")
        await settled(pilot)
        assert pane.size.width < 100


async def test_work_that_is_replaced_before_it_began_leaves_no_coroutine_behind(tmp_path):
    async def nothing() -> None:
        pass

    async with workspace(FakeProject(), tmp_path) as pilot:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for _time in range(3):
                attempt(screen_of(pilot), nothing(), group="again", exclusive=True)
            await settled(pilot)
            gc.collect()
        assert [str(item.message) for item in warned if "never awaited" in str(item.message)] == []


@pytest.mark.parametrize(("key", "newest"), [("a", "The file's text."), ("x", None), ("escape", "")])
async def test_a_chapter_changed_outside_is_compared_and_taken_or_not(tmp_path, key, newest):
    project = FakeProject()
    chapter = books.chapter_id(1)
    kept = await project.book.chapter_text(chapter)
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).book.open(chapter)
        await pilot.press("3", "o")
        await settled(pilot)
        assert not isinstance(pilot.app.screen, OutsideScreen), "nothing was changed outside"
        project.outside[chapter] = "The file's text."
        await told(pilot, project, OutsideEdit(chapter, "/book/0001.md"))
        assert "Its file was changed outside: o compares" in "\n".join(shown(pilot.app))
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, OutsideScreen))
        await pilot.press(key)
        await settled(pilot)
        sent = [command for command in project.sent if isinstance(command, WriteChapter)]
        assert [command.text for command in sent] == ([] if newest == "" else [newest or kept])
        await told(pilot, project)
        assert ("Its file was changed outside" in "\n".join(shown(pilot.app))) == (newest == "")


async def test_a_run_in_a_book_without_chapters_says_what_to_do_first(tmp_path):
    project = FakeProject()
    project.chapter_rows = []
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, ErrorScreen))
        assert "press + in the list of chapters" in "\n".join(shown(pilot.app))


async def test_help_is_there_over_a_modal_that_fills_the_screen(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: isinstance(pilot.app.screen, DecisionsScreen))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        assert "Another attempt, with a note." in "\n".join(shown(pilot.app))
        await pilot.press("escape", "escape")
        for screen in (DiffScreen("", "a", "b"), OutsideScreen("", "a", "b")):
            pilot.app.push_screen(screen)
            await settled(pilot)
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
            await pilot.press("escape", "escape")


@pytest.mark.parametrize(("answer", "written"), [("n", False), ("y", True)])
async def test_an_export_replaces_a_file_only_when_the_writer_says_so(tmp_path, answer, written):
    project = FakeProject()
    manuscript = tmp_path / "novel.txt"
    manuscript.write_text("The only copy.")
    async with workspace(project, tmp_path) as pilot:
        for name, asked in (("new", False), ("novel", True)):
            await pilot.press("ctrl+e")
            await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))
            pilot.app.screen.query_one("#field-form", Select).value = "txt"
            pilot.app.screen.query_one("#field-file", Input).value = str(tmp_path / name)
            await pilot.press("ctrl+s")
            if asked:
                await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
                await pilot.press(answer)
            await settled(pilot)
        assert project.exported == [tmp_path / "new.txt", *([manuscript] if written else [])]


async def test_what_hinders_the_memory_is_told_until_it_goes_on(tmp_path):
    project = FakeProject()
    title = "The connection to api.example.org failed"
    task = BackgroundTask(1, "l1", "chapter-1", digest("text"), "waiting", tries=1, error=title)
    async with workspace(project, tmp_path) as pilot:
        status, busy = screen_of(pilot).status, replace(task, state="running")
        await told(pilot, project, BackgroundChanged((("waiting", 2),), task))
        assert f"background: 2 left ({title})" in status.words
        await told(pilot, project, BackgroundChanged((("running", 1), ("waiting", 1)), busy))
        assert f"background: 2 left ({title})" in status.words
        await told(pilot, project, BackgroundChanged((("failed", 2),), replace(task, state="failed")))
        assert f"background: 2 failed: R ({title})" in status.words
        done = replace(task, state="fresh", error="")
        await told(pilot, project, BackgroundChanged((("waiting", 1),), done))
        assert "background: 1 left" in status.words
        assert title not in status.words


async def test_an_older_version_that_could_not_be_read_once_is_read_the_next_time(tmp_path):
    failures = [ProjectError("The disk is busy.")]

    class FailingOnce(FakeProject):
        async def chapter_text(self, chapter, version=None):
            if version == known.version and failures:
                raise failures.pop()
            return await super().chapter_text(chapter, version)

    project, chapter = FailingOnce(), books.chapter_id(1)
    ((known, text),) = project.version_rows[chapter]
    newer = replace(known, version=known.version + 1, digest=digest(f"{text}!"))
    project.version_rows[chapter] = ((newer, f"{text}!"), (known, text))
    row = project.chapter_rows[0]
    project.chapter_rows[0] = replace(row, version=newer.version, digest=newer.digest)
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).book.open(chapter)
        await pilot.press("3", "V")
        await until(pilot, lambda: isinstance(pilot.app.screen, ErrorScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, VersionsScreen))
        await pilot.press("up", "down")
        await until(pilot, lambda: pilot.app.screen.query_one("#text", StreamView).text == text)
        await pilot.press("a")
        await settled(pilot)
        assert project.sent[-1] == WriteChapter(chapter, text, newer.version, "version 1 restored", is_older=True)


async def test_a_run_of_another_chapter_opens_that_chapter(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await screen_of(pilot).book.open(books.chapter_id(1))
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("enter")
        await settled(pilot)
        assert screen_of(pilot).view.chapter == project.run_rows[0].chapter == books.chapter_id(4)


def behind_many_runs() -> FakeProject:
    """The run of chapter 4 waits behind 120 newer runs of chapter 1, which have ended."""
    project = FakeProject()
    (waiting,) = project.run_rows
    newer = [replace(waiting, id=RunId(f"newer-{n}"), chapter=books.chapter_id(1), state="done") for n in range(120)]
    for run in newer:
        for node, _state in run.nodes:
            project.node_views[run.id, node] = replace(project.node_views[waiting.id, node], run=run.id)
    project.run_rows = [*newer, waiting]
    return project


async def test_a_run_that_waits_behind_many_newer_ones_is_shown_with_its_chapter(tmp_path):
    async with workspace(behind_many_runs(), tmp_path) as pilot:
        runs = screen_of(pilot).controllers.runs
        assert screen_of(pilot).view.chapter == books.chapter_id(4)
        assert (screen_of(pilot).view.run, runs.run_states[books.RUN]) == (books.RUN, "waiting")
        await screen_of(pilot).book.open(books.chapter_id(1))
        await runs.open_chapter(books.chapter_id(1))
        assert (screen_of(pilot).view.run, runs.run_states[books.RUN]) == ("newer-0", "waiting")


async def test_an_old_run_is_kept_and_run_again_for_its_own_chapter(tmp_path):
    project = behind_many_runs()
    project.waiting = []
    project.run_rows[-1] = replace(project.run_rows[-1], state="done", nodes=((books.DRAFT, "done"),))
    async with workspace(project, tmp_path) as pilot:
        screen = screen_of(pilot)
        await screen.controllers.runs.show_run(project.run_rows[-1])
        other = books.chapter_id(1)
        screen.view.chapter = other
        screen.run_worker(screen.controllers.runs.again(books.DRAFT))
        await until(pilot, lambda: any(isinstance(each, RunWorkflow) for each in project.sent))
        await settled(pilot)
        (begun,) = [each for each in project.sent if isinstance(each, RunWorkflow)]
        assert begun.request.chapter == books.chapter_id(4)
        project.put_node(books.RUN, books.POLISH, "done", books.attempts(project.words))
        screen.run_worker(screen.controllers.keeping.keep(books.RUN, books.POLISH, 1, other))
        await until(pilot, lambda: any(isinstance(each, PersistOutput) for each in project.sent))
        (kept,) = [each for each in project.sent if isinstance(each, PersistOutput)]
        assert kept.chapter == books.chapter_id(4)


@pytest.mark.parametrize(("answer", "kept"), [("enter", []), ("y", [books.chapter_id(4)])])
async def test_an_output_of_a_run_for_no_chapter_is_kept_in_the_open_one_only_after_a_question(tmp_path, answer, kept):
    project = FakeProject()
    project.waiting = []
    project.run_rows = [replace(project.run_rows[0], chapter=None, state="done")]
    project.put_node(books.RUN, books.POLISH, "done", books.attempts(project.words))
    async with workspace(project, tmp_path) as pilot:
        screen = screen_of(pilot)
        screen.run_worker(screen.controllers.keeping.keep(books.RUN, books.POLISH, 1, books.chapter_id(4)))
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        question = "\n".join(shown(pilot.app))
        assert "Keep Polish as the text of chapter 4?" in question
        assert "Its run was for no chapter; this one is open." in question
        await pilot.press(answer)
        await settled(pilot)
        assert [each.chapter for each in project.sent if isinstance(each, PersistOutput)] == kept


async def test_the_list_of_runs_goes_on_when_its_end_is_reached(tmp_path):
    async with workspace(behind_many_runs(), tmp_path) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        rows = pilot.app.screen.query_one(PickList)
        for read in (100, 121):
            await pilot.press("end")
            await until(pilot, lambda read=read: rows.option_count >= read)
        await pilot.press("end", "enter")
        await until(pilot, lambda: screen_of(pilot).view.run == books.RUN)
        assert rows.option_count == 121


async def test_a_run_that_was_interrupted_while_it_asked_waits_for_its_answer(tmp_path):
    project = FakeProject()
    project.run_rows = [replace(project.run_rows[0], state="interrupted")]
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        assert "waiting for you" in "\n".join(shown(pilot.app))
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, WorkspaceScreen), "there is nothing to take up before the answer"
        assert not [command for command in project.sent if isinstance(command, ResumeRun)]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_f2_leads_into_the_editor_and_so_does_the_way_back_to_it(tmp_path, size):
    async with workspace(FakeProject(), tmp_path, size=size) as pilot:
        await screen_of(pilot).book.open(books.chapter_id(1))
        await pilot.press("f2")
        await settled(pilot)
        await pilot.press("y", "雨")
        pane = screen_of(pilot).query_one(ManuscriptPane)
        assert "y雨" in pane.text
        await pilot.press("f6")
        await settled(pilot)
        await pilot.press("3")
        await settled(pilot)
        await pilot.press("z")
        assert "y雨z" in pane.text
