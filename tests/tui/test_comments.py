"""Comments over an invented project: listed, gone to, changed, resolved; and made at what is selected."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from flowcabal_tui.protocol.revision import AddComment, EditComments, RemoveComments
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.story.passages import Passages
from flowcabal_tui.tui.story.story_page import StoryPlace
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE
from tests.tui.test_names import opened, press, screen
from tests.tui.test_workspace import workspace

ONE = books.chapter_id(1)


def filled() -> FakeProject:
    project = FakeProject()
    project.revision.fill()
    return project


def page(project: FakeProject) -> CommentsScreen:
    return CommentsScreen(project, ONE)


def listed(pilot) -> list[str]:
    return [option.id for option in pilot.app.screen.query_one(PickList).options]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_comments_are_listed_by_state_kind_and_chapter_with_their_passage(size: tuple[int, int]) -> None:
    async with opened(page(filled()), size) as pilot:
        assert listed(pilot) == ["1", "3", "4"]
        passage = str(pilot.app.screen.query_one(Passages).query(Static).first().content)
        assert passage.startswith("1 Rain\n") and books.EN.texts[0][4:16] in passage
        await press(pilot, "o")
        assert listed(pilot) == ["1"]
        await press(pilot, "o", "2")
        assert listed(pilot) == ["2"]
        await press(pilot, "3")
        assert listed(pilot) == ["3"] and "passage gone" in screen(pilot)
        await press(pilot, "4", "t")
        assert listed(pilot) == ["4"] and "only: note" in screen(pilot)


async def test_a_comment_is_changed_resolved_and_removed() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "e", *" Yes", "ctrl+s")
        assert project.sent[-1] == EditComments((1,), "Does the rain last too long? Yes", "question")
        await press(pilot, "space")
        assert project.sent[-1] == EditComments((1,), resolved=True)
        assert listed(pilot) == ["3", "4"]
        await press(pilot, "D", "n")
        assert listed(pilot) == ["3", "4"]
        await press(pilot, "D", "y")
        assert project.sent[-1] == RemoveComments((3,))
        await press(pilot, "plus", "ctrl+s")
        assert isinstance(pilot.app.screen, FormScreen), "words are needed"
        await press(pilot, *"Slow", "ctrl+s")
        assert project.sent[-1] == AddComment(ONE, "Slow", "note")


@pytest.mark.parametrize(("key", "edit"), [("enter", False), ("m", True)])
async def test_a_key_opens_the_passage_of_a_comment(key: str, edit: bool) -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, key)
        row = project.revision.rows[0]
        assert pilot.app.answers == [StoryPlace(ONE, row.start, row.end, edit)]


async def test_hostile_words_are_shown_and_obeyed_by_nobody() -> None:
    project = filled()
    project.revision.carry_out(EditComments((1,), HOSTILE))
    async with opened(page(project)) as pilot:
        assert "[b]bold[/b]" in screen(pilot) and "\x1b" not in screen(pilot)


async def test_the_selection_gets_a_comment_and_so_does_the_paragraph_in_view(tmp_path: Path) -> None:
    project = filled()
    project.revision.locked.clear()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "ctrl+underscore", *"Why", "enter")
        first = books.EN.texts[0].split("\n")[0].strip()
        assert project.sent[-1] == AddComment(ONE, "Why", "note", first, books.EN.texts[0].index(first))
        await press(pilot, "f2")
        pilot.app.screen.query_one(ManuscriptPane).query_one(ProseArea).select_span(4, 9)
        await press(pilot, "ctrl+underscore", *"So", "ctrl+s")
        words = books.EN.texts[0][4:9]
        start = 4 + len(words) - len(words.lstrip())
        assert project.sent[-1] == AddComment(ONE, "So", "note", words.strip(), start)
        assert pilot.app.screen.query_one(ManuscriptPane).face == "edit"
        await press(pilot, "escape", "semicolon")
        assert isinstance(pilot.app.screen, CommentsScreen)
