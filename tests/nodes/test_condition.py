from __future__ import annotations

import pytest

from flowcabal_tui.nodes.registry import kinds
from tests.nodes.flows import act, bench, edge, failure, node, values
from tests.runner.fakes import flow

PLAN = node("plan", "end", value={"scores": [1, 5], "title": "雪"})


async def ran(*nodes, edges=(), **request):
    made = bench()
    run = await made.run(flow(*nodes, edges=edges), **request)
    return await run.execute(), values(run), made


async def test_only_the_branch_that_the_condition_names_goes_on():
    check = node("check", "condition", kind="any_greater_than", source="result_of.plan.scores", threshold=4)
    state, got, _made = await ran(
        PLAN, check, act("yes"), act("no"), edges=(edge("check", "yes", "true"), edge("check", "no", "false"))
    )
    assert state == "done"
    assert got["check"] == {"label": "true", "result": True, "resolved_value": [1, 5], "evaluated_values": [1, 5]}
    assert "yes" in got and "no" not in got


async def test_a_band_is_a_branch_of_its_own():
    bands = [{"label": "low", "max": 3}, {"label": "high", "min": 4}]
    check = node("check", "condition", kind="multi_band", source="result_of.plan.scores[1]", bands=bands)
    _state, got, _made = await ran(
        PLAN, check, act("a"), act("b"), edges=(edge("check", "a", "low"), edge("check", "b", "high"))
    )
    assert got["check"]["label"] == "high" and "b" in got and "a" not in got


async def test_an_expression_reads_outputs_without_an_edge_and_without_a_source():
    check = node("check", "condition", kind="expression", expression="len(result_of.plan.scores) == 2")
    _state, got, _made = await ran(check, PLAN)
    assert got["check"]["result"] and "resolved_value" not in got["check"]


async def test_a_source_that_leads_nowhere_fails_and_says_what_there_is():
    check = node("check", "condition", kind="is_empty", source="result_of.plan.score")
    state, _got, made = await ran(PLAN, check)
    assert state == "failed" and "scores" in failure(made)


async def test_what_hangs_on_a_branch_that_was_not_taken_is_skipped_too():
    check = node("check", "condition", kind="equals", source="result_of.plan.title", value="雨")
    state, got, _made = await ran(
        PLAN, check, act("yes"), act("after", text="{{result_of.yes.did}}"), edges=(edge("check", "yes", "true"),)
    )
    assert state == "done" and set(got) == {"plan", "check"}


def test_the_labels_and_the_shape_are_known_before_it_runs():
    kind = kinds()["condition"]
    params = kind.params.model_validate({"kind": "multi_band", "source": 1, "bands": [{"label": "low"}]})
    assert kind.labels(params) == ("low", "false")
    assert set(kind.output_schema(params)["properties"]) == {"label", "result", "resolved_value", "evaluated_values"}


@pytest.mark.parametrize(("params", "field"), [({}, "kind"), ({"kind": "between", "source": "result_of.a"}, "min")])
def test_what_is_missing_is_found(params, field):
    kind = kinds()["condition"]
    found = kind.check(kind.params.model_validate(params), node("c", "condition"))
    assert field in [finding.field for finding in found]


def test_every_parameter_of_the_kinds_says_what_it_is():
    for name in ("condition", "loop", "parallel", "action", "end"):
        schema = kinds()[name].params.model_json_schema()
        parts = {key: shape for key, shape in schema.get("$defs", {}).items() if key not in ("Body", "Node", "Edge")}
        shapes = [schema, *parts.values()]
        lacking = [
            field for shape in shapes for field, one in shape.get("properties", {}).items() if "description" not in one
        ]
        assert lacking == [], name
