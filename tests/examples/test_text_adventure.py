"""The text adventure, played by a script: to its good end, to both bad ones, and across a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.examples import example
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.runner.run import Run
from tests.nodes.flows import bench
from tests.runner.fakes import Bench, until

WIN = (1, 1, 2, 3, 2, 1, 2, 1, 1)
"""Hut, key, matches, shore, tower, oil, up, pour, light: which choice each time, from 1."""
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


async def began(made: Bench, language: str, state: DualState, name: str = "r1") -> tuple[Run, asyncio.Task[str]]:
    workflow = example("text_adventure", language)
    require_valid(workflow)
    run = await made.run(workflow, name, scope={"state": state})
    return run, asyncio.create_task(run.execute())


async def play(
    made: Bench, run: Run, task: asyncio.Task[str], steps: Sequence[int | str], before: int = 0
) -> list[str]:
    """Makes these choices (a text: an answer of one's own); returns what was asked. `before` were asked earlier."""
    told = []
    for number, step in enumerate(steps, before):
        await until(lambda wanted=number: task.done() or len(made.of(NodeNeedsHuman)) > wanted)
        assert not task.done(), "the game ended early"
        question = made.of(NodeNeedsHuman)[number].question
        told.append(question.reason)
        decision = Decision("edit", text=step) if isinstance(step, str) else Decision("choose", attempt=step)
        event = RunEvent(question.run, "answered", question.node, 0, {"question": question.id})
        assert await made.journal.answer(question.id, decision, event)
        assert run.answer(question.id, decision)
    return told


def ending(run: Run) -> str:
    return str(run.outputs["story"].value["ending"])


@LANGUAGES
async def test_the_text_adventure_can_be_won(language):
    made, state = bench(), DualState()
    run, task = await began(made, language, state)
    told = await play(made, run, task, WIN)
    assert await task == "done" and ending(run) == "lit" and run.outputs["story"].text
    assert len(set(told)) == len(told) and len(state.view()["tower_bag"]) == 3
    assert state.view()["tower_turn"] == len(WIN) and made.model.calls == []


@LANGUAGES
async def test_a_wrong_step_loses_the_text_adventure(language):
    made = bench()
    run, task = await began(made, language, DualState())
    await play(made, run, task, (3,))
    assert await task == "done" and ending(run) == "drowned"


@LANGUAGES
async def test_whoever_dawdles_loses_it_too(language):
    made = bench()
    run, task = await began(made, language, DualState())
    await play(made, run, task, (1, 3) * 7)
    assert await task == "done" and ending(run) == "late"


@LANGUAGES
async def test_a_door_opens_only_for_the_key_and_nothing_is_taken_twice(language):
    made, state = bench(), DualState()
    run, task = await began(made, language, state)
    first, refused, *_rest = await play(made, run, task, (2, 1, 1, 1))
    await until(lambda: len(made.of(NodeNeedsHuman)) > 4)
    assert first.splitlines()[-1] == refused.splitlines()[-1], "still on the shore"
    assert state.view()["tower_place"] == "hut" and len(state.view()["tower_bag"]) == 1
    run.cancel()
    await task


async def test_an_answer_that_is_no_choice_changes_nothing_but_takes_a_turn():
    made, state = bench(), DualState()
    run, task = await began(made, "zh", state)
    await play(made, run, task, ("飞起来", 1))
    await until(lambda: len(made.of(NodeNeedsHuman)) > 2)
    assert state.view()["tower_place"] == "hut" and state.view()["tower_turn"] == 2
    run.cancel()
    await task


@pytest.mark.parametrize("played", range(len(WIN)))
async def test_a_game_that_was_broken_off_goes_on_where_it_was(played):
    made = bench()
    run, task = await began(made, "zh", DualState())
    await play(made, run, task, WIN[:played])
    await until(lambda: len(made.of(NodeNeedsHuman)) > played)
    run.close()
    assert await task == "interrupted"
    run, task = await began(made, "zh", DualState())
    asked = len(made.of(NodeNeedsHuman))
    await play(made, run, task, WIN[played:], before=asked)
    assert await task == "done" and ending(run) == "lit"


async def test_a_new_game_begins_anew():
    made, state = bench(), DualState()
    run, task = await began(made, "zh", state)
    await play(made, run, task, (3,))
    await task
    run, task = await began(made, "zh", state, "r2")
    await play(made, run, task, WIN, before=1)
    assert await task == "done" and ending(run) == "lit"
