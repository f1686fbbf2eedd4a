"""SmartTavern's flows: what is read, what is refused, and that they come back the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.smarttavern import findings, read, write
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.nodes.graph import kind_and_params
from tests.dialects.tavern_flows import read_together
from tests.nodes.flows import bench, failure
from tests.nodes.item_flows import Allowed

MAP = {"id": "a", "type": "Map", "params": {"set": {"b": "a"}}}


def document(*nodes: dict[str, Any], entry: str = "e", name: str = "f", **more: Any) -> str:
    return json.dumps({"id": name, "version": 1, "entry": entry, "nodes": list(nodes), **more}, ensure_ascii=False)


def sequence(name: str, *children: str) -> dict[str, Any]:
    return {"id": name, "type": "Sequence", "children": list(children)}


def choice(name: str, condition: str, then: list[str], otherwise: list[str] | None = None) -> dict[str, Any]:
    return {"id": name, "type": "If", "if": {"condition": condition, "then": then, "else": otherwise or []}}


def mark(name: str) -> dict[str, Any]:
    """A node that appends its name to the field `way`."""
    return {"id": name, "type": "Map", "params": {"set": {"way": f"join('', [way, '{name}'])"}}}


def call(name: str, ref: str, **maps: Any) -> dict[str, Any]:
    return {"id": name, "type": "Subflow", "subflow": {"ref": ref, **maps}}


async def run(text: str, items: Any, *others: str, state: DualState | None = None):
    """What the flow gives for these items, with the others at hand."""
    flows = [conversion.workflow for conversion in read_together(text, *others)]
    made = bench(Allowed(workflows=tuple(flows)))
    going = await made.run(flows[0], inputs={"items": items}, scope={"state": state or DualState()})
    ended = await going.execute()
    last = next((going.outputs[node] for node in reversed(going.nodes) if node in going.outputs), None)
    return (last.value if last and ended == "done" else failure(made)), ended


async def ways(text: str, items: Any, *others: str) -> list[str]:
    value, ended = await run(text, items, *others)
    assert ended == "done", value
    return [item["way"] for item in value["items"]]


# what a flow becomes


async def test_a_sequence_is_a_chain_of_items():
    text = document(
        sequence("e", "one", "inner", "two"), sequence("inner", "three"), *map(mark, ("one", "two", "three"))
    )
    assert [node.id for node in read(text).workflow.nodes] == ["one", "three", "two"]
    assert await ways(text, [{"way": ""}, {"way": "-"}]) == ["onethreetwo", "-onethreetwo"]


@pytest.mark.parametrize(("n", "way"), [(1, "xF"), (2, "xF"), (3, "xTU")])
async def test_an_if_takes_one_branch_and_the_chain_goes_on(n, way):
    nodes = (sequence("e", "x", "if", "y"), mark("x"), mark("y"), mark("T"), mark("U"), mark("F"))
    text = document(*nodes, choice("if", "item['n'] > 2", ["T", "U"], ["F"]))
    assert await ways(text, [{"n": n, "way": ""}]) == [way + "y"]


@pytest.mark.parametrize(
    ("a", "b", "way"), [(True, True, "12"), (True, False, "1"), (False, True, ""), (False, False, "")]
)
async def test_an_if_inside_a_branch_runs_only_with_it(a, b, way):
    nodes = (choice("e", "item['a']", ["inner"]), choice("inner", "item['b']", ["both"], ["one"]))
    text = document(*nodes, sequence("both", "1", "2"), sequence("one", "1"), mark("1"), mark("2"))
    assert await ways(text, [{"a": a, "b": b, "way": ""}]) == [way]


async def test_a_node_in_two_places_becomes_two_nodes_and_is_reported():
    text = document(choice("e", "item['a']", ["x", "x"], ["x"]), mark("x"))
    conversion = read(text)
    assert [node.id for node in conversion.workflow.nodes if node.kind == "map"][1:] == ["x", "x_2", "x_3"]
    assert [note.place for note in conversion.notes] == ["nodes[1]", "nodes[1]"]
    assert await ways(text, [{"a": 1, "way": ""}]) == ["xx"]


async def test_an_empty_sequence_passes_the_items():
    value, _ended = await run(document(sequence("e")), [{"a": 1}])
    assert value["items"] == [{"a": 1}]


INNER = document(mark("in"), entry="in", name="inner")


async def test_a_sub_flow_is_given_fields_under_other_names_and_gives_some_back():
    inner = document({"id": "e", "type": "Map", "params": {"set": {"out": "text", "lost": "text"}}}, name="inner")
    text = document(call("e", "inner@1", input_map={"say": "text", "absent": "x"}, output_map={"out": "heard"}))
    value, _ended = await run(text, [{"say": "你好"}, {"k": 1}], inner)
    assert value == {"items": [{"say": "你好", "heard": "你好"}, {"k": 1, "heard": None}], "errors": []}


async def test_without_an_output_map_the_items_of_the_sub_flow_go_on():
    assert await ways(document(sequence("e", "x", "s"), mark("x"), call("s", "inner@1")), [{"way": ""}], INNER) == [
        "xin"
    ]


async def test_a_sub_flow_in_a_branch_that_is_not_taken_does_not_run():
    nodes = (choice("e", "len(items) > 1", ["s"]), call("s", "inner@1", output_map={"way": "way"}))
    assert await ways(document(*nodes), [{"way": "x"}], INNER) == ["x"]
    assert await ways(document(*nodes), [{"way": "x"}, {"way": "y"}], INNER) == ["xin", "yin"]


async def test_a_state_of_its_own_is_its_own():
    inner = document({"id": "e", "type": "WriteState", "params": {"updates": {"hp": 9}}}, name="inner")
    for share, hp in ((True, 9), (False, 1)):
        state = DualState.of({"hp": 1})
        await run(document(call("e", "inner@1", share_state=share)), [{}], inner, state=state)
        assert state.view() == {"hp": hp}


async def test_a_flow_that_runs_itself_is_refused_while_it_has_no_depth():
    text = document(choice("e", "len(items) > 0", ["again"]), call("again", "f@1"))
    assert "ENDLESS_CALLS" in {finding.code for finding in findings(text)}
    value, ended = await run(text, [{}])
    assert ended == "failed" and "f@1" in value


def test_yaml_and_chinese_ids_are_read():
    conversion = read("id: 酒馆\nversion: 1.0\nentry: 开始\nnodes:\n- {id: 开始, type: Map, params: {set: {b: a}}}")
    assert conversion.workflow.reference == "酒馆@1" and conversion.workflow.nodes[0].id == "开始"


def test_what_is_read_has_valid_params():
    nodes = [
        {"id": f"n{n}", "type": kind}
        for n, kind in enumerate(
            ("Map", "Filter", "Merge", "Split", "Code", "LLMChat", "ReadState", "WriteState", "IncrementCounter")
        )
    ]
    workflow = read(document(sequence("e", *(node["id"] for node in nodes)), *nodes)).workflow
    assert len([kind_and_params(node) for node in workflow.nodes]) == 9


def test_params_that_do_not_fit_are_left_out_and_reported():
    conversion = read(document({"id": "e", "type": "Map", "params": {"set": "abc", "overwrite": 1, "more": 2}}))
    assert conversion.workflow.nodes[0].params == {"source": "input.items", "set": {}, "overwrite": True}
    assert [(note.level, note.place) for note in conversion.notes] == [
        ("lost", "nodes[0].params.set"),
        ("changed", "nodes[0].params.overwrite"),
        ("lost", "nodes[0].params.more"),
    ]


# what is refused


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (document(MAP, entry="nobody"), ["UNKNOWN_NODE"]),
        (document(sequence("e", "zz"), MAP), ["UNKNOWN_NODE", "UNREACHABLE"]),
        (document(MAP, MAP, entry="a"), ["DOUBLE_ID"]),
        (document({"id": "e", "type": "Nope"}), ["UNKNOWN_TYPE"]),
        (document({"id": "e", "type": "If"}), ["MISSING_PARAM"]),
        (document({"id": "e", "type": "Subflow"}), ["MISSING_PARAM"]),
        (document(sequence("e", "b"), sequence("b", "e")), ["CYCLE"]),
        (document(choice("e", "True", ["e"])), ["CYCLE"]),
        (document(call("e", "sub@1")), ["UNKNOWN_WORKFLOW"]),
        (document(choice("e", "().__class__", ["a"]), MAP), ["CONDITION"]),
        (document({**MAP, "children": ["x"]}, entry="a"), ["UNUSED_PARAM"]),
        ('{"id": "f", "version": "1", "entry": "e", "nodes": []}', ["SCHEMA_MISMATCH"] * 2),
        (document(MAP, entry="a", extra=1), ["SCHEMA_MISMATCH"]),
        (document({"id": "a b", "type": ""}, entry="a"), ["SCHEMA_MISMATCH"] * 2),
        (document(call("e", "sub@latest")), ["SCHEMA_MISMATCH"]),
        ('{"id": "f", "version": true, "nodes": [5]}', ["SCHEMA_MISMATCH"] * 3),
        ("[]", ["SCHEMA_MISMATCH"]),
    ],
)
def test_everything_that_is_wrong_is_found(text, codes):
    assert [finding.code for finding in findings(text)] == codes


def test_a_finding_names_the_node_and_the_field():
    (found,) = findings(document({"id": "a", "type": "Map", "params": []}, entry="a"))
    assert (found.node, found.field) == ("a", "nodes[0].params")


def test_all_errors_stand_in_one_refusal():
    with pytest.raises(DialectError) as caught:
        read(document({"id": "e", "type": "Nope"}, {"id": "e", "type": "If"}, entry="zz"))
    assert all(code in caught.value.detail for code in ("DOUBLE_ID", "UNKNOWN_NODE", "UNKNOWN_TYPE", "MISSING_PARAM"))


def test_a_million_nodes_are_refused_with_a_reason():
    with pytest.raises(DialectError, match="too large"):
        read(document(*({"id": f"n{n}", "type": "Map"} for n in range(1_000_000)), entry="n0"))
    many = findings(document(*({"id": f"n{n}", "type": "Map"} for n in range(11_000)), entry="n0"))
    assert [finding.code for finding in many] == ["TOO_LARGE"]


def test_nodes_that_unfold_without_measure_are_refused():
    doubling = [sequence(f"s{n}", f"s{n + 1}", f"s{n + 1}") for n in range(30)]
    with pytest.raises(DialectError, match="too large"):
        read(document(*doubling, {"id": "s30", "type": "Map"}, entry="s0"))
    deep = [sequence(f"s{n}", f"s{n + 1}") for n in range(1000)]
    with pytest.raises(DialectError, match="deep"):
        read(document(*deep, {"id": "s1000", "type": "Map"}, entry="s0"))


# conditions


@pytest.mark.parametrize(
    ("condition", "items", "branch"),
    [
        ("item['n'] > 2", [{"n": 3}], "T"),
        ("len(items) == 2 and items[1]['n'] < 0", [{}, {"n": -1}], "T"),
        ("item.get('n', 5) == 5", [{}], "T"),
        ("item.get('n')", [], "F"),
        ("not item.get('n')", [{"n": 1}], "F"),
        ("'门' in item['text']", [{"text": "推开门"}], "T"),
        ("item['text'].lower() == 'yes'", [{"text": "YES"}], "T"),
        ("any(x['n'] > 1 for x in items)", [{"n": 1}, {"n": 2}], "T"),
        ("'T' if item['n'] else ''", [{"n": 0}], "F"),
        ("True", [], "T"),
        ("not item", [], "T"),
        ("'n' in item or 'n' not in item and len(item) == 0", [], "T"),
        ("item.get('d', {}).get('k') == 1", [{"d": {"k": 1}}], "T"),
        ("item.get('d', {}).get('k') == 1", [{}], "F"),
        ("items and items[-1].get('n') in {1, 2}", [{"n": 5}, {"n": 2}], "T"),
        ("item['s'].startswith('风') and item['s'].endswith('雨')", [{"s": "风雨"}], "T"),
        ("item['s'].endswith('大风雨')", [{"s": "风雨"}], "F"),
        ("item['s'].endswith('')", [{"s": ""}], "T"),
        ("item.get(item['k'])", [{"k": "n", "n": 1}], "T"),
    ],
)
async def test_a_condition_means_what_it_meant_in_python(condition, items, branch):
    text = document(
        choice("e", condition, ["T"], ["F"]),
        *({"id": n, "type": "WriteState", "params": {"updates": {"b": n}}} for n in "TF"),
    )
    state = DualState()
    _value, ended = await run(text, items, state=state)
    assert ended == "done" and state.view() == {"b": branch}


@pytest.mark.parametrize(
    "condition",
    [
        "().__class__.__name__ == 'tuple'",
        "item['a'].__class__",
        "__import__('os').system('true')",
        "item.n > 1",
        "state['hp'] > 3",
        "open('x')",
        "(lambda: 1)()",
        "f'{item}'",
        "item['a'] >",
        "any(data for data in items)",
        "9 ** 9 ** 9",
        "item['s'].format(item)",
        "x" * 3000,
    ],
)
async def test_a_condition_that_is_not_safe_is_told_and_takes_neither_branch(condition):
    text = document(
        choice("e", condition, ["T"], ["F"]),
        *({"id": n, "type": "WriteState", "params": {"updates": {"b": n}}} for n in "TF"),
    )
    state = DualState()
    _value, ended = await run(text, [{"a": 1, "n": 5, "s": "{0}"}], state=state)
    assert ended == "failed" and state.view() == {}
    assert condition == "9 ** 9 ** 9" or any(note.level == "lost" for note in read(text).notes)


# and back


FLOWS = [
    document(sequence("e", "a"), MAP, metadata={"by": "me"}),
    document(
        sequence("e", "all", "some"),
        {"id": "all", "type": "Code", "params": {}},
        {"id": "some", "type": "Code", "params": {"outputs": ["messages"]}},
    ),
    document(choice("e", "not item or 'n' in item or item['n'] and items", ["a"]), MAP),
    document(
        sequence("e", "inc", "ctx", "llm", "s", "w"),
        {"id": "inc", "type": "IncrementCounter", "params": {"field": "turn"}},
        {"id": "ctx", "type": "Code", "params": {"function": "select_context", "outputs": ["messages"]}},
        {"id": "llm", "type": "LLMChat", "params": {"messages_from": "messages", "response_field": "llm_response"}},
        call("s", "inner@1", input_map={"llm_response": "input_text"}, output_map={"narrative": "narrative"}),
        {"id": "w", "type": "WriteState", "params": {"updates": {"a": 1}, "from_item_map": {"narrative": "last"}}},
    ),
    document(
        sequence("e", "if", "z"),
        choice("if", "item['n'] > 2", ["a", "if2"], ["s"]),
        choice("if2", "len(items) > 1", ["b"]),
        {"id": "a", "type": "Filter", "params": {"where": "n"}},
        {"id": "b", "type": "Split", "params": {"from_field": "xs", "dest_field": "x", "delimiter": ";"}},
        call("s", "inner@1", share_state=False),
        {"id": "z", "type": "Merge", "params": {"from_field": "d", "overwrite": False, "prefix": "p"}},
    ),
    document(
        choice("e", "item['n']", ["if2"]),
        choice("if2", "True", ["a"], ["r"]),
        MAP,
        {"id": "r", "type": "ReadState", "params": {"keys": ["hp"], "into": "s", "for_prompt": True}},
    ),
]


@pytest.mark.parametrize("text", FLOWS, ids=["map", "context", "condition", "chat", "branches", "nested"])
def test_a_flow_that_is_read_and_written_is_read_as_the_same_workflow(text):
    workflow = read(text).workflow
    written, _notes = write(workflow)
    again = read(json.dumps(written)).workflow
    assert again == workflow
    assert findings(json.dumps(written)) in ((), tuple(f for f in findings(text) if f.severity == "warning"))


def test_what_a_flow_cannot_hold_is_refused_with_its_name():
    from tests.nodes.flows import node
    from tests.runner.fakes import flow, prompt

    for workflow in (
        flow(prompt("写", "x")),
        flow(node("a", "map"), node("b", "map")),
        flow(node("a", "state_write", mode="start", keys=["x"], source="input.items")),
        flow(node("it", "subflow", ref="x@1", inputs={"word": 1})),
    ):
        with pytest.raises(DialectError) as caught:
            write(workflow)
        assert any(one.id in caught.value.detail for one in workflow.nodes)


def test_chinese_ids_are_spelled_out_when_written():
    from tests.nodes.flows import node
    from tests.runner.fakes import flow

    written, notes = write(flow(node("开始", "map", set={"b": "a"}, on_error="fail")))
    assert written["nodes"][1]["id"].isascii() and read(json.dumps(written)).workflow.nodes[0].kind == "map"
    assert {(note.level, note.place) for note in notes} >= {("changed", "开始"), ("lost", "开始.on_error")}
