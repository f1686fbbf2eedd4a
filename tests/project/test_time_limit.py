"""An answer that is stopped at its time limit, through the whole project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.answer_schema import StructuredAnswer
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.protocol.runs import NodeNeedsHuman, ResumeRun
from flowcabal_tui.settings.project_file import load_project
from tests.faultserver import PROSE, FaultServer
from tests.project.case import both, calls, change, endpoint, leave, make_one, opened
from tests.waiting import PATIENCE

TIMED: dict[str, Any] = {"answer_timeout": 0.6, "idle_timeout": PATIENCE, "price_in": 1, "price_out": 1}
STALL = {"stall_after": 12}


class Names(StructuredAnswer):
    """A list of names."""

    names: list[str]


async def test_a_run_asks_about_a_text_that_was_stopped_and_books_what_arrived(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server, **TIMED)))
    async with opened(folder) as case:
        server.push(STALL)
        run = await case.start("quick-draft", 1)
        assert await case.follow(run, leave) == "waiting"
        asked = case.told(NodeNeedsHuman)[-1].question
        assert "answer_timeout" in asked.reason
        (attempt,) = (await case.view(run, "draft")).attempts
        assert attempt.finish == "time" and attempt.text and PROSE.startswith(attempt.text)
        spent = await case.project.runs.totals()
        assert spent.cost and spent.output_tokens


async def test_a_stopped_text_survives_the_program_and_is_no_result_for_the_next_run(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server, **TIMED)))
    async with opened(folder) as case:
        server.push(STALL)
        run = await case.start("quick-draft", 1)
        assert await case.follow(run, leave) == "waiting"
        (stopped,) = (await case.view(run, "draft")).attempts
    async with opened(folder) as case:
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run, leave) == "waiting"
        assert (await case.view(run, "draft")).attempts[0].text == stopped.text
        assert calls(server) == 1
        other = await case.run("quick-draft", 1, leave)
        assert (await case.view(other, "draft")).attempts[0].text == PROSE


async def test_a_stopped_text_that_is_tried_again_is_called_stopped_and_not_too_long(
    folder: Path, server: FaultServer
) -> None:
    await make_one(folder, both(endpoint(server, **TIMED)))
    async with opened(folder) as case:
        server.push(STALL)
        answers = iter([Decision("retry"), Decision("approve")])
        await case.run("quick-draft", 1, lambda _question: next(answers))
    sent = json.dumps(server.log[-1]["body"], ensure_ascii=False)
    assert "没有写完就停止了" in sent and "篇幅上限" not in sent


@pytest.mark.parametrize("stall", [100, 2], ids=["items", "nothing"])
async def test_a_structured_answer_that_was_stopped_is_booked_once(
    folder: Path, server: FaultServer, stall: int
) -> None:
    await make_one(folder, both(endpoint(server, structured="native", **TIMED)))
    text = json.dumps({"names": [f"Name {number}" for number in range(40)]})
    async with opened(folder) as case:
        server.push({"stall_after": stall, "content": text, "times": -1})
        model = case.project._parts.base.models.booked("agent")
        request = ModelRequest((Message("user", "Who is in it?"),))
        asked = case.project._engine.call(model.structured(request, Names))
        if stall == 2:
            with pytest.raises(Exception, match="time limit"):
                await asked
        else:
            value, answer = await asked
            assert value.names and value.unread == ("names",) and not answer.whole
        spent = await case.project.runs.totals()
        assert (spent.calls, calls(server)) == (1, 1)
        assert spent.cost and spent.output_tokens


async def test_the_limit_is_a_setting_of_the_project(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server)))
    change(folder, "models", user=endpoint(server, answer_timeout=90))
    chosen = load_project(folder).models.of("user")
    assert chosen and chosen.pace.answer_timeout == 90
