"""The question about the scene in a project: off unless it is allowed, quoted, booked to its run, kept over runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.context import Receipt, Scene
from flowcabal_tui.domain.ids import NodeId, RunId
from flowcabal_tui.domain.run import Quote, QuoteLine, RunRequest
from flowcabal_tui.protocol.book import AddChapter, SetScene, WriteMeta
from flowcabal_tui.protocol.runs import ResumeRun
from tests.faultserver import FaultServer
from tests.project.case import Case, both, change, endpoint, make, make_demo, opened

OUTLINE = "## Chapter 1 The Ferry\n- Ines Marlow waits at Saltreach.\n- Tobias Crane confesses at dawn.\n"
SAID = {"who": ["Ines Marlow", "a stranger"], "where": "the ferry", "when": "", "kind": "turn"}
NOTE = "The model's answer about the scene could not be read: the scene was read by rule."
SHOWN_STATES: dict[str, Any] = {"targets": (NodeId("draft"),), "inputs": (("instruction", "Keep it cold."),)}


async def prepared(folder: Path, server: FaultServer, provider: str = "openai", **model: Any) -> Path:
    await make(folder, both(endpoint(server, provider, **model)))
    change(folder, "agents", scene=True, monitor=False)
    async with opened(folder) as case:
        await case.project.carry_out(AddChapter("The Ferry"))
        await case.project.carry_out(WriteMeta("outline", OUTLINE))
    return folder


def questions(server: FaultServer) -> list[dict[str, Any]]:
    return [entry for entry in server.log if "<task>context.scene</task>" in json.dumps(entry["body"])]


def answer(text: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "give_answer", "arguments": text}]}


async def quoted(case: Case) -> Quote:
    return await case.project.runs.quote(RunRequest("chapter", await case.chapter(1), **SHOWN_STATES))


def line(quote: Quote) -> QuoteLine | None:
    return next((each for each in quote.lines if each.kind == "scene"), None)


async def receipt(case: Case, run: RunId, node: str = "draft") -> Receipt:
    found = (await case.view(run, node)).attempts[-1].receipt
    assert found is not None
    return found


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_it_is_asked_once_for_all_nodes_and_runs_and_its_answer_is_in_every_receipt(
    folder: Path, server: FaultServer, provider: str
) -> None:
    await prepared(folder, server, provider, structured="tool")
    server.push({"tool_calls": [{"name": "give_answer", "arguments": SAID}]})
    async with opened(folder) as case:
        run = await case.run("chapter", 1, **SHOWN_STATES)
        assert len(questions(server)) == 1
        for node in ("plan", "draft"):
            intent = (await receipt(case, run, node)).intent
            assert intent.entities[-1] == "a stranger" and (intent.where, intent.scene) == ("the ferry", "turn")
            assert dict(intent.by) == {"who": "model", "where": "model", "kind": "model"}
        again = await case.run("chapter", 1, again=(NodeId("draft"),), **SHOWN_STATES)
        assert (await receipt(case, again)).intent.where == "the ferry"
    async with opened(folder) as case:
        await case.run("chapter", 1, again=(NodeId("draft"),), **SHOWN_STATES)
    assert len(questions(server)) == 1


async def test_a_quote_counts_it_until_it_was_asked_and_its_run_pays_for_it(folder: Path, server: FaultServer) -> None:
    await prepared(folder, server, retries=1)
    async with opened(folder) as case:
        quote = await quoted(case)
        scene = line(quote)
        assert scene is not None and (scene.likely.calls, scene.most.calls) == (1, 3 * 2)
        assert 0 < scene.likely.input_tokens < scene.most.input_tokens
        run = await case.run("chapter", 1, **SHOWN_STATES)
        paid = await case.project._engine.call(case.project._parts.store.usage.totals(run))
        assert paid.calls == 3 == quote.likely.calls, "the question, the plan and the draft"
        assert quote.most is not None and paid.input_tokens <= quote.most.input_tokens
        assert line(await quoted(case)) is None


async def test_it_is_off_unless_the_project_allows_it(folder: Path, server: FaultServer) -> None:
    await prepared(folder, server)
    change(folder, "agents", scene=False)
    async with opened(folder) as case:
        assert line(await quoted(case)) is None
        run = await case.run("chapter", 1, **SHOWN_STATES)
        assert not questions(server) and (await receipt(case, run)).intent.by == ()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_an_unreadable_answer_leaves_the_rules_says_so_and_is_kept(
    folder: Path, server: FaultServer, provider: str
) -> None:
    await prepared(folder, server, provider, structured="tool")
    server.push(*[answer('{"people": "nobody"}') if provider == "openai" else {"content": "I cannot say."}] * 3)
    async with opened(folder) as case:
        run = await case.run("chapter", 1, **SHOWN_STATES)
        asked = len(questions(server))
        assert asked == 3, "the answer and two repairs"
        for node in ("plan", "draft"):
            found = await receipt(case, run, node)
            assert NOTE in found.notes and found.intent.by == ()
            assert (found.intent.when, found.intent.scene) == ("at dawn", "turn")
        await case.run("chapter", 1, again=(NodeId("draft"),), **SHOWN_STATES)
        assert len(questions(server)) == asked


async def test_a_resumed_run_does_not_ask_again(folder: Path, server: FaultServer) -> None:
    await prepared(folder, server)
    server.push({"tool_calls": [{"name": "give_answer", "arguments": SAID}]}, {}, {"status": 500, "times": -1})
    async with opened(folder) as case:
        run = await case.start("chapter", 1, **SHOWN_STATES)
        assert await case.follow(run) == "failed"
    server.clear()
    async with opened(folder) as case:
        await case.project.carry_out(ResumeRun(run))
        assert await case.follow(run) == "done"
        assert (await receipt(case, run)).intent.where == "the ferry"
    assert len(questions(server)) == 1


async def test_what_the_writer_set_is_in_the_receipt_beside_what_the_model_read(
    folder: Path, server: FaultServer
) -> None:
    await prepared(folder, server)
    server.push({"tool_calls": [{"name": "give_answer", "arguments": SAID}]})
    async with opened(folder) as case:
        await case.project.carry_out(SetScene(await case.chapter(1), Scene(where="the quay")))
        intent = (await receipt(case, await case.run("chapter", 1, **SHOWN_STATES))).intent
        assert (intent.where, intent.origin("where"), intent.origin("kind")) == ("the quay", "writer", "model")
        await case.project.carry_out(SetScene(await case.chapter(1), Scene(), forget=("where",)))
        run = await case.run("chapter", 1, again=(NodeId("draft"),), **SHOWN_STATES)
        assert (await receipt(case, run)).intent.where == "the ferry"
        assert len(questions(server)) == 1


async def test_the_offline_model_answers_from_the_names_of_the_outline(folder: Path) -> None:
    await make_demo(folder, "zh")
    change(folder, "agents", scene=True)
    async with opened(folder) as case:
        await case.settled()
        chapters = await case.project.book.chapters()
        run = await case.run("chapter", len(chapters), targets=(NodeId("plan"),))
        found = await receipt(case, run, "plan")
        assert found.intent.origin("who") == "model", found.notes
        assert found.intent.origin("kind") == "rule"
