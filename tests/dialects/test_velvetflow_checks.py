from __future__ import annotations

import contextlib
import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow import check, read, write
from flowcabal_tui.dialects.velvetflow.normal import normal
from flowcabal_tui.domain.errors import WorkflowError
from tests.dialects.test_velvetflow_read import README_FORM, TODAY, doc, send

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
FOUND = {"type": "array", "items": {"type": "object", "properties": {"title": TEXT, "score": NUMBER}}}
REGISTRY = {
    action.action_id: action
    for action in (
        Action(
            action_id="news",
            description="",
            arg_schema={
                "type": "object",
                "properties": {"topic": TEXT, "limit": {"type": "integer"}},
                "required": ["topic"],
            },
            output_schema={"type": "object", "properties": {"topic": TEXT, "found": FOUND}},
        ),
        Action(
            action_id="send",
            description="",
            arg_schema={
                "type": "object",
                "properties": {
                    "text": TEXT,
                    "to": {"type": "array", "items": TEXT},
                    "how": {"enum": ["mail", "fax"], **TEXT},
                },
                "required": ["text"],
            },
            output_schema={"type": "object", "properties": {"sent": TEXT}},
        ),
    )
}


def found(document, *, warnings=False):
    """(code, node, field) of the findings."""
    wanted = ("error", "warning") if warnings else ("error",)
    return [(one.code, one.node, one.field) for one in check(document, REGISTRY) if one.severity in wanted]


def condition(**params):
    return {"id": "c", "type": "condition", "params": params}


def loop(*nodes, **more):
    given = {"loop_kind": "for_each", "source": "result_of.today.found", "item_alias": "e"}
    return {"id": "l", "type": "loop", "params": {**given, "body_subgraph": {"nodes": list(nodes)}, **more}}


MAIL = send("mail", "{{e.title}}")


def test_a_sound_document_has_no_findings():
    exports = {
        "items": {"from_node": "mail", "fields": ["sent"]},
        "aggregates": [{"name": "n", "from_node": "mail", "kind": "count", "expr": {"kind": "count"}}],
    }
    sound = doc(
        TODAY,
        condition(kind="any_greater_than", source="result_of.today.found", field="score", threshold=3)
        | {"true_to_node": "l", "false_to_node": None},
        loop(MAIL, exports=exports),
        send("all", {"__from__": "result_of.l.items", "__agg__": "format_join", "format": "{sent}"}),
    )
    assert found(sound) == [] and found(README_FORM, warnings=True) == []


