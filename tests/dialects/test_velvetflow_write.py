from __future__ import annotations

import pytest

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow import read, write
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from tests.dialects.test_velvetflow_read import README_FORM, TODAY, doc, send
from tests.nodes.flows import act, body, edge, node
from tests.runner.fakes import flow, prompt


def again(workflow: Workflow) -> Workflow:
    return read(write(workflow)[0]).workflow


def test_what_was_read_is_written_and_read_the_same():
    workflow = read(README_FORM).workflow
    assert again(workflow) == workflow


def test_a_document_is_in_the_form_of_the_code():
    document, notes = write(read(README_FORM).workflow)
    nodes = {one["id"]: one for one in document["nodes"]}
    assert notes == () and document["workflow_name"] == "w"
    assert nodes["hot"]["true_to_node"] == "yes" and nodes["hot"]["params"]["kind"] == "equals"
    assert nodes["each"]["params"]["loop_kind"] == "for_each"
    assert document["edges"] == [{"from": "start", "to": "today", "condition": None}]


def test_exports_and_bands_come_back():
    bands = [{"label": "low", "max": 3.0, "min": None}, {"label": "high", "min": 4.0, "max": None}]
    check = {"id": "c", "type": "condition", "params": {"kind": "multi_band", "source": 5, "bands": bands}}
    exports = {
        "items": {"from_node": "mail", "fields": ["sent"], "mode": "last"},
        "aggregates": [
            {
                "name": "n",
                "from_node": "mail",
                "kind": "count_if",
                "expr": {"kind": "count_if", "field": "sent", "value": 0},
            }
        ],
        "all": "{{ result_of.mail.sent }}",
    }
    given = {"loop_kind": "for_each", "source": "result_of.today.found", "item_alias": "e", "exports": exports}
    given |= {"body_subgraph": {"nodes": [send("mail", "e.title")], "exit": "mail"}, "max_iterations": 7}
    document = doc(
        TODAY,
        {"id": "each", "type": "loop", "params": given},
        check | {"true_to_node": "y", "false_to_node": "y"},
        send("y", "{{result_of.each.exports.all}} {{result_of.c.condition_result}}"),
    )
    workflow = read(document).workflow
    assert again(workflow) == workflow


def test_an_export_is_read_where_it_is_written():
    given = {"loop_kind": "for_each", "source": "result_of.today.found", "exports": {"all": "{{ result_of.mail }}"}}
    given |= {"body_subgraph": {"nodes": [send("mail", "e.title")]}, "item_alias": "e"}
    check = {"kind": "list_not_empty", "source": "result_of.each.exports.all"}
    document, _notes = write(
        read(
            doc(
                TODAY,
                {"id": "each", "type": "loop", "params": given},
                {"id": "any", "type": "condition", "params": check, "true_to_node": "y", "false_to_node": None},
                send("y", "{{result_of.each.exports.all}}"),
            )
        ).workflow
    )
    nodes = {one["id"]: one["params"] for one in document["nodes"]}
    assert nodes["any"]["source"] == "result_of.each.exports.all"
    assert "{{result_of.each.exports.all}}" in nodes["y"].values()


def test_what_it_cannot_hold_is_told():
    inner = node("inner", "loop", source=[1], body=body(act("x")))
    loop = node(
        "loop",
        "loop",
        source="input.chapters",
        body=body(inner),
        side_by_side=2,
        accumulator={"compute": {"n": "1 + 1"}},
        exports={"aggregates": [{"name": "all", "kind": "join", "source": "result_of.inner.items"}]},
    )
    both = node("both", "parallel", branches={"a": body(act("y"))})
    _document, notes = write(flow(loop, both, node("end", "end", value=1)))
    assert len(notes) == 7 and {note.level for note in notes} == {"lost"}
    assert {note.place for note in notes} == {"loop", "loop.exports.all", "both", "end"}


def test_an_edge_beyond_the_branches_stays_an_edge():
    check = node("c", "condition", kind="equals", source=1, value=1)
    document, _notes = write(
        flow(check, act("a"), act("b"), edges=(edge("c", "a", "true"), edge("c", "b", "true"), edge("a", "b")))
    )
    assert document["nodes"][0]["true_to_node"] == "a"
    assert [(one["from"], one["to"], one["condition"]) for one in document["edges"]] == [
        ("c", "b", "true"),
        ("a", "b", None),
    ]
    assert set(read(document).workflow.edges) == {
        Edge(source="c", target="a", condition="true"),
        Edge(source="c", target="b", condition="true"),
        Edge(source="a", target="b"),
    }


@pytest.mark.parametrize("where", ["top", "body"])
def test_nodes_that_velvetflow_does_not_have_are_named(where):
    draft = prompt("draft", "write")
    nodes = draft if where == "top" else node("loop", "loop", source=[1], body=body(draft))
    with pytest.raises(DialectError, match="VelvetFlow cannot represent") as caught:
        write(flow(nodes))
    assert "draft (prompt)" in str(caught.value)


def test_a_node_with_bad_parameters_is_not_written():
    with pytest.raises(WorkflowError, match="bad parameters"):
        write(flow(Node(id="x", kind="action", params={})))
