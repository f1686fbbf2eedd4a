"""The comparison of candidates on the screen: blind, beat by beat, chosen, put together, taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from flowcabal_tui.agents.comparing.seams import SeamHunk
from flowcabal_tui.domain.comparison import ChoiceDraft, ComparisonTarget, Taken, Verdict
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.comparison_words import verdict_words
from flowcabal_tui.tui.decisions.candidate_work import SeamChangesScreen
from flowcabal_tui.tui.decisions.choice import edited, known, result_of, with_taken
from flowcabal_tui.tui.decisions.comparison import ComparisonScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import Trouble
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from tests.tui.fake_comparison import BEATS, TEXTS, FakeComparisons, comparison
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.waiting import settled, until

SHOWN = comparison()
A, B, C = (each.digest for each in SHOWN.candidates)


@asynccontextmanager
async def compared(
    project: FakeComparisons, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Pilot[Any], ComparisonScreen]]:
    """The screen over an empty app, when the candidates are read."""
    async with begun(project, size) as (pilot, screen):
        await until(pilot, lambda: screen.comparison is not None)
        await settled(pilot)
        yield pilot, screen


@asynccontextmanager
async def begun(
    project: FakeComparisons, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Pilot[Any], ComparisonScreen]]:
    app: Host = Host()
    screen = ComparisonScreen(project, project.target)  # type: ignore[arg-type]  # a fake plays the project
    async with app.run_test(size=size) as pilot:
        await app.push_screen(screen)
        yield pilot, screen


async def pressed(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    await settled(pilot)


def words(pilot: Pilot[Any]) -> str:
    return "\n".join(shown(pilot.app))


@pytest.mark.parametrize(("size", "seen"), [((80, 24), 1), ((140, 40), 2), ((190, 40), 3)])
async def test_candidates_stand_side_by_side_where_there_is_room(size: tuple[int, int], seen: int) -> None:
    async with compared(FakeComparisons(), size) as (pilot, screen):
        told = words(pilot)
        assert sum(text.split("\n")[0][:8] in told for text in TEXTS) == seen
        assert screen.query_one("#result").display is (seen > 1), "the result stands beside where there is room"
        assert BEATS[0] in told and "model" not in told.replace("models", "")
        await pressed(pilot, "3")
        assert TEXTS[2].split("\n")[0] in words(pilot)


async def test_a_refusal_is_a_notice_and_an_unexpected_failure_is_reported() -> None:
    async def fails(error: Exception) -> None:
        raise error

    async with compared(FakeComparisons()) as (pilot, screen):
        screen.work(fails(FlowCabalError("refused")))
        screen.work(fails(ValueError("unexpected")))
        await settled(pilot)
        assert any("refused" in notice.message for notice in pilot.app._notifications)
        assert [str(item.error) for item in pilot.app.seen if isinstance(item, Trouble)] == ["unexpected"]


async def test_a_choice_shows_who_wrote_what_and_is_taken_back() -> None:
    project = FakeComparisons()
    async with compared(project) as (pilot, screen):
        await pressed(pilot, "2", "a")
        assert project.decided == [(Verdict("chosen", (B,)), ())]
        assert "model-2" in words(pilot) and "B was chosen" in words(pilot)
        await pressed(pilot, "a", "space", "x")
        assert len(project.decided) == 1, "a choice that is made is only read"
        await pressed(pilot, "U")
        assert screen.comparison is not None and not screen.comparison.is_decided
        assert "model-2" not in words(pilot)


@pytest.mark.parametrize(("language", "chosen"), [("en", "B was chosen"), ("zh", "选用了 B")])
def test_a_choice_names_its_candidate(language: str, chosen: str) -> None:
    use_language(language)
    assert verdict_words("chosen", ["B"]) == chosen
    assert "B" not in verdict_words("none", [])


async def test_equally_good_ones_are_a_tie_and_none_of_them_is_an_answer() -> None:
    project = FakeComparisons()
    async with compared(project) as (pilot, _screen):
        await pressed(pilot, "1", "equals_sign", "3", "a")
        assert project.decided[-1] == (Verdict("tie", (C, A)), ())
        assert "C, A are equally good" in words(pilot)
        await pressed(pilot, "U", "x")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pressed(pilot, "n")
        assert len(project.decided) == 1
        await pressed(pilot, "x", "y")
        assert project.decided[-1] == (Verdict("none"), ())


async def test_paragraphs_are_taken_into_a_text_in_the_order_of_the_beats_and_chosen() -> None:
    project = FakeComparisons()
    async with compared(project, (140, 40)) as (pilot, screen):
        await pressed(pilot, "2", "j", "b", "1", "k", "space")
        rows = [text.split("\n\n") for text in TEXTS]
        assert screen.area.text == f"{rows[0][0]}\n\n{rows[1][1]}"
        assert project.kept.taken == (Taken(B, 1), Taken(A, 0)), "it is kept as it is made"
        await pressed(pilot, "f2")
        assert project.decided == [(Verdict("composed", (), screen.area.text), (Taken(B, 1), Taken(A, 0)))]


async def test_the_result_is_edited_kept_and_there_again() -> None:
    project = FakeComparisons()
    async with compared(project) as (pilot, screen):
        await pressed(pilot, "space", "v", "X")
        assert screen.is_typing and "v" not in screen.area.text, "letters are letters"
        await pressed(pilot, "a", "escape")
        assert not screen.is_typing and project.decided == []
        assert project.kept.text is not None and project.kept.text.startswith("Xa")
    async with compared(project) as (pilot, screen):
        assert screen.area.text.startswith("Xa")
        await pressed(pilot, "a")
        assert isinstance(pilot.app.screen, ConfirmScreen), "a text of parts is not passed over unasked"
        await pressed(pilot, "n", "u")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        await pressed(pilot, "y")
        assert screen.area.text == ""
        await pressed(pilot, "f2")
        assert project.decided == []


async def test_facts_against_a_candidate_are_shown_and_hide_nothing() -> None:
    async with compared(FakeComparisons()) as (pilot, _screen):
        await pressed(pilot, "3")
        assert "1 fact against it" in words(pilot)
        await pressed(pilot, "w")
        assert isinstance(pilot.app.screen, SourceScreen) and "没有找到" in words(pilot)


async def test_what_costs_money_is_asked_with_its_price() -> None:
    project = FakeComparisons()
    async with compared(project) as (pilot, _screen):
        await pressed(pilot, "C")
        assert isinstance(pilot.app.screen, ChooseScreen)
        await pressed(pilot, "enter")
        assert project.requests == ["sift by rule"]
        await pressed(pilot, "C", "j", "enter")
        assert "2 calls" in words(pilot)
        await pressed(pilot, "n")
        assert project.requests == ["sift by rule", "quote sift"]
        await pressed(pilot, "m")
        assert isinstance(pilot.app.screen, PromptLine)
        await pressed(pilot, "backspace", "3", "enter", "y")
        assert project.requests[2:] == ["quote 3", "more 3"]


async def test_a_node_with_one_text_can_be_asked_for_others() -> None:
    project = FakeComparisons(replace(SHOWN, candidates=SHOWN.candidates[:1]))
    project.target, project.grows_to = ComparisonTarget(workflow="chapter", node=NodeId("draft")), SHOWN
    async with begun(project) as (pilot, screen):
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pressed(pilot, "enter", "y")
        assert project.requests == ["quote 1", "more 1"]
        assert screen.comparison is SHOWN
    project = FakeComparisons(replace(SHOWN, candidates=SHOWN.candidates[:1]))
    async with begun(project) as (pilot, screen):
        await until(pilot, lambda: screen not in pilot.app.screen_stack)
        assert project.requests == [], "a question has its candidates"


async def test_changes_at_the_seams_are_accepted_one_by_one() -> None:
    first = TEXTS[0].split("\n\n")[0]
    project = FakeComparisons(draft=ChoiceDraft((), (Taken(A, 0), Taken(B, 1))))
    project.after_asking = (
        SeamHunk(0, len(first), first, "沈青等船。"),
        SeamHunk(len(first) + 2, len(first) + 4, "阿远", "他"),
    )
    async with compared(project) as (pilot, screen):
        before = screen.area.text
        await pressed(pilot, "r")
        assert project.requests == ["quote seams"] and isinstance(pilot.app.screen, ConfirmScreen)
        await pressed(pilot, "y")
        assert isinstance(pilot.app.screen, SeamChangesScreen)
        await pressed(pilot, "f2")
        assert screen.area.text == before, "nothing is accepted by itself"
        await pressed(pilot, "r", "j", "space", "f2")
        assert project.requests == ["quote seams", "seams"], "the answer is paid for once"
        assert screen.area.text == before.replace("阿远", "他", 1)


async def test_hostile_candidates_are_words() -> None:
    project = FakeComparisons(comparison((HOSTILE, HOSTILE + " 2"), ()))
    async with compared(project, (140, 24)) as (pilot, _screen):
        assert "[b]bold[/b]" in words(pilot)
        assert "\x1b" not in words(pilot) and "\u202e" not in words(pilot)


async def test_who_won_is_a_page() -> None:
    async with compared(FakeComparisons()) as (pilot, _screen):
        await pressed(pilot, "o")
        assert isinstance(pilot.app.screen, SourceScreen)
        assert "won 2 times" in words(pilot) and "model-1" in words(pilot)


def test_what_is_taken_into_an_edited_result_goes_to_its_beat() -> None:
    draft = with_taken(SHOWN, ChoiceDraft(), (Taken(A, 0), Taken(A, 2)))
    draft = edited(SHOWN, draft, result_of(SHOWN, draft).replace("雾里，", "大雾里，"))
    draft = with_taken(SHOWN, draft, (Taken(B, 1),))
    rows = result_of(SHOWN, draft).split("\n\n")
    assert rows == ["大雾里，沈青站在码头边等船。", TEXTS[1].split("\n\n")[1], TEXTS[0].split("\n\n")[2]]
    draft = with_taken(SHOWN, draft, (Taken(A, 2),))
    assert result_of(SHOWN, draft).split("\n\n") == rows[:2]


def test_a_choice_of_candidates_that_are_gone_is_no_choice() -> None:
    left = known(replace(SHOWN, candidates=SHOWN.candidates[1:]), ChoiceDraft((A, B), (Taken(A, 0), Taken(B, 0))))
    assert left == ChoiceDraft((B,), (Taken(B, 0),))
