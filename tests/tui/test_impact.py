"""What depends on a change, as a list that is ticked, applied and undone."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import ChapterChanged, Rename
from flowcabal_tui.protocol.story import ApplyImpact, AskPatches, UndoDecision
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.story.story_page import StoryPlace
from tests.tui.fake_books import chapter_id
from tests.tui.fakes import FakeProject
from tests.tui.test_names import names, opened, press, screen

RENAME = Rename("Mara", "Vera")


def page(project: FakeProject, change=RENAME) -> ImpactScreen:
    return ImpactScreen(project, change)


async def test_every_place_is_shown_with_its_difference_and_applied_with_the_ticks():
    project = FakeProject()
    async with opened(page(project)) as pilot:
        assert "[-Mara-]{+Vera+}" in screen(pilot)
        rows = pilot.app.screen.rows
        first = rows.place.proposal.id
        await press(pilot, "space")
        assert first not in rows.ticked
        await press(pilot, "end", "space", "ctrl+s")
        sent = project.sent[-1]
        assert isinstance(sent, ApplyImpact)
        assert (sent.change, sent.leave, sent.take) == (RENAME, (first,), ("c2:0",))
        assert "u undoes" in screen(pilot) and "Nothing in the book depends" not in screen(pilot)
        assert " u Undo  Ctrl+s Apply" in screen(pilot)
        await press(pilot, "u")
        assert project.sent[-1] == UndoDecision(scope="impact")
        assert "[-Mara-]{+Vera+}" in screen(pilot)


async def test_a_place_that_came_in_meanwhile_is_shown_before_anything_is_applied():
    project = FakeProject()
    async with opened(page(project)) as pilot:
        rows = pilot.app.screen.rows
        first = rows.place.proposal.id
        await press(pilot, "space")
        mara = next(each for each in project.people if "Mara" in each.names)
        project.people.append(replace(mara, id=EntityId("second")))
        await press(pilot, "ctrl+s")
        assert project.impacts.applied is None and not pilot.app.answers
        assert rows.place.proposal.id == "entity:second" and "entity:second" in rows.ticked
        assert first not in rows.ticked, "a tick that was taken away stays away"
        await press(pilot, "ctrl+s")
        assert project.impacts.applied is not None and project.impacts.applied.leave == (first,)


async def test_a_chapter_and_all_are_ticked_at_once_and_nothing_ticked_is_not_sent():
    project = FakeProject()
    async with opened(page(project)) as pilot:
        rows = pilot.app.screen.rows
        await press(pilot, "asterisk")
        assert "c2:0" in rows.ticked
        await press(pilot, "asterisk", "ctrl+s")
        assert not rows.ticked and not project.sent
        await press(pilot, "end", "c")
        assert "c2:0" in rows.ticked


async def test_enter_and_w_lead_to_the_place():
    for key, edit in (("enter", False), ("w", True)):
        async with opened(page(FakeProject(), ChapterChanged(chapter_id(1)))) as pilot:
            assert "The changed text no longer says so." in screen(pilot)
            await press(pilot, key)
            assert pilot.app.answers == [StoryPlace(chapter_id(2), 0, 12, edit)]


async def test_a_name_is_renamed_from_the_list_of_names():
    project = FakeProject()
    async with opened(names(project)) as pilot:
        await press(pilot, "ctrl+k", "ctrl+u", *"Vera", "enter")
        assert "[-Mara-]{+Vera+}" in screen(pilot)


async def test_a_difference_is_asked_of_the_model_after_its_price_and_is_not_ticked():
    project = FakeProject()
    async with opened(page(project, ChapterChanged(chapter_id(1)))) as pilot:
        await press(pilot, "space", "r")
        assert "0.01" in screen(pilot) and not project.sent
        await press(pilot, "y")
        assert project.sent == [AskPatches(ChapterChanged(chapter_id(1)), ("c2:0",))]
        rows = pilot.app.screen.rows
        assert "patch by the model" in screen(pilot) and not rows.ticked and rows.place.is_by_model
        await press(pilot, "r")
        assert len(project.sent) == 1
        await press(pilot, "space", "ctrl+s")
        await press(pilot, *(["y"] if not isinstance(project.sent[-1], ApplyImpact) else []))
        assert project.sent[-1].take == ("c2:0",)


async def test_a_place_that_still_holds_is_said_so_and_applied_without_a_tick():
    project = FakeProject()
    async with opened(page(project, ChapterChanged(chapter_id(1)))) as pilot:
        await press(pilot, "h")
        assert "[=]" in screen(pilot)
        await press(pilot, "ctrl+s")
        assert (project.sent[-1].take, project.sent[-1].holds) == ((), ("c2:0",))
