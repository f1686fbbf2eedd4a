"""`recursive` writes, criticises and revises until the critic is done or the depth is spent."""

from __future__ import annotations

import asyncio
import json

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import AngleCheck, Decision, Evaluation
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.nodes.graph import dependencies
from flowcabal_tui.nodes.kinds.recursive import KIND, RecursiveParams, verdict_of
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, prompt, texts, until


def block(text: str) -> list[dict[str, str]]:
    return [{"kind": "text", "text": text}]


def said(done: bool, *points: str) -> str:
    return json.dumps({"done": done, "points": points}, ensure_ascii=False)


def polish(**params: object) -> Node:
    steps = {
        "draft": {"prompt": block("write a duel"), "context": False},
        "criticise": {"prompt": block("criticise {{round}}: {{draft}}")},
        "revise": {"prompt": block("revise {{round}}: {{draft}} after: {{critique}}"), "context": False},
    }
    return Node(id=NodeId("polish"), kind="recursive", params={**steps, **params})


class Writer:
    """Says of each critique what the test wants, in turn; drafts and revisions are counted texts."""

    def __init__(self, *verdicts: str) -> None:
        self.verdicts, self.written = list(verdicts), 0

    def __call__(self, request) -> str:
        asked = request.messages[-1].content
        if asked.startswith("criticise"):
            return self.verdicts.pop(0)
        self.written += 1
        return f"text {self.written}"


async def ran(bench: Bench, node: Node, run: str = "r1", **request):
    started = await bench.run(flow(node), run=run, **request)
    assert await started.execute() == "done"
    return started.outputs[NodeId("polish")]


async def test_it_revises_until_the_critic_is_done():
    bench = Bench(FakeModel(Writer(said(False, "weak end", "one name wrong"), said(True))))
    output = await ran(bench, polish(depth=5))
    assert output.text == "text 2"
    assert output.value["stopped"] == "good"
    assert [(turn["done"], turn["points"]) for turn in output.value["rounds"]] == [
        (False, ["weak end", "one name wrong"]),
        (True, []),
    ]
    asked = [call.messages[-1].content for call in bench.model.calls]
    assert asked == [
        "write a duel",
        "criticise 1: text 1",
        "revise 1: text 1 after: 1. weak end\n2. one name wrong",
        "criticise 2: text 2",
    ]


async def test_the_last_revision_is_kept_when_the_depth_is_spent():
    bench = Bench(FakeModel(Writer(said(False, "a"), said(False, "b"))))
    output = await ran(bench, polish(depth=2))
    assert (output.text, output.value["stopped"], len(output.value["rounds"])) == ("text 3", "depth", 2)


async def test_each_step_is_a_node_of_its_own():
    bench = Bench(FakeModel(Writer(said(False, "a"), said(True))))
    await ran(bench, polish())
    done = [event.node for event in bench.journal.events if event.kind == "node-done"]
    assert done == ["polish/1/draft", "polish/1/criticise", "polish/1/revise", "polish/2/criticise", "polish"]


@pytest.mark.parametrize("answer", ["looks fine to me", '{"done": "yes"}', '{"done": true, "points": "none"}', "{{{{"])
async def test_a_critique_that_cannot_be_read_is_no_pass(answer):
    bench = Bench(FakeModel(Writer(answer, answer)))
    until_none = {"kind": "expression", "expression": "len(verdict.points) == 0"}
    output = await ran(bench, polish(depth=2, until=until_none))
    assert output.value["stopped"] == "depth"
    assert [turn["checked"] for turn in output.value["rounds"]] == [False, False]
    assert bench.model.calls[2].messages[-1].content == f"revise 1: text 1 after: {answer}"


def test_a_verdict_is_found_between_prose_and_its_points_are_made_harmless():
    verdict = verdict_of('Well {so}:\n```json\n{"done": false, "points": ["a\\u001b[31m", " "]}\n```')
    assert (verdict.checked, verdict.done, verdict.points) == (True, False, ("a",))


async def test_a_condition_over_the_verdict_ends_it_too():
    bench = Bench(FakeModel(Writer(said(False, "a", "b"), said(False, "a"))))
    few = {"kind": "expression", "expression": "len(verdict.points) <= 1 and round > 1"}
    output = await ran(bench, polish(depth=5, until=few))
    assert (output.text, output.value["stopped"]) == ("text 2", "good")


async def test_it_may_begin_with_an_upstream_text():
    bench = Bench(FakeModel(lambda r: said(True) if r.messages[0].role == "system" else "upstream"))
    node = polish(draft=None, start=[{"kind": "virtual", "node": "plan"}])
    workflow = flow(prompt("plan", "plan"), node)
    assert dependencies(workflow)["polish"] == ("plan",)
    run = await bench.run(workflow)
    assert await run.execute() == "done"
    assert texts(run)["polish"] == "upstream"
    assert len(bench.model.calls) == 2


