"""Steps, overrides and frozen nodes of `run`; `runs`, `replay` and `simulate`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.cli.answers import Answers, answer_to, parse_answer
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId, QuestionId, RunId
from flowcabal_tui.domain.run import Choice, Decision, Question
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint, opened
from tests.runner.fakes import NOON, prompt

PLAIN = {"context": False, "angles": []}
CHAIN = Workflow(id="chain", nodes=(prompt("a.b", "Begin.", **PLAIN), prompt("c", "Go on: ", "@a.b", **PLAIN)))
GAME: dict[str, Any] = {
    "id": "game",
    "nodes": [
        {"id": "ask", "kind": "human", "params": {"question": "Where to?", "choices": ["north", "south"]}},
        {"id": "go", "kind": "action", "params": {"action": "move", "params": {"to": "{{result_of.ask.text}}"}}},
        {"id": "after", "kind": "prompt", "params": {"context": False, "prompt": [{"kind": "virtual", "node": "go"}]}},
    ],
}
MOVE = {"action_id": "move", "description": "moves", "arg_schema": {"type": "object"}, "requires_approval": True}


@pytest.fixture
def folder(project: Make, server: FaultServer) -> Path:
    """A project whose model is on the fault server, with the workflow a.b -> c."""
    made = project(both(endpoint(server, price_in=Decimal(1))))

    async def save() -> None:
        async with opened(made) as case:
            await case.project.carry_out(SaveWorkflow(CHAIN))

    asyncio.run(save())
    return made


def test_a_run_in_steps_goes_on_with_an_empty_line(folder: Path, server: FaultServer, call: Call) -> None:
    ran = call("run", folder, "chain", "--step", "--plain", lines="\n")
    assert (ran.code, calls(server)) == (0, 2)
    assert "next" in ran.out


def test_a_run_in_steps_without_a_word_stays_paused_and_can_be_resumed(
    folder: Path, server: FaultServer, call: Call
) -> None:
    ran = call("run", folder, "chain", "--step", "--json")
    assert (ran.code, calls(server)) == (3, 1)
    assert [state["state"] for state in ran.told("run:state")] == ["paused"]
    gone_on = call("run", folder, "--resume", ran.told("run:started")[0]["run"], "--json")
    assert (gone_on.code, calls(server)) == (0, 2), "the next level has waited long enough"


def test_a_parameter_is_set_for_one_run(folder: Path, server: FaultServer, call: Call) -> None:
    assert call("run", folder, "chain", "--set", "a.b.temperature=0.25", "--set", "c.model=other", "--plain").code == 0
    assert [entry["body"].get("temperature") for entry in server.log] == [0.25, None]
    assert [entry["body"]["model"] for entry in server.log] == ["mock", "other"]
    for wrong in ("c.model", "x.model=y", "a.b=1"):
        assert call("run", folder, "chain", "--set", wrong).code == 2
    assert call("run", folder, "chain", "--set", "c.modle=y").code == 2


def test_a_frozen_node_is_not_run_again(folder: Path, server: FaultServer, call: Call) -> None:
    assert call("run", folder, "chain", "--freeze", "c", "--plain").code == 1, "it has no output yet"
    call("run", folder, "chain", "--plain")
    ran = call("run", folder, "chain", "--freeze", "c", "--again", "a.b", "--json")
    assert (ran.code, calls(server)) == (0, 3)
    assert ("c", "frozen") in {(event["node"], event["state"]) for event in ran.told("node:state")}
    (quote,) = call("run", folder, "chain", "--quote", "--json").messages
    assert (quote["frozen"], quote["would_run"], quote["likely"]["cost"]) == (["c"], [], "0")


def test_a_quote_tells_what_is_stale_and_that_a_price_is_unknown(folder: Path, call: Call) -> None:
    call("run", folder, "chain", "--plain")
    call("run", folder, "chain", "--again", "a.b", "--target", "a.b", "--plain")
    (quote,) = call("run", folder, "chain", "--quote", "--json").messages
    assert quote["likely"]["cost"] is None or quote["would_run"] == []
    said = call("run", folder, "chain", "--set", "a.b.temperature=1", "--quote").out
    assert "would run: a.b, c" in said and "No price is set for mock" in said and "At most: " in said


def test_the_history_tells_nodes_tokens_and_money(folder: Path, call: Call) -> None:
    run = call("run", folder, "chain", "--json").told("run:started")[0]["run"]
    (line,) = call("runs", folder).out.splitlines()
    assert run in line and "2 nodes" in line and "cost unknown" in line
    told = json.loads(call("runs", folder, run, "--json").out)
    assert [node["node"] for node in told["nodes"]] == ["a.b", "c"]
    assert told["totals"]["calls"] == 2
    assert "mock" in call("runs", folder, run).out
    assert call("runs", folder, "nothing").code == 2


def test_a_replay_gives_the_recorded_text_and_calls_nobody(folder: Path, server: FaultServer, call: Call) -> None:
    ran = call("run", folder, "chain", "--json")
    run = ran.told("run:started")[0]["run"]
    again = call("replay", folder, run, "--json")
    assert (again.code, calls(server)) == (0, 2)
    outputs = [(event["node"], event["output"]) for event in ran.told("node:completed")]
    assert [(event["node"], event["output"]) for event in again.told("node:completed")] == outputs
    assert again.messages[-1] == {"type": "run:state", "run": run, "state": "done"}
    assert outputs[0][1] in call("replay", folder, run).out


def test_a_workflow_is_simulated_without_a_project(tmp_path: Path, call: Call) -> None:
    document, registry, data = tmp_path / "game.json", tmp_path / "actions.json", tmp_path / "data.json"
    document.write_text(json.dumps(GAME))
    registry.write_text(json.dumps([MOVE]))
    data.write_text(json.dumps({"move": {"result": {"text": "You went {{to}}."}}}))
    ran = call("simulate", document, "--actions", registry, "--simulation", data, "--json", "--decide", "ask=choose:2")
    assert ran.code == 0, ran.out + ran.err
    assert [question["question"]["kind"] for question in ran.told("node:needs-human")] == ["choice", "gate"]
    outputs = {event["node"]: event["output"] for event in ran.told("node:completed")}
    assert outputs["go"] == "You went south."
    assert "You went south." in outputs["after"]
    said = call("simulate", document).out
    assert "1. north" in said and "choose:1" in said


def test_a_simulation_that_takes_too_long_is_stopped(tmp_path: Path, call: Call) -> None:
    document = tmp_path / "long.json"
    said = {"context": False, "prompt": [{"kind": "text", "text": "{{loop.item}}"}]}
    body = {"nodes": [{"id": "x", "kind": "prompt", "params": said}]}
    loop = {"source": list(range(900)), "max_iterations": 1_000, "body": body}
    document.write_text(json.dumps({"id": "long", "nodes": [{"id": "l", "kind": "loop", "params": loop}]}))
    assert call("simulate", document, "--seconds", "0.05", "--json").code == 5


def test_what_cannot_run_is_not_simulated(tmp_path: Path, call: Call) -> None:
    document = tmp_path / "bad.json"
    document.write_text(json.dumps({"id": "bad", "nodes": [{"id": "x", "kind": "nothing"}]}))
    assert call("simulate", document).code == 2
    document.write_text("{")
    assert call("simulate", document).code == 2


def test_an_answer_by_flag_holds_for_a_node_wherever_it_stands() -> None:
    answers = Answers.from_flags(["ask=choose:2", "each/1/ask=choose:1"])
    inside = replace(asked("choice", "a", "b"), node=NodeId("each/0/ask"))
    assert answers.for_question(inside) == Decision("choose", 2)
    assert answers.for_question(replace(inside, node=NodeId("each/1/ask"))) == Decision("choose", 1)
    assert answers.for_question(replace(inside, required=True)) is None
    assert answers.given(replace(inside, required=True)) == Decision("choose", 2)


def asked(kind: Any, *choices: str) -> Question:
    return Question(
        QuestionId("q"), RunId("r"), NodeId("n"), kind, "", NOON, choices=tuple(Choice(choice) for choice in choices)
    )


def test_a_choice_is_answered_by_number_or_name_and_a_text_as_it_is() -> None:
    choice = asked("choice", "north", "south")
    assert answer_to(choice, "2") == answer_to(choice, "south") == parse_answer("choose:2") == Decision("choose", 2)
    assert answer_to(choice, "reject") == Decision("reject")
    assert answer_to(asked("input"), "I go north.") == Decision("edit", text="I go north.")
    assert answer_to(asked("input"), "approve") == Decision("approve")
    for words in ("east", "choose:x", ""):
        with pytest.raises(RunError):
            answer_to(choice, words)
    with pytest.raises(RunError):
        answer_to(asked("gate"), "go")
