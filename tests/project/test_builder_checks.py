"""The Builder's checks: every branch of the copy is simulated, after the last change."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.builder.branches import variants
from flowcabal_tui.agents.builder.checks import ChecklistItem, check
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.agents.builder.edits import AddNode, ConnectNodes, SetPrompt
from flowcabal_tui.agents.builder.edits_between import edits_between
from flowcabal_tui.agents.builder.working_copy import Known, WorkingCopy
from flowcabal_tui.project.builder.simulated_runs import SimulatedRuns, sample
from tests.agents.builder_briefs import known_in, rows

LENGTH = {"kind": "expression", "expression": "len(result_of.draft.text) > 20000"}


def prompt(name: str, text: str) -> AddNode:
    return AddNode(id=name, params={"prompt": text}, because="i1")


async def problems(*edits: object, items: tuple[ChecklistItem, ...] = (), base: Json | None = None) -> list[str]:
    copied = WorkingCopy.of(base, Known())
    for edit in edits:
        copied = copied.with_edit(edit)
    report = await check(copied, items, SimulatedRuns(copied.known))
    assert report.passed == (not report.problems)
    return [f"{each.code} {each.node}".strip() for each in report.problems]


async def test_a_chain_passes():
    assert await problems(prompt("plan", "Plan."), prompt("draft", "Write {{result_of.plan.text}}")) == []


async def test_an_empty_or_unchanged_document_is_no_suggestion():
    assert await problems() == ["NO_NODES"]
    assert await problems(
        base={"id": "a", "nodes": [{"id": "b", "params": {"prompt": [{"kind": "text", "text": "x"}]}}]}
    ) == ["NOTHING_CHANGED"]


async def test_every_item_has_a_node():
    items = (ChecklistItem("i1", "a plan"), ChecklistItem("i2", "a check of the names"))
    assert await problems(prompt("plan", "Plan."), items=items) == ["OPEN_ITEM i2"]


async def test_an_output_that_nothing_reads_is_named():
    found = await problems(prompt("draft", "Write."), prompt("names", "{{result_of.draft.text}}"), prompt("end", "x"))
    assert found == ["UNREAD names"]


def too_long() -> tuple[object, ...]:
    """Both ways read the draft; the condition says which one is gone."""
    return (
        prompt("draft", "Write."),
        AddNode(id="long", kind="condition", params=LENGTH),
        prompt("cut", "Cut {{result_of.draft.text}}"),
        prompt("polish", "Polish {{result_of.draft.text}}"),
        ConnectNodes(source="long", target="cut", condition="true"),
        ConnectNodes(source="long", target="polish", condition="false"),
    )


async def test_branches_that_exclude_each_other_have_each_an_output():
    assert await problems(*too_long()) == []


async def test_a_branch_that_simulated_texts_do_not_take_is_forced():
    copied = WorkingCopy.of(None, Known())
    for edit in too_long():
        copied = copied.with_edit(edit)
    labels = [dict(each.labels) for each in variants(copied.document)]
    assert labels == [{}, {"long": "true"}, {"long": "false"}]


async def test_a_join_that_an_edge_holds_back_is_named():
    """The run ends as done, and the polish is silently left out."""
    found = await problems(
        prompt("draft", "Write."),
        AddNode(id="short", kind="condition", params=LENGTH),
        prompt("more", "Expand {{result_of.draft.text}}"),
        AddNode(id="text", kind="merge", params={"sources": ["result_of.more", "result_of.draft"], "how": "first"}),
        prompt("polish", "Polish {{result_of.text.items[0].text}}"),
        ConnectNodes(source="short", target="more", condition="true"),
        ConnectNodes(source="short", target="text", condition="false"),
    )
    assert "SKIPPED_JOIN text" in found


async def test_a_state_that_is_read_before_it_is_written_is_named():
    found = await problems(
        prompt("draft", "Day {{state.day}}."),
        AddNode(id="next", kind="state_write", params={"increment": ["day"]}),
        ConnectNodes(source="draft", target="next"),
    )
    assert "STATE_NOT_WRITTEN draft" in found


async def test_what_could_not_be_simulated_before_does_not_hold_up_a_change():
    node = {"id": "draft", "kind": "prompt", "params": {"prompt": [{"kind": "text", "text": "Day {{state.day}}."}]}}
    base = {"id": "day", "version": 1, "nodes": [node], "edges": []}
    assert await problems(SetPrompt(node="draft", append=" Be brief."), base=base) == []


def test_a_sample_has_small_and_large_numbers():
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "number"}}}}
    assert sample(schema) == {"rows": [1, 1_000_000]}


@pytest.mark.parametrize("answers", ["dev_answers", "dev_answers_other"])
async def test_the_right_answers_of_the_bench_pass(answers: str):
    briefs = rows("briefs")
    if not briefs:
        pytest.skip("the bench is not here")
    for name, answer in rows(answers).items():
        known = known_in(briefs[name])
        if not answer["workflow"] or (answers, name) == ("dev_answers", "dev-c05"):  # refused: an ambiguous field
            continue
        copied = WorkingCopy.of(briefs[name]["workflow"], known)
        for edit in edits_between(copied.base, answer["workflow"], "i1"):
            copied = copied.with_edit(edit)
        report = await check(copied, (ChecklistItem("i1", "it"),), SimulatedRuns(known))
        assert report.passed, (name, report.problems)
