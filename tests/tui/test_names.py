"""Names, the places of a name and who stands around, over an invented project."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import RecordId, Relation
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.story import PutEntity, PutRecord, RemoveEntity, RemoveRecord
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import Trouble
from flowcabal_tui.tui.story.ego import EgoScreen
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.story.mentions import MentionsScreen
from flowcabal_tui.tui.story.story_page import StoryPage, StoryPlace
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.ego_graph import EgoGraph
from tests.tui import fake_books as books
from tests.tui.fake_story import FERRYMAN, HERO, VOICE
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.waiting import settled, until


class RefusingProject(FakeProject):
    """Refuses every command."""

    async def carry_out(self, command: Command) -> str:
        raise RunError("No.", "It is refused.")


@asynccontextmanager
async def opened(page: StoryPage, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
    """The page over an empty app; `answers` of the app are what it gave back."""
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.answers = []
        app.push_screen(page, app.answers.append)
        await settled(pilot)
        yield pilot


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def names(project: FakeProject, entity: EntityId | None = None) -> EntitiesScreen:
    return EntitiesScreen(project, entity)


def screen(pilot: Pilot[None]) -> str:
    return "\n".join(shown(pilot.app))


def listed(pilot: Pilot[None]) -> list[str]:
    return [option.id for option in pilot.app.screen.query_one("#list", PickList).options]


def put(project: FakeProject) -> Entity:
    """The entity of the last command."""
    last = project.sent[-1]
    assert isinstance(last, PutEntity)
    return last.entity


async def test_names_stand_by_how_often_they_are_mentioned_and_tell_from_where_to_where():
    async with opened(names(FakeProject())) as pilot:
        assert listed(pilot) == ["hero", "ferryman", "voice"]
        row = next(row for row in shown(pilot.app) if "Mara" in row)
        assert row.split()[:2] == ["?", "Mara"]
        assert re.search(r"Mara.* 2 +1-3", row)
        assert "mentioned 2 times   chapters 1 to 3" in screen(pilot)
        assert re.search(r"\? Mar +unconfirmed", screen(pilot))


async def test_the_list_follows_what_is_typed_in_names_and_aliases():
    project = FakeProject()
    project.people[1] = replace(project.people[1], aliases=("Old Salt",))
    async with opened(names(project)) as pilot:
        await press(pilot, "slash", *"sal")
        assert listed(pilot) == ["ferryman"]
        assert pilot.app.screen.entity.name == "Joss"
        await press(pilot, "enter")
        assert pilot.app.screen.query_one("#list").has_focus
        await press(pilot, "escape")
        assert listed(pilot) == ["hero", "ferryman", "voice"]
        await press(pilot, "escape")
        assert pilot.app.answers == [None]


async def test_digits_choose_a_kind_and_a_new_one_is_of_it():
    project = FakeProject()
    project.people.append(Entity(EntityId("city"), "location", "The City"))
    async with opened(names(project)) as pilot:
        await press(pilot, "3")
        assert listed(pilot) == ["city"]
        await press(pilot, "plus", *"Ferry", "ctrl+s")
        assert put(project) == Entity(EntityId("Ferry"), "location", "Ferry", by="hand")
        assert pilot.app.screen.entity.name == "Ferry"


async def test_a_proposed_name_is_confirmed_or_rejected_by_one_key():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "a")
        assert (put(project).aliases, put(project).proposed) == (("Mar",), ())
        assert "= Mar" in screen(pilot)
        await press(pilot, "x")
        assert len(project.sent) == 1
        await press(pilot, "tab", "x")
        assert (put(project).aliases, put(project).rejected) == ((), ("Mar",))
        assert re.search("x Mar +rejected", screen(pilot))


async def test_the_name_under_the_cursor_is_judged():
    project = FakeProject()
    project.people[0] = replace(project.people[0], proposed=("Mar", "Swan"))
    async with opened(names(project)) as pilot:
        await press(pilot, "tab", "j", "x")
        assert put(project).rejected == ("Swan",)


async def test_what_holds_of_someone_is_a_key_away():
    async with opened(names(FakeProject(), FERRYMAN)) as pilot:
        await press(pilot, "f")
        assert "Joss knows who rings the bell." in screen(pilot)
        assert "left hand" not in screen(pilot)


async def test_an_entity_is_edited_in_a_form():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "e", "down", "down", *"Swan, Mar", "down", *"tall", "ctrl+s")
        assert (put(project).aliases, put(project).proposed, put(project).note) == (("Swan", "Mar"), (), "tall")


async def test_a_form_without_a_name_is_not_taken():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "plus", "ctrl+s")
        assert isinstance(pilot.app.screen, FormScreen)
        assert "! A name is missing." in screen(pilot)
        await press(pilot, "escape")
        assert project.sent == []


async def test_a_note_of_several_lines_is_left_as_it_is():
    project = FakeProject()
    project.people[0] = replace(project.people[0], note="one\ntwo")
    async with opened(names(project)) as pilot:
        await press(pilot, "e", "ctrl+s")
        assert put(project).note == "one\ntwo"


async def test_a_name_is_removed_after_a_question():
    project = FakeProject()
    async with opened(names(project, FERRYMAN)) as pilot:
        await press(pilot, "D")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "n")
        assert project.sent == []
        await press(pilot, "D", "y")
        assert project.sent == [RemoveEntity(FERRYMAN)]
        assert listed(pilot) == ["hero", "voice"]


async def test_two_names_of_one_are_merged():
    project = FakeProject()
    async with opened(names(project, VOICE)) as pilot:
        await press(pilot, "M", *"jos", "right", "enter")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "y")
        assert put(project).names == ("Joss", "The voice")
        assert RemoveEntity(VOICE) in project.sent
        moved = [command.record for command in project.sent if isinstance(command, PutRecord)]
        assert {record.id for record in moved} == {"r1", "p1"}
        assert pilot.app.screen.entity.id == FERRYMAN


async def test_marked_names_are_removed_at_once_after_one_question():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "down", "space", "space", "D")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        assert "Remove 2 names?" in screen(pilot)
        await press(pilot, "n")
        assert "2 names marked" in screen(pilot)
        await press(pilot, "D", "y")
        assert project.sent == [RemoveEntity(FERRYMAN), RemoveEntity(VOICE)]
        assert listed(pilot) == ["hero"]
        assert "marked" not in screen(pilot)


async def test_marked_names_are_made_of_another_kind():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "asterisk", "K", "enter", "down", "enter", "ctrl+s")
        changed = [command.entity for command in project.sent if isinstance(command, PutEntity)]
        assert [(each.id, each.kind, each.by) for each in changed] == [
            (each, "location", "hand") for each in (HERO, FERRYMAN, VOICE)
        ]


async def test_marked_names_are_made_one_and_what_is_said_of_all_moves():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "asterisk", "M", "ctrl+s")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await press(pilot, "y")
        kept = put(project)
        assert (kept.id, kept.names) == (HERO, ("Mara", "Joss", "The voice"))
        assert [each for each in project.sent if isinstance(each, RemoveEntity)] == [
            RemoveEntity(FERRYMAN),
            RemoveEntity(VOICE),
        ]
        assert listed(pilot) == ["hero"]


async def test_a_mark_is_shown_and_taken_away():
    async with opened(names(FakeProject())) as pilot:
        await press(pilot, "space")
        assert any("? * Mara" in row for row in shown(pilot.app))
        await press(pilot, "up", "space")
        assert not any("? * Mara" in row for row in shown(pilot.app))
        await press(pilot, "asterisk", "asterisk")
        assert pilot.app.screen.chosen == (pilot.app.screen.entity,)


async def test_enter_shows_the_places_and_leads_to_one():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, MentionsScreen)
        assert "1 Rain   place 1 of 2" in screen(pilot)
        await press(pilot, "n")
        assert "3 Empty City   place 2 of 2" in screen(pilot)
        assert "Nobody rang the bell" in screen(pilot)
        await press(pilot, "n", "p", "enter")
        start = books.EN.texts[2].index("Mara")
        assert pilot.app.answers == [StoryPlace(books.chapter_id(3), start, start + 4)]


async def test_a_name_that_stands_nowhere_has_no_places():
    async with opened(names(FakeProject(), VOICE)) as pilot:
        pilot.app.screen.project.story.mentions = no_mentions
        await press(pilot, "enter", "n", "enter")
        assert "Nothing in the book mentions it." in screen(pilot)


async def test_places_that_left_the_book_are_no_longer_listed():
    async with opened(names(FakeProject(), HERO)) as pilot:
        await press(pilot, "enter")
        page = pilot.app.screen
        assert "1 Rain" in screen(pilot)
        page.project.story.mentions = no_mentions
        page.book_moved()
        await until(pilot, lambda: "Nothing in the book mentions it." in screen(pilot))
        assert "1 Rain" not in screen(pilot)


async def no_mentions(_entity: EntityId) -> tuple[()]:
    return ()


async def test_the_list_is_read_again_when_the_book_has_moved(monkeypatch):
    monkeypatch.setattr("flowcabal_tui.tui.story.story_page.RELOAD_SECONDS", 0.01)
    project = FakeProject()
    async with opened(names(project, FERRYMAN)) as pilot:
        project.people.append(Entity(EntityId("new"), "item", "Lamp"))
        pilot.app.screen.book_moved()
        pilot.app.screen.book_moved()
        await until(pilot, lambda: "new" in listed(pilot))
        assert pilot.app.screen.entity.id == FERRYMAN


async def test_a_refusal_is_told_and_nothing_is_shown_as_changed():
    async with opened(names(RefusingProject())) as pilot:
        await press(pilot, "a")
        assert next(str(item.error) for item in pilot.app.seen if isinstance(item, Trouble)).startswith("No.")
        assert "? Mar" in screen(pilot)


async def test_hostile_names_are_shown_as_words():
    project = FakeProject()
    project.people = [Entity(HERO, "character", HOSTILE, (HOSTILE + "2",), HOSTILE, proposed=("[/b]",))]
    async with opened(names(project), (120, 30)) as pilot:
        await press(pilot, "r", "escape")
        assert "\x1b" not in screen(pilot)
        assert "[/] [b]bold[/b] red" in screen(pilot)


# Who stands around


def around(project: FakeProject, centre: EntityId = HERO) -> EgoScreen:
    return EgoScreen(project, centre)


async def test_relations_begin_and_end_with_the_chapter():
    async with opened(around(FakeProject())) as pilot:
        assert "as of chapter 3 of 4   3 Empty City" in screen(pilot)
        assert "ferries" in screen(pilot)
        assert "enemy of" not in screen(pilot).partition("Mara – ")[2].partition("Mara – ")[0]
        await press(pilot, "left", "left")
        assert "as of chapter 1 of 4" in screen(pilot)
        assert "enemy of" in screen(pilot)
        assert "Joss" not in screen(pilot)
        await press(pilot, "home")
        assert "before the book" in screen(pilot)
        await press(pilot, "end")
        assert "as of chapter 4 of 4" in screen(pilot)


async def test_a_neighbour_comes_to_the_middle_and_backspace_goes_back():
    async with opened(around(FakeProject())) as pilot:
        graph = pilot.app.screen.query_one(EgoGraph)
        assert graph.cursor == FERRYMAN
        await press(pilot, "enter")
        assert "Joss   1 neighbour" in screen(pilot)
        assert graph.cursor == HERO
        await press(pilot, "backspace")
        assert "Mara   2 neighbours" in screen(pilot)
        assert graph.cursor == FERRYMAN


async def test_anybody_comes_to_the_middle_by_name():
    async with opened(around(FakeProject())) as pilot:
        await press(pilot, "slash", *"The v", "right", "enter")
        assert "The voice   1 neighbour" in screen(pilot)


async def test_a_relation_is_added_between_the_two():
    project = FakeProject()
    async with opened(around(project)) as pilot:
        await press(pilot, "plus", "down", *"trusts", "ctrl+s")
        assert project.sent == [PutRecord(Relation(RecordId(""), HERO, FERRYMAN, "trusts"))]
        assert "ferries / trusts" in screen(pilot)


async def test_a_relation_is_edited_and_its_evidence_stays():
    project = FakeProject()
    before = project.records.relations[1]
    async with opened(around(project)) as pilot:
        await press(pilot, "e", "down", *"!", "down", "down", "space", "ctrl+s")
        assert project.sent == [PutRecord(replace(before, kind="ferries!", directed=False))]


async def test_a_relation_ends_at_a_chapter():
    project = FakeProject()
    before = project.records.relations[1]
    async with opened(around(project)) as pilot:
        await press(pilot, "u", "enter")
        assert project.sent == [PutRecord(replace(before, until=books.chapter_id(3)))]
        assert "not in this chapter" in screen(pilot)


@pytest.mark.parametrize(
    ("until", "words"), [("9", "no chapter 9"), ("1", "end comes before"), ("x", "not a chapter number")]
)
async def test_an_end_that_cannot_be_is_told(until, words):
    async with opened(around(project := FakeProject())) as pilot:
        await press(pilot, "u", "backspace", *until, "enter")
        assert words in screen(pilot)
        assert project.sent == []


async def test_a_relation_is_removed_after_a_question():
    project = FakeProject()
    async with opened(around(project)) as pilot:
        await press(pilot, "D", "y")
        assert project.sent == [RemoveRecord(RecordId("r2"))]
        assert "4×, last in 3" in screen(pilot)


async def test_the_words_that_say_a_relation_are_shown():
    async with opened(around(FakeProject())) as pilot:
        await press(pilot, "v")
        assert isinstance(pilot.app.screen, SourceScreen)
        assert "The fog on the river" in screen(pilot)


async def test_the_graph_is_complete_with_twelve_neighbours_in_eighty_columns():
    project = FakeProject("zh")
    others = [Entity(EntityId(f"e{n}"), "character", f"人物之{n}号") for n in range(12)]
    project.people += others
    ends = [(HERO, other.id) if n % 2 else (other.id, HERO) for n, other in enumerate(others)]
    relations = tuple(Relation(RecordId(f"n{n}"), *pair, f"关系{n}") for n, pair in enumerate(ends))
    project.records = replace(project.records, relations=relations)
    async with opened(around(project)) as pilot:
        for n in range(12):
            row = next(row for row in shown(pilot.app) if f"人物之{n}号" in row)
            assert f"关系{n}" in row
        assert "14 neighbours" in screen(pilot)


async def test_typing_in_the_filter_is_no_command():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "slash", *"cxd3")
        assert pilot.app.screen.query_one(Input).value == "cxd3"
        assert project.sent == []
