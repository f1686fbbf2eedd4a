"""Comments in the text: marked in the reader and in the editor, shown at the cursor, gone to by one key."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.comments import Comment, CommentId
from flowcabal_tui.protocol.revision import CommentsChanged
from flowcabal_tui.tui.book.comment_line import CommentLine
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.widgets.hints import COMMENT_SIGN
from flowcabal_tui.tui.widgets.noted_view import NOTE_SIGN, NotedView
from flowcabal_tui.tui.widgets.writing_area import WritingArea
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, shown
from tests.tui.test_names import press
from tests.tui.test_workspace import settled, until, workspace

ONE = books.chapter_id(1)


def noted(*places: tuple[str, str]) -> FakeProject:
    """Chapter 1 has these comments: quoted words, and what is said of them."""
    project = FakeProject()
    project.revision.locked.clear()
    text = project.words.texts[0]
    project.revision.rows = [
        Comment(
            ONE, said, "question", quoted, text.index(quoted), text.index(quoted) + len(quoted), id=CommentId(number)
        )
        for number, (quoted, said) in enumerate(places, 1)
    ]
    return project


def pane(pilot) -> ManuscriptPane:
    return pilot.app.screen.query_one(ManuscriptPane)


def line(pilot) -> str:
    return pane(pilot).query_one(CommentLine).words


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_row_with_a_comment_has_a_sign_and_the_words_of_the_one_in_view_are_below(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    text = books.EN.texts[0]
    first, second = text.split("\n")[0][:12].strip(), text.split("\n")[-1][:9].strip()
    project = noted((second, "Who?"), (first, "Too long?"))
    async with workspace(project, tmp_path, size=size) as pilot:
        await press(pilot, "1", "g", "enter", "z")
        await until(pilot, lambda: "Too long?" in line(pilot))
        await pilot.pause()
        assert sum(NOTE_SIGN in row for row in shown(pilot.app)) == 3, "two rows, and the line below"
        assert line(pilot).startswith(f"{NOTE_SIGN} 1/2 question")
        reader = pane(pilot).query_one("#read", NotedView)
        await press(pilot, "apostrophe", "apostrophe")
        assert text[slice(*reader.highlighted)] == second and "Who?" in line(pilot)
        await press(pilot, "apostrophe")
        assert text[slice(*reader.highlighted)] == first


async def test_in_the_editor_marks_move_with_what_is_typed(tmp_path: Path) -> None:
    words = books.EN.texts[0].split("\n")[-1].split()[0]
    project = noted((words, "Who?"))
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "f2")
        area = pane(pilot).query_one(WritingArea)
        await until(pilot, lambda: bool(area._hints))
        area.move_cursor((0, 0))
        assert area.hint(COMMENT_SIGN) == ""
        await press(pilot, "ctrl+circumflex_accent")
        assert area.selected_text == words and "Who?" in line(pilot)
        area.move_cursor((0, 0))
        await press(pilot, *"Now ")
        area.report_edit()
        await settled(pilot)
        await press(pilot, "ctrl+circumflex_accent")
        assert area.selected_text == words and area.text.startswith("Now ")
        await press(pilot, "apostrophe")
        assert "'" in area.text, "the key of the reader is a letter here"


async def test_a_resolved_comment_a_lost_one_and_one_of_another_chapter_mark_nothing(tmp_path: Path) -> None:
    project = noted()
    project.revision.fill()
    project.revision.locked.clear()
    project.revision.rows = project.revision.rows[1:]
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter")
        await settled(pilot)
        assert line(pilot) == "" and not pane(pilot).query_one(CommentLine).display
        await press(pilot, "apostrophe")
        assert pane(pilot).query_one("#read", NotedView).highlighted is None
        project.revision.fill()
        project.emit(CommentsChanged())
        await until(pilot, lambda: "rain" in line(pilot))


async def test_a_hostile_comment_is_words(tmp_path: Path) -> None:
    quoted = books.EN.texts[0][:8]
    async with workspace(noted((quoted, HOSTILE)), tmp_path) as pilot:
        await press(pilot, "1", "g", "enter")
        await until(pilot, lambda: line(pilot) != "")
        assert "\x1b" not in line(pilot) and "[b]" in line(pilot)
