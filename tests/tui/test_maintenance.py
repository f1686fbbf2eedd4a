"""Care for the book on the screen: kept outputs, purge, what is out of date, rebuild, backup."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.changes import LoggedChange
from flowcabal_tui.domain.ids import Generation, OutputId
from flowcabal_tui.domain.memory import BackgroundTask, Curated, StaleText
from flowcabal_tui.domain.run import Quote, Spend
from flowcabal_tui.domain.text import digest
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.views import UnpaidWork
from flowcabal_tui.protocol.book import DeleteOutput, MergeChapters, RevertChange, SplitChapter, TagOutput
from flowcabal_tui.protocol.memory import MemoryWaits, PayMemory, Purge, Rebuild, RebuildProgress, RegenerateProfile
from flowcabal_tui.tui.book.browser import BrowserScreen
from flowcabal_tui.tui.book.kept import KeptScreen
from flowcabal_tui.tui.memory.queue import QueueScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.type_name import TypeNameScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.test_workspace_whole import opened, press, settled, until, workspace

FIRST, SECOND = books.chapter_id(1), books.chapter_id(2)
OLD, NEW = OutputId("aaaabbbbccccdddd"), OutputId("1111222233334444")
HERO = StaleText("profiles/characters/hero", 3, (FIRST, SECOND), books.chapter_id(3))
SUMMARY = StaleText(f"manuscript/{SECOND}", 2, (SECOND,))


def kept(output: OutputId, version: int) -> Curated:
    return Curated(output, "chapter", "replace", FIRST, digest(output), (), books.NOW, "run-1", "draft", 2, version)


def keep(project: FakeProject) -> None:
    project.kept_rows = [(kept(OLD, 1), f"The older text. {HOSTILE}"), (kept(NEW, 2), "The newer text.")]


def screen_text(pilot: Pilot[int]) -> str:
    """All words on the screen, as if it were one row without frames."""
    return " ".join(" ".join(shown(pilot.app)).replace("│", " ").split())


def said(pilot: Pilot[int]) -> list[str]:
    return [notice.words for notice in pilot.app.announcer.notices.listed]


async def typed(pilot: Pilot[int], words: str) -> None:
    pilot.app.screen.query_one(Input).value = words
    await press(pilot, "enter")


async def test_kept_outputs_of_a_chapter_are_read_taken_out_and_brought_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        keep(project)
        await press(pilot, "M", "g", "K")
        assert isinstance(pilot.app.screen, KeptScreen)
        rows = [row.strip() for row in shown(pilot.app)]
        assert rows[0] == "Kept for chapter 1, Rain"
        assert rows[1].startswith("+ ") and "draft, attempt 2" in rows[1] and "v2" in rows[1].split()
        assert "The newer text." in screen_text(pilot)
        await press(pilot, "U", "j", "D")
        assert project.sent == [DeleteOutput(OLD)], "what is in cannot be brought back"
        assert "The older text. [/] [b]bold[/b]" in screen_text(pilot) and "keep undone" in screen_text(pilot)
        await press(pilot, "D", "U")
        assert project.sent[1:] == [DeleteOutput(OLD, restore=True)]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, BrowserScreen)


async def test_that_edited_text_stays_in_the_chapter_is_said_when_its_keep_is_undone(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        keep(project)
        project.edited_since = True
        await press(pilot, "M", "g", "K", "j", "D")
        assert project.sent == [DeleteOutput(OLD)]
        (words,) = said(pilot)
        assert words.startswith("The text of the chapter stays as it is")
        assert "In the manuscript, V lists its versions" in words


async def test_what_was_kept_for_no_chapter_or_a_deleted_one_is_listed_with_the_whole_book(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        keep(project)
        outline = replace(kept(OutputId("5555666677778888"), 3), kind="outline", chapter=None)
        gone = replace(kept(OutputId("9999000099990000"), 1), chapter=books.chapter_id(99))
        project.kept_rows += [(outline, "The outline."), (gone, "Of a deleted chapter.")]
        await press(pilot, "M", "g", "K")
        assert "Outline" not in screen_text(pilot)
        await press(pilot, "b")
        rows = [row.strip() for row in shown(pilot.app)]
        assert rows[0] == "Kept in the whole book"
        assert re.match(r"\+ Chapter +draft, attempt 2 ", rows[1])
        assert re.match(r"\+ Outline +draft, attempt 2 ", rows[2])
        assert re.match(r"\+ Chapter 1 Rain +draft, attempt 2 ", rows[3])
        await press(pilot, "g", "j", "D")
        assert project.sent == [DeleteOutput(outline.id)]
        await press(pilot, "b")
        assert "Kept for chapter 1, Rain" in screen_text(pilot) and "Outline" not in screen_text(pilot)


async def test_tags_are_set_shown_and_filtered_by(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        keep(project)
        await press(pilot, "M", "g", "K", "f")
        assert "Nothing here has a tag" in screen_text(pilot)
        await press(pilot, "t", *"siege, [b]night", "enter")
        assert project.sent == [TagOutput(NEW, ("siege", "[b]night"))]
        rows = [row.strip() for row in shown(pilot.app)]
        assert "#siege #[b]night" in rows[1] and "#" not in rows[2]
        await press(pilot, "f", "enter")
        rows = [row.strip() for row in shown(pilot.app)]
        assert rows[0] == "Kept for chapter 1, Rain   #siege" and rows[1].startswith("+ ")
        assert "keep undone" not in screen_text(pilot) and "The older text." not in screen_text(pilot)
        await press(pilot, "f")
        assert "#siege" not in shown(pilot.app)[0] and "draft, attempt 2" in shown(pilot.app)[2]


async def test_a_kept_output_is_purged_only_when_its_name_was_typed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        keep(project)
        await press(pilot, "M", "g", "K", "shift+delete")
        assert isinstance(pilot.app.screen, TypeNameScreen)
        assert "This cannot be undone." in screen_text(pilot) and "Type 11112222 and press Enter" in screen_text(pilot)
        await press(pilot, "enter")
        await typed(pilot, "aaaabbbb")
        assert "That is not the name." in screen_text(pilot) and project.sent == []
        await typed(pilot, " 11112222 ")
        assert project.sent == [Purge(output=NEW)]
        assert isinstance(pilot.app.screen, KeptScreen) and "The older text." in screen_text(pilot)


async def test_a_chapter_is_purged_by_its_title_and_its_unsaved_words_are_not_written_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        workspace(pilot).book.drafts.edited(FIRST, "Typed and not saved.", 1)
        await press(pilot, "M", "g", "shift+delete", "escape")
        assert project.sent == []
        await press(pilot, "shift+delete")
        await typed(pilot, "Rain")
        assert project.sent == [Purge(chapter=FIRST)]
        project.drafts.texts.clear()
        await workspace(pilot).save_drafts()
        assert project.drafts.texts == {}
        await settled(pilot)
        assert said(pilot) == ["Purged: 2 versions, 1 runs, 3 derived texts, 4 answers."]


async def test_a_chapter_that_was_deleted_before_can_be_purged(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        gone = project.chapter_rows.pop(1)
        project.deleted_rows = [gone]
        await press(pilot, "M", "g", "shift+delete")
        assert isinstance(pilot.app.screen, ChooseScreen) and "2 The Ferry deleted" in screen_text(pilot)
        await press(pilot, "j", "enter")
        await typed(pilot, gone.title)
        assert project.sent == [Purge(chapter=SECOND)]


async def test_what_is_out_of_date_is_listed_with_what_was_changed_and_made_again_one_by_one_or_all(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (project, pilot):
        project.stale_rows = [SUMMARY, HERO]
        await press(pilot, "Q")
        rows = [row.strip() for row in shown(pilot.app)]
        at = next(n for n, row in enumerate(rows) if row.startswith("made from text that has been changed since  2"))
        assert " 1 Rain, 2 The Ferry" in rows[at + 2]
        await press(pilot, "j", "m", "M")
        assert project.sent == [Rebuild("stale", (HERO.uri,)), Rebuild("stale", (SUMMARY.uri, HERO.uri))]
        await press(pilot, "G", "m")
        assert len(project.sent) == 2 and said(pilot)[-1].startswith("Put the cursor on a text")


async def test_no_step_and_no_text_is_called_by_its_address(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        subjects = ("summaries/work", "summaries/arcs/part-1", f"{HERO.uri}@{SECOND}", "meta/outline", SUMMARY.uri)
        project.tasks = [BackgroundTask(n, "knowledge", uri, digest(uri), "waiting") for n, uri in enumerate(subjects)]
        project.stale_rows = [replace(HERO, uri="summaries/arcs/part-1"), SUMMARY]
        await press(pilot, "Q")
        page = screen_text(pilot)
        for name in ("The whole work", "Chapters 1-3", "Characters Mara, 2 The Ferry", "Outline", "2 The Ferry"):
            assert re.search(f"○ (knowledge server )?{name}", page)
        assert re.search("◌ Chapters 1-3 ", page)
        assert not any(uri.split("@")[0] in page for uri in subjects)


async def test_a_profile_is_made_again_after_a_question_where_that_costs_money(tmp_path: Path) -> None:
    async with opened(tmp_path, offline=False) as (project, pilot):
        await press(pilot, "7", "home", "j", "k", "j", "r")
        assert isinstance(pilot.app.screen, ConfirmScreen) and "Regenerate 1 text?" in screen_text(pilot)
        await press(pilot, "n")
        assert project.sent == []
        await press(pilot, "r", "y")
        assert [type(each) for each in project.sent] == [RegenerateProfile, PayMemory]


async def test_where_the_agents_model_costs_money_it_is_asked_for_first(tmp_path: Path) -> None:
    async with opened(tmp_path, offline=False) as (project, pilot):
        project.stale_rows = [SUMMARY]
        await press(pilot, "Q", "m")
        assert isinstance(pilot.app.screen, ConfirmScreen) and "This costs money." in screen_text(pilot)
        await press(pilot, "n", "escape")
        await press(pilot, "Q", "m", "y")
        (remade, paid) = project.sent
        assert isinstance(remade, Rebuild) and isinstance(paid, PayMemory)
        assert paid.limit.cost == Decimal("0.06"), "what was shown as the highest price is the limit"


async def test_a_change_of_the_text_asks_no_question_about_money(tmp_path: Path) -> None:
    """The memory work that follows asks: where it is paid for, not before the text is changed."""
    async with opened(tmp_path, offline=False) as (project, pilot):
        keep(project)
        await press(pilot, "M", "g", "K", "D", "escape", "m", "y")
        assert project.sent == [DeleteOutput(NEW), MergeChapters(FIRST, SECOND)]
        scenes = await project.book.scenes(FIRST)
        await press(pilot, "l", "j", "j", "s", "2", "enter")
        assert project.sent[2:] == [SplitChapter(FIRST, scenes[1].body.start, "2", 1)]


def unpaid(rule: str = "ask") -> UnpaidWork:
    likely, most = Spend(3, 4_000, 900, Decimal("0.02")), Spend(36, 90_000, 40_000, Decimal("1.75"))
    return UnpaidWork(4, Quote((), (), likely, most, currency="USD"), rule)


@pytest.mark.parametrize(
    ("language", "rule", "line", "told"),
    [
        ("en", "ask", "background work waits for your answer: R", "it would cost about $0.02"),
        ("zh", "ask", "后台整理等待你的答复：R", "大约需要 $0.02"),
        ("en", "never", "background work waits for your answer: R", ""),
    ],
)
async def test_memory_work_that_waits_for_money_is_shown_and_one_key_asks_with_its_price(
    tmp_path: Path, language: str, rule: str, line: str, told: str
) -> None:
    async with opened(tmp_path, offline=False, language=language) as (project, pilot):
        project.unpaid_work = unpaid(rule)
        project.emit(MemoryWaits(4))
        await until(pilot, lambda: line in pilot.app.screen.query_one(StatusLine).words)
        assert [bool(told) for words in said(pilot) if told in words] == [True] * bool(told)
        await press(pilot, "R")
        words = screen_text(pilot)
        assert isinstance(pilot.app.screen, ConfirmScreen)
        assert "$0.02" in words and "$0.06" in words and "$1.75" not in words
        await press(pilot, "n")
        assert project.sent == []
        await press(pilot, "R", "y")
        assert project.sent == [PayMemory(unpaid().quote.pause)]
        project.unpaid_work = None
        project.emit(MemoryWaits(0))
        await until(pilot, lambda: line not in pilot.app.screen.query_one(StatusLine).words)
    use_language("en")


async def test_a_rebuild_shows_what_it_would_do_and_then_how_far_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        project.stale_rows, project.results[Rebuild] = [SUMMARY], "3"
        await press(pilot, "Y")
        assert isinstance(pilot.app.screen, ChooseScreen) and "all of it" in screen_text(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        for words in ("index: 4 chapters", "summary: 3 steps", "will be regenerated: 2 The Ferry", "out of date: 1"):
            assert words in screen_text(pilot)
        await press(pilot, "enter")
        assert project.sent == [], "No is the default"
        await press(pilot, "Y", "j", "enter", "y")
        assert project.sent == [Rebuild("stale")]
        project.emit(RebuildProgress(4, 4, 2))
        page = pilot.app.screen
        assert isinstance(page, QueueScreen)
        workspace(pilot).drain()
        await settled(pilot)
        await page.reload()
        await settled(pilot)
        assert "index: 4 of 4 corrected in 2 chapters" in screen_text(pilot)


async def test_a_backup_goes_to_the_file_that_is_named(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        await press(pilot, "Z")
        line = pilot.app.screen.query_one(Input)
        assert Path(line.value).name == "book-2026-11-21-0941.zip"
        await typed(pilot, f"'{tmp_path / 'safe'}'")
        assert project.exported == [tmp_path / "safe.zip"]
        assert said(pilot) == [f"{tmp_path / 'safe.zip'}: 1 files, 3.0 MiB."]


async def test_names_from_outside_are_shown_as_they_are(tmp_path: Path) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        given: list[bool | None] = []
        await app.push_screen(TypeNameScreen(f"Purge {HOSTILE}?", "It goes.", "[b]x"), given.append)
        assert "[/] [b]bold[/b]" in "\n".join(shown(app)) and "Type [b]x and" in "\n".join(shown(app))
        app.screen.query_one(Input).value = "[b]x"
        await pilot.press("enter")
        assert given == [True]


async def test_keys_of_an_empty_page_do_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        await press(pilot, "M", "g", "K", "D", "U", "shift+delete")
        assert isinstance(pilot.app.screen, KeptScreen) and "Nothing of this chapter is kept yet:" in screen_text(pilot)
        project.chapter_rows = [replace(row, title="") for row in project.chapter_rows]
        await press(pilot, "escape")
        assert project.sent == []


async def test_on_any_page_one_key_names_the_last_change_of_the_book(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        project.logged_changes = [
            LoggedChange(Generation(7), "replace", "", "replaced: Maud with Vera", 12, books.NOW, False)
        ]
        for pages in (["M"], ["L"], ["dollar_sign"], ["M", "V"]):
            await press(pilot, *pages, "shift+f11")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
            assert "replaced: Maud with Vera" in screen_text(pilot)
            await press(pilot, "escape")
        await press(pilot, "shift+f11", "enter")
        assert project.sent == [RevertChange(Generation(7))]


async def test_the_last_change_of_the_book_is_undone_by_one_key_and_enter(tmp_path: Path) -> None:
    async with opened(tmp_path) as (project, pilot):
        await press(pilot, "U")
        assert said(pilot) == [
            "There is no change of the whole book to undo. `M` moves and merges chapters, F11 replaces words."
        ]
        project.logged_changes = [
            LoggedChange(Generation(9), "undo", "", "change undone", 1, books.NOW, False, "8"),
            LoggedChange(Generation(8), "move", f"Rain {HOSTILE}", "", 1, books.NOW, True, FIRST),
            LoggedChange(Generation(7), "replace", "", "replaced: Maud with Vera", 12, books.NOW, False),
        ]
        await press(pilot, "U")
        assert isinstance(pilot.app.screen, ChooseScreen)
        rows = [str(option.prompt) for option in pilot.app.screen.query_one(PickList).options]
        assert rows[0] == "2026-03-14 09:26  replaced: Maud with Vera  12 chapters", "the next to be undone is first"
        assert "  undone: chapter moved: Rain [/] [b]bold[/b] " in rows[1] and "\x1b" not in rows[1]
        assert len(rows) == 2, "what is undone already is not listed"
        await press(pilot, "enter")
        assert project.sent == [RevertChange(Generation(7))]
        assert said(pilot)[-1] == "Undone: replaced: Maud with Vera"
