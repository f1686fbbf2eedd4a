"""Questions that ask for a choice: short answers, gates, and a story that is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from flowcabal_tui.domain.ids import NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import Choice, Decision, Question
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import (
    NodeCompleted,
    NodeNeedsHuman,
    QuestionAnswered,
    RunStateChanged,
    WorkflowCompleted,
)
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.decisions.play import PlayScreen, story_of
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.trouble import Trouble
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

ASK = Question(
    QuestionId("q1"), books.RUN, NodeId("rounds/0/ask"), "choice", "A door.\n\nIt is locked.", books.NOW,
    choices=(Choice("Knock"), Choice("Go home")), options=(),
)  # fmt: skip
TEXTS = ("雨下了一夜。\n\n她数到十二。", "灯灭了。\n\n她数到三。", "没有人来。")
CANDIDATES = replace(
    ASK, id=QuestionId("q2"), reason="Pick one.",
    choices=tuple(Choice(f"voice {n}", text, NodeId(f"evolve/1/candidate-{n}")) for n, text in enumerate(TEXTS, 1)),
)  # fmt: skip
GATE = replace(ASK, id=QuestionId("q3"), kind="gate", reason="May mail.send be carried out?", choices=(),
               proposal='{\n  "to": "[/] editor"\n}')  # fmt: skip


class Clock:
    """Seconds that stand still until told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def decisions(*questions: Question, clock: Clock | None = None) -> tuple[Host, DecisionsScreen, Clock]:
    clock = clock or Clock()

    async def load(question: Question):
        raise AssertionError("a choice has no attempts to load")

    return Host(), DecisionsScreen(questions, load, now=clock), clock


async def opened(pilot, screen: DecisionsScreen | PlayScreen, clock: Clock) -> None:
    await pilot.app.push_screen(screen)
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    clock.now += 1


async def test_a_digit_takes_a_short_answer_and_what_is_told_stands_above() -> None:
    app, screen, clock = decisions(ASK)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        rows = [row.strip() for row in shown(app)]
        assert "It is locked." in rows
        assert "2  Go home" in rows
        await pilot.press("2")
        assert app.posted(DecisionsScreen)[-1] == DecisionsScreen.Decided(ASK.id, Decision("choose", 2))


async def test_a_digit_in_the_first_half_second_decides_nothing() -> None:
    app, screen, clock = decisions(ASK)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        clock.now = 0.4
        await pilot.press("1")
        assert app.posted(DecisionsScreen) == []


async def test_candidates_are_compared_on_a_screen_of_their_own() -> None:
    app, screen, clock = decisions(CANDIDATES)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        assert app.posted(DecisionsScreen) == [DecisionsScreen.CompareRequested(CANDIDATES.id)]
        words = "\n".join(shown(app))
        assert "3 candidates wait" in words and "voice" not in words
        await pilot.press("a")
        assert app.posted(DecisionsScreen) == [DecisionsScreen.CompareRequested(CANDIDATES.id)] * 2
        above = ChooseScreen("", ())
        await app.push_screen(above)
        screen.show_questions(())
        await pilot.pause()
        assert app.screen is above
        app.pop_screen()
        await pilot.pause()
        assert screen not in app.screen_stack, "the last question was answered on a screen above"


async def test_candidates_that_all_say_the_same_are_short_answers() -> None:
    same = tuple(replace(choice, text=TEXTS[0]) for choice in CANDIDATES.choices)
    app, screen, clock = decisions(replace(CANDIDATES, choices=same))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        await pilot.press("2")
        assert app.posted(DecisionsScreen) == [DecisionsScreen.Decided(CANDIDATES.id, Decision("choose", 2))]


async def test_a_gate_shows_exactly_what_would_be_done() -> None:
    app, screen, clock = decisions(GATE)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        words = "\n".join(shown(app))
        assert "May mail.send be carried out?" in words
        assert '"to": "[/] editor"' in words
        await pilot.press("x")
        assert app.posted(DecisionsScreen)[-1] == DecisionsScreen.Decided(GATE.id, Decision("reject"))


