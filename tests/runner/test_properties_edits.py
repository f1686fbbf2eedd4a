"""Edits between runs, what a quote says of them, and documents that are broken."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.nodes.plan import plan
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.project.runs.basis import Basis
from flowcabal_tui.project.runs.quoting import quote
from flowcabal_tui.runner.run import Run
from tests.nodes.flows import edge
from tests.runner.test_properties import Upset, World, documents, fast

# edits, and what a quote says of a run


def edited(workflow: Workflow, number: int, how: str) -> Workflow:
    """The workflow with another text in one node, without an edge, or with its nodes in another order."""
    nodes, edges = list(workflow.nodes), list(workflow.edges)
    place = number % len(nodes)
    if how == "turn":
        nodes.reverse()
    elif how == "unlink" and edges:
        del edges[number % len(edges)]
    else:
        changed = {"prompt": "prompt", "action": "params", "end": "value", "state_write": "updates"}
        field_name = changed.get(nodes[place].kind)
        params = dict(nodes[place].params)
        if field_name == "prompt":
            params["prompt"] = [*params["prompt"], {"kind": "text", "text": "edited"}]
        elif field_name is not None:
            params[field_name] = {**params[field_name], "edited": True}
        nodes[place] = nodes[place].model_copy(update={"params": params})
    return workflow.model_copy(update={"nodes": tuple(nodes), "edges": tuple(edges)})


edits = st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["text", "unlink", "turn"])), min_size=1, max_size=2)


@fast
@given(documents(), edits)
def test_after_an_edit_everything_is_as_if_made_anew_and_costs_what_the_quote_said(drawn, changes):
    asyncio.run(_as_if_made_anew(drawn, changes))


async def _as_if_made_anew(drawn: tuple[Workflow, list[Workflow]], changes: list[tuple[int, str]]) -> None:
    workflow, library = drawn
    world = World(library, {}, [])
    await world.to_the_end(workflow, "r0", [])
    for number, (place, how) in enumerate(changes, 1):
        workflow = edited(workflow, place, how)
        name = f"r{number}"
        quoted = await quote((await world.begin(workflow, name)).scope, Basis(TokenEstimator("fake")))
        calls, acts = len(world.bench.model.calls), len(world.acts.done)
        run = await world.to_the_end(workflow, name, [])
        costly = spent(world, run)
        assert not costly & set(quoted.served), "what the quote said is served cost something"
        assert costly <= set(quoted.would_run), "what cost something was in the quote"
        assert quoted.most is not None, quoted.open_ends
        assert len(world.bench.model.calls) - calls <= quoted.most.calls, "no more calls than the quote said at most"
        assert len(world.acts.done) == acts or quoted.would_run
        anew = await World(library, {}, []).to_the_end(workflow, name, [])
        assert run.outputs == anew.outputs
        assert run.scope.state.view() == anew.scope.state.view()


def spent(world: World, run: Run) -> set[NodeId]:
    """The nodes of the workflow in which a model was called, something was done or somebody asked."""
    found = set()
    for event in world.journal.events:
        if event.run != run.scope.id:
            continue
        called = event.kind == "attempt-done" and event.payload.get("author") == "model"
        if (called and not event.payload["cached"]) or event.kind in ("asked", "act-started"):
            found.add(NodeId(event.node.partition("/")[0]))
    return found


# broken documents


def broken(workflow: Workflow, number: int, how: str) -> Workflow:
    """The workflow with something wrong in it."""
    nodes, edges = list(workflow.nodes), list(workflow.edges)
    one = nodes[number % len(nodes)]
    place = nodes.index(one)
    params = {
        "nobody": {"prompt": [{"kind": "virtual", "node": "nobody"}]},
        "itself": {"prompt": [{"kind": "virtual", "node": one.id}]},
        "path": {"prompt": [{"kind": "text", "text": "{{result_of.nobody.x}} {{[}} {{input.no}}"}]},
        "field": {"no such field": 1},
        "kinds": {"prompt": 5, "value": [[]], "body": {}, "source": {}},
    }
    if how in params:
        nodes[place] = one.model_copy(update={"kind": "prompt", "params": params[how]})
    elif how == "kind":
        nodes[place] = one.model_copy(update={"kind": "no such kind"})
    elif how == "double":
        nodes.append(one)
    elif how == "circle":
        edges += [edge(one.id, nodes[-1].id), edge(nodes[-1].id, one.id)]
    elif how == "edge":
        edges.append(edge(one.id, "nobody", "true"))
    elif how == "label":
        edges.append(edge(one.id, nodes[-1].id, "no such branch"))
    elif how == "ids":
        nodes[place] = one.model_copy(update={"id": NodeId("a/b")})
    elif how == "empty":
        nodes = []
    return workflow.model_copy(update={"nodes": tuple(nodes), "edges": tuple(edges)})


harms = st.sampled_from(
    ["nobody", "itself", "path", "field", "kinds", "kind", "double", "circle", "edge", "label", "ids", "empty"]
)


@fast
@given(documents(), st.lists(st.tuples(st.integers(0, 8), harms), min_size=1, max_size=2))
def test_a_broken_document_has_findings_or_ends_and_a_plan_of_it_is_refused_with_a_reason(drawn, damage):
    workflow, library = drawn
    for number, how in damage:
        workflow = broken(workflow, number, how) if workflow.nodes else workflow
    asyncio.run(_refused_or_ends(workflow, library))


async def _refused_or_ends(workflow: Workflow, library: list[Workflow]) -> None:
    errors = [finding for finding in validate(workflow) if finding.severity == "error"]
    assert all(finding.code and finding.message for finding in errors)
    world = World(library, {}, [])
    try:
        plan(workflow.nodes, workflow.edges)
    except WorkflowError:
        assert errors, "what cannot be planned has findings"
        return
    _run, state = await world.process(workflow, "r1", Upset("none", 0))
    assert state in ("done", "failed")
