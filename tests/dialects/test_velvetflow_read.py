from __future__ import annotations

import asyncio
import json

import pytest

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow import read
from flowcabal_tui.dialects.velvetflow.normal import normal
from flowcabal_tui.domain.workflow import Edge
from flowcabal_tui.nodes.validation import validate
from tests.compat.velvetflow_execution import simulated

TODAY = {"id": "today", "type": "action", "action_id": "news", "params": {"topic": "雪"}}
TEMPLATES = {
    "news": {"result": {"topic": "{{topic}}", "found": [{"title": "A", "score": 3}, {"title": "B", "score": 5}]}},
    "send": {"result": {"sent": "{{text}}"}},
}


def send(name, text, **more):
    return {"id": name, "type": "action", "action_id": "send", "params": {"text": text}, **more}


def doc(*nodes, edges=None, **more):
    return {"workflow_name": "w", "nodes": list(nodes), **({"edges": edges} if edges else {}), **more}


def params(document, node):
    return {one.id: one.params for one in read(document).workflow.nodes}[node]


def ran(document):
    conversion = read(document)
    assert [finding for finding in validate(conversion.workflow) if finding.severity == "error"] == []
    got = asyncio.run(simulated(conversion, TEMPLATES))
    assert got.error == ""
    return got.results


README_FORM = doc(
    {"id": "start", "type": "start"},
    TODAY,
    {"id": "hot", "type": "condition", "params": {"source": "result_of.today.topic", "op": "equals", "value": "雪"}},
    send("yes", "cold"),
    send("no", "warm"),
    {
        "id": "each",
        "type": "loop",
        "params": {
            "iter": "result_of.today.found",
            "body_subgraph": {"nodes": [send("mail", {"__from__": "loop.item.title"})], "exit": "mail"},
            "exports": {"items": {"from_node": "mail", "fields": ["sent"]}},
        },
    },
    edges=[
        {"from": "start", "to": "today"},
        {"from": "hot", "to": "yes", "condition": True},
        {"from": "hot", "to": "no", "condition": "false", "note": "else"},
    ],
)


def test_the_example_of_the_readme_runs():
    results = ran(README_FORM)
    assert results["hot"]["condition_result"] is True and "yes" in results and "no" not in results
    assert results["each"]["items"] == [{"sent": "A"}, {"sent": "B"}]


def test_both_velvetflow_forms_become_the_normal_form():
    document, _notes = normal(json.dumps(README_FORM))
    nodes = {node["id"]: node for node in document["nodes"]}
    assert nodes["hot"]["params"] == {"source": "result_of.today.topic", "kind": "equals", "value": "雪"}
    assert (nodes["hot"]["true_to_node"], nodes["hot"]["false_to_node"]) == ("yes", "no")
    assert nodes["each"]["params"]["source"] == "result_of.today.found"
    assert nodes["each"]["params"]["loop_kind"] == "for_each"
    assert document["edges"] == [{"from": "start", "to": "today"}]
    assert normal(document)[0] == document and read(document).workflow == read(README_FORM).workflow


def test_reading_changes_nothing_in_what_is_given():
    before = json.dumps(README_FORM)
    read(README_FORM)
    assert json.dumps(README_FORM) == before


def test_branch_targets_become_edges_and_null_ends():
    check = {"id": "c", "type": "condition", "params": {"kind": "equals", "source": 1, "value": 1}}
    check |= {"true_to_node": "y", "false_to_node": "null"}
    workflow = read(doc(check, send("y", "x"), edges=[{"from": "c", "to": "null", "condition": "false"}])).workflow
    assert workflow.edges == (Edge(source="c", target="y", condition="true"),)


