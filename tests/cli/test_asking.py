"""`ask`: the answer with its places, a conversation that goes on, and nothing changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint
from tests.project.talking import LEDGER, book


@pytest.fixture
async def novel(folder: Path) -> Path:
    return await book(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "novel"


def test_an_answer_is_printed_with_its_places(call: Call, novel: Path):
    ended = call("ask", novel, "Who opened the ledger?")
    assert ended.code == 0
    words, *places = ended.out.splitlines()
    assert "ledger" in words and "[1]" in words and "[[" not in ended.out
    assert places[0].startswith("[1]\t2\t")


def test_json_tells_statements_places_and_tools_and_a_conversation_goes_on(call: Call, novel: Path):
    told = json.loads(call("ask", novel, "Who opened the ledger?", "--json").out)
    assert (told["stop"], told["error"], told["turn"]) == ("end_turn", "", 1)
    place = told["statements"][0]["places"][0]
    assert place["position"] == 2 and place["quotation"].startswith(LEDGER[place["at"] : place["until"]])
    assert {each["name"] for each in told["tools"]} == {"search"}
    said = [each["text"] for each in told["statements"]]
    assert len(set(said)) == len(said)
    words = ("ask", novel, "And the ferry?", "--conversation", told["conversation"], "--chapter", 1, "--json")
    again = json.loads(call(*words).out)
    assert (again["conversation"], again["turn"]) == (told["conversation"], 2)


def test_a_question_that_asks_for_a_change_changes_nothing(call: Call, novel: Path):
    before = call("proposals", novel, "--state", "all", "--json").out
    assert call("ask", novel, "Replace “opened the ledger” by “shut the book”.").code == 0
    assert call("proposals", novel, "--state", "all", "--json").out == before


def test_statements_without_a_place_are_counted(call: Call, project: Make, server: FaultServer):
    folder = project(both(endpoint(server)))
    server.push({"content": "Newman brought a book. It was red."})
    ended = call("ask", folder, "What did Newman bring?")
    assert "2 statements name no place in the book." in ended.err and "place in the book" not in ended.out
