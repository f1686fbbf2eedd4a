"""Changes of a document as values: what is where, and what a change leaves alone."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.examples import example
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.nodes.validation import validate
from flowcabal_tui.tui.editing import changes
from flowcabal_tui.tui.editing.history import EditHistory
from flowcabal_tui.tui.editing.places import (
    STEPS,
    Graph,
    Spot,
    graph_at,
    part_for_editor,
    spot_of,
    whole_with,
    with_graph,
)
from flowcabal_tui.tui.editing.starters import starter

PLAN, DRAFT, NEW = NodeId("plan"), NodeId("draft"), NodeId("new")


def prompt(node: str, *reads: str, text: str = "Write.") -> Node:
    blocks = [{"kind": "text", "text": text}, *({"kind": "virtual", "node": each} for each in reads)]
    return Node(id=NodeId(node), params={"prompt": blocks})


def two() -> Graph:
    return Graph((prompt("plan"), prompt("draft", "plan", text="After {{result_of.plan}}.")))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_new_node_of_every_kind_begins_with_params_that_its_kind_can_read(kind: str) -> None:
    kinds()[kind].params.model_validate(starter(kind))


def test_a_node_is_added_behind_the_cursor_with_a_free_id() -> None:
    graph, made = changes.added(two(), "human", "Plan", PLAN)
    assert [node.id for node in graph.nodes] == [PLAN, made, DRAFT]
    assert made not in (PLAN, DRAFT)


def test_another_id_is_followed_by_blocks_bindings_and_edges() -> None:
    graph = Graph(two().nodes, (Edge(source=PLAN, target=DRAFT),))
    renamed, made = changes.with_id(graph, PLAN, "outline")
    draft = renamed.node(DRAFT)
    assert draft is not None
    assert [block.get("node") or block["text"] for block in draft.params["prompt"]] == [
        "After {{result_of.outline}}.", "outline",
    ]  # fmt: skip
    assert renamed.edges == (Edge(source=made, target=DRAFT),)


def test_an_id_that_begins_like_another_is_left_alone() -> None:
    graph = Graph((*two().nodes, prompt("plan-2"), prompt("last", text="{{result_of.plan-2}}")))
    renamed, _made = changes.with_id(graph, PLAN, "outline")
    last = renamed.node(NodeId("last"))
    assert last is not None and last.params["prompt"][0]["text"] == "{{result_of.plan-2}}"


def test_removing_takes_blocks_and_edges_and_names_the_readers_before() -> None:
    graph = Graph(two().nodes, (Edge(source=PLAN, target=DRAFT),))
    assert [node.id for node in changes.who_reads(graph, PLAN)] == [DRAFT]
    left = changes.removed(graph, PLAN)
    assert left.edges == ()
    assert [block["kind"] for block in left.nodes[0].params["prompt"]] == ["text"]


def test_copies_refer_to_each_other_as_the_originals_did() -> None:
    graph, made = changes.pasted(two(), two().nodes, DRAFT)
    copy = graph.nodes[-1]
    assert made == graph.nodes[2].id
    assert copy.params["prompt"][1]["node"] == made


def test_what_depends_on_a_node_cannot_come_before_it() -> None:
    graph = two()
    assert changes.possible_sources(Workflow(id="w"), graph, PLAN) == ()
    assert [node.id for node in changes.possible_sources(Workflow(id="w"), graph, DRAFT)] == [PLAN]


def test_every_way_to_connect_can_be_taken_away_again() -> None:
    graph = Graph((prompt("plan"), Node(id=NEW, kind="map"), prompt("draft")))
    for link in (
        changes.Link(PLAN, NEW, "field", "source"),
        changes.Link(PLAN, DRAFT, "block", "prompt"),
        changes.Link(PLAN, DRAFT, "edge", "true"),
    ):
        joined = changes.connected(graph, link)
        assert link in changes.links_into(joined, link.target)
        assert link not in changes.links_into(changes.disconnected(joined, link), link.target)


def test_a_branching_node_offers_its_branches() -> None:
    node = Node(id=PLAN, kind="condition", params={"kind": "not_empty", "source": "input.x"})
    assert set(changes.branches_of(node)) == {"true", "false"}


def test_paths_of_the_document_and_of_a_run_lead_to_the_same_place() -> None:
    workflow = example("text_adventure", "en")
    inside = spot_of(workflow, NodeId("rounds/ask"))
    assert inside == Spot(((NodeId("rounds"), "body"),), NodeId("ask"))
    assert spot_of(workflow, NodeId("rounds/3/ask")) == inside
    assert spot_of(workflow, NodeId("rounds/3")) is None


def test_a_change_inside_a_body_leaves_the_rest_of_the_document_alone() -> None:
    workflow = example("text_adventure", "en")
    spot = spot_of(workflow, NodeId("rounds/step"))
    assert spot is not None
    graph, _made = changes.with_id(graph_at(workflow, spot.owners), spot.node, "what follows")
    changed = with_graph(workflow, spot.owners, graph)
    assert validate(changed) == ()
    assert [node.id for node in changed.nodes] == [node.id for node in workflow.nodes]
    assert changed.edges == workflow.edges


def test_a_body_is_never_left_empty() -> None:
    loop = Node(id=PLAN, kind="loop", params=starter("loop"))
    workflow = Workflow(id="w", nodes=(loop,))
    with pytest.raises(WorkflowError):
        with_graph(workflow, ((PLAN, "body"),), Graph(()))


def test_the_steps_of_a_node_are_edited_as_prompts_and_put_back_without_what_they_do_not_know() -> None:
    node = Node(id=PLAN, kind="recursive", params=starter("recursive"))
    workflow = Workflow(id="w", nodes=(node,), metadata={"kept": 1})
    spot = spot_of(workflow, NodeId("plan/revise"))
    assert spot == Spot(((PLAN, STEPS),), NodeId("revise"))
    part = part_for_editor(workflow, spot)
    revise = part.node(NodeId("revise"))
    typed = revise.model_copy(update={"params": {"prompt": [{"kind": "text", "text": "Again."}], "review": "always"}})
    nodes = tuple(typed if each.id == revise.id else each for each in part.nodes)
    whole = whole_with(workflow, part.model_copy(update={"nodes": nodes}))
    assert whole.nodes[0].params["revise"] == {"prompt": [{"kind": "text", "text": "Again."}]}
    assert whole.metadata == {"kept": 1}


def test_undo_and_redo_go_through_every_value_and_keep_the_version() -> None:
    history = EditHistory()
    first, second = Workflow(id="w", name="one"), Workflow(id="w", name="two")
    history.opened(first)
    history.changed(first)
    now = second.model_copy(update={"version": 7})
    back = history.undo(now)
    assert back is not None and (back.name, back.version) == ("one", 7)
    again = history.redo(back)
    assert again is not None and again.name == "two"
    assert history.redo(again) is None


def test_another_document_has_a_history_of_its_own() -> None:
    history = EditHistory()
    history.opened(Workflow(id="a"))
    history.changed(Workflow(id="a"))
    history.opened(Workflow(id="b"))
    assert history.undo(Workflow(id="b")) is None
