"""Parameters laid over a document for one run."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.project.workflows.overrides import overridden

A = NodeId("a")
FLOW = Workflow(id="f", nodes=(Node(id=A, params={"draft": {"model": "m"}, "role": "user"}), Node(id=NodeId("b"))))


def test_dots_lead_inside_and_the_document_stays_as_it_was():
    laid = overridden(FLOW, ((A, {"draft.temperature": 0.1, "new.inner": 1}), (A, {"role": "agent"})))
    assert laid.node(A).params == {"draft": {"model": "m", "temperature": 0.1}, "role": "agent", "new": {"inner": 1}}
    assert FLOW.node(A).params == {"draft": {"model": "m"}, "role": "user"}
    assert laid.nodes[1] is FLOW.nodes[1]
    assert overridden(FLOW, ()) is FLOW


def test_a_place_that_is_not_there_is_named():
    with pytest.raises(RunError, match="no node x"):
        overridden(FLOW, ((NodeId("x"), {}),))
    with pytest.raises(RunError, match=r"role\.model"):
        overridden(FLOW, ((A, {"role.model": "m"}),))
