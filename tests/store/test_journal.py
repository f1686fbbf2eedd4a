"""The durable side of a run."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, QuestionId, RunId
from flowcabal_tui.domain.journal import RunEvent, StoredResult
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Decision, Question, RunFilter, RunRequest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.project.runs.queries import RunQueries
from flowcabal_tui.runner.fold import fold
from flowcabal_tui.store.store import Store
from tests.effort import effort

RUN, NODE = RunId("r1"), NodeId("草稿")
FLOW = Workflow(id="章", version=3, nodes=(Node(id=NODE),))
FAILED = {"title": "No answer.", "detail": ""}
REQUEST = RunRequest(FLOW.reference, ChapterId("c1"), (("input.wish", "雪"),))


def result(text: str, key: str = "k1") -> StoredResult:
    return StoredResult(Digest(key), text, digest(text), "m", "model", "stop", Usage(10, None), 1.5)


def question(clock, name: str = "q1", node: NodeId = NODE) -> Question:
    return Question(QuestionId(name), RUN, node, "review", "两处不合" * 300, clock(), (1, 2))


async def begin(store, run: RunId = RUN, generation: int = 7) -> None:
    await store.journal.begin_run(run, REQUEST, FLOW, Generation(generation))


async def test_a_run_remembers_its_request_its_document_and_its_generation(store, reopen):
    await begin(store)
    await store.close()
    runs = (await reopen()).runs
    assert await runs.run_request(RUN) == REQUEST
    assert await runs.workflow_of(RUN) == FLOW
    assert await runs.generation_of(RUN) == 7
    assert await runs.last_generation(FLOW.reference, ChapterId("c1")) == (7, RUN)
    assert await runs.last_generation(FLOW.reference, None) is None


async def test_events_come_back_in_order_as_they_were(store, clock):
    await begin(store)
    at = clock()
    long = {"receipt": {"sources": ["长" * 5_000]}}
    await store.journal.record(
        RunEvent(RUN, "attempt-started", NODE, 1, long, at=at), RunEvent(RUN, "cancelled", NODE, 1, {"partial": "x"})
    )
    history = await store.journal.history(RUN)
    assert [event.kind for event in history] == ["run-started", "attempt-started", "cancelled"]
    assert history[1].payload == long
    assert history[1].at == at
    assert [event.seq for event in history] == sorted({event.seq for event in history})
    assert await store.journal.history(RunId("other")) == ()


async def test_the_history_of_a_node_folds_as_that_of_the_run(store):
    served = {"nodes": {NODE: {"digest": "d", "form": "json"}, "other": "e"}}
    await begin(store)
    await store.journal.record(
        RunEvent(RUN, "attempt-started", NODE, 1, {"model": "m"}),
        RunEvent(RUN, "node-done", NodeId("循环/1/草稿"), 1, {"digest": "x"}),
        RunEvent(RUN, "run-ended", payload={"state": "cancelled"}),
        RunEvent(RUN, "run-resumed"),
        RunEvent(RUN, "nodes-served", payload=served),
        RunEvent(RUN, "nodes-served", payload={"nodes": {f"{NODE}/1/a": "f"}}),
    )
    history = await store.journal.node_history(RUN, NODE)
    assert [event.kind for event in history] == ["attempt-started", "run-ended", "run-resumed", "nodes-served"]
    assert fold(history).nodes == {NODE: fold(await store.journal.history(RUN)).nodes[NODE]}


async def test_reading_a_node_costs_the_same_whatever_the_rest_of_its_run_did(store):
    async def cost(rounds: int) -> int:
        run = RunId(f"run of {rounds}")
        await begin(store, run)
        for number in range(rounds):
            inner = NodeId(f"循环/{number}/草稿")
            await store.journal.record(
                RunEvent(run, "attempt-started", inner, 1, {"key": "k"}), RunEvent(run, "node-failed", inner, 1, FAILED)
            )
        served = {f"循环/{number}/题": "d" for number in range(rounds)}
        await store.journal.record(
            RunEvent(run, "nodes-served", payload={"nodes": served}), RunEvent(run, "attempt-started", NODE, 1)
        )
        with effort() as counted:
            view = await RunQueries(store).node(run, NODE)
        assert view.state == "running"
        return counted.calls

    few = [await cost(rounds) for rounds in (3, 30)][-1]
    assert await cost(300) < 1.2 * few


async def test_a_paid_result_is_never_overwritten(store):
    await store.journal.keep_result(result("first"))
    await store.journal.keep_result(result("second"), RunEvent(RUN, "attempt-done", NODE, 1))
    assert await store.journal.result(Digest("k1")) == result("first")
    assert [event.kind for event in await store.journal.history(RUN)] == ["attempt-done"]
    assert await store.journal.result(Digest("k2")) is None


async def test_an_outcome_is_the_one_remembered_last(store):
    assert await store.journal.outcome(Digest("o")) is None
    await store.journal.remember_outcome(Digest("o"), result("draft"))
    await store.journal.remember_outcome(Digest("o"), result("edited", "k9"))
    assert await store.journal.outcome(Digest("o")) == result("edited", "k9")


async def test_an_outcome_that_is_read_with_its_neighbours_is_the_one_remembered_last(store):
    keys = [Digest(f"k{number}") for number in range(600)]
    for key in keys:
        await store.journal.remember_outcome(key, result(f"first {key}" * (1 + 400 * (key == "k7")), key))
    for key in keys[10:300:7]:
        await store.journal.remember_outcome(key, result(f"second {key}", key))
    asked = []
    store.runs._database._readers.direct.set_trace_callback(asked.append)
    for key in (*keys[250:], *keys[:250]):
        expected = await store.journal.outcome(key)
        assert store.journal.stored_result(key) == expected._replace(usage=Usage())
    assert len(asked) < 40, "most were read with the neighbours of a few"
    await store.journal.remember_outcome(keys[20], result("third", "k20"))
    assert store.journal.stored_result(keys[20]).text == "third", "a write drops what was read ahead"
    assert store.journal.stored_result(Digest("none")) is None


async def test_outcomes_of_a_project_that_another_process_writes_are_read_anew(store, reopen):
    for number in range(20):
        await store.journal.remember_outcome(Digest(f"k{number}"), result("first", f"k{number}"))
    reader = await reopen(read_only=True)
    assert [reader.journal.stored_result(Digest(f"k{number}")).text for number in range(20)] == ["first"] * 20
    await store.journal.remember_outcome(Digest("k3"), result("second", "k3"))
    assert reader.journal.stored_result(Digest("k3")).text == "second"


async def test_a_run_pins_the_version_that_was_saved(store):
    saved = await store.workflows.save(Workflow(id="saved", nodes=(Node(id=NODE),)))
    await store.journal.begin_run(RUN, RunRequest(saved.reference), saved, Generation(1))
    await store.workflows.save(saved.model_copy(update={"name": "another"}))
    assert await store.runs.workflow_of(RUN) == saved


async def test_texts_are_found_by_digest(store):
    text = "雪\ud800" * 1_000
    name = await store.journal.put_text(text)
    assert await store.journal.put_text(text) == name == digest(text)
    assert await store.journal.text(name) == text


async def test_streamed_text_survives_and_goes_when_the_attempt_is_done(store, reopen):
    store.journal.journal_text(RUN, NODE, 1, 0, "older")
    store.journal.journal_text(RUN, NODE, 1, 5, "text")
    store.journal.journal_text(RUN, NODE, 1, 0, "大雪")
    store.journal.journal_text(RUN, NODE, 1, 2, "满弓刀")
    assert await store.journal.partial_text(RUN, NODE, 1) == "大雪满弓刀"
    await store.close()
    store = await reopen()
    assert await store.journal.partial_text(RUN, NODE, 1) == "大雪满弓刀"
    await store.journal.keep_result(result("大雪满弓刀。"), RunEvent(RUN, "attempt-done", NODE, 1))
    assert await store.journal.partial_text(RUN, NODE, 1) == ""


async def test_streamed_text_ends_where_a_piece_is_missing(store):
    store.journal.journal_text(RUN, NODE, 1, 0, "abc")
    store.journal.journal_text(RUN, NODE, 1, 6, "ghi")
    assert await store.journal.partial_text(RUN, NODE, 1) == "abc"


async def test_a_question_is_answered_once(store, clock, reopen):
    await store.journal.ask(question(clock), RunEvent(RUN, "asked", NODE))
    await store.close()
    again = await reopen()
    runs, journal = again.runs, again.journal
    assert [asked.id for asked in await runs.open_questions()] == ["q1"]
    edit = Decision("edit", 2, "改过的", "note")
    assert await journal.answer(QuestionId("q1"), edit, RunEvent(RUN, "answered", NODE))
    assert not await journal.answer(QuestionId("q1"), Decision("approve"), RunEvent(RUN, "answered", NODE))
    assert not await journal.answer(QuestionId("none"), Decision("approve"))
    assert await journal.decision(QuestionId("q1")) == edit
    assert await runs.open_questions() == ()
    assert [event.kind for event in await journal.history(RUN)] == ["asked", "answered"]


async def test_a_cancelled_node_asks_no_more_until_it_asks_again(store, clock):
    await store.journal.ask(question(clock))
    await store.journal.ask(question(clock, "q2", NodeId("other")))
    await store.journal.record(RunEvent(RUN, "cancelled", NODE))
    assert [asked.id for asked in await store.runs.open_questions()] == ["q2"]
    assert not await store.journal.answer(QuestionId("q1"), Decision("approve"))
    await store.journal.ask(question(clock))
    assert [asked.id for asked in await store.runs.open_questions()] == ["q2", "q1"]


async def test_the_history_tells_the_state_of_each_run(store, clock):
    await begin(store, RunId("done"))
    await store.journal.record(
        RunEvent(RunId("done"), "attempt-started", NODE, 1),
        RunEvent(RunId("done"), "node-done", NODE, 1),
        RunEvent(RunId("done"), "run-ended", payload={"state": "done"}),
    )
    await begin(store, RunId("failed"))
    await store.journal.record(
        RunEvent(RunId("failed"), "node-failed", NODE, 1, {"title": "no key", "detail": ""}),
        RunEvent(RunId("failed"), "node-blocked", NodeId("润色")),
        RunEvent(RunId("failed"), "run-ended", payload={"state": "failed"}),
    )
    await begin(store)
    await store.journal.record(RunEvent(RUN, "asked", NODE))
    waiting, failed, done = await store.runs.summaries(10)
    assert (done.state, done.nodes) == ("done", ((NODE, "done"),))
    assert (failed.state, failed.error) == ("failed", "no key")
    assert failed.nodes == ((NODE, "failed"), (NodeId("润色"), "blocked"))
    assert (waiting.id, waiting.state, waiting.generation) == (RUN, "waiting", 7)
    assert len(await store.runs.summaries(1)) == 1


async def test_runs_of_a_chapter_and_those_without_an_end_are_found_behind_any_number_of_newer_ones(store):
    await begin(store)
    await store.journal.record(RunEvent(RUN, "asked", NODE))
    for number in range(60):
        run = RunId(f"later-{number}")
        await store.journal.begin_run(run, replace(REQUEST, chapter=None), FLOW, Generation(7))
        await store.journal.record(RunEvent(run, "run-ended", payload={"state": "done"}))
    (of_chapter,) = await store.runs.summaries(1, RunFilter(ChapterId("c1")))
    (unended,) = await store.runs.summaries(-1, RunFilter(unended=True))
    (itself,) = await store.runs.summaries(1, RunFilter(run=RUN))
    assert {of_chapter.id, unended.id, itself.id} == {RUN}
    assert len(await store.runs.summaries(-1, RunFilter(None))) == 60
    newest = await store.runs.summaries(50)
    older = await store.runs.summaries(50, RunFilter(before=newest[-1].id))
    assert [run.id for run in (*newest, *older)] == [*(f"later-{n}" for n in reversed(range(60))), RUN]
    assert await store.runs.summaries(50, RunFilter(before=older[-1].id)) == ()


async def test_a_run_without_an_end_is_interrupted_after_a_restart_until_it_is_resumed(store, reopen):
    await begin(store)
    await store.journal.record(RunEvent(RUN, "attempt-started", NODE, 1))
    await store.close()
    again = await reopen()
    runs = again.runs
    assert (await runs.summaries())[0].state == "interrupted"
    await again.journal.record(RunEvent(RUN, "run-resumed"))
    (summary,) = await runs.summaries()
    assert (summary.state, summary.nodes) == ("running", ((NODE, "pending"),))


KINDS = ["attempt-started", "node-done", "node-failed", "node-blocked", "cancelled", "asked", "answered"]
LOGS = st.lists(
    st.one_of(st.tuples(st.sampled_from(KINDS), st.sampled_from("甲乙")), st.just(("run-resumed", ""))), max_size=15
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(log=LOGS)
def test_the_history_says_what_the_runner_would_say_of_the_same_log(log, tmp_path_factory, clock):
    payloads = {"node-failed": {"title": "no", "detail": ""}, "asked": {"question": {"id": "q"}}}

    async def scenario():
        store = await Store.open(tmp_path_factory.mktemp("log"), clock=clock, language="zh")
        await begin(store)
        for kind, node in log:
            await store.journal.record(RunEvent(RUN, kind, NodeId(node), 1 if node else 0, payloads.get(kind, {})))
        said = fold(await store.journal.history(RUN))
        (summary,) = await store.runs.summaries()
        assert dict(summary.nodes) == {name: node.state for name, node in said.nodes.items()}
        await store.close()

    asyncio.run(scenario())
