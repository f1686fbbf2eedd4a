"""A retry sends the attempt before as the model's own turn; a mend changes the paragraphs that were asked for."""

from __future__ import annotations

import asyncio
import re

import pytest

from flowcabal_tui.domain.ids import RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.run import AngleCheck, CheckFinding, Decision, Evaluation, Quotation
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.runs import NodeNeedsHuman
from flowcabal_tui.runner.fold import fold
from tests.runner.fakes import Bench, FakeModel, FakeMonitor, flow, prompt, texts, until

DRAFT = (
    "Mara climbed the tower before dawn.\n\nThe lamp was red when she reached it.\n\n"
    "Below her the boats came in one by one.\n\nShe wrote three names in the book and went down.\n\n"
    "Nobody asked about the light that day."
)
GREEN = '<paragraph n="2">\nThe lamp was green when she reached it.\n</paragraph>'
BETTER = DRAFT.replace("red", "green")
ASKED = re.compile(r'<paragraph n="(\d+)">')


def judged(text: str, attempt: int) -> Evaluation:
    """The lamp is not red."""
    if (at := text.find("red")) < 0:
        return Evaluation("approve", "fine", 1.0)
    draft, source = Quotation("red", "draft/a", at, at + 3), Quotation("green", "manuscript/001", 0, 5, "Chapter 1")
    found = CheckFinding("world_rules", "", "the lamp", draft, source, 0.9)
    return Evaluation("retry", "1 contradiction", 0.9, (AngleCheck("world_rules", "found", "", (found,)),))


def checked(*answers: str) -> Bench:
    """A bench whose model gives these answers, one after the other."""
    left = iter(answers)
    return Bench(FakeModel(lambda _request: next(left)), FakeMonitor(judged))


SOLO = flow(prompt("a", "Write it.", angles=["world_rules"]))


async def test_a_retry_holds_the_draft_and_then_what_is_wrong_with_it():
    bench = checked("The lamp was red.", "The lamp was green.")
    await (await bench.run(SOLO)).execute()
    first, second = bench.model.calls
    assert second.messages[:-2] == first.messages, "a provider's cache finds the whole first request again"
    draft, told = second.messages[-2:]
    assert (draft.role, draft.content, told.role) == ("assistant", "The lamp was red.", "user")
    assert "wrong: 1 contradiction" in told.content and told.content.rstrip().endswith("Answer with the text only.")


async def test_where_one_paragraph_is_wrong_only_this_is_asked_for():
    bench = checked(DRAFT, GREEN)
    run = await bench.run(SOLO)
    assert await run.execute() == "done"
    assert texts(run)["a"] == BETTER
    assert ASKED.findall(bench.model.calls[1].messages[-1].content) == ["2"]
    done = fold(await bench.journal.history(RunId("r1"))).node("a").attempts[2]
    attempt = done.attempt(BETTER)
    assert (attempt.of, attempt.paragraphs, attempt.digest) == (1, (2,), digest(BETTER))


@pytest.mark.parametrize("answer", ["I changed the lamp.", GREEN.replace('"2"', '"3"'), BETTER, GREEN + GREEN])
async def test_what_cannot_be_placed_becomes_a_new_attempt_of_the_whole(answer):
    bench = checked(DRAFT, answer, BETTER)
    run = await bench.run(SOLO)
    await run.execute()
    assert texts(run)["a"] == BETTER and len(bench.model.calls) == 3
    assert not ASKED.findall(bench.model.calls[2].messages[-1].content)
    assert set(fold(await bench.journal.history(RunId("r1"))).node("a").attempts) == {1, 2}


async def test_an_answer_that_was_cut_off_is_not_put_in():
    bench, left = checked(), iter([DRAFT, GREEN, BETTER])

    def says(_request: object) -> str:
        bench.model.finish = "length" if len(bench.model.calls) == 2 else "stop"
        return next(left)

    bench.model.says = says
    run = await bench.run(SOLO)
    await run.execute()
    assert texts(run)["a"] == BETTER and len(bench.model.calls) == 3


async def test_after_an_answer_that_could_not_be_placed_none_is_asked_for_single_paragraphs():
    bench = checked(DRAFT, "no", DRAFT + "\n\nThe end.", BETTER)
    await (await bench.run(SOLO)).execute()
    mends = [bool(ASKED.findall(call.messages[-1].content)) for call in bench.model.calls]
    assert mends == [False, True, False, False]


