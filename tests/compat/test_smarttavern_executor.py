"""Random flows of sequences, branches and sub-flows: compiled and run they give what folding them gives."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.dialects.smarttavern import write
from flowcabal_tui.domain.state import DualState
from flowcabal_tui.nodes.validation import require_valid
from tests.dialects.tavern_flows import read_together
from tests.nodes.flows import bench
from tests.nodes.item_flows import Allowed

Flow = dict[str, Any]
Items = list[dict[str, Any]]
NAMES = ["n0", "n1", "n2", "n3", "n4", "n5"]
CONDITIONS = {
    "item['n'] > 0": lambda items: items[0]["n"] > 0,
    "len(items) > 1": lambda items: len(items) > 1,
    "item.get('seen')": lambda items: bool(items and items[0].get("seen")),
    "not items": lambda items: not items,
}
ATOMS = [
    ("Map", {"set": {"way": "join('', [way, '{id}'])"}}),
    ("Map", {"set": {"seen": "`true`", "n": "n"}}),
    ("Filter", {"where": "n > `-1`"}),
    ("Split", {"from_field": "xs", "dest_field": "n"}),
    ("IncrementCounter", {"field": "count"}),
    ("WriteState", {"from_item_map": {"way": "last"}}),
]
MAPS = st.fixed_dictionaries(
    {"ref": st.just("sub@1")},
    optional={
        "input_map": st.sampled_from([{"way": "old"}, {"n": "seen", "nobody": "x"}]),
        "output_map": st.sampled_from([{"way": "inner"}, {"n": "n", "nobody": "x"}]),
    },
)


@st.composite
def nodes(draw, subflow: bool) -> list[dict[str, Any]]:
    """A node names only later ones, so none holds itself."""
    made = []
    for place, name in enumerate(NAMES):
        later = st.lists(st.sampled_from(NAMES[place + 1 :]), max_size=3) if place < 5 else st.just([])
        kind = draw(
            st.sampled_from(["atom", "Sequence", "If", *(["Subflow"] if subflow else [])] if place < 5 else ["atom"])
        )
        if kind == "Sequence":
            made.append({"id": name, "type": kind, "children": draw(later)})
        elif kind == "If":
            branches = {"condition": draw(st.sampled_from(list(CONDITIONS))), "then": draw(later), "else": draw(later)}
            made.append({"id": name, "type": kind, "if": branches})
        elif kind == "Subflow":
            made.append({"id": name, "type": kind, "subflow": draw(MAPS)})
        else:
            atom, params = draw(st.sampled_from(ATOMS))
            made.append({"id": name, "type": atom, "params": json.loads(json.dumps(params).replace("{id}", name))})
    return made


def flows(name: str, subflow: bool) -> st.SearchStrategy[Flow]:
    return nodes(subflow).map(lambda made: {"id": name, "version": 1, "entry": "n0", "nodes": made})


class Stopped(Exception):
    """A condition that cannot be evaluated."""


def folded(flow: Flow, other: Flow, name: str, items: Items, state: dict[str, Any]) -> Items:
    """What the description says, step by step."""
    node = next(one for one in flow["nodes"] if one["id"] == name)
    inner: list[str] = node.get("children", [])
    if "if" in node:
        try:
            holds = CONDITIONS[node["if"]["condition"]](items)
        except (LookupError, TypeError) as error:
            raise Stopped from error
        inner = node["if"]["then" if holds else "else"]
    elif "subflow" in node:
        return called(node["subflow"], other, items, state)
    elif "children" not in node:
        return atom(node, items, state)
    for child in inner:
        items = folded(flow, other, child, items, state)
    return items


def called(call: dict[str, Any], other: Flow, items: Items, state: dict[str, Any]) -> Items:
    renames = call.get("input_map", {}).items()
    given_items = [{**item, **{new: item[old] for old, new in renames if old in item}} for item in items]
    came = folded(other, other, "n0", given_items, state)
    if "output_map" not in call:
        return came
    fields = call["output_map"]
    back = [{new: one[old] for old, new in fields.items() if old in one} for one in came]
    own = [
        items[n] if n < len(items) else {k: v for k, v in one.items() if k not in fields} for n, one in enumerate(came)
    ]
    return [{**before, **after} for before, after in zip(own, back, strict=True)]


def atom(node: dict[str, Any], items: Items, state: dict[str, Any]) -> Items:
    match node["type"]:
        case "Map" if "way" in node["params"]["set"]:
            return [{**item, "way": item["way"] + node["id"]} for item in items]
        case "Map":
            return [{**item, "seen": True, "n": item.get("n")} for item in items]
        case "Filter":
            return [item for item in items if item["n"] > -1]
        case "Split":
            return [{**item, "n": x} for item in items for x in item["xs"]]
        case "IncrementCounter":
            state["count"] = state.get("count", 0) + 1
        case "WriteState":
            state |= {"last": items[0]["way"]} if items else {}
    return items


ITEMS = st.lists(
    st.fixed_dictionaries(
        {"n": st.integers(-2, 2), "way": st.just(""), "xs": st.lists(st.integers(-1, 1), max_size=2)}
    ),
    max_size=2,
)


@settings(deadline=None, max_examples=120)
@given(flows("main", True), flows("sub", False), ITEMS)
def test_a_flow_gives_what_folding_it_gives(main, sub, items):
    asyncio.run(_followed(main, sub, items))


async def _followed(main: Flow, sub: Flow, items: Items) -> None:
    workflow, called_flow = (each.workflow for each in read_together(json.dumps(main), json.dumps(sub)))
    require_valid(workflow)
    state, wanted_state = DualState(), dict[str, Any]()
    run = await bench(Allowed(workflows=(called_flow,))).run(workflow, inputs={"items": items}, scope={"state": state})
    ended = await run.execute()
    try:
        wanted = folded(main, sub, "n0", items, wanted_state)
    except Stopped:
        assert ended == "failed"
        return
    last = [node for node in run._frame.plan.ends if node in run.outputs]
    assert ended == "done" and run.outputs[last[-1]].items == wanted
    assert state.view() == wanted_state


@settings(deadline=None, max_examples=100)
@given(flows("main", True), flows("sub", False))
def test_a_flow_that_is_written_is_read_as_the_same(main, sub):
    workflow = read_together(json.dumps(main), json.dumps(sub))[0].workflow
    written, _notes = write(workflow)
    again = read_together(json.dumps(written), json.dumps(sub))[0].workflow
    assert shape_of(again) == shape_of(workflow)


def shape_of(workflow: Any) -> list[Any]:
    """Kinds and params in order, whatever the names, without nodes that only pass items on."""
    return [
        (node.kind, {key: value for key, value in node.params.items() if key not in ("source", "sources", "inputs")})
        for node in workflow.nodes
        if node.kind != "map" or node.params.get("set")
    ]
