from __future__ import annotations

from dataclasses import replace

from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, Draft
from flowcabal_tui.domain.text import digest
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.widgets.clipboard import CopyText
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

ONE, TWO = books.chapters(books.EN)[:2]
TEXT, OTHER = books.EN.texts[:2]
VERSION = ChapterVersion(ONE.id, 1, digest(TEXT), "human", books.NOW, books.Generation(1))


def draft(text: str) -> Draft:
    """Unsaved text over the newest version."""
    return Draft(ONE.id, text, 1, 1, VERSION.at)


def host() -> tuple[Host, ManuscriptPane]:
    pane = ManuscriptPane()
    return Host(pane), pane


def reading(pane: ManuscriptPane) -> str:
    return pane.query_one("#read", StreamView).text


async def open_editor(pilot: Pilot[None], pane: ManuscriptPane, text: str = TEXT) -> ProseArea:
    pane.show(ONE, text, [VERSION])
    await pilot.press("tab", "e")
    return pane.query_one(ProseArea)


async def test_a_chapter_is_read_with_its_number_title_version_and_length() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 20)) as pilot:
        pane.show(ONE, TEXT, [VERSION])
        await pilot.pause()
        assert shown(app)[0].startswith(" 1 Rain   version 1   34 words")
        assert reading(pane) == TEXT


async def test_e_edits_and_ctrl_s_asks_to_save_with_the_version_it_was_made_from() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_editor(pilot, pane)
        await pilot.press("X", "ctrl+s")
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.SaveRequested(ONE.id, f"X{TEXT}", 1)
        assert pane.is_unsaved
        pane.show(replace(ONE, version=2), f"X{TEXT}", [VERSION])
        assert not pane.is_unsaved
        await pilot.press("ctrl+s")
        assert len([item for item in app.posted(ManuscriptPane) if isinstance(item, ManuscriptPane.SaveRequested)]) == 1


async def test_leaving_the_editor_keeps_the_draft_and_says_so() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 20)) as pilot:
        await open_editor(pilot, pane)
        await pilot.press("X", "escape")
        await pilot.pause()
        assert app.posted(ManuscriptPane) == [ManuscriptPane.DraftEdited(ONE.id, f"X{TEXT}", 1)]
        assert reading(pane) == f"X{TEXT}"
        assert "unsaved" in shown(app)[0]
        await pilot.press("D", "n")
        assert (reading(pane), pane.is_unsaved) == (f"X{TEXT}", True)
        await pilot.press("D", "y")
        await pilot.pause()
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.DraftEdited(ONE.id, None, 1)
        assert (reading(pane), pane.is_unsaved) == (TEXT, False)


async def test_a_draft_that_survived_is_shown_and_marked() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(ONE, TEXT, [VERSION], draft=draft("From before the crash."))
        await pilot.press("tab", "ctrl+s")
        assert reading(pane) == "From before the crash."
        assert app.posted(ManuscriptPane) == [ManuscriptPane.SaveRequested(ONE.id, "From before the crash.", 1)]


async def test_going_to_another_chapter_reports_what_was_typed_and_shows_the_other() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_editor(pilot, pane)
        await pilot.press("X")
        pane.show(TWO, OTHER, [])
        await pilot.pause()
        assert app.posted(ManuscriptPane) == [ManuscriptPane.DraftEdited(ONE.id, f"X{TEXT}", 1)]
        assert (reading(pane), pane.face, pane.is_unsaved) == (OTHER, "read", False)


async def test_a_change_from_elsewhere_leaves_unsaved_text_alone_and_is_told() -> None:
    app, pane = host()
    async with app.run_test(size=(110, 20)) as pilot:
        area = await open_editor(pilot, pane)
        await pilot.press("X")
        pane.show(replace(ONE, version=2), "Kept by a run.", [VERSION])
        await pilot.pause()
        assert area.text == f"X{TEXT}"
        assert "based on version 1; version 2 is newer" in "\n".join(shown(app)[:3])
        await pilot.press("ctrl+s")
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.SaveRequested(ONE.id, f"X{TEXT}", 1)


async def test_a_change_from_elsewhere_reaches_an_editor_that_is_clean() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        area = await open_editor(pilot, pane)
        pane.show(replace(ONE, version=2), "Kept by a run.", [VERSION])
        assert (area.text, pane.is_unsaved) == ("Kept by a run.", False)


async def test_a_selection_with_an_instruction_asks_for_a_rewrite() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        area = await open_editor(pilot, pane)
        area.select_span(3, 9)
        await pilot.press("ctrl+r")
        app.screen.query_one(Input).value = "colder"
        await pilot.press("enter")
        wanted = ManuscriptPane.RewriteRequested(ONE.id, 3, 9, TEXT[3:9], "colder")
        assert app.posted(ManuscriptPane)[-1] == wanted


