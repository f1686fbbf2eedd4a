"""Random items and params: our kinds do what SmartTavern's node types are described to do, and tell every mistake."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import jmespath
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.dialects.smarttavern.compile import workflow_of
from flowcabal_tui.dialects.smarttavern.document import TavernFlow, shape
from tests.nodes.flows import bench
from tests.nodes.item_flows import Allowed

Item = dict[str, Any]
FIELDS = st.sampled_from(["a", "b", "名"])
LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x", "x,y", "，"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=2))
ITEMS = st.lists(st.dictionaries(FIELDS, VALUES, max_size=3), max_size=3)
QUERIES = st.sampled_from(
    [
        "a",
        "b",
        '"名"',
        "a.b",
        "a[0]",
        "length(a)",
        "a > b",
        "a == b",
        "[a, b]",
        "{x: a}",
        "sort(keys(@))",
        "a ||",
        "nope(",
        "`1`",
    ]
)
NODES = st.one_of(
    st.fixed_dictionaries(
        {"set": st.dictionaries(FIELDS, QUERIES, max_size=3)}, optional={"overwrite": st.booleans()}
    ).map(lambda params: ("Map", params)),
    st.fixed_dictionaries({"where": QUERIES}).map(lambda params: ("Filter", params)),
    st.fixed_dictionaries(
        {"from_field": FIELDS}, optional={"overwrite": st.booleans(), "prefix": st.sampled_from(["", "p_"])}
    ).map(lambda params: ("Merge", params)),
    st.fixed_dictionaries(
        {"from_field": FIELDS}, optional={"dest_field": FIELDS, "delimiter": st.sampled_from([",", "，", ""])}
    ).map(lambda params: ("Split", params)),
)


def mapped(item: Item, params: Mapping[str, Any]) -> list[Item]:
    made = dict(item)
    for name, query in params["set"].items():
        value = jmespath.search(query, item)
        if name not in made or params.get("overwrite", True):
            made[name] = value
    return [made]


def filtered(item: Item, params: Mapping[str, Any]) -> list[Item]:
    return [item] if jmespath.search(params["where"], item) else []


def merged(item: Item, params: Mapping[str, Any]) -> list[Item]:
    made = dict(item)
    for name, value in dict(item.get(params["from_field"], {}).items()).items():
        if (to := params.get("prefix", "") + name) not in made or params.get("overwrite", True):
            made[to] = value
    return [made]


def divided(item: Item, params: Mapping[str, Any]) -> list[Item]:
    whole = item[params["from_field"]]
    parts = whole.split(params.get("delimiter", ",")) if isinstance(whole, str) else whole
    if not isinstance(parts, list):
        raise TypeError
    return [{**item, params.get("dest_field", "element"): part} for part in parts]


DESCRIBED: Mapping[str, Callable[[Item, Mapping[str, Any]], list[Item]]] = {
    "Map": mapped,
    "Filter": filtered,
    "Merge": merged,
    "Split": divided,
}


def described(kind: str, params: Mapping[str, Any], items: list[Item]) -> tuple[list[Item], bool]:
    """The items as the table of the original says, and whether one of them was bad: that one stays as it was."""
    made, bad = [], False
    for item in items:
        try:
            made += DESCRIBED[kind](item, params)
        except Exception:
            made.append(item)
            bad = True
    return made, bad


@settings(deadline=None, max_examples=300)
@given(st.lists(NODES, min_size=1, max_size=3), ITEMS)
def test_a_chain_of_item_nodes_gives_what_is_described(nodes, items):
    asyncio.run(_followed(nodes, items))


async def _followed(nodes: list[tuple[str, dict[str, Any]]], items: list[Item]) -> None:
    specs = [{"id": f"n{n}", "type": kind, "params": params} for n, (kind, params) in enumerate(nodes)]
    entry = {"id": "e", "type": "Sequence", "children": [spec["id"] for spec in specs]}
    flow = shape({"id": "f", "version": 1, "entry": "e", "nodes": [entry, *specs]})
    assert isinstance(flow, TavernFlow)
    made = bench(Allowed())
    run = await made.run(workflow_of(flow)[0], inputs={"items": items})
    assert await run.execute() == "done"
    for n, (kind, params) in enumerate(nodes):
        items, bad = described(kind, params, items)
        value = run.outputs[f"n{n}"].value
        assert value["items"] == items
        assert bool(value["errors"]) >= bad, "every mistake is told"
