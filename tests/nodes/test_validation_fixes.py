"""Which suggestions are carried out, and which are left to a person."""

from __future__ import annotations

from typing import Any

import pytest

from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.nodes.fixes import fixed
from flowcabal_tui.nodes.nearest import nearest, unmistakable
from flowcabal_tui.nodes.validation import check_document, validate
from tests.nodes.test_validation import ACTIONS, CASES, YES_NO, edge, flow, loop, node, send, text

SAFE = {"UNKNOWN_KIND", "UNKNOWN_NODE", "UNKNOWN_BRANCH", "DOUBLE_EDGE", "MISSING_REFERENCE", "UNKNOWN_NAME"} | {
    "SCHEMA_MISMATCH",
    "SELF_REFERENCE",
    "BAD_PARAMS",
    "UNKNOWN_PARAM",
}


def corrected(document: dict[str, Any]) -> tuple[Workflow, tuple[Problem, ...]]:
    workflow = Workflow.model_validate(document)
    return fixed(workflow, validate(workflow, actions=ACTIONS))


SUGGESTED = [case for case in CASES if case[4] and case[0] in SAFE]


@pytest.mark.parametrize("case", SUGGESTED, ids=[f"{n}-{case[0]}" for n, case in enumerate(SUGGESTED)])
def test_what_is_unmistakable_is_corrected_and_no_longer_found(case):
    code, document, place, where, _fix = case
    changed, applied = corrected(document)
    assert [(each.code, each.node, each.field) for each in applied] == [(code, place, where)]
    left = validate(changed, actions=ACTIONS)
    assert (code, place, where) not in [(each.code, each.node, each.field) for each in left]


@pytest.mark.parametrize("code", ["UNKNOWN_ACTION_ID", "ENDLESS_CALLS"])
def test_what_another_action_or_depth_would_do_is_for_a_person_to_say(code):
    (document,) = [case[1] for case in CASES if case[0] == code]
    assert check_document(document, actions=ACTIONS)[0].fix
    workflow = Workflow.model_validate(document)
    assert fixed(workflow, validate(workflow, actions=ACTIONS)) == (workflow, ())


def test_only_the_slip_is_replaced_in_a_text():
    says = "Use {{ result_of.plan.text }}, then {{result_of.plna.text}}; result_of.plna.text is a path."
    changed, _applied = corrected(flow(text("plan"), text("b", says)))
    assert changed.node("b").params["prompt"][0]["text"] == (
        "Use {{ result_of.plan.text }}, then {{result_of.plan.text}}; result_of.plna.text is a path."
    )


def test_bindings_in_all_three_forms_are_corrected():
    forms = {
        "to": "result_of.plan.txt",
        "times": {"__from__": "result_of.plan.txt", "__agg__": "count"},
        "lines": ["{{result_of.plan.txt}}", {"__from__": ["result_of.plan.txt", "input.x"]}],
    }
    changed, applied = corrected(flow(text("plan"), send("a", **forms)))
    assert len(applied) == 4
    assert "txt" not in str(changed.node("a").params)


def test_nodes_of_bodies_and_branches_are_found_again():
    branches = {name: {"nodes": [text("a", "{{result_of.plna.text}}")]} for name in ("left", "right")}
    document = flow(
        text("plan"),
        loop("l", loop("m", text("a", "{{result_of.plna.text}}"))),
        node("p", "parallel", branches=branches),
    )
    changed, applied = corrected(document)
    assert [each.node for each in applied] == ["l/m/a", "p/left/a", "p/right/a"]
    assert validate(changed) == ()


def test_numbered_names_are_never_taken_for_each_other():
    assert not unmistakable("scene-8", "scene-9")
    document = flow(text("scene-9"), text("b", "{{result_of.scene-8.text}}"))
    assert corrected(document)[1] == ()


def test_one_of_two_names_that_are_as_near_is_not_taken():
    assert not unmistakable("draft", "drafts", ["drafts", "draftx"])
    assert unmistakable("Draft", "draft", ["draft", "drafts"])


def test_a_parameter_is_not_renamed_onto_another():
    assert corrected(flow(text("a", promt=[])))[1] == ()


def test_doubled_edges_go_and_the_others_stay():
    edges = [edge("c", "a", "true"), edge("c", "a", "true"), edge("c", "b", "false"), edge("c", "a", "true")]
    changed, applied = corrected(flow(YES_NO, text("a"), text("b"), edges=edges))
    assert len(applied) == 2
    assert [(each.target, each.condition) for each in changed.edges] == [("a", "true"), ("b", "false")]


def test_the_nearest_of_very_many_names_is_found_quickly():
    names = [f"node-{n:05}" for n in range(20_000)]
    assert nearest("nodes-12345", names) in names
    assert nearest("x" * 500, names) == ""
