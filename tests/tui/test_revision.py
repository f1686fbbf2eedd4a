"""The revision over an invented project: passes, ticks, locks, what leads from it; and the list of passes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.proposed_rewrite import with_changes
from flowcabal_tui.domain.revision import PASSES, WHOLE
from flowcabal_tui.protocol.book import (
    AcceptRewrite,
    BookChanged,
    DropRewrite,
    RevertChange,
    RewriteSelection,
    TakeRewrite,
)
from flowcabal_tui.protocol.revision import LockChapters, PutPasses, TickPass
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.revision.comments import CommentsScreen
from flowcabal_tui.tui.revision.pass_list import PassesScreen
from flowcabal_tui.tui.revision.revision import RevisionScreen
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.rewrite_screen import RewriteScreen
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.story.story_page import StoryPlace
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.test_names import opened, press, screen
from tests.tui.test_workspace import told, until, workspace

ONE, TWO, THREE = (books.chapter_id(n) for n in (1, 2, 3))
STRUCTURE, CONTINUITY, PEOPLE, *_rest = PASSES


def filled() -> FakeProject:
    project = FakeProject()
    project.revision.fill()
    project.findings.fill()
    return project


def page(project: FakeProject) -> RevisionScreen:
    return RevisionScreen(project, lambda: books.NOW, ONE)


def rows(pilot, name: str = "#chapters") -> list[str]:
    return [str(option.prompt) for option in pilot.app.screen.query_one(name, PickList).options]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_pass_shows_what_is_done_what_changed_and_what_is_left(size: tuple[int, int]) -> None:
    async with opened(page(filled()), size) as pilot:
        first, second, third = rows(pilot)
        assert first.startswith("[x] 1 Rain") and "locked" in first
        assert second.startswith("[~]") and "changed since" in second
        assert third.startswith("[ ]") and third.endswith(" 2")
        assert [row[:3] for row in rows(pilot, "#items")] == ["[ ]", "[x]", "[ ]"]
        assert "1 of 3 chapters done   2 findings" in screen(pilot)
        await press(pilot, "3")
        assert rows(pilot)[2].endswith(" 4") and "[3 People]" in screen(pilot)


async def test_a_wide_page_shows_the_beginning_of_the_chapter_under_the_cursor() -> None:
    first, second = (text[:20] for text in books.EN.texts[:2])
    async with opened(page(filled()), (140, 40)) as pilot:
        assert first in screen(pilot)
        await press(pilot, "j")
        assert second in screen(pilot) and first not in screen(pilot)
    async with opened(page(filled()), (80, 24)) as pilot:
        assert first not in screen(pilot), "the list needs the room"


async def test_ticks_of_a_chapter_and_of_an_item_are_one_key() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "j", "space")
        assert project.sent[-1] == TickPass(STRUCTURE.id, TWO, (WHOLE,), True), "it was changed since"
        await press(pilot, "space")
        assert project.sent[-1] == TickPass(STRUCTURE.id, TWO, (WHOLE,), False)
        await press(pilot, "tab", "j", "space")
        assert project.sent[-1] == TickPass(STRUCTURE.id, TWO, (STRUCTURE.checklist[1],), True)
        assert rows(pilot, "#items")[1].startswith("[x]")


async def test_a_lock_is_one_key_and_is_compared_with() -> None:
    project = filled()
    project._write(ONE, books.EN.texts[0] + " More.", "")
    async with opened(page(project)) as pilot:
        await press(pilot, "L")
        assert project.sent[-1] == LockChapters((ONE,), False)
        await press(pilot, "d")
        assert isinstance(pilot.app.screen, DiffScreen) and "1 change" in screen(pilot)
        await press(pilot, "escape", "j", "d")
        assert isinstance(pilot.app.screen, RevisionScreen), "it was never locked"


async def test_findings_and_comments_of_the_chapter_lead_into_the_text() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "3", "G", "f")
        assert isinstance(pilot.app.screen, FindingsScreen)
        await press(pilot, "escape", "c")
        assert isinstance(pilot.app.screen, CommentsScreen)
        await press(pilot, "enter")
        note = project.revision.rows[3]
        assert pilot.app.answers == [StoryPlace(THREE, note.start, note.end)]


async def test_passes_are_added_changed_moved_and_removed() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "P")
        assert isinstance(pilot.app.screen, PassesScreen)
        await press(pilot, "e", *" 2", "ctrl+s")
        sent = project.sent[-1]
        assert isinstance(sent, PutPasses) and sent.passes[0].title == "Structure 2"
        assert sent.passes[0].checklist == STRUCTURE.checklist, "words of the program stay its own"
        await press(pilot, "greater_than_sign")
        assert [each.id for each in project.revision.pass_rows][:2] == [CONTINUITY.id, STRUCTURE.id]
        await press(pilot, "plus", *"Rain", "down", *"none", "ctrl+s")
        assert isinstance(pilot.app.screen, FormScreen), "there is no such check"
        await press(pilot, *["backspace"] * 4, *"ages, looks", "down", *"question", "down", *"One; two", "ctrl+s")
        made = project.revision.pass_rows[-1]
        assert (made.title, made.checks, made.kinds) == ("Rain", ("ages", "looks"), ("question",))
        assert made.checklist == ("One", "two")
        await press(pilot, "D", "y", "escape")
        assert project.revision.pass_rows[-1].id == PASSES[-1].id


async def test_the_revision_is_one_key_away_and_enter_opens_the_chapter(tmp_path: Path) -> None:
    project = filled()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "H")
        assert isinstance(pilot.app.screen, RevisionScreen)
        await press(pilot, "2", "g", "enter")
        assert not isinstance(pilot.app.screen, RevisionScreen)
        await press(pilot, "H")
        assert "[2 Continuity]" in screen(pilot)


async def test_findings_are_mended_by_paragraph_after_the_price_and_taken_back() -> None:
    project = filled()
    project.revision.price = Decimal("0.25")
    async with opened(page(project)) as pilot:
        await press(pilot, "3", "G", "r", "n")
        assert not [each for each in project.sent if isinstance(each, RewriteSelection)], "the price was not agreed to"
        await press(pilot, "r")
        assert "$0.25" in screen(pilot)
        await press(pilot, "y")
        (asked,) = [each for each in project.sent if isinstance(each, RewriteSelection)]
        assert asked.text == books.EN.texts[2] and len(asked.findings) == 6 and not asked.instruction
        assert isinstance(pilot.app.screen, RewriteScreen)
        count = len(project.revision.rewrites[0].changes)
        await press(pilot, "space", "a")
        assert project.sent[-1] == TakeRewrite(1, tuple(range(1, count)))
        await press(pilot, "u")
        assert project.sent[-1] == RevertChange(41)


async def test_a_rewrite_waits_until_it_is_decided() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "R", *"colder", "enter", "escape")
        assert isinstance(pilot.app.screen, RevisionScreen)
        assert [row.state for row in project.revision.rewrites] == ["waiting"]
        await press(pilot, "w", "enter")
        assert isinstance(pilot.app.screen, RewriteScreen) and "colder" in screen(pilot)
        await press(pilot, "asterisk", "a")
        assert isinstance(pilot.app.screen, RewriteScreen), "nothing is accepted"
        await press(pilot, "x")
        assert project.sent[-1] == DropRewrite(1)
        await press(pilot, "w")
        assert isinstance(pilot.app.screen, RevisionScreen), "none waits"


async def test_a_selection_of_several_paragraphs_is_accepted_by_paragraph_in_the_editor(tmp_path: Path) -> None:
    project = filled()
    project.revision.locked.clear()
    project.revision.price = Decimal("0.25")
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "f2")
        pane = pilot.app.screen.query_one(ManuscriptPane)
        text = pane.text
        pane.query_one(ProseArea).select_span(0, len(text))
        await press(pilot, "ctrl+r", *"more", "enter")
        assert "$0.25" in screen(pilot)
        await press(pilot, "y")
        await until(pilot, lambda: isinstance(pilot.app.screen, RewriteScreen))
        await press(pilot, "space", "a")
        row = project.revision.rewrites[0]
        wanted = with_changes(text, row.changes, range(1, len(row.changes)))
        assert pane.text == wanted and pane.is_unsaved
        assert [each.rewrite for each in project.sent if isinstance(each, AcceptRewrite)] == [1]
        await press(pilot, "ctrl+z")
        assert pane.text == text, "one undo"


async def test_a_refused_proposal_waits_no_more_and_a_locked_chapter_is_not_edited(tmp_path: Path) -> None:
    project = filled()
    project.revision.locked.clear()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "f2", "ctrl+r", *"more", "enter")
        pane = pilot.app.screen.query_one(ManuscriptPane)
        await until(pilot, lambda: pane.face == "proposal")
        await press(pilot, "x")
        assert project.sent[-1] == DropRewrite(1)
        project.revision.fill()
        await told(pilot, project, BookChanged(ONE))
        await press(pilot, "f2")
        assert pane.face == "read" and "locked" in screen(pilot)
