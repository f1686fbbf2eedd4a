"""A node's history over many runs, what stands, and what is stale."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, RunId
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import RunEvent, StoredResult
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.versions import CurrentOutput, StaleMark
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.store.runs.current_outputs import OutputChange, forgetting_outcomes

STEPS = 100
"""Instructions of SQLite that are counted as one look."""
CHAPTER, NODE, BELOW = ChapterId("c1"), NodeId("草稿"), NodeId("润色")
FLOW = Workflow(id="章", nodes=(Node(id=NODE),))


async def ran(store, name: str, text: str, *, version: int = 1, chapter=CHAPTER, **done) -> None:
    """A run in which the node gave this text with its first attempt."""
    run, flow = RunId(name), FLOW.model_copy(update={"version": version})
    await store.journal.begin_run(run, RunRequest(flow.reference, chapter), flow, Generation(1))
    told = {"digest": digest(text), "key": f"k-{name}", "author": "model", "model": "m", "seconds": 2.0, **done}
    result = StoredResult(Digest(told["key"]), text, digest(text), "m", "model", "stop", Usage(1, 2), 2.0)
    await store.journal.keep_result(result, RunEvent(run, "attempt-done", NODE, 1, told))
    await store.journal.record(RunEvent(run, "node-done", NODE, 1, {"digest": digest(text), "keys": [f"out-{name}"]}))


async def texts(store, chapter=CHAPTER) -> list[str]:
    found = await store.versions.of("章", chapter, NODE)
    return [await store.journal.text(version.digest) for version in found]


async def test_versions_are_those_of_all_documents_of_the_workflow_for_the_chapter(store):
    await ran(store, "r1", "one")
    await ran(store, "r2", "two", version=2)
    await ran(store, "r3", "elsewhere", chapter=ChapterId("c2"))
    await ran(store, "r4", "nowhere", chapter=None)
    assert await texts(store) == ["one", "two"]
    assert await texts(store, None) == ["nowhere"]


async def test_the_same_text_again_is_no_other_version_and_a_served_one_neither(store):
    await ran(store, "r1", "one")
    await ran(store, "r2", "one")
    await ran(store, "r3", "one", cached=True)
    (version,) = await store.versions.of("章", CHAPTER, NODE)
    assert (version.run, version.number, version.stood, version.seconds) == ("r1", 1, True, 2.0)
    assert await store.versions.keys("章", CHAPTER, NODE, digest("one")) == {"out-r1", "out-r2", "out-r3"}
    assert await store.versions.keys("章", CHAPTER, NODE, digest("two")) == frozenset()


async def test_what_a_person_wrote_stands_under_the_keys_of_what_it_replaces(store):
    await ran(store, "r1", "one")
    await store.current_outputs.write(
        "章", {}, store.versions.writing("章", CHAPTER, NODE, Output("mine"), digest("one"))
    )
    await store.current_outputs.write("章", {}, store.versions.writing("章", CHAPTER, NODE, Output("mine"), Digest("")))
    one, mine = await store.versions.of("章", CHAPTER, NODE)
    assert (mine.author, mine.run, mine.number, one.author) == ("human", "", 2, "model")
    assert await store.versions.keys("章", CHAPTER, NODE, digest("mine")) == {"out-r1"}


async def test_what_the_last_run_took_from_another_workflow_is_told(store):
    run = RunId("r1")
    await store.journal.begin_run(run, RunRequest(FLOW.reference, CHAPTER), FLOW, Generation(1))
    told = {"digest": digest("taken"), "form": "text", "key": "k", "author": "model", "model": "m"}
    await store.journal.put_text("taken")
    await store.journal.record(RunEvent(run, "nodes-served", payload={"nodes": {NODE: told}}))
    assert await texts(store) == ["taken"]


@pytest.mark.parametrize("runs", [100, 1_000])
async def test_the_work_of_reading_a_history_grows_with_its_runs_alone(store, runs):
    for number in range(runs):
        store.journal.post(
            RunEvent(RunId(f"r{number}"), "attempt-done", NODE, 1, {"digest": f"{number:032}", "key": f"k{number}"}),
            RunEvent(RunId(f"r{number}"), "node-done", NODE, 1, {"digest": f"{number:032}"}),
            *(RunEvent(RunId(f"r{number}"), "node-done", NodeId(f"other {n}"), 1, {"digest": "x"}) for n in range(20)),
        )

    def rows(connection) -> None:
        connection.executemany(
            "INSERT INTO run (id, workflow, document, request, chapter, generation, at)"
            " VALUES (?, '章@1', '', '{}', 'c1', 1, '')",
            [(f"r{number}",) for number in range(runs)],
        )

    await store._database.do(rows)
    counted = []
    for reader in store._database._readers._connections:
        await reader.set_progress_handler(lambda: counted.append(1), STEPS)
    assert len(await store.versions.of("章", CHAPTER, NODE)) == runs
    assert 0 < len(counted) * STEPS < 500 * runs


async def test_durations_are_means_over_the_last_runs(store):
    for name, seconds in (("r0", 100.0), ("r1", 1.0), ("r2", 2.0), ("r3", 6.0)):
        await ran(store, name, name, seconds=seconds)
    assert await store.versions.durations("章") == {NODE: 3.0}
    assert await store.versions.durations("别") == {}


def standing(clock, text: str = "one", **fields) -> CurrentOutput:
    return CurrentOutput(NODE, digest(text), "text", clock(), run=RunId("r1"), made=Digest("p1"), **fields)


async def test_what_stands_is_kept_by_chapter_and_frozen_texts_are_read(store, clock, reopen):
    await store.journal.put_text("one")
    known = standing(clock, frozen=True, chosen=True)
    await store.current_outputs.write(
        "章", {CHAPTER: OutputChange((known,)), None: OutputChange((replace(known, frozen=False),))}
    )
    await store.close()
    again = await reopen()
    assert await again.current_outputs.all("章", CHAPTER) == {NODE: known}
    assert await again.current_outputs.frozen("章", CHAPTER) == {NODE: Output("one")}
    assert await again.current_outputs.frozen("章", None) == {}
    assert set(await again.current_outputs.chapters("章")) == {CHAPTER, None}


async def test_marks_name_their_sources_and_go_when_the_node_ran(store):
    marks = ((NODE, NODE, "edited"), (BELOW, NODE, "edited"), (BELOW, NodeId("别"), "output"))
    await store.current_outputs.write("章", {CHAPTER: OutputChange(marks=marks)})
    found = await store.current_outputs.stale("章", CHAPTER)
    assert found[NODE] == StaleMark(NODE, "direct", ((NODE, "edited"),))
    assert (found[BELOW].kind, set(dict(found[BELOW].sources))) == ("propagated", {NODE, "别"})
    await store.current_outputs.write("章", {CHAPTER: OutputChange(fresh=(BELOW,))})
    assert set(await store.current_outputs.stale("章", CHAPTER)) == {NODE}
    assert await store.current_outputs.stale("章", None) == {}


async def test_an_edit_that_is_taken_back_takes_back_its_own_marks_only(store, clock):
    marks = ((NODE, NODE, "edited"), (BELOW, NODE, "edited"), (BELOW, NodeId("别"), "output"))
    await store.current_outputs.write("章", {CHAPTER: OutputChange((standing(clock),), marks=marks)})
    await store.current_outputs.as_made("章", {NODE: Digest("other")})
    assert set(await store.current_outputs.stale("章", CHAPTER)) == {NODE, BELOW}
    await store.current_outputs.as_made("章", {NODE: Digest("p1")})
    assert await store.current_outputs.stale("章", CHAPTER) == {
        BELOW: StaleMark(BELOW, "propagated", (("别", "output"),))
    }


async def test_forgotten_outcomes_stand_no_more(store):
    result = StoredResult(Digest("k"), "one", digest("one"), "m", "model", "stop", Usage(), 0.0)
    await store.journal.remember_outcome(Digest("a"), result)
    await store.journal.remember_outcome(Digest("b"), result)
    await store.current_outputs.write("章", {}, forgetting_outcomes({Digest("a")}))
    assert await store.journal.outcome(Digest("a")) is None
    assert await store.journal.outcome(Digest("b")) is not None


async def test_the_versions_of_a_document_are_listed_newest_first(store):
    await store.workflows.save(FLOW)
    await store.workflows.save(FLOW.model_copy(update={"name": "别"}))
    found = await store.workflows.versions("章")
    assert [(version.reference, version.name, version.nodes) for version in found] == [
        ("章@2", "别", 1),
        ("章@1", "", 1),
    ]
