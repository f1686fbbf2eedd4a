"""The check of recorded cases tells what agrees, what differs on purpose and what is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.compat.smarttavern import run

PAGE = Path(__file__).parents[2] / "docs" / "dialects" / "smarttavern.md"


def judged(tmp_path: Path, file: str, case: dict[str, Any]) -> tuple[str, str]:
    (tmp_path / "smarttavern").mkdir()
    (tmp_path / "smarttavern" / file).write_text(json.dumps([{"id": "it", **case}]), encoding="utf-8")
    (result,) = run(tmp_path)
    assert (result.file, result.case) == (f"smarttavern/{file}", "it")
    return result.outcome, result.detail


def ended(items: Any, *errors: str, state: Any = None, calls: Any = ()) -> dict[str, Any]:
    return {"items": items, "errors": list(errors), "state_after": state or {}, "llm_calls": list(calls)}


def of_node(kind: str, params: dict[str, Any], items: Any, expected: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "params": params, "items": items, "state": {}, "pending": [], "expected": expected, **more}


def of_flow(entry: dict[str, Any], expected: dict[str, Any], *others: dict[str, Any], **more: Any) -> dict[str, Any]:
    nodes = [{"id": "e", **entry}, {"id": "t", "type": "Map", "params": {"set": {"r": "'T'"}}}]
    doc = {"id": "f", "version": 1, "entry": "e", "nodes": nodes}
    return {
        "doc": doc,
        "other_flows": list(others),
        "items": [{"xs": [1, 2]}],
        "state": {},
        "expected": expected,
        **more,
    }


def other(kind: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"id": "sub", "version": 1, "entry": "s", "nodes": [{"id": "s", "type": kind, "params": params}]}


def choice(condition: str) -> dict[str, Any]:
    return {"type": "If", "if": {"condition": condition, "then": ["t"]}}


def call(**more: Any) -> dict[str, Any]:
    return {"type": "Subflow", "subflow": {"ref": "sub@1", **more}}


NODES, FLOWS, LOADING, STATES = "node_cases.json", "executor_cases.json", "ir_validation_cases.json", "state_cases.json"
ITEMS = [{"xs": [1, 2]}]
ASKED = {"messages": [{"role": "user", "content": "q"}], "model": "boom"}
BY_INDEX = [{"xs": [1, 2], "px": 1}, {"xs": [1, 2], "x": 2}]
CHINESE = {"id": "酒馆", "version": 1, "entry": "e", "nodes": [{"id": "e", "type": "Map"}]}
NO_ENTRY = {"id": "f", "version": 1, "entry": "zz", "nodes": [{"id": "e", "type": "Map"}]}
DIFFERENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "bad item": (NODES, of_node("Merge", {"from_field": "d"}, [{"d": 1}], ended([{"d": 1}]))),
    "function fails": (NODES, of_node("Code", {"function": "boom"}, [{}], ended([{}]))),
    "unknown function": (NODES, of_node("Code", {"function": "nobody"}, [{}], ended([{"messages": []}]))),
    "model fails": (
        NODES,
        of_node("LLMChat", {"model": "boom"}, [{"messages": ASKED["messages"]}], ended([{}], calls=[ASKED])),
    ),
    "condition fails": (FLOWS, of_flow(choice("item['missing'] > 2"), ended(ITEMS))),
    "unsafe condition": (FLOWS, of_flow(choice("().__class__ != 1"), ended([{"xs": [1, 2], "r": "T"}]))),
    "own state": (
        FLOWS,
        of_flow(call(share_state=False), ended(ITEMS, state={"hp": 9}), other("WriteState", {"updates": {"hp": 9}})),
    ),
    "more items out": (
        FLOWS,
        of_flow(call(output_map={"x": "px"}), ended(BY_INDEX), other("Split", {"from_field": "xs", "dest_field": "x"})),
    ),
    "keys as text": (NODES, of_node("ReadState", {"keys": "hp"}, [{}], ended([{}]))),
    "found when read": (LOADING, {"doc": NO_ENTRY, "expected": {"ok": True, "ref": "f@1"}}),
    "Chinese ids": (LOADING, {"doc": CHINESE, "expected": {"ok": False}}),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_difference_on_purpose_is_one_that_the_page_names(name, tmp_path):
    file, case = DIFFERENCES[name]
    outcome, detail = judged(tmp_path, file, {**case, "quirk": "the original is silent"})
    assert outcome == "deliberate" and detail


@pytest.mark.parametrize("name", [name for name in DIFFERENCES if name not in ("bad item", "Chinese ids")])
def test_without_the_mark_of_a_quirk_the_same_is_a_failure(name, tmp_path):
    file, case = DIFFERENCES[name]
    assert judged(tmp_path, file, case)[0] == "fail"


def test_the_page_names_exactly_the_differences_that_are_tried():
    table = PAGE.read_text(encoding="utf-8").partition("## Where it differs on purpose")[2].partition("\n##")[0]
    names = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)
    assert names == ["name", "---", *DIFFERENCES]


def test_a_difference_must_be_told_even_where_the_original_is_marked(tmp_path):
    silent = of_node("Map", {"set": {"b": "a"}}, [{"a": 1}], ended([{"a": 2}]), quirk="the original is silent")
    assert judged(tmp_path, NODES, silent)[0] == "fail"


@pytest.mark.parametrize(
    ("file", "case"),
    [
        (NODES, of_node("Map", {"set": {"b": "a"}}, [{"a": 1}], ended([{"a": 1, "b": 1}]))),
        (NODES, of_node("Filter", {}, [{"a": 1}], ended([{"a": 1}], "needs where"))),
        (NODES, of_node("IncrementCounter", {"field": "n"}, [], ended([], state={"n": 1}))),
        (FLOWS, of_flow(choice("len(items) == 1"), ended([{"xs": [1, 2], "r": "T"}]))),
        (FLOWS, of_flow(call(), {"raises": "KeyError"})),
        (LOADING, {"doc": {"id": "f"}, "expected": {"ok": False}}),
        (STATES, {"initial": {"a": 1}, "steps": [["start", ["a"]], ["pending"]], "expected": [None, ["a"]]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_agrees_passes(file, case, tmp_path):
    assert judged(tmp_path, file, case) == ("pass", "")


@pytest.mark.parametrize(
    ("file", "case"),
    [
        (NODES, of_node("Map", {"set": {"b": "a"}}, [{"a": 1}], ended([{"a": 1}]))),
        (NODES, of_node("Map", {"set": {"b": "a"}}, [{"a": 1}], ended([{"a": 1, "b": 1}], "an error"))),
        (NODES, of_node("IncrementCounter", {"field": "n"}, [], ended([]))),
        (FLOWS, of_flow(choice("True"), {"raises": "KeyError"})),
        (LOADING, {"doc": {**NO_ENTRY, "entry": "e"}, "expected": {"ok": False}}),
        (STATES, {"initial": {"a": 1}, "steps": [["pending"]], "expected": [["a"]]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_agree_fails(file, case, tmp_path):
    assert judged(tmp_path, file, case)[0] == "fail"
