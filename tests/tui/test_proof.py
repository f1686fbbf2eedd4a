"""What rules mark: as a list on request, and as hints in the editor."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.protocol.book import ReplaceText, SwitchProofRule
from flowcabal_tui.tui.book.proof import ProofScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.writing_area import MARGIN_SIGN, WritingArea
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host, shown
from tests.tui.test_workspace import screen_of, workspace
from tests.tui.waiting import settled, until

FIRST = books.chapter_id(1)


def slips() -> FakeProject:
    """Its first chapter has a doubled word and a wrong one, its second a doubled mark."""
    project = FakeProject()
    for position, text in ((1, "She saw the the door.\nShe definately knew."), (2, "Well,, he said.")):
        ((version, _text), *rest) = project.version_rows[books.chapter_id(position)]
        project.version_rows[books.chapter_id(position)] = ((version, text), *rest)
    return project


async def proofed(pilot: Pilot[int]) -> ProofScreen:
    await pilot.press("1", "g", "enter")
    await settled(pilot)
    await pilot.press("exclamation_mark")
    await until(pilot, lambda: isinstance(pilot.app.screen, ProofScreen))
    await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, ProofScreen)
    return screen


async def test_the_open_chapter_or_all_are_listed_and_enter_opens_the_words_in_the_editor(tmp_path: Path):
    async with workspace(slips(), tmp_path, size=(100, 30)) as pilot:
        screen = await proofed(pilot)
        page = "\n".join(shown(pilot.app))
        assert "2 places in 1 chapter." in page and "doubled word: the?" in page and "Well,," not in page
        told = screen.query_one(DetailText)
        await until(pilot, lambda: told.plain.endswith("She saw the the door."))
        assert told.plain.startswith("doubled word: the?   1 Rain")
        await pilot.press("o")
        await settled(pilot)
        assert "3 places in" in "\n".join(shown(pilot.app))
        screen.query_one(PickList).highlighted = 2
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        await settled(pilot)
        area = screen_of(pilot).query_one(WritingArea)
        assert area.selected_text == "definately"


async def test_a_proposal_is_put_in_and_a_rule_is_silenced(tmp_path: Path):
    project = slips()
    async with workspace(project, tmp_path, size=(100, 30)) as pilot:
        await proofed(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert project.sent[-1] == ReplaceText("the the", "the", (TextPlace(FIRST, 1, 8),))
        await pilot.press("T")
        await settled(pilot)
        assert project.sent[-1] == SwitchProofRule("doubled-words")
        assert "doubled word" in pilot.app.announcer.notices.listed[-1].words


async def test_rules_that_are_off_are_listed_at_the_end_and_come_back_by_the_same_key(tmp_path: Path):
    project = slips()
    project.rules_off = ("quotes",)
    async with workspace(project, tmp_path, size=(100, 30)) as pilot:
        screen = await proofed(pilot)
        page = "\n".join(shown(pilot.app))
        assert page.index("Off for this book") > page.index("wrong word: definitely?")
        await pilot.press("G", "enter")
        assert pilot.app.screen is screen, "there is no place to open"
        project.rules_off = ()
        await pilot.press("T")
        await settled(pilot)
        assert project.sent[-1] == SwitchProofRule("quotes", on=True)
        assert "quotes" in pilot.app.announcer.notices.listed[-1].words
        assert "Off for this book" not in "\n".join(shown(pilot.app))


async def test_hints_are_in_the_margin_and_go_with_the_words_that_they_are_about(tmp_path: Path):
    async with workspace(slips(), tmp_path, size=(100, 30)) as pilot:
        await pilot.press("1", "g", "enter")
        await settled(pilot)
        await pilot.press("ctrl+n")
        await settled(pilot)
        area = screen_of(pilot).query_one(WritingArea)
        assert [area.render_line(row).text.rstrip()[-1] for row in range(2)] == [MARGIN_SIGN, MARGIN_SIGN]
        area.move_cursor((1, 6))
        await pilot.pause()
        assert any("wrong word: definitely?" in row for row in shown(pilot.app))
        area.replace_span(26, 36, "surely")
        await pilot.pause()
        assert area.document.get_line(1) == "She surely knew." and area.hint() == ""
        assert MARGIN_SIGN not in area.render_line(1).text and MARGIN_SIGN in area.render_line(0).text


async def test_a_hint_of_a_paragraph_of_several_rows_is_where_its_words_are():
    area = WritingArea("word " * 30 + "the the end")
    app = Host(area)
    async with app.run_test(size=(40, 10)) as pilot:
        area.show_hints([(150, 157, "doubled word")])
        await pilot.pause()
        marked = [row for row in range(8) if MARGIN_SIGN in area.render_line(row).text]
        assert len(marked) == 1 and "the the" in area.render_line(marked[0]).text
        area.show_hints([])
        assert MARGIN_SIGN not in area.render_line(marked[0]).text


async def test_a_chapter_without_anything_to_mend_names_the_next_key(tmp_path: Path):
    async with workspace(FakeProject(), tmp_path, size=(100, 30)) as pilot:
        await proofed(pilot)
        assert "Nothing found in 1 chapter: o changes the scope." in "\n".join(shown(pilot.app))
