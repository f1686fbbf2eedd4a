"""`validate` and `run` agree about VelvetFlow's documents, in both directions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from flowcabal_tui.actions.simulation import simulate
from flowcabal_tui.dialects.velvetflow import check, read
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.protocol.runs import WorkflowFailed
from tests.compat.velvetflow_execution import SimulatedActions
from tests.dialects.velvetflow_documents import REGISTRY, TEMPLATES, documents
from tests.runner.fakes import Bench, FakeModel


@dataclass(frozen=True)
class Typed(SimulatedActions):
    """Actions whose templates keep the types of values."""

    async def act(self, action: str, params: Any, *, approved: bool) -> Any:
        return simulate(action, params, self.data)


async def failures(document: dict[str, Any]) -> list[str]:
    """What went wrong in a run that nothing was checked before; inputs of the run are not given."""
    bench = Bench(FakeModel(lambda request: "a text"))
    bench.ports = replace(bench.ports, actions=Typed(TEMPLATES))
    try:
        run = await bench.run(read(document).workflow)
        await run.execute()
    except FlowCabalError as error:
        return [str(error)]
    return [f"{event.node}: {event.error} {event.detail}" for event in bench.of(WorkflowFailed)]


def told(findings: tuple[Problem, ...]) -> list[str]:
    return [f"{one.severity} [{one.code}] {one.node}.{one.field}: {one.message}" for one in findings]


@settings(
    deadline=None, max_examples=300, suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate)
)
@given(documents())
def test_a_document_is_found_wrong_exactly_when_its_run_fails(document):
    found = told(check(document, REGISTRY))
    failed = asyncio.run(failures(document))
    assert bool(found) == bool(failed), (found, failed)


def action(name, **params):
    return {"id": name, "type": "action", "action_id": "use", "params": params}


MAKE = {"id": "made", "type": "action", "action_id": "make", "params": {"of": "x"}}


def document(*nodes, **more):
    return {"workflow_name": "w", "nodes": [MAKE, *nodes], **more}


def loop(name, source, *nodes, alias="each", **more):
    given = {"loop_kind": "for_each", "source": source, "item_alias": alias, "body_subgraph": {"nodes": list(nodes)}}
    return {"id": name, "type": "loop", "params": {**given, **more}}


def choice(**more):
    return {"id": "c", "type": "condition", "params": {"expression": "{{ made.n > 2 }}"}, **more}


def results(document: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a run that nothing went wrong in, of a document that is found sound."""
    assert [one for one in told(check(document, REGISTRY)) if one.startswith("error")] == []

    async def ran() -> dict[str, Any]:
        bench = Bench(FakeModel(lambda request: "a text"))
        bench.ports = replace(bench.ports, actions=Typed(TEMPLATES))
        run = await bench.run(read(document).workflow)
        await run.execute()
        assert [f"{event.node}: {event.error} {event.detail}" for event in bench.of(WorkflowFailed)] == []
        return {str(node): output.value for node, output in run.outputs.items()}

    return asyncio.run(ran())


@pytest.mark.parametrize(
    ("expression", "held"),
    [
        ("{{ made.n > 2 }}", True),
        ("{{ result_of.made.n > 2 }}", True),
        ("{{ (made.rows | length) > 2 }}", False),
        ("{{ made.rows | length == 2 and made.title | upper == 'SNOW' }}", True),
        ("{{ made.rows | map(attribute='score') | sum > 5 }}", True),
        ("{{ made.rows | sum(attribute='score') == 6 }}", True),
        ("{{ made.rows[0].name in ['a', 'b'] and made.meta is not none }}", True),
        ("{{ 'warm' if made.n < 2 else made.title == 'snow' }}", True),
        ("{{ made.title ~ '!' == 'snow!' }}", True),
        ("made.n > 2", True),
        ("len(made['rows']) == 2 and any(row.score > 4 for row in made.rows)", True),
    ],
)
def test_a_path_in_a_condition_reads_the_node(expression, held):
    node = {"id": "c", "type": "condition", "params": {"expression": expression}}
    assert results(document(node))["c"]["result"] is held


def test_an_id_that_is_no_name_can_stand_in_an_expression():
    first = {**MAKE, "id": "made-1"}
    node = {"id": "c", "type": "condition", "params": {"expression": "{{ made-1.n == 3 and result_of.made-1.n > 2 }}"}}
    assert results({"workflow_name": "w", "nodes": [first, node]})["c"]["result"] is True


def test_exports_of_nested_loops_read_the_nodes_of_their_own_bodies():
    inner = loop(
        "inner", "{{ row.tags }}", action("said", x="{{ tag }}"), alias="tag", exports={"all": "{{ said.said }}"}
    )
    outer = loop("outer", "{{ made.rows }}", inner, alias="row", exports={"per_row": "{{ inner.exports.all }}"})
    after = action("after", x="{{ outer.exports.per_row }}")
    assert results(document(outer, after))["after"]["said"] == ["x", "y", "z"]


