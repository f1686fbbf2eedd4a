from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.drawing.from_workflow import drawing_of
from flowcabal_tui.drawing.layout import lay_out
from flowcabal_tui.drawing.values import Drawing


def text(*parts: str) -> dict[str, Any]:
    return {"prompt": [{"kind": "text", "text": part} for part in parts]}


def reads(*nodes: str) -> dict[str, Any]:
    return {"prompt": [{"kind": "virtual", "node": node} for node in nodes]}


def node(name: str, params: dict[str, Any] | None = None, kind: str = "prompt", title: str = "") -> Node:
    return Node(id=NodeId(name), kind=kind, name=title, params=params or {})


def edge(source: str, target: str, condition: str | None = None) -> Edge:
    return Edge(source=NodeId(source), target=NodeId(target), condition=condition)


def drawn(*nodes: Node, edges: tuple[Edge, ...] = ()) -> Drawing:
    return drawing_of(Workflow(id="w", nodes=nodes, edges=edges))


def arrows(drawing: Drawing) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.target, edge.label) for edge in drawing.edges}


def test_references_and_edges_become_arrows_with_their_conditions() -> None:
    drawing = drawn(
        node("大纲", text("写大纲")),
        node("草稿", reads("大纲")),
        node("终稿", text("{{result_of.草稿.text}}")),
        edges=(edge("大纲", "终稿", "true"),),
    )
    assert arrows(drawing) == {("大纲", "草稿", ""), ("草稿", "终稿", ""), ("大纲", "终稿", "true")}


def test_a_box_says_title_kind_and_inputs() -> None:
    params = {"action": "mail.send", "inputs": {"to": {"__from__": "result_of.a.text"}, "times": 0, "quiet": False}}
    box = drawn(node("a"), node("b", params, kind="no_such_kind", title="发信")).nodes[1]
    assert (box.title, box.kind) == ("发信", "no_such_kind")
    assert box.lines == ("action: mail.send", "to: ← result_of.a.text", "times: 0", "quiet: false")


def test_blocks_are_shown_with_the_nodes_that_they_read() -> None:
    box = drawn(node("a"), node("b", {"prompt": [{"kind": "text", "text": "据此写："}, *reads("a")["prompt"]]})).nodes[
        1
    ]
    assert box.lines == ("prompt: 据此写： ‹a›",)


def test_bodies_become_frames_in_frames_whose_names_are_looked_up_from_inside_out() -> None:
    inner = {"nodes": [{"id": "x", "params": reads("plan")}, {"id": "y", "params": reads("x", "z")}], "edges": []}
    drawing = drawn(
        node("plan"),
        node("x"),
        node("z"),
        node("loop", {"body": {"nodes": [{"id": "all", "kind": "parallel", "params": {"body": inner}}]}}, kind="loop?"),
    )
    group = {box.id: box.group for box in drawing.nodes}
    assert group["loop/all"] == "loop" and group["loop/all/x"] == group["loop/all/y"] == "loop/all"
    assert {("plan", "loop/all/x", ""), ("loop/all/x", "loop/all/y", ""), ("z", "loop/all/y", "")} <= arrows(drawing)
    assert not any("body" in line for box in drawing.nodes for line in box.lines)


def test_branches_each_have_a_frame() -> None:
    branches = [{"name": "时间线", "nodes": [{"id": "t"}]}, {"nodes": [{"id": "t"}]}]
    drawing = drawn(node("p", {"branches": branches}, kind="parallel?"))
    assert {box.id for box in drawing.nodes} == {"p", "p/时间线", "p/branches 2", "p/时间线/t", "p/branches 2/t"}


def test_edges_in_a_body_may_use_either_words() -> None:
    body = {
        "nodes": [{"id": "a"}, {"id": "b"}],
        "edges": [{"from": "a", "to": "b", "condition": "真"}, {"source": "b", "target": "a"}, "no edge"],
    }
    assert arrows(drawn(node("l", {"body": body}, kind="loop?"))) == {("l/a", "l/b", "真"), ("l/b", "l/a", "")}


def test_what_is_not_there_is_drawn_as_missing() -> None:
    drawing = drawn(node("a", reads("nobody")), edges=(edge("nowhere", "a"), edge("a", "nobody", "else")))
    assert {box.title: box.missing for box in drawing.nodes} == {"a": False, "? nobody": True, "? nowhere": True}
    assert arrows(drawing) == {("nobody", "a", ""), ("nowhere", "a", ""), ("a", "nobody", "else")}


def test_unknown_kinds_bad_params_circles_and_doubles_do_not_stop_the_drawing() -> None:
    drawing = drawn(
        node("a", {"prompt": 3, "more": "{{result_of.b.text}}"}),
        node("b", {"x": {"__from__": "result_of.a.text"}}, kind="nonsense"),
        node("b", reads("b")),
    )
    assert len({box.id for box in drawing.nodes}) == 3
    assert {("b", "a", ""), ("a", "b", "")} <= arrows(drawing)
    assert len(lay_out(drawing).routes) == len(drawing.edges)


def test_branches_of_a_condition_that_names_them() -> None:
    condition = node("c", {"true_to_node": "a", "false_to_node": None}, kind="nonsense")
    assert arrows(drawn(condition, node("a"))) == {("c", "a", "true")}


def test_bindings_in_bindings_are_not_followed_for_ever() -> None:
    value: Any = "end"
    for _ in range(500):
        value = {"__from__": [value], "kind": "text", "text": value}
    assert drawn(node("a", {"x": value})).nodes[0].lines == ("x: ← [1]",)


@pytest.mark.parametrize("depth", [5, 60])
def test_deep_bodies_end_somewhere(depth: int) -> None:
    params: dict[str, Any] = {}
    for _ in range(depth):
        params = {"body": {"nodes": [{"id": "in", "kind": "loop", "params": params}]}}
    assert len(drawn(node("out", params, kind="loop")).nodes) == min(depth, 20) + 1


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["{{result_of.a.text}}", "{{"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["nodes", "edges", "body", "id", "kind", "params", "__from__", "x"]), inner)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.dictionaries(st.sampled_from(["body", "prompt", "x"]), values))))
def test_no_document_is_too_broken_to_be_drawn(raw: list[tuple[str, dict[str, Any]]]) -> None:
    drawing = drawn(*(node(name, params, kind) for name, params in raw for kind in ("prompt", "loop", "??")))
    assert len(lay_out(drawing).boxes) == len(drawing.nodes)
