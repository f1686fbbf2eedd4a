"""Whose form a document has, and that whatever it holds, reading it gives a workflow or says why not."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcabal_tui.dialects.detect import DIALECTS, converted, dialect_of, findings_of, recognised, written
from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.sizes import MAX_VALUES
from tests.effort import effort

DOCUMENTS = [
    ({"id": "w", "nodes": []}, "ours"),
    ({"id": "w", "nodes": [{"id": "a", "kind": "loop"}]}, "ours"),
    ({"id": "w", "name": "n", "nodes": [{"id": "a"}]}, "ours"),
    ({"nodes": [{"id": "a", "params": {}}]}, "ours"),
    ({"workflow_name": "w", "nodes": []}, "velvetflow"),
    ({"nodes": [{"id": "a", "type": "action", "action_id": "x"}]}, "velvetflow"),
    ({"id": "w", "nodes": [{"id": "a", "type": "condition", "params": {"kind": "equals"}}]}, "velvetflow"),
    ({"id": "w", "version": 1, "entry": "a", "nodes": [{"id": "a", "type": "Custom"}]}, "smarttavern"),
    ({"nodes": [{"id": "a", "type": "Sequence"}]}, "smarttavern"),
    ({"id": "w", "nodes": {"a": {}}}, "flowcabal"),
    ({"id": "w", "nodes": [["a", {"id": "a"}]]}, "flowcabal"),
    ({"name": "w", "nodes": [{"id": "a", "label": "A", "systemPrompt": []}]}, "flowcabal"),
    ({"id": "w", "nodes": [], "target_nodes": [], "outputs": {}}, "flowcabal"),
    ({"name": "w", "nodes": []}, "flowcabal"),
    ({"id": "w"}, None),
    ({"id": "w", "nodes": 3}, None),
    ([], None),
    (None, None),
]


@pytest.mark.parametrize(("document", "dialect"), DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_document_is_recognised_by_its_form(document, dialect):
    assert dialect_of(document) == dialect
    if dialect is None:
        with pytest.raises(DialectError):
            recognised(json.dumps(document))


def test_ours_is_read_from_json_and_yaml_alike():
    text = '{"id": "w", "nodes": [{"id": "a", "params": {"prompt": [{"kind": "text", "text": "x"}]}}]}'
    yaml = "id: w\nnodes:\n- id: a\n  params:\n    prompt:\n    - {kind: text, text: x}\n"
    assert converted(recognised(text)).workflow == converted(recognised(yaml)).workflow
    assert converted(recognised(text)).notes == ()


def test_truth_values_of_yaml_are_labels_of_branches_and_told():
    read = converted(recognised("id: w\nnodes: [{id: a}, {id: b}]\nedges: [{source: a, target: b, condition: true}]\n"))
    assert read.workflow.edges[0].condition == "true"
    assert [note.place for note in read.notes] == ["edges[0].condition"]


def test_objects_are_counted_before_they_are_built():
    with effort(1000), pytest.raises(DialectError, match=str(MAX_VALUES)):
        recognised("[" + "{}," * (MAX_VALUES + 1) + "{}]")


def test_a_document_of_ours_is_written_as_it_was_given():
    document = {"id": "w", "nodes": [{"id": "a", "params": {"prompt": []}}], "metadata": {"x": [1]}}
    assert written(converted(recognised(json.dumps(document))).workflow, "ours") == (document, ())


NAMES = st.sampled_from(["a", "b", "", "x y", "章", "a/b", "result_of.a.text", "{{a.b}}", "w@1"])
FIELDS = st.sampled_from(
    [
        *(
            "id",
            "kind",
            "type",
            "params",
            "nodes",
            "edges",
            "name",
            "label",
            "entry",
            "version",
            "children",
            "if",
            "then",
        ),
        *("systemPrompt", "userPrompt", "apiConfig", "action_id", "workflow_name", "source", "target", "from", "to"),
        *("body_subgraph", "exports", "loop_kind", "subflow", "ref", "condition", "true_to_node", "blocks", "content"),
        *("__from__", "__agg__", "outputs", "upstream", "target_nodes", "stale_nodes", "where", "set", "function"),
    ]
)
TYPES = st.sampled_from(
    ["action", "condition", "loop", "parallel", "start", "end", "switch", "Sequence", "If", "Subflow", "Map", "LLMChat"]
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), NAMES, TYPES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(FIELDS, inner, max_size=4)),
    max_leaves=10,
)
NODES = st.builds(
    lambda name, kind, more: {"id": name, "type": kind, **more},
    NAMES,
    TYPES,
    st.dictionaries(FIELDS, VALUES, max_size=4),
)
ANY = st.builds(
    lambda nodes, more, name: {**more, **name, "nodes": nodes},
    st.one_of(st.lists(NODES, max_size=4), st.dictionaries(NAMES, NODES, max_size=3), VALUES),
    st.dictionaries(FIELDS, VALUES, max_size=3),
    st.sampled_from([{"id": "w"}, {"workflow_name": "w"}, {"id": "w", "version": 1, "entry": "a"}, {"name": "w"}]),
)


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(ANY)
def test_any_document_is_read_or_refused_with_a_reason(document):
    with effort(2_000_000), suppress(WorkflowError):  # any other error fails the test
        found = recognised(json.dumps(document))
        workflow = converted(found).workflow
        findings_of(found)
        for to in DIALECTS:
            with suppress(WorkflowError):
                json.dumps(written(workflow, to)[0])
