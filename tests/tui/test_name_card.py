"""The card of a name: beside the text that is read or written, it follows the cursor and leads to other places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.book import BookChanged
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.name_card import NameCardPanel
from flowcabal_tui.tui.story.entities import EntitiesScreen
from flowcabal_tui.tui.widgets.noted_view import NotedView
from flowcabal_tui.tui.widgets.writing_area import WritingArea
from tests.effort import effort
from tests.tui import fake_books as books
from tests.tui.fake_story import FERRYMAN, HERO
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, shown
from tests.tui.test_names import press
from tests.tui.test_workspace import pane_in_view, settled, told, workspace

ONE, TWO = books.chapter_id(1), books.chapter_id(2)


def pane(pilot: Pilot[int]) -> ManuscriptPane:
    return pilot.app.screen.query_one(ManuscriptPane)


def area(pilot: Pilot[int]) -> WritingArea:
    return pane(pilot).query_one(WritingArea)


def card(pilot: Pilot[int]) -> NameCardPanel:
    return pane(pilot).query_one(NameCardPanel)


def words(pilot: Pilot[int]) -> list[str]:
    """The head of the card, and its rows."""
    options = card(pilot).query_one(PickList).options
    return [str(card(pilot).query_one(".who").content), *(str(option.prompt) for option in options)]


async def place(pilot: Pilot[int], name: str) -> None:
    """Puts the cursor of the editor into a name."""
    area(pilot).move_cursor(area(pilot).offset_location(area(pilot).text.index(name) + 1))
    await settled(pilot)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_one_key_opens_the_card_and_the_same_key_closes_it(tmp_path: Path, language, size) -> None:
    project = FakeProject(language)
    hero = project.words.hero
    async with workspace(project, tmp_path, size=size) as pilot:
        await press(pilot, "1", "g", "enter", "at")
        assert card(pilot).region.width and words(pilot)[0] == hero
        assert project.words.abstract in words(pilot)[2]
        assert "1 " + project.words.titles[0] in words(pilot)[-1]
        text, beside = pane(pilot).query_one("#read").region, card(pilot).region
        assert (beside.x >= text.right) == (size[0] == 80), "beside the text, or below it where three columns are"
        assert beside.y >= text.bottom or size[0] == 80
        await press(pilot, "at")
        assert not card(pilot).display and pane_in_view(pilot) == "manuscript"


@pytest.mark.parametrize("view", ["f2", "ctrl+n"])
async def test_in_the_editor_and_the_writing_view_it_follows_the_cursor(tmp_path: Path, view: str) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "j", "enter", view, "ctrl+j")
        assert words(pilot)[0] == "Joss", "the only name of the paragraph"
        assert words(pilot)[0] == "Joss" and "→ ferries: Mara" in words(pilot)[-1]
        await press(pilot, "end")
        assert words(pilot)[0] == "Joss", "the last card stays while no name is at the cursor"
        await press(pilot, "space", *"Mara")
        assert words(pilot)[0] == "Mara", "the name that was just typed"
        assert area(pilot).has_focus and " Mara " in area(pilot).text
        assert project.cards_asked == [(FERRYMAN, TWO), (HERO, TWO)], "asked once a name, not once a key"


async def test_nothing_is_looked_up_while_it_is_closed(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "j", "enter", "f2", "ctrl+j", "ctrl+j")
        asked = len(project.cards_asked)
        await place(pilot, "Joss")
        assert len(project.cards_asked) == asked and not card(pilot).display


async def test_the_longest_of_chinese_names_is_meant(tmp_path: Path) -> None:
    project = FakeProject("zh")
    project.people.append(Entity(EntityId("river"), "location", "渡口的雾"))
    project.people.append(Entity(EntityId("ferry"), "location", "渡口"))
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "j", "enter", "f2", "ctrl+j")
        assert words(pilot)[0] == "渡口的雾"
        await press(pilot, "ctrl+end", *"在渡口")
        assert words(pilot)[0] == "渡口"


async def test_in_the_reader_keys_go_from_name_to_name(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path) as pilot:
        await press(pilot, "1", "g", "j", "enter", "full_stop")
        reader = pane(pilot).query_one("#read", NotedView)
        assert reader.highlighted and pane(pilot).text[slice(*reader.highlighted)] == "Joss"
        assert words(pilot)[0] == "Joss"
        await press(pilot, "colon")
        assert pane(pilot).text[slice(*reader.highlighted)] == "Joss", "there is no name before"
        assert "No further name" in "".join(shown(pilot.app))


async def test_enter_leads_to_the_place_the_other_name_the_profile_and_the_names(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "j", "j", "enter", "f2", "ctrl+j")
        await place(pilot, "Mara")
        assert [row.split()[0] for row in words(pilot)[1:]] == ["Character", "Profile:", "Last", "First:", "←"]
        await press(pilot, "tab", "G", "enter")
        assert words(pilot)[0] == "Joss" and card(pilot).has_focus_within
        await press(pilot, "escape")
        assert area(pilot).has_focus and pane(pilot).face == "edit"
        await press(pilot, "right")
        assert words(pilot)[0] == "Mara"
        await press(pilot, "tab", "j", "enter")
        assert pane_in_view(pilot) == "profiles"
        await press(pilot, "3", "at", "at", "tab", "g", "enter")
        assert isinstance(pilot.app.screen, EntitiesScreen) and pilot.app.screen.entity.id == HERO
        await press(pilot, "escape", "G", "k", "enter")
        reader = pane(pilot).query_one("#read", NotedView)
        assert pilot.app.screen.view.chapter == ONE and pane(pilot).text[slice(*reader.highlighted)] == "Mara"


async def test_a_name_that_is_changed_is_shown_anew(tmp_path: Path) -> None:
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "at")
        project.people[0] = replace(project.people[0], aliases=("the blade",))
        await told(pilot, project, BookChanged())
        assert words(pilot)[0] == "Mara\n= the blade"


async def test_a_hostile_name_is_words(tmp_path: Path) -> None:
    project = FakeProject()
    project.people[0] = replace(project.people[0], aliases=(HOSTILE,), note=HOSTILE)
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "at")
        assert "\x1b" not in "".join(words(pilot)) and sum("[b]" in row for row in words(pilot)) == 2


async def test_a_key_in_a_chapter_of_200_000_characters_looks_only_at_the_cursor(tmp_path: Path) -> None:
    project = FakeProject()
    project.people += [Entity(EntityId(f"n{n}"), "character", f"Name {n}") for n in range(2_000)]
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "f2", "ctrl+j")
        area(pilot).load_text("word " * 40_000)
        area(pilot).move_cursor((0, 100_001))
        await settled(pilot)
        controller = pilot.app.screen.controllers.card
        with effort() as counted:
            controller._follow()
        assert counted.calls < 400
