"""Promises, the timeline, what holds, and profiles that are changed by hand, over an invented project."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from textual.widgets import Static, TextArea

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Story
from flowcabal_tui.protocol.memory import PinProfile, RegenerateProfile, TakeProfile, WriteProfile
from flowcabal_tui.protocol.story import PutRecord, RemoveRecord
from flowcabal_tui.tui.app.commands import all_commands
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.story.record_rows import RecordList
from flowcabal_tui.tui.story.records import RecordsScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.help import HelpScreen
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.fake_story import FERRYMAN, HERO
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, shown
from tests.tui.test_names import opened, press, screen
from tests.tui.test_workspace import pane_in_view, settled, until, workspace

ONE, TWO, THREE, FOUR = map(books.chapter_id, range(1, 5))
NEW = RecordId("")


def records(project: FakeProject, listed: RecordList = "promises", words: str = "", position: int = 0) -> RecordsScreen:
    return RecordsScreen(project, listed, words, position)


def listed(pilot) -> list[str]:
    return [option.id for option in pilot.app.screen.query_one(PickList).options]


async def test_a_promise_that_is_overdue_comes_first_with_its_words():
    async with opened(records(FakeProject())) as pilot:
        assert listed(pilot) == ["p1", "p2"]
        assert "! overdue by 1 chapter" in screen(pilot)
        assert "planted in 1 Rain   due in chapters 2 to 3" in screen(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, SourceScreen)
        assert "It rained all night" in screen(pilot)


async def test_digits_change_the_list():
    async with opened(records(FakeProject())) as pilot:
        for digit, first in (("2", "m"), ("3", "f"), ("1", "p")):
            await press(pilot, digit)
            assert {each[0] for each in listed(pilot)} == {first}


async def test_the_paragraph_that_a_promise_rests_on_is_beside_the_list():
    project = FakeProject()
    text = await project.book.chapter_text(ONE)
    async with opened(records(project), size=(140, 40)) as pilot:
        detail = pilot.app.screen.query_one(DetailText)
        assert detail.region.x > 70
        await until(pilot, lambda: text.split("\n")[0][:60] in " ".join(str(detail.query_one(Static).render()).split()))
        assert "planted in 1 Rain" in str(detail.query_one(Static).render())


async def test_words_that_are_no_longer_in_their_chapter_are_quoted_as_they_were():
    project = FakeProject()
    promise = project.records.promises[0]
    gone = Evidence("It rained, once.", ONE, 90_000, 90_016)
    project.records = replace(project.records, promises=(replace(promise, evidence=(gone,)),))
    async with opened(records(project)) as pilot:
        assert "“It rained, once.”" in screen(pilot)


async def test_a_promise_is_paid_dropped_and_taken_up_again():
    project = FakeProject()
    before = project.records.promises[0]
    async with opened(records(project)) as pilot:
        await press(pilot, "p", "enter")
        assert project.sent[-1] == PutRecord(replace(before, paid=THREE))
        assert "overdue" not in screen(pilot)
        await press(pilot, "x")
        assert "dropped" in screen(pilot)
        await press(pilot, "x")
        assert project.sent[-1] == PutRecord(replace(before, paid=THREE, by="hand"))


async def test_the_words_that_pay_a_promise_are_shown():
    async with opened(records(FakeProject(), words="bell")) as pilot:
        assert listed(pilot) == ["p2"]
        await press(pilot, "V")
        assert "Nobody rang the bell" in screen(pilot)


async def test_a_promise_is_written_in_a_form():
    project = FakeProject()
    async with opened(records(project)) as pilot:
        typed = ["down", "down", *"5", "down", *"6", "down", *"Mara, Joss"]
        await press(pilot, "plus", *"A lamp", *typed, "ctrl+s")
        made = Promise(NEW, "A lamp", THREE, 5, 6, about=(HERO, FERRYMAN))
        assert project.sent == [PutRecord(made)]
        assert pilot.app.screen.record == replace(made, id=pilot.app.screen.record.id, by="hand")


async def test_a_key_that_comes_before_the_records_are_read_opens_the_form_all_the_same():
    class Slow(FakeProject):
        asked, read = 0, asyncio.Event()

        async def entities(self):
            self.asked += 1
            await self.read.wait()
            return await super().entities()

    project = Slow()
    async with opened(records(project)) as pilot:
        await pilot.press("plus")
        await until(pilot, lambda: project.asked == 2)
        project.read.set()
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ([], "The text is missing."),
        ([*"x", "down", "backspace"], "A chapter is missing."),
        ([*"x", "down", "down", *"6", "down", *"5"], "The end comes before"),
        ([*"x", "down", "down", "down", "down", *"Nobody"], "is called Nobody"),
    ],
)
async def test_what_cannot_be_read_is_told_and_the_form_stays(keys, words):
    project = FakeProject()
    async with opened(records(project)) as pilot:
        await press(pilot, "plus", *keys, "ctrl+s")
        assert isinstance(pilot.app.screen, FormScreen)
        assert words in screen(pilot)
        assert project.sent == []


async def test_the_timeline_has_both_orders_and_tells_where_the_telling_looks_back():
    async with opened(records(FakeProject(), "timeline")) as pilot:
        assert listed(pilot) == ["m2", "m1", "m3"]
        row = next(row for row in shown(pilot.app) if "The siege" in row)
        assert row.split()[:3] == ["1", "2", "<"]
        assert "looks back" in row
        await press(pilot, "t")
        assert listed(pilot) == ["m1", "m2", "m3"]


async def test_a_moment_is_written_with_its_place_in_the_storys_time():
    project = FakeProject()
    async with opened(records(project, "timeline", position=2)) as pilot:
        await press(pilot, "plus", *"Birth", "down", "down", *"long ago", "down", *"0.5", "ctrl+s")
        assert project.sent == [PutRecord(Moment(NEW, "Birth", TWO, "long ago", 0.5))]


async def test_facts_are_shown_as_of_a_chapter_and_who_knows_a_secret():
    async with opened(records(FakeProject(), "facts", position=1)) as pilot:
        assert listed(pilot) == ["f1", "f2"]
        await press(pilot, "right", "right", "j")
        assert listed(pilot) == ["f1", "f3"]
        assert "secret; only Joss (2 The Ferry) know it" in screen(pilot)
        await press(pilot, "o")
        assert listed(pilot) == ["f1", "f2", "f3"]


async def test_a_fact_ends_at_a_chapter_and_is_gone_from_there():
    project = FakeProject()
    before = project.records.facts[0]
    async with opened(records(project, "facts", position=3)) as pilot:
        await press(pilot, "u", "enter")
        assert project.sent == [PutRecord(replace(before, until=THREE))]
        assert listed(pilot) == ["f3"]


async def test_a_secret_is_written_with_those_who_know_it():
    project = FakeProject()
    async with opened(records(project, "facts", position=2)) as pilot:
        keys = ["plus", *"She lied", "down", *"Mara", *["down"] * 4, "space", "down", *"Mara, Joss @3", "ctrl+s"]
        await press(pilot, *keys)
        known = (Knower(HERO), Knower(FERRYMAN, THREE))
        assert project.sent == [PutRecord(Fact(NEW, "She lied", (HERO,), since=TWO, secret=True, known_by=known))]


async def test_a_record_is_edited_and_what_the_form_does_not_show_stays():
    project = FakeProject()
    before = project.records.facts[0]
    async with opened(records(project, "facts")) as pilot:
        await press(pilot, "e", "end", *"!", "ctrl+s")
        assert project.sent == [PutRecord(replace(before, text=before.text + "!"))]


async def test_a_record_is_removed_after_a_question():
    project = FakeProject()
    async with opened(records(project, "timeline")) as pilot:
        await press(pilot, "D", "n")
        assert project.sent == []
        await press(pilot, "D", "y")
        assert project.sent == [RemoveRecord(RecordId("m2"))]
        assert listed(pilot) == ["m1", "m3"]


async def test_a_key_of_one_list_does_nothing_in_another():
    project = FakeProject()
    async with opened(records(project, "timeline")) as pilot:
        await press(pilot, "p", "x", "u")
        assert isinstance(pilot.app.screen, RecordsScreen)
        assert project.sent == []


async def test_an_empty_story_says_how_to_begin():
    project = FakeProject()
    project.records = Story()
    async with opened(records(project)) as pilot:
        for digit in "123":
            await press(pilot, digit, "enter", "e", "D")
            assert "+ adds the first" in screen(pilot)


async def test_hostile_words_are_shown_as_words():
    project = FakeProject()
    project.records = Story(promises=(Promise(RecordId("p"), HOSTILE, ONE),))
    async with opened(records(project), (120, 30)) as pilot:
        assert "\x1b" not in screen(pilot)
        assert screen(pilot).count("[/] [b]bold[/b] red") == 2


# From the workspace


async def test_keys_of_the_workspace_open_names_and_records(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("8")
        await settled(pilot)
        assert isinstance(pilot.app.screen, EntitiesScreen)
        await pilot.press("escape", "9")
        await settled(pilot)
        assert isinstance(pilot.app.screen, RecordsScreen)
        await pilot.press("escape", "0")
        await settled(pilot)
        assert "looks back" in screen(pilot)


async def test_what_holds_is_asked_as_of_the_open_chapter(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("1", "home", "enter")
        await settled(pilot)
        await pilot.press("W")
        await settled(pilot)
        assert "as of chapter 1 of 4" in screen(pilot)


async def test_a_place_of_a_name_is_opened_in_the_manuscript(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("8")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("n", "enter")
        await settled(pilot)
        await settled(pilot)
        assert pane_in_view(pilot) == "manuscript"
        assert pilot.app.screen.query_one(ManuscriptPane).text == books.EN.texts[2]


async def test_the_palette_and_the_help_know_the_keys_of_names(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        titles = {f"{each.title}  ({each.shown_key({})})" for each in all_commands()}
        assert {"Names  (8)", "Promises  (9)", "Timeline  (0)", "What is true  (W)"} <= titles
        await pilot.press("8")
        await settled(pilot)
        assert {"Merge  (M)", "Relations  (r)", "Confirm  (a)"} <= titles
        await pilot.press("f1")
        await settled(pilot)
        assert isinstance(pilot.app.screen, HelpScreen)
        assert "Merge names that mean the same" in screen(pilot)


# Profiles


HERO_URI = "profiles/characters/hero"


async def profiles(pilot) -> ProfilePane:
    """The pane, with the hero's summary in view."""
    await pilot.press("7")
    await settled(pilot)
    await pilot.press("home", "j", "k", "j")
    await settled(pilot)
    return pilot.app.screen.query_one(ProfilePane)