async def test_the_next_question_is_reached_from_a_list() -> None:
    app, screen, clock = decisions(ASK, CANDIDATES)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        await pilot.press("J")
        await pilot.pause()
        assert screen.question == CANDIDATES
        await pilot.press("K")
        await pilot.pause()
        assert screen.question == ASK


async def test_hostile_answers_are_words() -> None:
    app, screen, clock = decisions(replace(ASK, choices=(Choice(HOSTILE),), reason=HOSTILE))
    async with app.run_test(size=(140, 24)) as pilot:
        await opened(pilot, screen, clock)
        words = "\n".join(shown(app))
        assert "[b]bold[/b]" in words
        assert "\x1b" not in words and "\u202e" not in words


# The story


def events(*more: Event) -> tuple[Event, ...]:
    asked = NodeNeedsHuman(ASK)
    return (NodeCompleted(books.RUN, NodeId("intro"), 1, "Night.", False), asked, *more)


def test_a_story_is_what_was_told_asked_answered_and_told_at_the_end() -> None:
    told = events(
        QuestionAnswered(ASK.id, Decision("choose", 1)),
        NodeCompleted(books.RUN, ASK.node, 1, "Knock", False),
        NodeCompleted(books.RUN, NodeId("count"), 0, '{"n": 1}', False),
        WorkflowCompleted(books.RUN, ((NodeId("end"), "Nobody opens."),)),
    )
    assert story_of(told) == "Night.\n\nA door.\n\nIt is locked.\n\n> Knock\n\nNobody opens."


def play(told: list[Event], waiting: Sequence[Question] = (ASK,)) -> tuple[Host, PlayScreen, Clock]:
    clock = Clock()

    async def load() -> Sequence[Event]:
        return tuple(told)

    return Host(), PlayScreen("The Lamp", books.RUN, load, waiting, now=clock), clock


async def test_a_failure_to_read_the_story_is_reported() -> None:
    async def load() -> Sequence[Event]:
        raise ValueError("not readable")

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, PlayScreen("The Lamp", books.RUN, load, ()), Clock())
        assert [str(item.error) for item in app.seen if isinstance(item, Trouble)] == ["not readable"]


async def test_a_story_is_played_on_one_page() -> None:
    told = list(events())
    app, screen, clock = play(told)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        assert "It is locked." in "\n".join(shown(app))
        await pilot.press("1")
        await pilot.pause()
        assert app.posted(DecisionsScreen) == [DecisionsScreen.Decided(ASK.id, Decision("choose", 1))]
        assert "> Knock" in "\n".join(shown(app))
        following = replace(ASK, id=QuestionId("q9"), kind="input", reason="Who are you?", choices=())
        told += [QuestionAnswered(ASK.id, Decision("choose", 1)), NodeNeedsHuman(following)]
        await screen.read_on([following])
        await pilot.pause()
        clock.now += 1
        await pilot.press(*"me", "ctrl+s")
        assert app.posted(DecisionsScreen)[-1] == DecisionsScreen.Decided(following.id, Decision("edit", text="me"))


@pytest.mark.parametrize("key", ["escape", "f8"])
async def test_words_that_were_not_handed_in_are_not_left_unasked(key: str) -> None:
    wanted = replace(ASK, kind="input", choices=())
    app, screen, clock = play(list(events()), (wanted,))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        await pilot.press(*"me", key)
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press("n")
        assert app.screen is screen
        await pilot.press("backspace", "backspace", key)
        assert app.screen is not screen


async def test_the_end_of_a_story_is_said_and_another_run_is_not_its_business() -> None:
    told = [*events(QuestionAnswered(ASK.id, Decision("choose", 1))), RunStateChanged(books.RUN, "done")]
    app, screen, clock = play(told, (replace(ASK, id=QuestionId("other"), run=RunId("run-9")),))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, screen, clock)
        words = "\n".join(shown(app))
        assert "has ended" in words
        assert "Go home" not in words


async def test_what_cannot_be_answered_on_the_page_leads_to_the_queue() -> None:
    app, screen, clock = play(list(events()), (GATE,))
    answers: list[bool | None] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(screen, answers.append)
        await pilot.pause()
        await app.workers.wait_for_complete()
        assert "F8" in "\n".join(shown(app))
        await pilot.press("f8")
        assert answers == [True]
        assert clock.now == 0