def test_every_band_of_a_condition_leads_where_true_does():
    bands = [{"label": "low", "max": 3}, {"label": "high", "min": 4}]
    check = {"id": "c", "type": "condition", "params": {"kind": "multi_band", "source": 5, "bands": bands}}
    workflow = read(doc(check | {"true_to_node": "y", "false_to_node": "n"}, send("y", "x"), send("n", "x"))).workflow
    assert [(edge.condition, edge.target) for edge in workflow.edges] == [("low", "y"), ("high", "y"), ("false", "n")]


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("{{today.topic}}", "{{result_of.today.topic}}"),
        ("${result_of.today.topic}!", "{{result_of.today.topic}}!"),
        ("on ${{ today.topic }}", "on {{result_of.today.topic}}"),
        ("result_of.today.found[0].title", "result_of.today.found[0].title"),
        ('{"__from__": "today.topic"}', {"__from__": "result_of.today.topic"}),
        ('so: {"__from__": "result_of.today.topic"}.', "so: {{result_of.today.topic}}."),
        ("{{ result_of.today.found | length }}", "{{result_of.today.found.length}}"),
        (
            "{{ today.found.title | join(', ') }}",
            {"__from__": "result_of.today.found.title", "__agg__": "join", "separator": ", "},
        ),
        ("item", "item"),
        ("plain text", "plain text"),
    ],
)
def test_each_form_of_a_binding_is_read(text, ours):
    assert params(doc(TODAY, send("mail", text)), "mail")["params"]["text"] == ours


def test_a_name_that_nobody_defines_is_an_input_of_the_run():
    conversion = read(doc(send("mail", "on ${current_date}")))
    assert conversion.workflow.nodes[0].params["params"] == {"text": "on {{input.current_date}}"}
    assert ["current_date" in note.message for note in conversion.notes] == [True]


@pytest.mark.parametrize("text", ["{{ today.found | map(attribute='x') }}", "{% if x %}y{% endif %}"])
def test_jinja_that_cannot_be_converted_is_reported(text):
    notes = read(doc(TODAY, send("mail", text))).notes
    assert [(note.level, note.place) for note in notes] == [("lost", "nodes[1].params.text")]


def test_a_text_that_is_a_path_only_here_is_told():
    notes = read(doc(send("mail", "project.md"))).notes
    assert [(note.level, note.place) for note in notes] == [("lost", "nodes[0].params.text")]


def test_names_of_a_loop_stand_alone_or_behind_its_id():
    inner = [
        send("mail", "scene"),
        send("index", "{{index}}"),
        send("at", "each.item.title"),
        send("loop", "loop.scene.title"),
    ]
    loop = {"loop_kind": "for_each", "source": "result_of.today.found", "item_alias": "scene"}
    document = doc(TODAY, {"id": "each", "type": "loop", "params": {**loop, "body_subgraph": {"nodes": inner}}})
    body = params(document, "each")["body"]["nodes"]
    assert [node["params"]["params"]["text"] for node in body] == [
        "{{scene}}",
        "{{index}}",
        "loop.item.title",
        "loop.scene.title",
    ]


def test_the_loop_around_is_named_by_its_id_in_the_inner_one():
    def loop(name, *nodes):
        given = {
            "loop_kind": "for_each",
            "source": [1],
            "item_alias": f"{name}_item",
            "body_subgraph": {"nodes": list(nodes)},
        }
        return {"id": name, "type": "loop", "params": given}

    outer = params(doc(loop("outer", loop("inner", send("mail", "{{outer.index}} {{inner.index}}")))), "outer")
    mail = outer["body"]["nodes"][0]["params"]["body"]["nodes"][0]
    assert mail["params"]["params"]["text"] == "{{loop.outer.index}} {{loop.index}}"


def test_fields_of_a_condition_are_called_as_ours():
    check = {
        "id": "c",
        "type": "condition",
        "params": {"kind": "equals", "source": "result_of.today.topic", "value": "x"},
    }
    document = doc(TODAY, check, send("a", "{{result_of.c.condition_result}}"), send("b", "{{result_of.c.score}}"))
    assert params(document, "a")["params"]["text"] == "{{result_of.c.result}}"
    assert params(document, "b")["params"]["text"] == "{{result_of.c.resolved_value.score}}"


def test_aggregates_of_a_loop_are_computed():
    aggregates = [
        {"name": kind, "from_node": "mail", "kind": kind, "expr": {"kind": kind, "field": "sent"}}
        for kind in ("sum", "avg", "min", "max", "count")
    ]
    big = {"kind": "count_if", "field": "sent", "op": ">", "value": 3}
    aggregates.append({"name": "big", "from_node": "mail", "kind": "count_if", "expr": big})
    given = {
        "loop_kind": "for_each",
        "source": "result_of.today.found",
        "item_alias": "e",
        "body_subgraph": {"nodes": [send("mail", "e.score")]},
        "exports": {"aggregates": aggregates},
    }
    results = ran(doc(TODAY, {"id": "each", "type": "loop", "params": given}))
    assert results["each"]["aggregates"] == {"sum": 8, "avg": 4.0, "min": 3, "max": 5, "count": 2, "big": 1}


