"""The tools of VelvetFlow's planner: guards, answers, repairs; nothing is overwritten or put in another's place."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.dialects.velvetflow.planner.repair import MOST_INDEX, repaired
from flowcabal_tui.dialects.velvetflow.planner.schemas import fields_of, param_tools, structure_tools
from flowcabal_tui.dialects.velvetflow.planner.skeleton import Skeleton, missing_points, read_coverage, references
from flowcabal_tui.dialects.velvetflow.planner.structure import StructureTools

Json = dict[str, Any]
TEXT = {"type": "string"}
READ = SimpleNamespace(
    name="Read",
    arg_schema={
        "type": "object",
        "properties": {"day": TEXT, "most": {"type": "integer"}, "urgent": {"type": "boolean"}},
        "required": ["day", "most"],
    },
    output_schema={"type": "object", "properties": {"rows": {"type": "array"}}},
    enabled=True,
)
ACTIONS = {"read": READ, "send": SimpleNamespace(name="Send", arg_schema={}, output_schema={}, enabled=True)}
LOOP = {"id": "l", "loop_kind": "for_each", "source": "result_of.a.rows", "item_alias": "e"}


def tools_with(found: tuple[str, ...] = ("read",)) -> StructureTools:
    async def search(query: str, most: int) -> list[Json]:
        return [{"action_id": each, "name": each, "description": "", "domain": "d"} for each in found][:most]

    return StructureTools(Skeleton(), ACTIONS, search)


async def built(*calls: tuple[str, Json]) -> tuple[StructureTools, list[Json]]:
    tools = tools_with()
    return tools, [
        await tools.call(name, given) for name, given in (("search_business_actions", {"query": "q"}), *calls)
    ]


def add(name: str, **more: Any) -> tuple[str, Json]:
    return "add_action_node", {"id": name, "action_id": "read", **more}


async def test_an_action_that_is_no_candidate_is_never_replaced():
    tools, answers = await built(("add_action_node", {"id": "a", "action_id": "reed"}))
    assert answers[-1]["allowed_action_ids"] == ["read"]
    assert not tools.skeleton.nodes


async def test_a_taken_id_is_refused_and_the_node_stays():
    tools, answers = await built(add("a", display_name="First"), add("a", display_name="Second"))
    assert answers[-1]["existing_ids"] == ["a"]
    assert tools.skeleton.nodes["a"]["display_name"] == "First"


@pytest.mark.parametrize("name", ["", "a b", "a/b", None, 7])
async def test_an_id_is_a_short_word(name):
    tools, answers = await built(("add_action_node", {"id": name, "action_id": "read"}))
    assert answers[-1]["invalid_fields"] == ["id"]
    assert not tools.skeleton.nodes


async def test_a_parent_is_a_loop_that_is_there_and_loops_stand_in_no_loop():
    tools, answers = await built(add("a"), add("b", parent_node_id="a"), ("add_loop_node", LOOP))
    assert answers[2]["invalid_fields"] == ["parent_node_id"]
    inner = await tools.call("add_loop_node", {**LOOP, "id": "m", "parent_node_id": "l"})
    assert inner["status"] == "error"
    assert (await tools.call(*add("b", parent_node_id="l")))["status"] == "ok"
    body = tools.skeleton.document()["nodes"][1]["params"]["body_subgraph"]
    assert [node["id"] for node in body["nodes"]] == ["b"]


async def test_what_is_named_beside_the_parameters_of_a_loop_overrides_them():
    tools, _answers = await built(("add_loop_node", {**LOOP, "params": {"source": "other", "exports": {"items": {}}}}))
    await tools.call("update_loop_node", {"id": "l", "params": {"item_alias": "row"}})
    params = tools.skeleton.nodes["l"]["params"]
    assert (params["source"], params["item_alias"], params["exports"]) == ("result_of.a.rows", "row", {"items": {}})


async def test_parameters_of_the_wrong_type_change_nothing():
    tools, answers = await built(add("a", params=[1]), ("add_loop_node", {**LOOP, "sub_graph_nodes": [1]}))
    assert answers[1]["invalid_fields"] == ["params"]
    assert answers[2]["invalid_indices"] == [0]
    assert not tools.skeleton.nodes


async def test_edges_are_derived_of_branches_and_references_and_nodes_alone_are_named():
    condition = {"id": "c", "kind": "list_not_empty", "params": {"source": "result_of.a.rows"}}
    tools, _answers = await built(
        add("a"), add("alone"), ("add_condition_node", {**condition, "true_to_node": "b", "false_to_node": None})
    )
    edges = tools.skeleton.document()["edges"]
    assert {"from": "a", "to": "c"} in edges and {"from": "c", "to": "b", "condition": "true"} in edges
    assert [each["id"] for each in tools.skeleton.without_upstream()] == ["a", "alone"]
    assert tools.skeleton.readable("a") == ("alone",)
    assert tools.skeleton.readable("c") == ("a", "alone")


def test_the_parameters_of_an_action_are_asked_for_by_its_schema():
    submit, validate = param_tools({"id": "n", "type": "action", "action_id": "read"}, ACTIONS, ("a", "b"))
    assert "allowed_node_ids=a, b" in submit.description
    assert submit.parameters["properties"]["params"]["required"] == ["day", "most"]
    assert validate.name == "validate_node_params"
    assert "sub_graph_nodes" in fields_of("add_loop_node")
    submit.parameters["properties"].clear()
    assert structure_tools()[0].parameters["properties"]


def document(*nodes: Json, **more: Any) -> Json:
    return {"workflow_name": "w", "description": "", "nodes": list(nodes), "edges": [], **more}


def node(name: str, **params: Any) -> Json:
    return {"id": name, "type": "action", "action_id": "read", "params": params}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("update_node_field", {"node_id": "q", "field_path": "params.day", "value": 1}),
        ("update_node_field", {"node_id": "a", "field_path": "id", "value": "b"}),
        ("update_node_field", {"node_id": "a", "field_path": "params..day", "value": 1}),
        ("update_node_field", {"node_id": "a", "field_path": "params.day.x", "value": 1}),
        ("update_node_field", {"node_id": "a", "field_path": f"params.x[{MOST_INDEX + 1}]", "value": 1}),
        ("fill_action_required_params", {"node_id": "q"}),
        ("fix_loop_body_references", {"node_id": "a"}),
        ("replace_reference_paths", {"old": "", "new": "b"}),
        ("normalize_binding_paths", {}),
        ("drop_invalid_references", {}),
        ("explode", {}),
    ],
)
def test_a_repair_that_cannot_be_made_says_so_and_changes_nothing(tool, given):
    before = document(node("a", day="x", most=1))
    after, summary = repaired(before, tool, given, ACTIONS)
    assert summary["applied"] is False and summary["reason"]
    assert after["nodes"] == document(node("a", day="x", most=1))["nodes"]


def test_required_parameters_are_filled_and_values_of_the_wrong_type_made_right():
    after, summary = repaired(
        document(node("a", most="7", urgent="true", day=3)), "fill_action_required_params", {"node_id": "a"}, ACTIONS
    )
    assert after["nodes"][0]["params"] == {"most": 7, "urgent": True, "day": "3"}
    assert (summary["filled_fields"], summary["coerced_fields"]) == ([], ["most", "urgent", "day"])


def test_references_inside_a_body_are_replaced_and_only_whole_paths():
    inner = node("b", day={"__from__": "result_of.a.rows[0].day"}, other={"__from__": "result_of.a.rowsmore"})
    loop = {
        "id": "l",
        "type": "loop",
        "params": {"body_subgraph": {"nodes": [inner], "edges": [{"from": "a", "to": "b"}]}},
    }
    after, summary = repaired(
        document(loop), "replace_reference_paths", {"old": "result_of.a.rows", "new": "x"}, ACTIONS
    )
    params = after["nodes"][0]["params"]["body_subgraph"]["nodes"][0]["params"]
    assert params == {"day": {"__from__": "x[0].day"}, "other": {"__from__": "result_of.a.rowsmore"}}
    assert summary["binding_updates"] == 1


def test_a_document_becomes_a_skeleton_and_the_same_document_again():
    body = {"nodes": [node("b")], "exit": "b"}
    given = document(node("a"), {"id": "l", "type": "loop", "params": {"source": "x", "body_subgraph": body}})
    made = Skeleton.of(given).document(derived=False)
    assert made["nodes"][1]["params"]["body_subgraph"]["exit"] == "b"
    assert [each["id"] for each in made["nodes"][1]["params"]["body_subgraph"]["nodes"]] == ["b"]
    assert given["nodes"][1]["params"]["body_subgraph"] == body


@pytest.mark.parametrize(
    "nodes", [[node("a"), node("a")], ["a"], [{"id": "a"}], [{"id": "a", "type": "action", "params": 1}], {}]
)
def test_what_has_not_the_form_of_a_document_is_refused(nodes):
    with pytest.raises(DialectError):
        Skeleton.of({"nodes": nodes})


def test_an_answer_about_coverage_is_read_as_far_as_it_can_be():
    assert read_coverage("yes, all of it") == {"is_covered": False, "missing_points": [], "analysis": ""}
    assert missing_points({"missing_points": ["a", 1, None]}) == ["a"]
    assert missing_points({"missing_points": "a"}) == []


def test_references_are_whole_names():
    assert references({"x": ["{{result_of.ab.c}}", {"__from__": "result_of.d"}]}, ("a", "ab", "d")) == ["ab", "d"]
