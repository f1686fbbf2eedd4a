"""Flags of `run` and `simulate`: inputs of every type, and answers that nobody asked for."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.flags import given_inputs, request_of
from flowcabal_tui.demo import templates
from tests.cli.conftest import Call
from tests.tui.fakes import FakeProject

COUNTING = {
    "id": "counting",
    "nodes": [
        {"id": "many", "kind": "condition", "params": {"kind": "expression", "expression": "input.count > 3"}},
        {
            "id": "more",
            "kind": "condition",
            "params": {"kind": "greater_than", "source": "input.count", "threshold": 3},
        },
    ],
}


def inputs(*flags: str) -> dict[str, Any]:
    return given_inputs(Namespace(input=list(flags), instruction=""))


def test_an_input_is_a_text_or_what_its_json_says() -> None:
    assert inputs("count=5", "wish=a=b", 'url:="x=y"') == {"count": "5", "wish": "a=b", "url": "x=y"}
    assert inputs("count:=5", "dark:=true", "names:=[1, 2]", 'who:={"a": null}') == {
        "count": 5,
        "dark": True,
        "names": [1, 2],
        "who": {"a": None},
    }


@pytest.mark.parametrize(
    "flag", ["count", "=5", ":=5", "count:=five", "count:=NaN", "count:=1e999", "count:=" + "[" * 9999]
)
def test_an_input_that_is_none_is_refused(flag: str) -> None:
    with pytest.raises(BadArgument, match="does not set an input"):
        inputs(flag)


def test_a_run_without_the_chapter_that_its_prompts_name_begins_nothing(call: Call, demo: Path) -> None:
    refused = call("run", demo, "quick-draft", "--plain")
    assert refused.code == 2 and "needs options that were not given: --chapter N" in refused.err
    assert "quick-draft" not in call("runs", demo).out


def test_a_length_goes_with_the_run_and_is_refused_where_none_is_asked_for(
    call: Call, demo: Path, tmp_path: Path
) -> None:
    quoted = call("run", demo, "quick-draft", "--chapter", 7, "--length", 700, "--quote")
    assert quoted.code == 0, quoted.err
    refused = call("run", demo, "quick-draft", "--chapter", 7, "--length", 50_001, "--quote")
    assert refused.code == 2 and "A chapter can have a length of at most 50,000." in refused.err
    document = tmp_path / "counting.json"
    document.write_text(json.dumps(COUNTING))
    assert call("workflows", demo, "--add", document).code == 0
    refused = call("run", demo, "counting", "--input", "count:=5", "--length", 700)
    assert refused.code == 2 and "has no setting for length" in refused.err


async def test_a_length_is_an_input_of_the_run() -> None:
    workflow = templates("en")[0]
    given = Namespace(
        workflow="chapter", chapter=None, input=[], instruction="", length=700, target=[], fresh_context=False,
        again=[], step=False, set=[],
    )  # fmt: skip
    assert (await request_of(FakeProject(), workflow, given)).inputs == (("length", "700"),)


@pytest.mark.parametrize(("flag", "label"), [("count:=5", "true"), ("count:=2", "false")])
def test_a_condition_compares_the_number_that_was_given(
    call: Call, demo: Path, tmp_path: Path, flag: str, label: str
) -> None:
    document = tmp_path / "counting.json"
    document.write_text(json.dumps(COUNTING))
    assert call("workflows", demo, "--add", document).code == 0
    for words in (("simulate", document), ("run", demo, "counting")):
        ran = call(*words, "--input", flag, "--json")
        assert ran.code == 0
        assert [json.loads(done["output"])["label"] for done in ran.told("node:completed")] == [label, label]


def test_a_text_where_a_number_is_compared_is_told_in_words(call: Call, tmp_path: Path) -> None:
    document = tmp_path / "counting.json"
    document.write_text(json.dumps(COUNTING))
    ran = call("simulate", document, "--input", "count=5")
    assert ran.code == 1
    assert "texts, numbers, lists and objects cannot be mixed" in ran.out


def test_an_input_that_is_missing_says_how_to_give_it(call: Call, tmp_path: Path) -> None:
    document = tmp_path / "counting.json"
    document.write_text(json.dumps({**COUNTING, "nodes": COUNTING["nodes"][1:]}))
    ran = call("simulate", document)
    assert ran.code == 2 and "count" in ran.err
    assert "--input count=TEXT" in ran.err and "NAME:=JSON" in ran.err


def test_an_answer_that_nothing_asked_for_is_told_at_the_end(call: Call, demo: Path) -> None:
    for command in ("run", "simulate"):
        words = ("--chapter", 7) if command == "run" else ()
        ran = call(command, demo, "quick-draft", *words, "--decide", "draft=edit:Mine", "--input", "mood=calm")
        assert ran.code == 0
        assert ("draft asked no question" in ran.err) is (command == "simulate"), (
            "the check of a run finds a contradiction"
        )


def test_an_approval_that_only_a_person_gives_is_told_at_the_end(call: Call, demo: Path) -> None:
    ran = call("run", demo, "chapter", "--chapter", 7, "--decide", "plan=approve", "--decide", "polish=approve")
    assert ran.code == 3
    assert "plan must be approved by a person" in ran.err
    assert "polish asked no question" in ran.err


def test_an_answer_for_a_node_inside_a_node_is_taken(call: Call, tmp_path: Path) -> None:
    ask = {"id": "ask", "kind": "human", "params": {"question": "Well?", "choices": ["yes", "no"]}}
    branches = {"one": {"nodes": [ask]}, "two": {"nodes": [{**ask, "id": "other"}]}}
    document = tmp_path / "inside.json"
    document.write_text(
        json.dumps({"id": "inside", "nodes": [{"id": "both", "kind": "parallel", "params": {"branches": branches}}]})
    )
    assert call("simulate", document, "--decide", "other=choose:2", "--decide", "both/one/ask=choose:1").err == ""
    assert call("simulate", document, "--decide", "third=approve").code == 2