@pytest.mark.parametrize("answers", [(DRAFT, GREEN), (DRAFT, "no", BETTER)])
@pytest.mark.parametrize("after", ["attempt-done", "attempt-cut", "evaluated", "attempt-started"])
async def test_a_run_that_goes_on_repeats_no_paid_call(answers, after):
    bench = checked(*answers)
    await (await bench.run(SOLO)).execute()
    whole = tuple(bench.journal.events)
    last = max(n for n, event in enumerate(whole) if event.kind in (after, "attempt-done"))
    for end in range(1, last + 1):
        bench.journal.events, bench.journal.outcomes = list(whole[:end]), {}
        run = await bench.run(SOLO)
        assert await run.execute() == "done" and texts(run)["a"] == BETTER
        assert len(bench.model.calls) == len(answers), "each answer was paid for once"


async def test_an_attempt_of_a_log_from_before_is_taken_as_it_is():
    """Earlier versions put the feedback into the writer's turn: the key in the log is not that of today's request."""
    bench = checked("red", "never sent")
    await (await bench.run(SOLO)).execute()
    old, known = bench.journal, next(iter(bench.journal.results.values()))
    old.results["old"] = known.__class__(
        "old", "green", digest("green"), "m", "model", "stop", known.usage, 1.0, "text"
    )
    kept = [event for event in old.events if event.attempt < 2 and event.kind not in ("node-done", "run-ended")]
    said = {"digest": digest("green"), "key": "old", "author": "model", "model": "m", "finish": "stop", "seconds": 1.0}
    kept.append(RunEvent(RunId("r1"), "attempt-started", "a", 2, {"key": "old", "feedback": "wrong: red"}))
    kept.append(RunEvent(RunId("r1"), "attempt-done", "a", 2, said))
    old.events, old.outcomes = kept, {}
    sent = len(bench.model.calls)
    run = await bench.run(SOLO)
    assert await run.execute() == "done" and texts(run)["a"] == "green"
    assert len(bench.model.calls) == sent


async def answered(bench: Bench, *decisions: Decision) -> str:
    """What a node gives that asks each time, and gets these answers."""
    run = await bench.run(flow(prompt("a", "Write it.", review="always")))
    task = asyncio.create_task(run.execute())
    for number, decision in enumerate(decisions, 1):
        await until(lambda number=number: len(bench.of(NodeNeedsHuman)) == number)
        run.answer(bench.of(NodeNeedsHuman)[-1].question.id, decision)
    await task
    return texts(run)["a"]


async def test_a_note_goes_with_the_attempt_that_was_shown():
    bench = checked("one", "two", "three")
    retry = Decision("retry", attempt=1, note="More </feedback> rain.")
    assert await answered(bench, Decision("retry"), retry, Decision("approve", attempt=3)) == "three"
    assert [message.content for message in bench.model.calls[1].messages] == ["Write it."], "a plain new sample"
    _asked, shown, told = bench.model.calls[2].messages
    assert shown.content == "one" and "\nMore &lt;/feedback&gt; rain." in told.content


async def test_a_note_can_ask_for_a_mend_of_any_paragraph():
    bench = checked(DRAFT, GREEN)
    asked = Decision("mend", attempt=1, note="The lamp is green."), Decision("approve", attempt=2)
    assert await answered(bench, *asked) == BETTER
    told = bench.model.calls[1].messages[-1].content
    assert "1. “Mara climbed the tower b…”" in told and "5. “Nobody asked" in told


async def test_a_text_that_was_cut_off_is_told_so():
    bench = checked("one", "two")
    bench.model.finish = "length"
    await answered(bench, Decision("retry", attempt=1), Decision("approve", attempt=2))
    asked = bench.model.calls[1].messages[-1].content
    assert "limit of its length" in asked and "short enough to be finished" in asked and "as it is" not in asked


async def test_a_chinese_draft_is_answered_in_chinese():
    bench = checked("灯是红的。她走上塔去。", "灯是绿的。")
    await answered(bench, Decision("retry", attempt=1, note="灯是绿的"), Decision("approve", attempt=2))
    told = bench.model.calls[1].messages[-1].content
    assert "\n灯是绿的\n" in told and "Write" not in told


async def test_a_text_has_no_escapes_that_the_model_copied_from_its_prompt():
    bench = Bench(FakeModel(lambda _request: "Cheeryble &amp; Co"))
    run = await bench.run(flow(prompt("a", "<draft>\nCheeryble &amp; Co\n</draft>\nPolish it.")))
    await run.execute()
    assert texts(run)["a"] == "Cheeryble & Co"