def test_todays_form_is_read():
    """Jinja in exports and conditions, a switch, depends_on."""
    loop = {
        "loop_kind": "for_each",
        "source": "{{ result_of.today.found }}",
        "item_alias": "e",
        "body_subgraph": {"nodes": [send("mail", "{{ loop.item.title }}")]},
        "exports": {"titles": "{{ result_of.mail.sent }}"},
    }
    switch = {"id": "route", "type": "switch", "params": {"source": "{{ result_of.today }}", "field": "topic"}}
    switch |= {
        "cases": [{"match": "雨", "to_node": "rain"}, {"match": "雪", "to_node": "snow"}],
        "default_to_node": "rain",
    }
    results = ran(
        doc(
            send("last", "{{ result_of.each.exports.titles | join('+') }}"),
            {"id": "each", "type": "loop", "params": loop},
            TODAY,
            {"id": "c", "type": "condition", "params": {"expression": "{{ 8 >= 5 }}"}, "true_to_node": "yes"},
            send("yes", "y", depends_on=["last"]),
            switch,
            send("rain", "r"),
            send("snow", "s"),
        )
    )
    assert results["last"]["sent"] == "A+B" and results["yes"]["sent"] == "y"
    assert "snow" in results and "rain" not in results


def test_a_parallel_without_branches_only_parts_ways():
    document = doc({"id": "p", "type": "parallel", "params": {"branches": ["a", "b"]}}, send("a", "1"), send("b", "2"))
    conversion = read(document)
    assert [(edge.source, edge.target) for edge in conversion.workflow.edges] == [("p", "a"), ("p", "b")]
    assert conversion.notes[0].level == "changed"


def test_branches_that_hold_nodes_run_together():
    branches = [{"name": "left", "nodes": [send("a", "1")]}, {"nodes": [send("b", "2")]}]
    results = ran(doc({"id": "p", "type": "parallel", "params": {"branches": branches}}))
    assert {name: value["sent"] for name, value in results["p"].items()} == {"left": "1", "2": "2"}


def test_what_cannot_be_carried_over_is_told_with_its_place():
    notes = read(
        doc(send("mail", "x", color="red") | {"params": {"text": "x", "__invoke_mode": "async"}}, theme="dark")
    ).notes
    assert {(note.level, note.place) for note in notes} == {
        ("lost", "theme"),
        ("lost", "nodes[0].color"),
        ("lost", "nodes[0].params.__invoke_mode"),
    }


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("[]", "object with nodes"),
        ("{}", "object with nodes"),
        ('{"nodes": 3}', "must be a list"),
        ('{"nodes": [3]}', "with an id"),
        ('{"nodes": [{"id": "x", "type": "dance"}]}', "must be one of"),
        ('{"nodes": [{"id": "x", "type": "switch"}]}', "needs cases"),
        ('{"nodes": [{"id": "x", "type": "loop"}]}', "body has no nodes"),
        ('{"nodes": [], "edges": [{"from": "a"}]}', "An edge needs"),
        ('{"nodes": [{"id": "' + "x" * 81 + '", "type": "end"}]}', "cannot be read"),
        ('{"nodes": ' + "[" * 100_000, "cannot be read"),
        ('{"nodes": [], "description": "' + "x" * 10_000_000 + '"}', "10000"),
        (b'{"nodes": "\xff"}', "UTF-8"),
    ],
)
def test_what_is_no_document_is_refused_with_the_reason(document, said):
    with pytest.raises(DialectError) as caught:
        read(document)
    assert said in str(caught.value)


def test_more_nodes_than_can_run_are_refused_in_words():
    nodes = [{"id": f"n{n}", "type": "end"} for n in range(20_001)]
    with pytest.raises(DialectError, match="too many nodes"):
        read({"nodes": nodes})
    assert len(read({"nodes": nodes[:-1]}).workflow.nodes) == 20_000


def test_malformed_json_is_told_with_line_and_column():
    with pytest.raises(DialectError) as caught:
        read('{"nodes": [\n  {"id": "a",}\n]}')
    assert (caught.value.line, caught.value.column) == (2, 14)
