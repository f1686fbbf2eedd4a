from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.drawing.rails import MAX_LANES, NODE_SIGN, PLAIN_RAILS, RailRow, rail_rows
from tests.effort import growth

Needs = tuple[str, tuple[str, ...]]


def drawn(*nodes: Needs) -> list[str]:
    return [row.cells for row in rail_rows([name for name, _needed in nodes], dict(nodes))]


def node(name: str, *parents: str) -> Needs:
    return name, parents


def test_a_chain_is_one_column() -> None:
    assert drawn(node("a"), node("b", "a"), node("c", "b")) == ["*", "*", "*"]


def test_branches_part_and_meet() -> None:
    rails = drawn(node("plan"), node("a", "plan"), node("b", "plan"), node("c", "plan"), node("merge", "a", "b", "c"))
    assert rails == ["*", "├─*", "├─│─*", "* │ │", "*─┴─┘"]


def test_a_node_without_parents_begins_beside_what_goes_on() -> None:
    assert drawn(node("a"), node("b"), node("c", "a", "b")) == ["*", "│ *", "*─┘"]


def test_parents_that_are_not_there_are_left_out() -> None:
    assert drawn(node("a", "nobody")) == ["*"]


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_every_row_shows_its_node_once_and_in_ascii_when_asked(seed: int, count: int) -> None:
    chance = random.Random(seed)
    nodes = [
        node(f"n{at}", *{f"n{chance.randrange(at)}" for _ in range(chance.randrange(4))} if at else ())
        for at in range(count)
    ]
    rows = rail_rows([name for name, _needed in nodes], dict(nodes))
    assert [row.node for row in rows] == [name for name, _needed in nodes]
    for row in rows:
        assert row.cells.count(NODE_SIGN) == 1
        assert len(row.cells) <= 2 * MAX_LANES + 1
        assert row.cells.translate(PLAIN_RAILS).isascii()


def wide(count: int) -> list[RailRow]:
    """The rows of so many nodes between two."""
    names = [f"n{at}" for at in range(count)]
    nodes = [node("s"), *(node(name, "s") for name in names), node("e", *names)]
    return rail_rows([name for name, _needed in nodes], dict(nodes))


def test_five_thousand_nodes_side_by_side_are_drawn_in_steps_that_grow_as_they_do() -> None:
    assert wide(5000)[-2].cells.endswith("…")
    assert growth(wide, 500) < 1.1
