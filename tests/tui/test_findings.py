"""The list of findings over an invented project: both passages, one key for each word, folded rows, what was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from inspect import getfile
from pathlib import Path

import pytest
from textual.widgets import Static

from flowcabal_tui.domain.findings import FindingRow
from flowcabal_tui.domain.proposals import Difference, Origin, ProposalId
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.domain.story import Fact
from flowcabal_tui.protocol.findings import (
    ChangeFromHere,
    CheckChapters,
    CheckProgress,
    DecideFindings,
    FindingsChanged,
    SwitchRule,
)
from flowcabal_tui.protocol.story import PutRecord, UndoDecision
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.story.findings import FindingList, FindingsScreen
from flowcabal_tui.tui.story.passages import Passages
from flowcabal_tui.tui.story.story_page import StoryPlace
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from tests.tui import fake_books as books
from tests.tui.fake_story import HERO
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE
from tests.tui.test_names import opened, press, screen
from tests.tui.test_workspace import settled, workspace
from tests.tui.waiting import until

ONE, TWO, THREE = (books.chapter_id(n) for n in (1, 2, 3))


def filled() -> FakeProject:
    project = FakeProject()
    project.findings.fill()
    return project


def now() -> datetime:
    return books.NOW


def page(project: FakeProject) -> FindingsScreen:
    return FindingsScreen(project, now, THREE)


def listed(pilot) -> list[str]:
    return [option.id for option in pilot.app.screen.query_one(FindingList).options]


def told(pilot) -> str:
    return str(pilot.app.screen.query_one(".details", Static).content)


def passages(pilot) -> list[str]:
    shown = pilot.app.screen.query_one(Passages).query(Static)
    return [words for each in shown if (words := str(each.content))]


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_both_passages_are_shown_with_the_words_around_them(size: tuple[int, int]) -> None:
    async with opened(page(filled()), size) as pilot:
        here, there = passages(pilot)
        assert here.startswith("2 The Ferry\n") and books.EN.texts[1][:30] in " ".join(here.split())
        assert there.startswith("1 Rain\n") and books.EN.texts[0][:30] in " ".join(there.split())
        assert pilot.app.screen.query_one(Passages).has_class("-stacked") == (size[0] == 80)
        assert "A dead person acts" in told(pilot) and "Mara" in told(pilot)
        assert "1 d" in screen(pilot) and "8 new findings" in screen(pilot)
        rows = screen(pilot).splitlines()
        assert next(row for row in rows if "finding " in row).split()[:2] == ["ch.", "finding"]
        assert any(row.split()[:4] == ["?", "3", "age", "“Nobody"] for row in rows)
        assert rows[size[1] - 1].split()[-2:] == ["F1", "Help"], "the keys are in the last row"
        await press(pilot, "G")
        assert "a draft that is not kept" in passages(pilot)[0]


async def test_five_of_a_chapter_are_listed_and_the_rest_unfolds() -> None:
    async with opened(page(filled()), (100, 30)) as pilot:
        assert listed(pilot) == ["f1", "f2", "f3", "f4", "f5", "f6", "f8"]
        assert "+1 folded" in screen(pilot) and "1 folded: f" in screen(pilot)
        await press(pilot, "f")
        assert listed(pilot) == [f"f{n}" for n in range(1, 9)]
        await press(pilot, "o")
        assert listed(pilot) == [f"f{n}" for n in range(2, 8)]


async def test_each_word_is_one_key_and_is_taken_back() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "x")
        assert project.sent[-1] == DecideFindings((ProposalId("f1"),), "useless")
        assert pilot.app.screen.query_one(FindingList).picked == "f2"
        await press(pilot, "l")
        assert project.sent[-1] == DecideFindings((ProposalId("f2"),), "later")
        await press(pilot, "i", "enter")
        assert project.sent[-1] == DecideFindings((ProposalId("f2"),), "later"), "a reason is needed"
        await press(pilot, "i", *"joke", "enter", "n")
        assert project.sent[-1] == DecideFindings((ProposalId("f3"),), "intended", "joke")
        await press(pilot, "3")
        assert listed(pilot) == ["f1", "f3"]
        await press(pilot, "2", "l")
        assert project.sent[-1] == DecideFindings((ProposalId("f2"),), "waiting")
        await press(pilot, "u")
        assert project.sent[-1] == UndoDecision(scope="findings")
        assert listed(pilot) == ["f2"]


async def test_the_cursor_goes_to_the_finding_that_an_undo_brings_back() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        rows = pilot.app.screen.rows
        before = listed(pilot)
        await press(pilot, "g", "x")
        assert listed(pilot) == before[1:] and rows.picked == before[1]
        await press(pilot, "G", "u")
        assert listed(pilot) == before and rows.picked == before[0]


async def test_the_reason_of_what_is_intended_can_be_written_down_as_a_fact() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "i", *"lies", "enter")
        assert project.sent[-1] == DecideFindings((ProposalId("f1"),), "intended", "lies"), "stored before the offer"
        await press(pilot, "y")
        assert isinstance(pilot.app.screen, FormScreen)
        await press(pilot, "ctrl+s")
        written = project.sent[-1]
        assert isinstance(written, PutRecord) and isinstance(written.record, Fact)
        assert (written.record.text, written.record.since, written.record.about) == ("lies", TWO, (HERO,))
        await press(pilot, "G", "i", *"draft", "enter")
        assert isinstance(pilot.app.screen, FindingsScreen), "a draft is no text of the book"


async def test_marked_rows_get_one_word() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "space", "space", "x")
        assert project.sent[-1] == DecideFindings((ProposalId("f1"), ProposalId("f2")), "useless")


async def test_a_change_is_written_in_the_form_of_a_fact_that_begins_here() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "c")
        assert isinstance(pilot.app.screen, FormScreen)
        await press(pilot, "ctrl+s")
        sent = project.sent[-1]
        assert isinstance(sent, ChangeFromHere) and sent.finding == "f1" and sent.fact
        assert (sent.fact.since, sent.fact.evidence[0].chapter) == (TWO, TWO)
        await press(pilot, "G", "c")
        assert not isinstance(pilot.app.screen, FormScreen), "a draft changes nothing"


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("enter", StoryPlace(TWO, 0, 14)),
        ("m", StoryPlace(TWO, 0, 14, edit=True)),
        ("b", StoryPlace(ONE, 0, 12)),
        ("M", StoryPlace(ONE, 0, 12, edit=True)),
    ],
)
async def test_a_key_leads_to_each_passage_to_read_or_to_edit(key: str, place: StoryPlace) -> None:
    async with opened(page(filled())) as pilot:
        await press(pilot, key)
        assert pilot.app.answers == [place]


async def test_the_editor_opens_at_the_quoted_words_and_the_list_again_where_it_was(tmp_path: Path) -> None:
    project = filled()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("L")
        await settled(pilot)
        await press(pilot, "j", "j", "M")
        await settled(pilot)
        pane = pilot.app.screen.query_one(ManuscriptPane)
        assert pane.face == "edit" and pane.query_one(ProseArea).selected_span == (0, 12)
        await press(pilot, "escape")
        await pilot.press("L")
        await settled(pilot)
        assert pilot.app.screen.query_one(FindingList).picked == "f3"


async def test_nothing_found_says_what_was_read_and_what_was_not() -> None:
    project = FakeProject()
    project.findings.unread = (THREE,)
    async with opened(page(project)) as pilot:
        assert "read by rule: 2 of 3 chapters" in told(pilot) and "not read: 1" in told(pilot)
        await press(pilot, "r")
        assert isinstance(pilot.app.screen, SourceScreen)
        assert "Not checked as they are now: 3 Empty City" in screen(pilot)
        assert "No answer." in screen(pilot) and "1 of 4 were not useful" in screen(pilot)


async def test_chapters_are_checked_by_rule_at_once_and_by_a_model_after_a_quote() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "C")
        assert isinstance(pilot.app.screen, ChooseScreen)
        await press(pilot, "enter")
        assert project.sent[-1] == CheckChapters(None, None, False)
        await press(pilot, "C", "j")
        await press(pilot, "enter")
        assert "Check by the agents' model?" in screen(pilot)
        await press(pilot, "y")
        assert project.sent[-1] == CheckChapters(3, 3, True)


async def test_a_rule_is_switched_off_and_on_by_one_key() -> None:
    project = filled()
    async with opened(page(project)) as pilot:
        await press(pilot, "T")
        assert project.sent[-1] == SwitchRule("dead-acts", on=False)
        assert "Off for this book, on again with `T` under `5`: A dead person acts." in [
            each.message for each in pilot.app._notifications
        ]
        project.findings.rows = [
            replace(row, proposal=replace(row.proposal, state="withdrawn")) for row in project.findings.rows
        ]
        await press(pilot, "5")
        await press(pilot, "T")
        assert project.sent[-1] == SwitchRule("dead-acts", on=True)


def noted() -> FakeProject:
    """A reader's note on words of the second chapter, before the findings of checks."""
    project = filled()
    first = project.findings.rows[0]
    said = replace(
        first.proposal.difference.after,
        subtype="question",
        explanation="Who is [red] this?",
        source=Quotation("", "", 0, 0),
    )
    note = replace(
        first.proposal, difference=Difference(said), origin=Origin("reader", "Anna [b]"), id=ProposalId("note-7")
    )
    project.findings.rows.insert(0, replace(first, proposal=note))
    return project


