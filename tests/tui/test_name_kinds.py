"""The writer's own kinds of names and fields: defined, filled in, shown; a name renamed from wherever it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.impact import Rename
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.tui.story.impact import ImpactScreen
from tests.tui.fake_story import FERRYMAN
from tests.tui.fakes import FakeProject
from tests.tui.test_name_card import pane, words
from tests.tui.test_names import names, opened, press, put, screen
from tests.tui.test_workspace import workspace

SECT = BookKind("Sect", "organisation", ("rank", "motto"))
LOOKS = BookKind("character", "character", ("looks",))


async def test_a_kind_is_defined_with_its_fields_and_a_name_gets_them() -> None:
    project = FakeProject()
    async with opened(names(project), (120, 40)) as pilot:
        await press(pilot, "t", "G", "enter", *"Sect", "down", "enter", *["down"] * 4, "enter")
        await press(pilot, "down", *"rank, motto", "ctrl+s")
        assert project.kinds == (SECT,)
        await press(pilot, "K", "enter", *["down"] * 5, "enter", "ctrl+s")
        assert (put(project).kind, put(project).own_kind) == ("organisation", "Sect")
        await press(pilot, "e", *["down"] * 4, *"elder", "ctrl+s")
        assert put(project).fields == (("rank", "elder"),)
        assert "Sect   by hand" in screen(pilot) and "rank: elder" in screen(pilot)


async def test_a_kind_of_the_program_gets_fields_and_an_empty_one_is_not_stored() -> None:
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "t", "g", "enter", *"looks", "ctrl+s")
        assert project.kinds == (LOOKS,)
        await press(pilot, "t", "g", "enter", *["backspace"] * 5, "ctrl+s")
        assert project.kinds == ()


async def test_names_follow_a_kind_that_is_renamed_or_removed() -> None:
    project = FakeProject()
    project.kinds = (SECT,)
    noted = replace(project.people[0], kind="organisation", own_kind="Sect", fields=(("rank", "elder"),))
    project.people[0] = noted
    async with opened(names(project)) as pilot:
        await press(pilot, "t", *["j"] * 5, "enter", "s", "ctrl+s")
        assert project.kinds[0].name == "Sects"
        assert put(project) == replace(noted, own_kind="Sects", by="hand")
        await press(pilot, "t", *["j"] * 5, "enter", *["backspace"] * 5, "ctrl+s")
        assert project.kinds == ()
        assert put(project) == replace(noted, own_kind="", by="hand"), "what is noted stays"


async def test_marked_names_of_two_kinds_become_one_own_kind_at_once() -> None:
    project = FakeProject()
    project.kinds = (SECT,)
    async with opened(names(project)) as pilot:
        await press(pilot, "asterisk", "K", "enter", *["down"] * 5, "enter", "ctrl+s")
        changed = [command.entity for command in project.sent if isinstance(command, PutEntity)]
        assert {(each.kind, each.own_kind, each.by) for each in changed} == {("organisation", "Sect", "hand")}
        assert len(changed) == 3


async def test_two_names_that_are_merged_keep_the_fields_of_both() -> None:
    project = FakeProject()
    project.people[0] = replace(project.people[0], fields=(("looks", "one hand"),))
    project.people[1] = replace(project.people[1], fields=(("looks", "old"), ("boat", "a ferry")))
    async with opened(names(project)) as pilot:
        await press(pilot, "asterisk", "M", "ctrl+s", "y")
        assert dict(put(project).fields) == {"looks": "one hand", "boat": "a ferry"}


async def test_the_card_shows_kind_and_fields(tmp_path: Path) -> None:
    project = FakeProject()
    project.people[0] = replace(project.people[0], own_kind="Blade", fields=(("looks", "one hand"),))
    async with workspace(project, tmp_path) as pilot:
        await press(pilot, "1", "g", "enter", "at")
        assert words(pilot)[1].startswith("Blade   by hand") and "looks: one hand" in words(pilot)


async def test_a_name_is_renamed_everywhere_from_the_card(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path) as pilot:
        await press(pilot, "1", "g", "j", "enter", "f2", "ctrl+j", "tab", "ctrl+k", "ctrl+u", *"Jonas", "enter")
        assert isinstance(pilot.app.screen, ImpactScreen) and pilot.app.screen._change == Rename("Joss", "Jonas")
        await press(pilot, "escape")
        assert pane(pilot).face == "edit"


async def test_a_name_is_renamed_everywhere_from_the_list_of_names() -> None:
    async with opened(names(FakeProject(), FERRYMAN)) as pilot:
        await press(pilot, "ctrl+k", "ctrl+u", *"Jonas", "enter")
        assert isinstance(pilot.app.screen, ImpactScreen) and pilot.app.screen._change == Rename("Joss", "Jonas")


async def test_a_name_is_renamed_everywhere_from_the_palette(tmp_path: Path) -> None:
    async with workspace(FakeProject(), tmp_path) as pilot:
        await press(pilot, "ctrl+p", *"rename everywhere", "enter", *"Mara", "enter", "ctrl+u", *"Vera", "enter")
        assert isinstance(pilot.app.screen, ImpactScreen) and pilot.app.screen._change == Rename("Mara", "Vera")
