"""What validation finds: one document for each code, where it stands, and what it suggests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from flowcabal_tui.domain.workflow import Problem, PromptParams, Workflow
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.validation import check_document, validate
from flowcabal_tui.nodes.validation import params as validation_params
from tests.effort import effort, growth

Json = dict[str, Any]


@dataclass(frozen=True)
class Sends:
    arg_schema: Json = field(
        default_factory=lambda: {
            "type": "object",
            "properties": {"to": {"type": "string"}, "times": {"type": "integer"}, "lines": {"type": "array"}},
            "required": ["to"],
            "additionalProperties": False,
        }
    )
    output_schema: Json = field(
        default_factory=lambda: {
            "type": "object",
            "properties": {"sent": {"type": "boolean"}, "ids": {"type": "array"}},
        }
    )
    enabled: bool = True


ACTIONS = {"mail.send": Sends(), "mail.old": Sends(enabled=False)}


def text(name: str, says: str = "x", **params: Any) -> Json:
    return {"id": name, "params": {"prompt": [{"kind": "text", "text": says}], **params}}


def node(name: str, kind: str, /, **params: Any) -> Json:
    return {"id": name, "kind": kind, "params": params}


def send(name: str, **params: Any) -> Json:
    return node(name, "action", action="mail.send", params=params)


def loop(name: str, *inside: Json, **params: Any) -> Json:
    return node(
        name,
        "loop",
        body={"nodes": list(inside), **params.pop("body", {})},
        **{"source": [{"name": "a", "y": 1}], **params},
    )


def flow(*nodes: Json, **fields: Any) -> Json:
    return {"id": "w", "nodes": list(nodes), **fields}


def edge(source: str, target: str, condition: str | None = None) -> Json:
    return {"source": source, "target": target, **({"condition": condition} if condition else {})}


YES_NO = node("c", "condition", kind="not_empty", source="input.x")
BRANCHES = [edge("c", "yes", "true"), edge("c", "no", "false")]

CASES: list[tuple[str, Json, str, str, str]] = [
    ("NO_NODES", flow(), "", "nodes", ""),
    ("INVALID_SCHEMA", {"id": "w", "nodes": [{"id": "a", "kindd": "prompt"}]}, "a", "kindd", "kind"),
    ("INVALID_SCHEMA", {"id": "w", "nodes": [{"id": "a", "params": 3}]}, "a", "params", ""),
    ("INVALID_SCHEMA", {"nodes": [text("a")]}, "", "id", ""),
    ("INVALID_SCHEMA", ["no", "object"], "", "", ""),
    ("DUPLICATE_ID", flow(text("a"), text("a")), "a", "", ""),
    ("DUPLICATE_ID", flow(loop("l", text("a"), text("a"))), "l/a", "", ""),
    ("BAD_ID", flow(text("a/b")), "a/b", "id", ""),
    ("BAD_ID", flow(text("a\tb")), "a\tb", "id", ""),
    ("UNKNOWN_KIND", flow(node("a", "promt")), "a", "kind", "prompt"),
    ("BAD_PARAMS", flow(text("a", temperature=9)), "a", "temperature", ""),
    ("BAD_PARAMS", flow(text("a", temprature=1)), "a", "temprature", "temperature"),
    ("BAD_PARAMS", flow(text("a", temperature="{{result_of.b.text}}")), "a", "temperature", ""),
    ("BAD_PARAMS", flow(node("a", "prompt", prompt=[{"kind": "text", "txt": ""}])), "a", "prompt[0].txt", ""),
    ("BAD_PARAMS", flow(loop("l", text("a"), max_iterations=None)), "l", "max_iterations", ""),
    ("BAD_PARAMS", flow(loop("l", text("a"), max_iterations=10**6)), "l", "max_iterations", ""),
    ("BAD_PARAMS", flow(node("r", "recursive", criticise={}, revise={}, depth=11)), "r", "depth", ""),
    ("CYCLE", flow(text("a", "{{result_of.b.text}}"), text("b", "{{result_of.a.text}}")), "a", "", ""),
    ("CYCLE", flow(text("a"), text("b", "{{result_of.a.text}}"), edges=[edge("b", "a")]), "a", "", ""),
    ("CYCLE", flow(loop("l", text("a", "{{result_of.b.text}}"), text("b", "{{result_of.a.text}}"))), "l/a", "", ""),
    ("CYCLE", flow(loop("l", text("a", "{{result_of.z.text}}")), text("z", "{{result_of.l.items}}")), "l", "", ""),
    ("SELF_REFERENCE", flow(text("a", "{{result_of.a.text}}")), "a", "", ""),
    ("SELF_REFERENCE", flow(loop("l", text("a", "{{result_of.l.items}}"))), "l", "", ""),
    ("SELF_REFERENCE", flow(text("a"), edges=[edge("a", "a")]), "", "edges[0]", "drop"),
    ("UNKNOWN_NODE", flow(text("plan"), text("b"), edges=[edge("plna", "b")]), "", "edges[0].source", "plan"),
    ("UNKNOWN_NODE", flow(loop("l", text("a"), body={"edges": [edge("a", "z")]})), "l", "body.edges[0].target", ""),
    ("UNKNOWN_NODE", flow(loop("l", text("a"), body={"exit": "z"})), "l", "body.exit", ""),
    ("UNKNOWN_NODE", flow(text("a"), entry="z"), "", "entry", ""),
    ("UNKNOWN_BRANCH", flow(YES_NO, text("a"), edges=[edge("c", "a", "ture")]), "", "edges[0].condition", "true"),
    ("UNKNOWN_BRANCH", flow(text("a"), text("b"), edges=[edge("a", "b", "true")]), "", "edges[0].condition", ""),
    ("DOUBLE_EDGE", flow(text("a"), text("b"), edges=[edge("a", "b"), edge("a", "b")]), "", "edges[1]", "drop"),
    (
        "MISSING_REFERENCE",
        flow(text("plan"), text("b", "{{result_of.plna.text}}")),
        "b",
        "prompt[0].text",
        "result_of.plan.text",
    ),
    (
        "MISSING_REFERENCE",
        flow(text("plan"), node("b", "prompt", prompt=[{"kind": "virtual", "node": "plann"}])),
        "b",
        "prompt[0].node",
        "plan",
    ),
    (
        "MISSING_REFERENCE",
        flow(loop("l", text("draft")), text("z", "{{result_of.draft.text}}")),
        "z",
        "prompt[0].text",
        "",
    ),
    ("UNKNOWN_NAME", flow(text("a", "{{chapter.titel}}")), "a", "prompt[0].text", "chapter.title"),
    ("UNKNOWN_NAME", flow(text("a", "{{item.name}}")), "a", "prompt[0].text", ""),
    ("UNKNOWN_NAME", flow(text("plan"), text("b", "{{plan.text}}")), "b", "prompt[0].text", "result_of.plan.text"),
    ("UNKNOWN_NAME", flow(loop("l", text("a", "{{loop.idx}}"))), "l/a", "prompt[0].text", "loop.index"),
    ("SCHEMA_MISMATCH", flow(text("a"), node("m", "map", source="result_of.a.items")), "m", "source", ""),
    ("SCHEMA_MISMATCH", flow(node("m", "map", source={"__agg__": "count"})), "m", "source", ""),
    ("SCHEMA_MISMATCH", flow(text("a"), loop("l", text("b"), source="result_of.a.text")), "l", "source", ""),
    (
        "SCHEMA_MISMATCH",
        flow(text("a"), node("c", "condition", kind="greater_than", source="result_of.a.text", threshold=3)),
        "c",
        "source",
        "",
    ),
    ("SCHEMA_MISMATCH", flow(node("c", "condition", kind="eqals", source="input.x")), "c", "kind", "equals"),
    (
        "SCHEMA_MISMATCH",
        flow(loop("l", text("a"), exports={"items": {"from_node": "a", "fields": ["score"]}})),
        "l",
        "exports.items.fields",
        "",
    ),
    (
        "SCHEMA_MISMATCH",
        flow(loop("l", text("a"), accumulator={"set": {"n": "{{loop.idx}}"}})),
        "l",
        "accumulator.set.n",
        "loop.index",
    ),
    (
        "SCHEMA_MISMATCH",
        flow(
            node(
                "r",
                "recursive",
                start=[{"kind": "text", "text": "x"}],
                criticise=text("", "x")["params"],
                revise=text("", "x")["params"],
                until={"kind": "equals", "source": "verdikt", "value": 1},
            )
        ),
        "r",
        "until.source",
        "verdict",
    ),
    ("UNKNOWN_ACTION_ID", flow(node("a", "action", action="mail.sned", params={})), "a", "action", "mail.send"),
    ("ACTION_DISABLED", flow(node("a", "action", action="mail.old", params={"to": "x"})), "a", "action", ""),
    ("MISSING_ACTION", flow(node("a", "action", action=" ")), "a", "action", ""),
    ("MISSING_REQUIRED_PARAM", flow(send("a")), "a", "params.to", ""),
    ("EMPTY_PARAM_VALUE", flow(send("a", to="")), "a", "params.to", ""),
    ("UNKNOWN_PARAM", flow(send("a", to="x", tims=3)), "a", "params.tims", "times"),
    ("SCHEMA_MISMATCH", flow(send("a", to=3)), "a", "params.to", ""),
    ("SCHEMA_MISMATCH", flow(text("p"), send("a", to="x", times="result_of.p.text")), "a", "params.times", ""),
    (
        "SCHEMA_MISMATCH",
        flow(send("p", to="x"), send("a", to="x", lines="{{result_of.p.idds}}")),
        "a",
        "params.lines",
        "result_of.p.ids",
    ),
    (
        "SCHEMA_MISMATCH",
        flow(send("p", to="x"), send("a", to={"__from__": "result_of.p.ids", "__agg__": "count"})),
        "a",
        "params.to",
        "",
    ),
    (
        "UNREACHABLE",
        flow(YES_NO, text("yes"), text("no"), text("z", "{{result_of.yes.text}}{{result_of.no.text}}"), edges=BRANCHES),
        "z",
        "",
        "",
    ),
    (
        "MAY_NOT_RUN",
        flow(YES_NO, text("yes"), text("no"), text("z", "{{result_of.yes.text}}"), edges=BRANCHES),
        "z",
        "",
        "",
    ),
    (
        "LOOP_TOO_LARGE",
        flow(loop("l", loop("m", text("a"), source="input.m", max_iterations=10**5), source="input.l")),
        "l/m",
        "",
        "",
    ),
    ("EMPTY_PROMPT", flow(text("a", "  ")), "a", "prompt", ""),
    ("EMPTY_PROMPT", flow(loop("l", text("a", ""))), "l/a", "prompt", ""),
    (
        "EMPTY_FROZEN",
        flow(text("a"), node("b", "prompt", prompt=[{"kind": "virtual", "node": "a", "frozen": ""}])),
        "b",
        "prompt[0].frozen",
        "",
    ),
    ("EMPTY_INQUIRY", flow(node("b", "prompt", prompt=[{"kind": "inquiry", "question": " "}])), "b", "prompt[0]", ""),
    ("ENDLESS_CALLS", flow(node("s", "subflow", ref="w@1")), "s", "depth", '{"__from__": "input.depth"}'),
    ("SYNTAX_ERROR", flow(node("c", "condition", kind="expression", expression="1 +")), "c", "expression", ""),
]


@pytest.mark.parametrize(
    ("code", "document", "place", "where", "fix"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)]
)
def test_a_fault_is_found_with_its_place_and_a_suggestion(code, document, place, where, fix):
    found = check_document(document, actions=ACTIONS)
    assert (code, place, where, fix) in [(each.code, each.node, each.field, each.fix) for each in found], found
    assert {each.severity for each in found if each.code == code} <= {"error", "warning"}


SOUND = [
    flow(YES_NO, text("yes"), text("no"), edges=BRANCHES),
    flow(
        YES_NO, text("yes"), text("on", "{{result_of.yes.text}}"), edges=[edge("c", "yes", "true"), edge("yes", "on")]
    ),
    flow(
        YES_NO, text("yes"), text("no"), node("m", "merge", sources=["result_of.yes", "result_of.no"]), edges=BRANCHES
    ),
    flow(
        YES_NO, text("yes"), text("z", "x"), edges=[edge("c", "yes", "true"), edge("yes", "z"), edge("c", "z", "false")]
    ),
    flow(text("a"), loop("l", text("b", "{{item.name}} {{hero}} {{loop.index}} {{result_of.a.text}}"), item="hero")),
    flow(send("p", to="x"), send("q", to="to {{result_of.p.sent}}", lines="result_of.p.ids")),
    flow(text("a"), node("m", "map", source="index.html")),
    flow(text("a.b"), text("c", "{{result_of.a.b.text}}")),
    flow(
        loop("l", text("a"), exports={"items": {"from_node": "a", "fields": ["text"]}}),
        text("z", "{{result_of.l.items}} {{result_of.l.iterations[0].index}}"),
    ),
    flow(node("s", "subflow", ref="w@1", depth="input.depth")),
    flow(loop("l", loop("m", text("a", "{{loop.outer.index}} {{x.y}} {{result_of.o.text}}")), item="x"), text("o")),
]


@pytest.mark.parametrize("document", SOUND, ids=range(len(SOUND)))
def test_a_sound_workflow_has_no_findings(document):
    assert check_document(document, actions=ACTIONS) == ()


def test_a_circle_is_named_once_and_whole():
    nodes = [text(f"n{n}", f"{{{{result_of.n{(n - 1) % 5}.text}}}}") for n in range(5)]
    (found,) = check_document(flow(*nodes, text("after", "{{result_of.n3.text}}")))
    assert found.code == "CYCLE"
    assert all(f"n{n}" in found.message for n in range(5)) and "after" not in found.message


def test_two_circles_are_two_findings():
    pairs = [text(a, f"{{{{result_of.{b}.text}}}}") for a, b in ("ab", "ba", "cd", "dc")]
    assert [found.code for found in check_document(flow(*pairs))] == ["CYCLE", "CYCLE"]


def test_only_the_boundary_of_a_branch_is_told():
    nodes = [YES_NO, text("yes"), text("a", "{{result_of.yes.text}}"), text("b", "{{result_of.a.text}}")]
    found = check_document(flow(*nodes, edges=BRANCHES[:1]))
    assert [(each.code, each.node, each.severity) for each in found] == [("MAY_NOT_RUN", "a", "warning")]


def test_a_branch_that_ends_in_a_join_may_be_skipped():
    inside = [YES_NO, text("yes"), text("on", "{{result_of.yes.text}}"), text("no")]
    join = node("m", "merge", sources=["result_of.on", "result_of.no"], how="first")
    assert check_document(flow(*inside, join, text("z", "{{result_of.m.items}}"), edges=BRANCHES)) == ()


def test_what_needs_an_unreachable_node_is_unreachable_too():
    both = text("z", "{{result_of.yes.text}}{{result_of.no.text}}")
    document = flow(YES_NO, text("yes"), text("no"), both, text("after", "{{result_of.z.text}}"), edges=BRANCHES)
    assert [each.node for each in check_document(document) if each.code == "UNREACHABLE"] == ["z", "after"]


def test_branches_of_a_parallel_are_told_apart():
    branches = {name: {"nodes": [text("a", f"{{{{{name}.x}}}}")]} for name in ("left", "right")}
    found = check_document(flow(node("p", "parallel", branches=branches)))
    assert [each.node for each in found] == ["p/left/a", "p/right/a"]


def test_an_error_in_a_generated_prompt_is_reported_once_at_the_parameter():
    write = {"prompt": [{"kind": "text", "text": "{{paren}} {{parent}}"}]}
    found = check_document(flow(node("e", "evolution", write=write, rounds=3)))
    assert [(each.code, each.node, each.field, each.fix) for each in found] == [
        ("UNKNOWN_NAME", "e", "write.prompt[0].text", "parent")
    ]


def read(document: Json) -> Workflow:
    return Workflow.model_validate(document)


def library(*documents: Json) -> dict[str, Workflow]:
    found = [read(one) for one in documents]
    return {name: one for one in found for name in (one.id, one.reference)}


def calls(name: str, ref: str, **params: Any) -> Json:
    return {"id": name, "nodes": [node("s", "subflow", ref=ref, **params)]}


def codes(found: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(each.code, each.node) for each in found]


def test_workflows_that_are_called_must_be_there():
    (found,) = validate(read(calls("w", "chaptr@1")), library=library({"id": "chapter", "nodes": [text("a")]}))
    assert (found.code, found.field, found.fix) == ("UNKNOWN_WORKFLOW", "ref", "chapter@1")
    assert validate(read(calls("w", "chaptr@1"))) == (), "without a library nobody can say"


def test_calls_in_a_circle_need_a_falling_depth_also_over_another_workflow():
    found = validate(read(calls("w", "v")), library=library(calls("v", "w@1")))
    assert "ENDLESS_CALLS" in [each.code for each in found]
    sound = validate(read(calls("w", "v", depth="input.depth")), library=library(calls("v", "w", depth="input.depth")))
    assert sound == ()


def test_a_chain_of_calls_and_a_literal_depth_have_a_limit():
    chain = library(*(calls(f"f{n}", f"f{n + 1}") for n in range(1, 12)), {"id": "f12", "nodes": [text("a")]})
    assert codes(validate(read(calls("w", "f1")), library=chain)) == [("TOO_DEEP", "s")]
    assert validate(read(calls("w", "f4")), library=chain) == ()
    deep = library(calls("down", "down", depth="input.levels"))
    assert codes(validate(read(calls("w", "down", inputs={"levels": 50})), library=deep)) == [("TOO_DEEP", "s")]
    assert validate(read(calls("w", "down", inputs={"levels": 3})), library=deep) == ()


def test_outputs_of_a_call_are_checked_against_the_called_workflow():
    called = library({"id": "chapter", "nodes": [text("draft")]})
    (found,) = validate(read(calls("w", "chapter", outputs={"t": "{{result_of.draft.txt}}"})), library=called)
    assert (found.node, found.field, found.fix) == ("s", "outputs.t", "result_of.draft.text")


def test_a_broken_workflow_in_the_library_breaks_nothing():
    broken = library({"id": "bad", "nodes": [node("x", "promt")]})
    assert validate(read(calls("w", "bad")), library=broken) == ()


def test_the_document_stays_as_it_is():
    document = flow(text("a", "{{result_of.b.text}}"), node("c", "condition", op="<", source="input.x", value=3))
    before = json.dumps(document)
    check_document(document)
    assert json.dumps(document) == before


def test_too_many_nodes_are_refused_before_any_is_looked_at():
    million, inside = flow(*[{"id": "a"}] * 1_000_000), flow(loop("l", *[{"id": "a"}] * 30_000))
    with effort(1000):
        (found,) = check_document(million)
    with effort(300_000):
        (found_inside,) = check_document(inside)
    assert (found.code, found_inside.code) == ("TOO_MANY_NODES", "TOO_MANY_NODES")


def test_graphs_and_values_inside_each_other_have_a_limit():
    nested = text("a")
    for level in range(12):
        nested = loop(f"l{level}", nested)
    deep: Any = "x"
    for _level in range(150):
        deep = [deep]
    assert [each.code for each in check_document(flow(nested))] == ["TOO_DEEP"]
    assert [each.code for each in check_document(flow(send("a", to=deep)))] == ["TOO_DEEP"]


def chain(length: int) -> dict[str, Any]:
    """Texts that each read the one before."""
    return flow(*(text(f"n{n}", f"{{{{result_of.n{n - 1}.text}}}}" if n else "x") for n in range(length)))


def test_the_work_of_a_check_grows_with_the_nodes_and_not_with_their_square():
    assert growth(lambda length: check_document(chain(length)), 500) < 1.1


def test_the_largest_workflow_is_checked():
    assert check_document(chain(20_000)) == ()


def test_warnings_never_crowd_out_an_error():
    edges = [edge("a", "b")] * 3000
    found = check_document(flow(text("a"), text("b"), text("c", "{{result_of.gone.text}}"), edges=edges))
    assert [each.code for each in found if each.severity == "error"] == ["MISSING_REFERENCE"]
    assert len(found) == 402 and found[-1].code == "MORE_FINDINGS"


def test_a_thousand_findings_are_enough():
    found = check_document(flow(*(text(f"n{n}", f"{{{{result_of.gone{n}.text}}}}") for n in range(3000))))
    assert len(found) == 1001 and found[-1].code == "MORE_FINDINGS"


def test_an_output_schema_that_is_none_is_told_and_breaks_nothing():
    broken = node("a", "action", action="mail.send", params={"to": "x"}, output={"properties": [1]})
    document = flow(broken, text("b", "{{result_of.a.x.y}}"), edges=[edge("a", "b", "true")])
    found = check_document(document, actions=ACTIONS)
    assert [(each.code, each.node, each.field) for each in found] == [("SCHEMA_MISMATCH", "a", "output")]


class _Breaks(NodeKind):
    """A kind as a careless plug-in would write it."""

    name = "breaks"
    params = PromptParams

    def output_schema(self, params):
        raise ValueError("yields")

    def labels(self, params):
        raise KeyError("labels")

    def check(self, params, node):
        raise ZeroDivisionError("check")


def test_a_kind_that_breaks_off_is_a_finding(monkeypatch):
    real = validation_params.kind_named
    monkeypatch.setattr(validation_params, "kind_named", lambda name: _Breaks() if name == "breaks" else real(name))
    found = check_document(flow(node("a", "breaks"), text("b", "{{result_of.a.x}}"), edges=[edge("a", "b", "true")]))
    assert [(each.code, each.node) for each in found] == [("CHECK_FAILED", "a")]
    assert "ZeroDivisionError" in found[0].message


def test_texts_full_of_half_bindings_cost_little():
    texts = [
        '{"__from__":' * 8000,
        ('{"a":[' * 800 + '"__from__"') * 20,
        "{{" * 40_000,
        '{"__from__": "input.x"} ' * 4000,
    ]
    for each in texts:
        with effort(100_000):
            check_document(flow(node("a", "action", action="mail.send", params={"to": each}), text("b", each)))