async def test_a_summary_is_written_by_hand(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await profiles(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProseScreen))
        pilot.app.screen.query_one(TextArea).load_text("Mine.")
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert project.sent[-1] == WriteProfile(HERO_URI, "L1", "Mine.")


async def test_a_summary_that_is_written_under_a_pin_is_not_said_to_stand(tmp_path):
    project = FakeProject()
    row, view = project.profile_views[HERO_URI]
    project.profile_views[HERO_URI] = row, replace(view, pinned=Generation(1))
    async with workspace(project, tmp_path) as pilot:
        await profiles(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, ProseScreen))
        pilot.app.screen.query_one(TextArea).load_text("Mine.")
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert [notice.words for notice in pilot.app.announcer.notices.listed] == [
            "Saved, but the pinned state is used until it is unpinned."
        ]


async def test_a_text_that_was_left_or_is_as_it_was_writes_nothing(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await profiles(pilot)
        for key in ("ctrl+s", "escape"):
            await pilot.press("e")
            await until(pilot, lambda: isinstance(pilot.app.screen, ProseScreen))
            await pilot.press(key)
            await settled(pilot)
        assert not [item for item in project.sent if isinstance(item, WriteProfile)]


async def test_a_state_of_the_history_is_pinned_and_let_go_again(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        pane = await profiles(pilot)
        await pilot.press("t", "j", "p")
        await settled(pilot)
        assert project.sent[-1] == PinProfile(HERO_URI, Generation(1))
        row, view = project.profile_views[HERO_URI]
        project.profile_views[HERO_URI] = row, replace(view, pinned=Generation(1))
        pane.show_profile(project.profile_views[HERO_URI][1])
        await pilot.press("p")
        await settled(pilot)
        assert project.sent[-1] == PinProfile(HERO_URI, None)


async def test_what_was_made_since_is_compared_and_taken(tmp_path):
    project = FakeProject()
    row, view = project.profile_views[HERO_URI]
    waits = replace(view.history[0], text="Quite another Mara.", generation=Generation(8), evidence=())
    project.profile_views[HERO_URI] = row, replace(view, offered=(waits,))
    async with workspace(project, tmp_path) as pilot:
        pane = await profiles(pilot)
        assert "newer state" in screen(pilot)
        await pilot.press("w")
        await settled(pilot)
        assert pane.query_one("#changes", DiffView).hunk_count
        await pilot.press("a")
        await settled(pilot)
        assert project.sent[-1] == TakeProfile(HERO_URI)


async def test_a_profile_is_made_again(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await profiles(pilot)
        await pilot.press("r")
        await settled(pilot)
        assert project.sent[-1] == RegenerateProfile(HERO_URI)


async def test_any_two_states_are_compared(tmp_path):
    project = FakeProject()
    row, view = project.profile_views[HERO_URI]
    oldest = replace(view.history[1], text="Nobody knows her.", generation=Generation(0), position=0)
    project.profile_views[HERO_URI] = row, replace(view, history=(*view.history, oldest))
    async with workspace(project, tmp_path) as pilot:
        pane = await profiles(pilot)
        await pilot.press("t", "end", "m", "home", "d")
        await settled(pilot)
        assert "compared with as of chapter 0" in str(pane.query_one(".head", Static).render())
        assert "[-Nobody knows-]" in pane.query_one("#changes", StreamView).text