def test_an_outer_loop_sees_what_a_condition_in_its_body_compared():
    check_it = {
        "id": "hot",
        "type": "condition",
        "params": {"kind": "greater_than", "source": "row.score", "threshold": 3},
    }
    outer = loop("outer", "made.rows", check_it, alias="row", exports={"hot": "{{ hot.condition_result }}"})
    assert results(document(outer))["outer"]["aggregates"] == {"hot": [False, True]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ made.rows | length }}", 2),
        ("{{ made.title | length }}", 4),
        ("{{ (made.rows) | length }} rows", "2 rows"),
        ("{{ made.rows.length }}", 2),
        ("result_of.made.rows.length", 2),
        ({"__from__": "result_of.made.meta.deep.length"}, 1),
        ("{{ made.rows.name | join('; ') }}", "a; b"),
        ("{{ made.rows | first }}", {"name": "a", "score": 1, "tags": ["x", "y"]}),
    ],
)
def test_a_filter_and_a_length_are_carried_out(text, value):
    assert results(document(action("after", x=text)))["after"]["said"] == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{% if made %}yes{% endif %}", "NOT_CARRIED_OVER"),
        ("so {# a comment #}", "NOT_CARRIED_OVER"),
        ("{{ made.rows | selectattr('score') }}", "NOT_CARRIED_OVER"),
        ("{{ made.n + 1 }}", "NOT_CARRIED_OVER"),
        ("{{ (made.n | abs) > 0 }}", "NOT_CARRIED_OVER"),
        ("on {{ made.title", "SYNTAX_ERROR"),
        ("{{ }}", "SYNTAX_ERROR"),
        ('as {"__from__": "result_of.made.rows", "__agg__": "count"} says', "NOT_CARRIED_OVER"),
        ("state.mood", "NOT_CARRIED_OVER"),
    ],
)
@pytest.mark.parametrize("place", ["a parameter", "an export", "a loop's parameter", "a prompt"])
def test_what_cannot_be_said_here_is_found_and_never_sent_as_text(text, code, place):
    inside = loop("l", "made.rows", action("said", x=text if place == "a loop's parameter" else "y"))
    inside["params"]["exports"] = {"got": text if place == "an export" else "{{ said.said }}"}
    thought = {"id": "p", "type": "reasoning", "params": {"task_prompt": text if place == "a prompt" else "go"}}
    found = check(document(action("a", x=text if place == "a parameter" else "y"), inside, thought), REGISTRY)
    errors = [one.code for one in found if one.severity == "error"]
    bare = "{" not in text and place in ("an export", "a prompt")
    assert (code in errors) or bare or (place == "a prompt" and "__from__" in text)


def test_a_loop_without_exports_gives_nothing_that_could_be_read():
    found = check(document(loop("l", "made.rows", action("said", x="y")), action("a", x="{{ l.items }}")), REGISTRY)
    assert [(one.code, one.node, one.field) for one in found] == [("SCHEMA_MISMATCH", "a", "x")]


@pytest.mark.parametrize("given", [{"true_to_node": None}, {"true_to_node": "null"}])
def test_a_branch_that_is_null_ends_whatever_an_edge_says(given):
    edges = [{"from": "c", "to": "yes", "condition": "true"}, {"from": "c", "to": "no", "condition": False}]
    ran = results(document(choice(**given), action("yes", x="y"), action("no", x="n"), edges=edges))
    assert ran["c"]["result"] is True and "yes" not in ran and "no" not in ran


def test_a_null_is_a_value_to_compare_with():
    node = {"id": "c", "type": "condition", "params": {"kind": "equals", "source": "made.title", "value": None}}
    assert results(document(node))["c"]["result"] is False


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        ({"edges": {}}, ("INVALID_SCHEMA", "", "edges")),
        ({"edges": ""}, ("INVALID_SCHEMA", "", "edges")),
        ({"nodes": [MAKE, action("a", x={"__agg__": "count"})]}, ("SCHEMA_MISMATCH", "a", "x")),
        ({"nodes": [MAKE, action("a", x="{{ state.mood }}")]}, ("STATE_NOT_WRITTEN", "a", "x")),
    ],
)
def test_what_was_passed_over_is_found(wrong, finding):
    assert finding in [
        (one.code, one.node, one.field) for one in check({**document(), **wrong}, REGISTRY) if one.severity == "error"
    ]


@pytest.mark.parametrize("end", ["entry", "exit"])
def test_an_entry_or_an_exit_that_is_not_in_the_body_is_found(end):
    node = loop("l", "made.rows", action("said", x="y"))
    node["params"]["body_subgraph"][end] = "ghost"
    found = check(document(node), REGISTRY)
    assert [(one.code, one.node, one.field) for one in found] == [("INVALID_EDGE", "l", f"body_subgraph.{end}")]


@pytest.mark.parametrize("merge", ["{{ yes.said }} {{ no.said }}", "{{ yes.said }}"])
def test_a_merge_that_a_branch_would_skip_is_an_error(merge):
    edges = [{"from": "yes", "to": "m"}, {"from": "no", "to": "m"}]
    branching = choice(true_to_node="yes", false_to_node="no")
    found = check(
        document(branching, action("yes", x="y"), action("no", x="n"), action("m", x=merge), edges=edges), REGISTRY
    )
    assert [one.node for one in found if one.severity == "error"] == ["m"]


def test_a_node_of_the_document_that_is_out_of_sight_is_no_input():
    inner = loop("l", "made.rows", action("said", x="y"), exports={"got": "{{ said.said }}"})
    found = check(document(inner, action("a", x="{{ said.said }} {{ each.name }} {{ item }}")), REGISTRY)
    assert [(one.code, one.node) for one in found if one.severity == "error"] == [("SCHEMA_MISMATCH", "a")] * 3


def test_a_finding_names_the_place_of_the_document_and_not_of_the_conversion():
    exports = {"aggregates": [{"name": "s", "from_node": "m", "expr": {"kind": "sum", "field": "title"}}]}
    inner = loop("l", "made.rows", {**MAKE, "id": "m"}, exports=exports)
    missing = loop("k", "made.rows", action("q", x={"deep": ["{{ each.nam }}"]}), alias="each")
    found = check(document(inner, missing), REGISTRY)
    assert [(one.node, one.field) for one in found] == [("l", "exports.aggregates[0].expr.field"), ("q", "x.deep[0]")]