async def test_without_a_selection_the_paragraph_at_the_cursor_is_meant() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        area = await open_editor(pilot, pane, "First.\nSecond one.\nThird.")
        area.select_span(9, 9)
        await pilot.press("ctrl+r")
        app.screen.query_one(Input).value = "shorter"
        await pilot.press("enter")
        wanted = ManuscriptPane.RewriteRequested(ONE.id, 7, 18, "Second one.", "shorter")
        assert app.posted(ManuscriptPane)[-1] == wanted


async def test_an_accepted_proposal_is_put_in_and_one_undo_takes_it_back() -> None:
    app, pane = host()
    async with app.run_test(size=(100, 20)) as pilot:
        pane.show(ONE, TEXT, [VERSION])
        await pilot.press("tab")
        pane.propose(0, 2, "It", "The sky")
        await pilot.pause()
        assert pane.query_one(DiffView).hunk_count == 1
        await pilot.press("a")
        await pilot.pause()
        assert pane.text == "The sky" + TEXT[2:]
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.DraftEdited(ONE.id, pane.text, 1)
        await pilot.press("ctrl+z")
        assert pane.text == TEXT


async def test_a_rejected_proposal_changes_nothing() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(ONE, TEXT, [VERSION])
        await pilot.press("tab")
        pane.propose(0, 2, "It", "The sky")
        await pilot.press("x")
        assert (pane.text, pane.face, pane.is_unsaved) == (TEXT, "read", False)


async def test_a_proposal_for_text_that_is_not_there_any_more_can_only_be_copied() -> None:
    app, pane = host()
    async with app.run_test(size=(110, 20)) as pilot:
        await open_editor(pilot, pane)
        await pilot.press("X")
        pane.propose(0, 2, "It", "The sky")
        await pilot.press("a", "y")
        await pilot.pause()
        assert "cannot be inserted" in "\n".join(shown(app)[:3])
        assert CopyText("The sky") in app.seen
        await pilot.press("x")
        assert pane.text == f"X{TEXT}"
        assert pane.is_unsaved


async def test_a_proposal_is_checked_again_when_it_is_accepted() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(ONE, TEXT, [VERSION])
        await pilot.press("tab")
        pane.propose(0, 2, "It", "The sky")
        pane.show(replace(ONE, version=2), "Other text.", [VERSION])
        await pilot.press("a")
        assert pane.text == "Other text."


async def test_v_asks_for_the_versions_of_the_chapter() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        newer = replace(VERSION, version=2, author="model", note="kept")
        pane.show(replace(ONE, version=2), "New.\nSame.", [newer, VERSION])
        await pilot.press("tab", "V")
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.VersionsRequested(ONE.id, (newer, VERSION))


async def test_the_writers_own_editor_gets_the_text_as_it_stands() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_editor(pilot, pane)
        await pilot.press("X", "escape", "E")
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.EditorRequested(ONE.id, f"X{TEXT}", 1)


async def test_text_from_the_writers_own_editor_replaces_the_draft() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(ONE, TEXT, [VERSION], draft=draft("Half."))
        pane.take_edited(ONE.id, "Whole.")
        await pilot.pause()
        assert app.posted(ManuscriptPane)[-1] == ManuscriptPane.DraftEdited(ONE.id, "Whole.", 1)
        pane.show(replace(ONE, version=2), "Whole.", [VERSION])
        assert (reading(pane), pane.is_unsaved) == ("Whole.", False)
        pane.take_edited(TWO.id, "Of another chapter.")
        assert reading(pane) == "Whole."


async def test_slash_finds_in_the_text_and_ctrl_f_in_the_editor() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(ONE, TEXT, [VERSION])
        await pilot.press("tab", "slash", *"lamp", "enter", "e", "ctrl+f", *"lamp", "enter")
        start = TEXT.index("lamp")
        assert pane.query_one(ProseArea).selected_span == (start, start + 4)


async def test_hostile_text_is_shown_as_words_in_every_face() -> None:
    app, pane = host()
    async with app.run_test(size=(100, 20)) as pilot:
        pane.show(replace(ONE, title=HOSTILE), HOSTILE, [replace(VERSION, note=HOSTILE)], draft=draft(HOSTILE + "!"))
        await pilot.press("tab")
        seen = shown(app)
        await pilot.press("e")
        seen += shown(app)
        pane.propose(0, 3, pane.text[:3], HOSTILE)
        await pilot.pause()
        seen += shown(app)
        screen = "\n".join(seen)
        assert screen.count("[/] [b]bold[/b] red") >= 4
        assert "\x1b" not in screen
        assert "\u202e" not in screen


async def test_a_million_characters_in_one_paragraph_are_read_and_saved_whole() -> None:
    app, pane = host()
    story = "雨" * 1_000_000
    async with app.run_test() as pilot:
        pane.show(Chapter(ONE.id, 1, "雨"), story, [])
        await pilot.press("tab", "e", "X", "ctrl+s")
        saved = app.posted(ManuscriptPane)[-1]
        assert isinstance(saved, ManuscriptPane.SaveRequested)
        assert saved.text == f"X{story}"
