"""FlowCabal's documents are read in every form, written again, and every loss is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowcabal_tui.dialects.flowcabal import (
    FORMS,
    DependencyProblem,
    dependency_problem,
    read,
    write,
)
from flowcabal_tui.dialects.flowcabal.known import kept
from flowcabal_tui.dialects.report import Conversion, DialectError
from flowcabal_tui.domain.workflow import Node, VirtualBlock, Workflow
from flowcabal_tui.nodes.graph import dependencies
from flowcabal_tui.nodes.validation import validate


def node4(node: str, *blocks: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    config = {"parameters": parameters, "userPrompt": {"id": f"u{node}", "blocks": list(blocks)}}
    return {"id": node, "name": node.upper(), "apiConfig": config}


def text4(content: str) -> dict[str, str]:
    return {"type": "text", "id": "t", "content": content}


def virtual4(source: str) -> dict[str, str]:
    return {"type": "virtual", "id": "v", "sourceNodeId": source, "displayName": source}


def node(name: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "label": name, "systemPrompt": [], "userPrompt": list(blocks)}


def literal(content: str) -> dict[str, str]:
    return {"kind": "literal", "content": content}


def ref(source: str) -> dict[str, str]:
    return {"kind": "ref", "nodeId": source}


def template(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"name": "t", "nodes": list(nodes)}


def workspace(**fields: Any) -> dict[str, Any]:
    nodes = [node("a", literal("x")), node("b", ref("a"))]
    empty = {"outputs": {}, "upstream": {}, "downstream": {}, "target_nodes": [], "stale_nodes": []}
    return {"id": "ws", "name": "t", "nodes": nodes, **empty, **fields}


def told(conversion: Conversion, level: str) -> list[str]:
    return [note.place for note in conversion.notes if note.level == level]


PAIR = [node4("a", text4("x"), temperature=0.5), node4("b", virtual4("a"), text4("y"))]


@pytest.mark.parametrize(
    ("nodes", "join"),
    [([[each["id"], each] for each in PAIR], ""), ({each["id"]: each for each in PAIR}, "\n"), (PAIR, "\n")],
)
def test_the_first_design_is_read_with_its_nodes_in_any_form(nodes, join):
    workflow = read(json.dumps({"id": "w", "name": "W", "nodes": nodes})).workflow
    assert (workflow.id, workflow.name, workflow.join, workflow.skip_empty) == ("w", "W", join, False)
    assert dependencies(workflow) == {"a": (), "b": ("a",)}
    assert workflow.node("a").params["temperature"] == 0.5
    assert [block["kind"] for block in workflow.node("b").params["prompt"]] == ["virtual", "text"]
    assert validate(workflow) == ()


def test_names_in_snake_case_are_read_too():
    config = {"parameters": {"max_tokens": 7}, "user_prompt": {"blocks": [{"type": "virtual", "source_node_id": "b"}]}}
    workflow = read({"nodes": [{"id": "a", "api_config": config}, {"id": "b"}]}).workflow
    assert dependencies(workflow)["a"] == ("b",)
    assert workflow.node("a").params["max_tokens"] == 7


def test_todays_blocks_become_ours():
    blocks = literal("x"), {"kind": "agent-inject", "hint": "who?"}, ref("a")
    conversion = read(template(node("a", literal("y")), node("b", *blocks)))
    workflow = conversion.workflow
    assert (workflow.join, workflow.skip_empty) == ("\n\n", True)
    assert workflow.node("b").params["prompt"] == [
        {"kind": "text", "text": "x"},
        {"kind": "inquiry", "question": "who?"},
        {"kind": "virtual", "node": "a"},
    ]
    assert [workflow.node(each).params["context"] for each in ("a", "b")] == [False, True]
    assert "nodes[1]" in told(conversion, "info")


def test_nodes_with_equal_prompts_are_answers_of_their_own():
    nodes = read(template(node("a", literal("x")), node("b", literal("x")), node("c", literal("y")))).workflow.nodes
    assert [each.params.get("sample", 0) for each in nodes] == [0, 1, 0]


def test_what_a_workspace_has_reached_comes_along():
    stale = [{"id": "b", "kind": "propagated"}]
    conversion = read(workspace(outputs={"a": "A", "gone": "?"}, target_nodes=["b"], stale_nodes=stale))
    assert kept(conversion.workflow).outputs == {"a": "A"}
    assert kept(conversion.workflow).targets == ("b",)
    assert kept(conversion.workflow).stale == {"b": "propagated"}
    assert [note.message for note in conversion.notes if note.level == "lost"] == [
        "It refers to the node gone, which it does not contain."
    ]


def test_keys_addresses_and_unknown_settings_are_left_out_and_reported():
    connection = {"endpoint": "https://elsewhere.example/v1", "apiKey": "sk-secret", "model": "m"}
    document = {"id": "w", "nodes": {"a": node4("a", text4("x"), topP=0.5, maxTokens=0)}, "author": "me"}
    document["nodes"]["a"]["apiConfig"]["connection"] = connection
    conversion = read(document)
    assert told(conversion, "lost") == [
        "author",
        "nodes.a.apiConfig.connection.apiKey",
        "nodes.a.apiConfig.connection.endpoint",
        "nodes.a.apiConfig.parameters.top_p",
        "nodes.a.apiConfig.parameters.max_tokens",
    ]
    assert "sk-secret" not in conversion.workflow.model_dump_json() + str(conversion.notes)
    assert conversion.workflow.node("a").params["model"] == "m"


def test_double_braces_of_a_text_stay_a_text():
    conversion = read(template(node("a", literal("say {{input.name}} {{ x }} {{two words}}"))))
    assert conversion.workflow.node("a").params["prompt"][0]["text"] == ("say { {input.name} } { { x } } {{two words}}")
    assert told(conversion, "changed") == ["nodes[0].userPrompt[0].content"]
    assert validate(conversion.workflow) == ()


def test_ids_are_never_paths_and_texts_are_harmless():
    nodes = node("../../etc/passwd", literal("\x1b[31mred")), node("..-..-etc-passwd", ref("../../etc/passwd"))
    conversion = read(workspace(nodes=list(nodes), id="../ws", outputs={"../../etc/passwd": "\x07A"}))
    workflow = conversion.workflow
    assert workflow.id == "ws"
    assert [each.id for each in workflow.nodes] == ["..-..-etc-passwd", "..-..-etc-passwd-2"]
    assert dependencies(workflow)["..-..-etc-passwd-2"] == ("..-..-etc-passwd",)
    assert workflow.nodes[0].params["prompt"][0]["text"] == "red"
    assert kept(workflow).outputs == {"..-..-etc-passwd": "A"}


def test_a_reference_to_nowhere_and_a_circle_are_what_the_original_finds():
    def problem(*nodes: dict[str, Any]) -> DependencyProblem | None:
        return dependency_problem(read(template(*nodes)).workflow)

    assert problem(node("a", literal("x")), node("b", ref("a"))) is None
    assert problem(node("b", ref("ghost"))) == DependencyProblem("missing", ("b", "ghost"))
    assert problem(node("a", ref("a"))) == DependencyProblem("cycle", ("a",))
    circle = node("x", literal("x")), node("a", ref("b")), node("b", ref("a"), ref("x")), node("c", ref("b"))
    assert problem(*circle) == DependencyProblem("cycle", ("a", "b", "c"))
    assert "a, b, c" in read(template(*circle)).notes[-1].message
    assert {finding.code for finding in validate(read(template(node("b", ref("ghost")))).workflow)} == {
        "MISSING_REFERENCE"
    }


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("[]", "not an object"),
        ('{"name": "t"}', "no nodes"),
        ('{"nodes": 3}', "nodes"),
        ('{"name": "t", "nodes": [3]}', "nodes[0]"),
        ('{"nodes": [["a"]]}', "nodes[0]"),
        ('{"nodes": []}', "name: "),
        ('{"id": "w", "nodes": {"a": 3}}', "nodes.a: "),
        (json.dumps({"id": "w", "nodes": {"a": node4("a", {"type": "image"})}}), "blocks[0].type"),
        (json.dumps({"id": "w", "nodes": {"a": node4("a", {"type": "virtual"})}}), "blocks[0]"),
        (json.dumps(template(node("a", {"kind": "image"}))), "nodes[0].userPrompt[0]"),
        (json.dumps(template(node("a"), node("a"))), "nodes[1]"),
        (json.dumps(workspace(stale_nodes=["a"])), "stale_nodes[0]: "),
        (json.dumps({"active": "", "configs": {"d": {"apiKey": "k"}}}), "list of models"),
        ('{"id": "w", "nodes": {"a": {"position": {"x": NaN}}}}', "an invalid number"),
        pytest.param("[" * 100_000, "cannot be read", id="deep"),
        (b"\xff\xfe", "utf-8"),
    ],
)
def test_what_is_no_document_is_refused_with_the_place(source, place):
    with pytest.raises(DialectError) as error:
        read(source)
    assert place in f"{error.value.title} {error.value.detail}"


def test_an_error_in_the_json_is_reported_with_line_and_column():
    with pytest.raises(DialectError) as error:
        read('{"name": "t",\n  "nodes": [}')
    assert (error.value.line, error.value.column) == (2, 13)


def test_too_many_nodes_are_refused():
    with pytest.raises(DialectError, match="1000000"):
        read({"nodes": [{}] * 1_000_000})


def test_a_chain_of_many_nodes_is_read_in_a_moment():
    nodes = [node(f"n{n}", *([ref(f"n{n - 1}")] if n else [])) for n in range(5_000)]
    assert len(read(template(*nodes)).workflow.nodes) == 5_000


texts = st.text(st.characters(blacklist_categories=["Cc", "Cf", "Cs"], blacklist_characters="{}"), max_size=8)
ids = st.sampled_from(["a", "b", "c", "四"])
injects = texts.map(lambda hint: {"kind": "agent-inject", "hint": hint})
blocks = st.lists(st.one_of(texts.map(literal), ids.map(ref), injects), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(ids, blocks, min_size=1), st.sets(ids))
def test_today_is_written_as_it_was_read(prompts, wanted):
    nodes = [node(each, *found) for each, found in prompts.items()]
    needed = {
        each: list(dict.fromkeys(block["nodeId"] for block in found if block["kind"] == "ref"))
        for each, found in prompts.items()
    }
    upstream = {each: sources for each, sources in needed.items() if sources}
    downstream: dict[str, list[str]] = {}
    for each, sources in upstream.items():
        for source in sources:
            downstream.setdefault(source, []).append(each)
    document = workspace(
        nodes=nodes,
        upstream=upstream,
        downstream=downstream,
        outputs={each: "o" for each in prompts if each in wanted},
        target_nodes=[each for each in prompts if each not in wanted],
    )
    written, notes = write(read(json.dumps(document)).workflow, "workspace")
    assert (written, notes) == (document, ())


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_is_read_again_with_the_same_graph(form):
    prompt = [{"kind": "text", "text": "after {{result_of.a.text}} and {{chapter.title}}"}]
    workflow = Workflow(
        id="w",
        name="W",
        nodes=(
            Node(id="a", params={"prompt": [{"kind": "text", "text": "x"}, {"kind": "inquiry", "question": "who?"}]}),
            Node(id="b", params={"prompt": prompt, "system": [VirtualBlock(node="a", frozen="cold").model_dump()]}),
        ),
    )
    written, notes = write(workflow, form)
    again = read(json.dumps(written)).workflow
    assert dependencies(again) == {"a": (), "b": ("a",)}
    assert again.node("b").params["system"] == [{"kind": "text", "text": "cold"}]
    levels = [note.level for note in notes]
    assert levels.count("lost") == (1 if form in ("template", "workspace") else 2), "the title; and the question"
    assert ("joins" in notes[0].message) == (form != "map")


def test_what_cannot_be_held_is_not_written():
    with pytest.raises(DialectError, match="cannot represent"):
        write(Workflow(id="w", nodes=(Node(id="a", kind="human", params={"question": "?"}),)), "template")


def test_metadata_of_any_shape_is_no_harm():
    nodes = (Node(id="a", params={"prompt": [{"kind": "text", "text": "x"}]}),)
    for odd in (3, [], {"nodes": 3}, {"nodes": {"a": {"position": "here"}}}, {"outputs": {"a": 1}}):
        workflow = Workflow(id="w", nodes=nodes, metadata={"flowcabal": odd})
        assert write(workflow, "python")[0]["nodes"]["a"]["position"] == {"x": 0, "y": 0}
        assert kept(workflow).outputs == {}