async def test_a_readers_note_stands_in_the_list_with_its_words() -> None:
    project = noted()
    async with opened(page(project), (140, 40)) as pilot:
        assert "note of Anna [b]" in screen(pilot) and "question" in screen(pilot)
        assert "Who is [red] this?" in told(pilot)
        assert len(passages(pilot)) == 1
        await press(pilot, "i")
        assert project.sent[-1] == DecideFindings((ProposalId("note-7"),), "intended"), "without a reason"


async def test_an_answered_note_says_so() -> None:
    project = noted()
    first = project.findings.rows[0]
    project.findings.rows = [replace(first, proposal=replace(first.proposal, state="resolved"))]
    async with opened(page(project)) as pilot:
        await press(pilot, "4")
        assert "answered" in told(pilot) and "the text was edited" not in screen(pilot)


async def test_a_fact_is_written_from_a_readers_note() -> None:
    project = noted()
    async with opened(page(project)) as pilot:
        await press(pilot, "c")
        assert isinstance(pilot.app.screen, FormScreen)
        await press(pilot, "ctrl+s")
        sent = project.sent[-1]
        assert isinstance(sent, ChangeFromHere) and (sent.finding, sent.fact.since) == (ProposalId("note-7"), TWO)


async def test_a_note_is_put_aside_and_taken_up_again_in_any_tab() -> None:
    project = noted()
    async with opened(page(project)) as pilot:
        await press(pilot, "5", "l")
        assert project.sent[-1] == DecideFindings((ProposalId("note-7"),), "later")
        await press(pilot, "l")
        assert project.sent[-1] == DecideFindings((ProposalId("note-7"),), "waiting")


