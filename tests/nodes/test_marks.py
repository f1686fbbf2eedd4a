"""Stale marks and what is to be done, as functions of a graph."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.nodes.marks import (
    stale_after_edit,
    stale_after_run,
    todo,
)
from flowcabal_tui.nodes.plan import plan
from tests.runner.fakes import prompt

DIAMOND = plan([prompt("a", "x"), prompt("b", "@a"), prompt("c", "@a"), prompt("d", "@b", "@c"), prompt("e", "y")])


def test_an_edit_marks_the_node_and_all_behind_it():
    marks = {"a": "direct", "b": "propagated", "c": "propagated", "d": "propagated"}
    assert stale_after_edit(DIAMOND, "a") == marks
    assert stale_after_edit(DIAMOND, "b") == {"b": "direct", "d": "propagated"}
    assert stale_after_edit(DIAMOND, "d") == {"d": "direct"}


def test_what_has_no_output_is_not_stale():
    assert stale_after_edit(DIAMOND, "a", has_output=lambda node: node in "ad") == {"a": "direct", "d": "propagated"}
    assert stale_after_edit(DIAMOND, "a", has_output=lambda node: node == "d") == {"d": "propagated"}


def test_another_output_marks_those_behind():
    assert stale_after_run(DIAMOND, "b") == {"d": "propagated"}
    assert stale_after_run(DIAMOND, "d") == {}


def test_what_is_to_be_done_stops_at_outputs_and_comes_in_levels():
    assert todo(DIAMOND, ["d"], lambda _node: False) == (("a",), ("b", "c"), ("d",))
    assert todo(DIAMOND, ["d"], lambda node: node == "b") == (("a",), ("c",), ("d",))
    assert todo(DIAMOND, ["d", "e"], lambda _node: True) == (("d", "e"),)
    assert todo(DIAMOND, [], lambda _node: False) == ()


def test_a_cycle_of_nodes_is_refused():
    with pytest.raises(WorkflowError, match="cycle"):
        todo(plan([prompt("a", "@b"), prompt("b", "@a")]), ["a"], lambda _node: False)
