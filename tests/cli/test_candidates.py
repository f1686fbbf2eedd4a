"""`candidates`: compared and decided in scripts, without a word on who wrote what until then."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint, leave, opened

TEXTS = ("Rain fell.\n\nHe ran.", "Snow fell.\n\nShe sang.", "Fog.\n\nNobody came.")


@pytest.fixture
def book(project: Make, server: FaultServer) -> Path:
    """A run waits for a choice among three texts."""
    server.push(*({"content": text} for text in TEXTS))
    folder = project(both(endpoint(server, price_in=Decimal(1))))
    write = {"prompt": [{"kind": "text", "text": "Open."}], "context": False}
    node = Node(id=NodeId("open"), kind="evolution", params={"write": write, "candidates": 3})

    async def ask() -> None:
        async with opened(folder) as case:
            await case.project.carry_out(SaveWorkflow(Workflow(id="openings", nodes=(node,))))
            assert await case.follow(await case.start("openings"), leave) == "waiting"

    asyncio.run(ask())
    return folder


def shown(call: Call, book: Path, *words: object) -> dict[str, Any]:
    ended = call("candidates", book, *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_candidates_are_listed_and_shown_blind_with_letters(call: Call, book: Path) -> None:
    (row,) = json.loads(call("candidates", book, "--json").out)
    assert (row["candidates"], row["state"], row["target"]["workflow"]) == (3, "open", "openings")
    told = shown(call, book, row["id"])
    assert [each["letter"] for each in told["candidates"]] == ["A", "B", "C"]
    assert {each["text"] for each in told["candidates"]} == set(TEXTS)
    assert [each["maker"] for each in told["candidates"]] == [None] * 3
    assert "mock" not in call("candidates", book, row["id"]).out
    assert shown(call, book, row["target"]["question"])["candidates"] == told["candidates"]


def test_a_choice_ends_the_run_says_who_won_and_is_taken_back(call: Call, book: Path) -> None:
    (row,) = json.loads(call("candidates", book, "--json").out)
    decided = shown(call, book, row["id"], "--choose", "B")
    assert decided["verdict"]["kind"] == "chosen"
    assert decided["candidates"][1]["maker"]["model"] == "mock"
    (outcome,) = json.loads(call("candidates", book, "--outcomes", "--json").out)
    assert (outcome["won"], outcome["tied"], outcome["lost"]) == (1, 0, 2)
    assert "won 1 time" in call("candidates", book, "--outcomes").out
    assert shown(call, book, row["id"], "--undo")["verdict"] is None
    assert call("candidates", book, "--outcomes").code == 1


def test_paragraphs_are_put_together_by_letter_and_number(call: Call, book: Path) -> None:
    (row,) = json.loads(call("candidates", book, "--json").out)
    told = shown(call, book, row["id"], "--take", "A1", "C2")
    assert told["verdict"]["kind"] == "composed"
    for wrong in ("D", "A9", "x", "A0"):
        ended = call("candidates", book, row["id"], "--take", wrong)
        assert ended.code == 2 and "no candidate or paragraph" in ended.err


@pytest.mark.parametrize(
    "words", [("--model",), ("--seams",), ("--choose", "A", "--accept", "1"), ("--chapter", "1"), ("--node", "open")]
)
def test_words_that_mean_nothing_alone_are_refused(call: Call, book: Path, words: tuple[str, ...]) -> None:
    assert call("candidates", book, *words).code == 2


def test_what_costs_money_is_agreed_to_first(call: Call, book: Path, server: FaultServer) -> None:
    (row,) = json.loads(call("candidates", book, "--json").out)
    before = len(server.log)
    ended = call("candidates", book, row["id"], "--sift", "--model")
    assert ended.code == 1 and "no one to confirm" in ended.err
    assert len(server.log) == before
    told = shown(call, book, row["id"], "--sift")
    assert [each["checked"] for each in told["candidates"]] == [["rules"]] * 3