async def test_the_status_line_counts_new_findings(tmp_path: Path) -> None:
    project = filled()
    async with workspace(project, tmp_path, size=(140, 40)) as pilot:
        assert "8 findings: L" in screen(pilot)
        project.findings.rows = project.findings.rows[:1]
        project.emit(FindingsChanged())
        await until(pilot, lambda: "1 finding: L" in screen(pilot))


async def test_the_styles_of_the_list_are_read_before_it_is_opened(tmp_path: Path) -> None:
    async with workspace(filled(), tmp_path, size=(140, 40)) as pilot:
        sheet = pilot.app.stylesheet
        await until(pilot, lambda: sheet.has_source(getfile(Passages), "Passages.DEFAULT_CSS"))
        before = set(sheet.source)
        await press(pilot, "L")
        await until(pilot, lambda: isinstance(pilot.app.screen, FindingsScreen) and bool(listed(pilot)))
        assert set(sheet.source) == before


async def test_words_of_a_text_are_no_markup() -> None:
    project = filled()
    first = project.findings.rows[0]
    project.findings.rows = [replace(first, proposal=replace(first.proposal, quotation=HOSTILE))]
    async with opened(page(project)) as pilot:
        assert "\x1b" not in screen(pilot)
        assert "no longer in the text" in passages(pilot)[0]


async def test_five_thousand_are_read_by_the_page() -> None:
    project = filled()
    one = project.findings.rows[0]

    def row(number: int) -> FindingRow:
        place = replace(one.proposal.place, chapter=books.chapter_id(number))
        return replace(one, proposal=replace(one.proposal, id=ProposalId(f"n{number}"), place=place))

    project.findings.rows = [row(number) for number in range(1, 5_001)]
    async with opened(page(project)) as pilot:
        assert project.findings.asked == [(0, 100)]
        await press(pilot, "G")
        assert project.findings.asked[-1] == (100, 100)


async def test_progress_is_shown_while_a_check_goes_on() -> None:
    screen_of = page(filled())
    async with opened(screen_of) as pilot:
        screen_of.note_check(2, 9)
        await screen_of.reload()
        assert "checking 2 of 9" in screen(pilot)
        screen_of.note_check(CheckProgress(9, 9).done, 9)
        await screen_of.reload()
        assert "checking" not in screen(pilot)