async def test_what_the_condition_reads_is_a_dependency():
    node = polish(until={"kind": "compare", "source": "result_of.plan.text", "value": "short"})
    assert dependencies(flow(prompt("plan", "p"), node))["polish"] == ("plan",)
    named = polish(until={"kind": "not_empty", "source": "verdict.points"})
    assert dependencies(flow(named))["polish"] == ()


async def test_always_lets_the_writer_have_the_last_word():
    bench = Bench(FakeModel(Writer(said(True))))
    run = await bench.run(flow(polish(review="always")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    question = bench.of(NodeNeedsHuman)[0].question
    assert (question.node, question.proposal, question.required) == ("polish", "text 1", True)
    assert run.answer(question.id, Decision("edit", text="mine"))
    assert await task == "done"
    assert run.outputs[NodeId("polish")].value["edited"] is True
    assert texts(run) == {"polish": "mine"}


async def test_a_rejected_end_fails_the_node():
    bench = Bench(FakeModel(Writer(said(True))))
    run = await bench.run(flow(polish(review="always")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.of(NodeNeedsHuman))
    run.answer(bench.of(NodeNeedsHuman)[0].question.id, Decision("reject"))
    assert await task == "failed"


async def test_what_is_written_is_checked_for_facts_and_the_critique_is_not():
    passed = Evaluation("approve", "", 1, (AngleCheck("timeline", "passed"),))
    monitor = FakeMonitor(lambda _text, _n: passed)
    bench = Bench(FakeModel(Writer(said(False, "a"), said(True))), monitor)
    await ran(bench, polish(angles=["timeline"]))
    assert monitor.seen == ["text 1", "text 2"]


VERDICTS = {"criticise 1": said(False, "a"), "criticise 2": said(False, "b"), "criticise 3": said(True)}


async def killed_after(bench: Bench, turns: int) -> None:
    """A process that ends after so many turns of its loop."""
    run = await bench.run(flow(polish()))
    task = asyncio.create_task(run.execute())
    for _turn in range(turns):
        await asyncio.sleep(0)
    run.close()
    await task


@pytest.mark.parametrize("first", range(0, 70, 7))
async def test_a_kill_at_any_moment_repeats_no_call_that_was_answered(first):
    for second in range(0, 70, 7):
        bench = Bench(FakeModel(lambda r: VERDICTS.get(r.messages[-1].content[:11], f"({r.messages[-1].content[:8]})")))
        await killed_after(bench, first)
        await killed_after(bench, second)
        run = await bench.run(flow(polish()))
        assert await run.execute() == "done"
        assert bench.spend.booked == 6, "a draft, three critiques and two revisions"
        done = [event.node for event in bench.journal.events if event.kind == "node-done"]
        assert len(done) == len(set(done)) == 7
        assert texts(run) == {"polish": "(revise 2)"}


async def test_an_equal_node_is_served_in_the_next_run():
    bench = Bench(FakeModel(Writer(said(False, "a"), said(True))))
    await ran(bench, polish())
    output = await ran(bench, polish(), run="r2")
    assert (output.text, len(bench.model.calls)) == ("text 2", 4)


async def test_it_can_be_cancelled_with_all_that_stands_in_it():
    bench = Bench(FakeModel(Writer(said(True))))
    bench.model.gates["write"] = asyncio.Event()
    run = await bench.run(flow(polish(), prompt("other", "x")))
    task = asyncio.create_task(run.execute())
    await until(lambda: bench.model.calls)
    assert run.cancel(NodeId("polish"))
    assert await task == "cancelled"
    assert "polish" not in texts(run)
    assert bench.model.going == 0


def test_what_is_wrong_with_the_params_is_said():
    def codes(**params: object) -> list[tuple[str, str]]:
        node = polish(**params)
        return [(each.code, each.field) for each in KIND.check(RecursiveParams.model_validate(node.params), node)]

    assert codes() == []
    assert codes(draft=None) == [("SCHEMA_MISMATCH", "start")]
    assert codes(start=block("x")) == [("SCHEMA_MISMATCH", "start")]
    assert codes(revise={}) == [("EMPTY_PROMPT", "revise")]
    assert codes(until={"kind": "expression", "expression": "round >"}) == [("SYNTAX_ERROR", "until.expression")]
    assert codes(until={"kind": "not_empty", "source": "verdict.points[0]"}) == []
    assert codes(until={"kind": "not_empty", "source": "verdict.pionts"}) == [("SCHEMA_MISMATCH", "until.source")]
    with pytest.raises(ValueError, match="depth"):
        RecursiveParams.model_validate(polish(depth=11).params)