@pytest.mark.parametrize(
    ("node", "finding"),
    [
        (send("x", "a") | {"action_id": "sent"}, ("UNKNOWN_ACTION_ID", "x", "action_id")),
        (send("x", "a") | {"action_id": None}, ("MISSING_REQUIRED_PARAM", "x", "action_id")),
        (send("x", "a") | {"params": {}}, ("MISSING_REQUIRED_PARAM", "x", "text")),
        (send("x", "a") | {"params": {"text": "a", "txt": "b"}}, ("UNKNOWN_PARAM", "x", "txt")),
        (send("x", "a") | {"params": {"text": "a", "to": ["b", ""]}}, ("EMPTY_PARAM_VALUE", "x", "params.to[1]")),
        (send("x", 3), ("SCHEMA_MISMATCH", "x", "text")),
        (send("x", "a") | {"params": {"text": "a", "to": ["b", 3]}}, ("SCHEMA_MISMATCH", "x", "to[1]")),
        (send("x", "a") | {"params": {"text": "a", "how": "pigeon"}}, ("SCHEMA_MISMATCH", "x", "how")),
        (send("x", {"__from__": "result_of.today.found"}), ("SCHEMA_MISMATCH", "x", "text")),
        (send("x", {"__from__": "result_of.today.found", "__agg__": "count"}), ("SCHEMA_MISMATCH", "x", "text")),
        (send("x", "result_of.today.fnd"), ("SCHEMA_MISMATCH", "x", "text")),
        (send("x", "so {{today.fnd}}"), ("SCHEMA_MISMATCH", "x", "text")),
        (send("x", "result_of.yesterday.found"), ("SCHEMA_MISMATCH", "x", "text")),
        (send("x", {"__agg__": "count"}), ("SCHEMA_MISMATCH", "x", "text")),
        (
            send("x", {"__from__": "result_of.today.found", "__agg__": "filter_map", "filter_field": "scor"}),
            ("SCHEMA_MISMATCH", "x", "text"),
        ),
        (send("x", "{{result_of.x.sent}}"), ("SELF_REFERENCE", "x", "")),
        (send("x", "a", true_to_node="today"), ("INVALID_SCHEMA", "x", "true_to_node")),
        (send("x", "a", out_params_schema=[]), ("INVALID_SCHEMA", "x", "out_params_schema")),
        (TODAY, ("INVALID_SCHEMA", "today", "id")),
        ({"id": "x", "type": "dance"}, ("INVALID_SCHEMA", "x", "type")),
        ({"id": 3, "type": "end"}, ("INVALID_SCHEMA", "", "nodes[1].id")),
        ("x", ("INVALID_SCHEMA", "", "nodes[1]")),
        (condition(kind="equals", source="result_of.today.found"), ("MISSING_REQUIRED_PARAM", "c", "value")),
        (condition(kind="equals", source="result_of.q", value=1), ("SCHEMA_MISMATCH", "c", "source")),
        (condition(kind="is_empty", source="result_of.today.found", soon=1), ("UNKNOWN_PARAM", "c", "soon")),
        (
            condition(kind="greater_than", source="result_of.today.found", field="title", threshold=1),
            ("SCHEMA_MISMATCH", "c", "field"),
        ),
        (condition(expression="{{ 1 + }}"), ("SYNTAX_ERROR", "c", "expression")),
        (
            condition(kind="is_empty", source="result_of.today.found") | {"true_to_node": "ghost"},
            ("INVALID_EDGE", "c", "true_to_node"),
        ),
        (loop(), ("INVALID_LOOP_BODY", "l", "body_subgraph.nodes")),
        (loop(MAIL, source="result_of.today.topic"), ("SCHEMA_MISMATCH", "l", "source")),
        (loop(MAIL, loop_kind="until"), ("SCHEMA_MISMATCH", "l", "loop_kind")),
        (loop(MAIL, color="red"), ("UNKNOWN_PARAM", "l", "color")),
        (loop(MAIL, max_iterations=0), ("SCHEMA_MISMATCH", "l", "max_iterations")),
        (loop(send("mail", "{{e.weight}}")), ("SCHEMA_MISMATCH", "mail", "text")),
        (loop(send("mail", "e.score")), ("SCHEMA_MISMATCH", "mail", "text")),
        (
            loop(MAIL, exports={"items": {"from_node": "mail", "fields": ["snt"]}}),
            ("SCHEMA_MISMATCH", "l", "exports.items.fields"),
        ),
        (
            loop(
                MAIL,
                exports={"aggregates": [{"name": "s", "from_node": "mail", "expr": {"kind": "sum", "field": "sent"}}]},
            ),
            ("SCHEMA_MISMATCH", "l", "exports.aggregates[0].expr.field"),
        ),
    ],
)
def test_errors_are_reported_at_their_place(node, finding):
    assert finding in found(doc(TODAY, node))


@pytest.mark.parametrize("wrong", ["action_id", "txt"])
def test_the_nearest_name_is_offered(wrong):
    node = send("x", "a") | ({"action_id": "sned"} if wrong == "action_id" else {"params": {"text": "a", "how_": 1}})
    assert [one.fix for one in check(doc(node), REGISTRY)] == ["send" if wrong == "action_id" else "how"]


def test_a_format_that_names_what_is_not_there_is_a_warning():
    text = {"__from__": "result_of.today.found", "__agg__": "format_join", "format": "{title} {weight}"}
    assert found(doc(TODAY, send("x", text))) == []
    assert [code for code, _node, _field in found(doc(TODAY, send("x", text)), warnings=True)] == ["SCHEMA_MISMATCH"]


def test_what_stands_in_a_loop_is_not_seen_from_outside():
    document = doc(TODAY, loop(MAIL), send("after", "{{result_of.mail.sent}}"))
    assert found(document) == [("SCHEMA_MISMATCH", "after", "text")]


def test_edges_that_lead_nowhere_and_circles_are_found():
    document = doc(
        send("a", "{{result_of.b.sent}}"),
        send("b", "{{result_of.a.sent}}"),
        send("c", "{{result_of.b.sent}}"),
        send("d", "x"),
        edges=[{"from": "d", "to": "ghost"}, {"from": "d", "to": "d"}, {"to": "d"}],
    )
    assert found(document) == [
        ("INVALID_SCHEMA", "", "edges[2].from"),
        ("INVALID_SCHEMA", "", "edges[0].to"),
        ("INVALID_SCHEMA", "", "edges[1]"),
        ("DISCONNECTED_GRAPH", "a", ""),
    ]


