"""`evolution` writes candidates, marks them by facts, lets the writer pick and builds on the pick."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from flowcabal_tui.domain.context import Injection, Receipt
from flowcabal_tui.domain.ids import Digest, Generation, NodeId
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Decision, Evaluation, Question, Quotation
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node
from flowcabal_tui.nodes.graph import dependencies
from flowcabal_tui.nodes.kinds.candidates import CandidateText, groups_in, origins, sifted
from flowcabal_tui.nodes.kinds.evolution import KIND, EvolutionParams
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, texts, until


def block(text: str) -> list[dict[str, str]]:
    return [{"kind": "text", "text": text}]


def openings(**params: object) -> Node:
    write = {"prompt": block("open [{{parent}}] {{note}}"), "context": False}
    return Node(id=NodeId("open"), kind="evolution", params={"write": write, "candidates": 3, **params})


class Writer:
    """Answers in order with a, b, c, ..., and to a sifting prompt with `groups`."""

    def __init__(self, groups: object = None, words: Iterable[str] = "abcdefghijklmnopqrstuvwxyz") -> None:
        self.words, self.groups = list(words), groups

    def __call__(self, request) -> str:
        if "<candidate" in request.messages[-1].content:
            return json.dumps({"groups": self.groups})
        return self.words.pop(0)


def wrong(text: str) -> Evaluation:
    """A contradiction in `text`."""
    quoted = Quotation(text, "draft/x", 0, len(text))
    found = CheckFinding("timeline", "time", "too late", quoted, Quotation("noon", "manuscript/1", 0, 4), 0.9)
    return Evaluation("retry", "too late", 0.9, (AngleCheck("timeline", "found", "", (found,)),))


class Adding:
    """A Context agent that adds one line."""

    async def assemble(self, *_asked: object) -> Injection:
        return Injection("", "remember this", Receipt(NodeId("open"), None, Generation(1), 0, 0))


RIGHT = Evaluation("approve", "", 1, (AngleCheck("timeline", "passed"),))


async def asked(bench: Bench, number: int = 1) -> Question:
    await until(lambda: len(bench.of(NodeNeedsHuman)) >= number)
    return bench.of(NodeNeedsHuman)[number - 1].question


async def run_with(bench: Bench, node: Node, *decisions: Decision, run: str = "r1", state: str = "done", **request):
    """Runs to the end, answering one question after the other."""
    before = len(bench.of(NodeNeedsHuman))
    started = await bench.run(flow(node), run=run, **request)
    task = asyncio.create_task(started.execute())
    for number, decision in enumerate(decisions, before + 1):
        question = await asked(bench, number)
        assert await bench.journal.answer(question.id, decision)
        assert started.answer(question.id, decision)
    assert await task == state
    assert len(bench.of(NodeNeedsHuman)) == before + len(decisions)
    return started.outputs.get(NodeId("open"))


async def test_each_candidate_is_an_answer_of_its_own_and_the_pick_is_the_output():
    bench = Bench(FakeModel(Writer()))
    output = await run_with(bench, openings(), Decision("choose", attempt=2))
    assert output.text == "b"
    (told,) = bench.of(NodeNeedsHuman)
    assert [(each.label, each.text, each.node) for each in told.question.choices] == [
        ("Candidate 1", "a", "open/1/candidate-1"),
        ("Candidate 2", "b", "open/1/candidate-2"),
        ("Candidate 3", "c", "open/1/candidate-3"),
    ]
    assert (told.question.kind, told.question.required, told.question.blind) == ("choice", True, False)
    assert [(line["candidate"], line["picked"], line["node"]) for line in output.value["lineage"]] == [
        (1, False, "1/candidate-1"),
        (2, True, "1/candidate-2"),
        (3, False, "1/candidate-3"),
    ]


async def test_the_next_round_builds_on_the_pick_and_hears_the_note():
    bench = Bench(FakeModel(Writer()))
    picks = Decision("choose", attempt=1, note="shorter"), Decision("choose", attempt=3)
    output = await run_with(bench, openings(rounds=2), *picks)
    assert (output.text, output.value["round"]) == ("f", 2)
    prompts = [call.messages[-1].content for call in bench.model.calls]
    assert prompts == ["open [] "] * 3 + ["open [a] shorter"] * 3
    assert {line["parent"] for line in output.value["lineage"][3:]} == {digest("a")}


async def test_a_round_after_the_first_may_have_a_prompt_of_its_own():
    bench = Bench(FakeModel(Writer()))
    picks = Decision("choose", attempt=1), Decision("choose", attempt=1)
    await run_with(bench, openings(rounds=2, next=block("better than {{parent}}")), *picks)
    assert bench.model.calls[3].messages[-1].content == "better than a"


async def test_who_stays_with_the_pick_before_ends_the_rounds():
    bench = Bench(FakeModel(Writer()))
    output = await run_with(bench, openings(rounds=5), Decision("choose", attempt=2), Decision("choose", attempt=4))
    assert (output.text, output.value["round"]) == ("b", 1)
    assert bench.of(NodeNeedsHuman)[1].question.choices[3].label == "Keep the pick of round 1, and stop"
    assert len(output.value["lineage"]) == 6


async def test_candidates_with_contradictions_are_marked_and_stay():
    bench = Bench(FakeModel(Writer()), FakeMonitor(lambda text, _n: wrong(text) if text == "a" else RIGHT))
    output = await run_with(bench, openings(angles=["timeline"]), Decision("choose", attempt=1))
    first, second, _third = bench.of(NodeNeedsHuman)[0].question.choices
    assert first.evaluation.findings[0].draft.text == "a"
    assert second.evaluation == RIGHT
    line = output.value["lineage"][0]
    assert (line["checks"], line["findings"][0]["explanation"]) == ({"timeline": "found"}, "too late")
    assert len(bench.model.calls) == 3, "a candidate is not written anew because of a contradiction"


async def test_of_near_duplicates_all_are_offered_and_those_with_more_contradictions_are_marked():
    bench = Bench(FakeModel(Writer([[1, 3], [2]])), FakeMonitor(lambda text, _n: wrong(text) if text == "a" else RIGHT))
    output = await run_with(bench, openings(angles=["timeline"], sift={}), Decision("choose", attempt=3))
    question = bench.of(NodeNeedsHuman)[0].question
    assert [(each.text, each.like) for each in question.choices] == [("a", 3), ("b", 0), ("c", 0)]
    assert "1 text has a mark" in question.reason
    assert output.text == "c"
    assert [line["like"] for line in output.value["lineage"]] == [3, None, None]


async def test_equal_texts_are_offered_once_without_any_model():
    bench = Bench(FakeModel(Writer(words="xyx")))
    await run_with(bench, openings(), Decision("choose", attempt=1))
    assert [each.text for each in bench.of(NodeNeedsHuman)[0].question.choices] == ["x", "y"]


async def test_those_with_more_contradictions_than_are_wished_for_are_marked_and_stay():
    bench = Bench(FakeModel(Writer()), FakeMonitor(lambda text, _n: wrong(text) if text == "a" else RIGHT))
    output = await run_with(bench, openings(angles=["timeline"], offered=2), Decision("choose", attempt=1))
    question = bench.of(NodeNeedsHuman)[0].question
    assert [(each.text, each.note) for each in question.choices] == [
        ("a", "others have fewer contradictions"),
        ("b", ""),
        ("c", ""),
    ]
    assert [line["offered"] for line in output.value["lineage"]] == [True, True, True]


async def test_blind_candidates_are_mixed_and_unnamed():
    bench = Bench(FakeModel(Writer()))
    marked = openings(blind=True, variations=[{"label": "terse", "instruction": "Be terse."}])
    await run_with(bench, marked, Decision("choose", attempt=1))
    question = bench.of(NodeNeedsHuman)[0].question
    assert question.blind
    assert [each.text for each in question.choices] == sorted("abc", key=digest)
    assert [each.label for each in question.choices] == ["Text 1", "Text 2", "Text 3"]


async def test_variations_change_instruction_temperature_and_model_in_turn():
    bench = Bench(FakeModel(Writer()))
    terse = {"label": "terse", "instruction": "In {{input.n}} words.", "temperature": 0.1}
    warm = {"label": "warm", "temperature": 1.5}
    await run_with(bench, openings(variations=[terse, warm]), Decision("choose", attempt=1), inputs={"n": 9})
    sent = sorted((call.messages[-1].content, call.temperature) for call in bench.model.calls)
    assert sent == [("open [] ", 1.5), ("open [] \n\nIn 9 words.", 0.1), ("open [] \n\nIn 9 words.", 0.1)]
    assert [each.label for each in bench.of(NodeNeedsHuman)[0].question.choices] == [
        "Candidate 1 · terse",
        "Candidate 2 · warm",
        "Candidate 3 · terse",
    ]


async def test_paragraphs_of_several_candidates_can_be_put_together():
    words = "Rain fell.\nHe ran.", "Snow fell on the old town.\nShe sang.", "Fog.", *"abc"
    bench = Bench(FakeModel(Writer(words=words)))
    mine = "Rain  fell.\n\nSnow fell on the cold town.\nNobody knew why."
    output = await run_with(bench, openings(rounds=2), Decision("edit", text=mine), Decision("choose", attempt=4))
    assert output.text == mine
    line = output.value["lineage"][3]
    assert (line["candidate"], line["picked"], line["node"], line["digest"]) == (None, True, "", digest(mine))
    assert line["paragraphs"] == [
        {"paragraph": 1, "candidate": 1, "changed": False},
        {"paragraph": 2, "candidate": 2, "changed": True},
        {"paragraph": 3, "candidate": None, "changed": False},
    ]


async def test_a_rejection_ends_it_without_an_output():
    bench = Bench(FakeModel(Writer()))
    assert await run_with(bench, openings(), Decision("reject"), state="failed") is None


async def test_automatic_rounds_go_by_facts_and_the_last_one_asks():
    bench = Bench(FakeModel(Writer()), FakeMonitor(lambda text, _n: wrong(text) if text == "a" else RIGHT))
    node = openings(rounds=3, automatic=True, angles=["timeline"])
    output = await run_with(bench, node, Decision("choose", attempt=1))
    picked = [(line["round"], line["candidate"]) for line in output.value["lineage"] if line["picked"]]
    assert picked == [(1, 2), (2, 1), (3, 1)]
    assert output.text == "g"


@pytest.mark.parametrize("first", range(0, 90, 9))
async def test_a_kill_at_any_moment_repeats_no_call_and_no_question(first):
    node = openings(rounds=2, sift={}, angles=["timeline"])
    for second in range(0, 90, 9):
        writer = Writer([[1, 2], [3]], (f"text {n}" for n in range(99)))
        bench = Bench(FakeModel(writer), FakeMonitor(lambda _text, _n: RIGHT), concurrency=2)
        for turns in (first, second):
            run = await bench.run(flow(node))
            task = asyncio.create_task(run.execute())
            for _turn in range(turns):
                await asyncio.sleep(0)
                await answer_all(bench, run)
            run.close()
            await task
        run = await bench.run(flow(node))
        task = asyncio.create_task(run.execute())
        while not task.done():
            await asyncio.sleep(0)
            await answer_all(bench, run)
        assert await task == "done"
        assert bench.spend.booked == 8, "three candidates and a sifting, twice"
        assert len(bench.journal.questions) == 2
        done = [event.node for event in bench.journal.events if event.kind == "node-done"]
        assert len(done) == len(set(done)) == 9
        offered = [len(question.choices) for question in bench.journal.questions.values()]
        assert offered == [3, 4], "near-duplicates are only marked; later the pick of the round before too"
        assert texts(run)["open"].startswith("text ")


async def answer_all(bench: Bench, run) -> None:
    for question in tuple(run.scope.waiting):
        asked = bench.journal.questions.get(question)
        if asked and question not in bench.journal.answers:
            decision = Decision("choose", attempt=1)
            await bench.journal.answer(question, decision)
            run.answer(question, decision)


async def test_a_check_that_was_made_is_not_made_again():
    monitor = FakeMonitor(lambda _text, _n: RIGHT)
    bench = Bench(FakeModel(Writer()), monitor)
    run = await bench.run(flow(openings(angles=["timeline"])))
    task = asyncio.create_task(run.execute())
    await asked(bench)
    run.close()
    await task
    await run_with(bench, openings(angles=["timeline"]), Decision("choose", attempt=1))
    assert sorted(monitor.seen) == ["a", "b", "c"]


async def test_the_pick_of_an_equal_node_stands_in_the_next_run_until_new_ones_are_wanted():
    bench = Bench(FakeModel(Writer()))
    await run_with(bench, openings(), Decision("choose", attempt=2))
    assert (await run_with(bench, openings(), run="r2")).text == "b"
    again = await run_with(bench, openings(), Decision("choose", attempt=1), run="r3", again=(NodeId("open"),))
    assert again.text == "d"


async def test_the_pick_stands_also_when_the_context_agent_adds_to_the_prompt():
    bench = Bench(FakeModel(Writer()))
    bench.ports = replace(bench.ports, context=Adding())
    node = openings(write={"prompt": block("open"), "context": True})
    await run_with(bench, node, Decision("choose", attempt=2))
    assert (await run_with(bench, node, run="r2")).text == "b"
    await run_with(bench, node, Decision("reject"), run="r3", again=(NodeId("open"),), state="failed")
    assert len(bench.model.calls) == 6, "a rejection does not stand: it was asked, and will be again"


async def test_it_can_be_cancelled_while_it_asks():
    bench = Bench(FakeModel(Writer()))
    run = await bench.run(flow(openings()))
    task = asyncio.create_task(run.execute())
    await asked(bench)
    assert run.cancel(NodeId("open"))
    assert await task == "cancelled"


def test_a_sifting_answer_that_makes_no_sense_groups_nothing():
    assert groups_in('so: {"groups": [[3, 1]]}', 3) == [[1, 3], [2]]
    for groups in ("1", "[1]", "[[1, 4]]", "[[1], [1]]", "[[true]]", "[[0]]"):
        assert groups_in(f'{{"groups": {groups}}}', 3) is None
    assert groups_in("", 3) is None


def test_overlapping_groups_have_one_text_that_stands():
    made = [CandidateText(n, text, Digest(text), NodeId("")) for n, text in enumerate("xxyz", 1)]
    assert [each.like for each in sifted(made, [[2, 3]], None)] == [None, 1, 1, None]


def test_a_paragraph_that_several_hold_comes_from_the_first():
    made = [CandidateText(n, "雨下了一夜。\n他走了。", Digest(""), NodeId("")) for n in (1, 2)]
    assert [row["candidate"] for row in origins("他走了。\n雨下了一整夜。", made)] == [1, 1]


def test_what_the_prompts_refer_to_are_dependencies_and_a_later_round_needs_the_parent():
    virtual = [{"kind": "virtual", "node": "plan"}]
    node = openings(write={"prompt": virtual}, rounds=2)
    assert dependencies(flow(node))["open"] == ("plan",)
    params = EvolutionParams.model_validate(node.params)
    assert [each.code for each in KIND.check(params, node)] == ["MISSING_REFERENCE"]
    right = openings(write={"prompt": virtual}, rounds=2, next=block("{{ parent }}"))
    assert KIND.check(EvolutionParams.model_validate(right.params), right) == ()


async def test_inside_a_loop_the_candidates_are_found_by_their_whole_path():
    body = {"nodes": [openings().model_dump(mode="json")]}
    node = Node(id=NodeId("loop"), kind="loop", params={"body": body, "source": [1]})
    bench = Bench(FakeModel(Writer()))
    run = await bench.run(flow(node))
    task = asyncio.create_task(run.execute())
    question = await asked(bench)
    assert (question.node, question.choices[0].node) == ("loop/0/open", "loop/0/open/1/candidate-1")
    run.answer(question.id, Decision("choose", attempt=1))
    assert await task == "done"