@pytest.mark.parametrize(("source", "label"), [("today", "approved"), ("c", "maybe"), ("c", "high")])
def test_an_edge_that_no_branch_takes_is_found(source, label):
    bands = [{"label": "low", "max": 3}]
    check_it = condition(kind="max_in_range", source="result_of.today.found", field="score", bands=bands)
    document = doc(TODAY, check_it, send("x", "y"), edges=[{"from": source, "to": "x", "condition": label}])
    assert found(document) == [("INVALID_EDGE", "", "edges[0].condition")]
    assert found(doc(*document["nodes"], edges=[{"from": "c", "to": "x", "condition": "low"}])) == []


def branching(*after):
    check_it = condition(kind="is_empty", source="result_of.today.found") | {
        "true_to_node": "yes",
        "false_to_node": "no",
    }
    return doc(TODAY, check_it, send("yes", "y"), send("no", "n"), *after)


def test_a_node_that_reads_a_branch_is_skipped_with_it():
    document = branching(send("after", "{{result_of.yes.sent}}"))
    assert found(document) == [] and found(document, warnings=True) == [("BRANCH_MAY_NOT_RUN", "after", "")]


def test_a_node_that_needs_both_branches_can_never_run():
    document = branching(send("after", "{{result_of.yes.sent}} {{result_of.no.sent}}"))
    assert found(document) == [("UNREACHABLE_NODE", "after", "")]


def test_a_node_may_read_earlier_nodes_of_its_branch():
    document = branching(send("after", "{{result_of.yes.sent}}"))
    document["edges"] = [{"from": "yes", "to": "after"}]
    assert found(document, warnings=True) == []


def test_a_name_that_nobody_defines_is_a_warning():
    assert found(doc(send("x", "on ${current_date}")), warnings=True) == [("UNDEFINED_REFERENCE", "x", "text")]


def test_what_is_no_object_is_a_finding_and_what_is_no_document_is_refused():
    assert [(one.code, one.field) for one in check([], REGISTRY)] == [("INVALID_SCHEMA", "workflow")]
    assert found({"nodes": 3}) == [("INVALID_SCHEMA", "", "nodes")]
    with pytest.raises(DialectError):
        check("{", REGISTRY)


def test_a_document_full_of_mistakes_is_told_in_part():
    nodes = [send(f"n{n}", "{{result_of.ghost.sent}}") for n in range(3000)]
    codes = [one.code for one in check({"nodes": nodes}, REGISTRY)]
    assert len(codes) == 501 and codes[-1] == "MORE_FINDINGS"


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "{{", "{{a b}}", "{{ x | y }}", "result_of.", "result_of.a.", "${a}", '{"__from__": 1}', "[0]", "null"]
    ),
    st.sampled_from(
        [
            [],
            {},
            [[]],
            [None],
            {"__from__": None},
            {"__from__": [[]], "__agg__": {}},
            {"nodes": None},
            {"id": "q", "type": "loop"},
        ]
    ),
)
KEYS = (
    "kind",
    "op",
    "iter",
    "params",
    "exports",
    "branches",
    "cases",
    "depends_on",
    "condition",
    "bands",
    "type",
    "edges",
    "exit",
)
BASE = branching(
    loop(MAIL, exports={"items": {"from_node": "mail", "fields": ["sent"]}, "aggregates": []}),
    send("after", "{{today.topic}}"),
)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_broken_document_is_told_or_refused_and_never_changed(data):
    document = copy.deepcopy(BASE)
    for _change in range(data.draw(st.integers(1, 4))):
        part = document
        while isinstance(part, (dict, list)) and part:
            key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
            if not isinstance(part[key], (dict, list)) or not part[key] or data.draw(st.integers(0, 3)) == 0:
                break
            part = part[key]
        if not part:
            continue
        if isinstance(part, dict) and data.draw(st.booleans()):
            key = data.draw(st.sampled_from(KEYS))
        part[key] = copy.deepcopy(data.draw(JUNK))
    before = json.dumps(document)
    for work in (normal, lambda given: check(given, REGISTRY), lambda given: write(read(given).workflow)):
        with contextlib.suppress(WorkflowError):
            work(document)
    assert json.dumps(document) == before
