"""Workflows, background tasks, spending and small values."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, NodeId, RunId
from flowcabal_tui.domain.journal import RunEvent
from flowcabal_tui.domain.memory import BackgroundTask, Totals
from flowcabal_tui.domain.model_calls import Usage, UsageRecord
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Node, Workflow


def task(kind, subject="c1", source="s1", position=1):
    return BackgroundTask(0, kind, subject, Digest(source), "waiting", position)


async def test_a_workflow_gets_a_version_when_it_changes(store, reopen):
    flow = Workflow(id="chapter", nodes=(Node(id=NodeId("计划")),))
    assert (await store.workflows.save(flow)).version == 1
    assert (await store.workflows.save(flow)).version == 1
    changed = await store.workflows.save(flow.model_copy(update={"name": "一章"}))
    assert changed.reference == "chapter@2"
    await store.workflows.save(Workflow(id="another"))
    await store.close()
    workflows = (await reopen()).workflows
    assert await workflows.get("chapter") == changed
    assert await workflows.get("chapter@1") == flow
    assert [one.reference for one in await workflows.list()] == ["chapter@2", "another@1"]
    for unknown in ("none", "chapter@7", "chapter@x"):
        with pytest.raises(Gone):
            await workflows.get(unknown)


async def test_tasks_come_mirror_and_index_first_and_only_when_due(store):
    later = BackgroundTask(0, "check", "c1", Digest("s1"), "waiting", 1, not_before=100.0)
    await store.outbox.add([task("l1"), task("index"), later, task("mirror")])
    assert [one.kind for one in await store.outbox.next(10, 50.0)] == ["mirror", "index", "l1"]
    assert [one.kind for one in await store.outbox.next(9, 100.0)] == ["mirror", "index", "l1", "check"]
    assert len(await store.outbox.next(1, 100.0)) == 1


@pytest.mark.parametrize("after", [(), ("check",)])
async def test_a_task_that_waits_for_a_time_of_a_wrong_clock_is_due(store, after):
    wrong = BackgroundTask(0, "check", "c1", Digest("s1"), "waiting", 1, not_before=4_000_000_000.0)
    await store.outbox.add([wrong, replace(wrong, kind="l0", not_before=0.0)])
    kinds = [one.kind for one in await store.outbox.next(9, 1_800_000_000.0, ("l0", "check"), after=after)]
    assert kinds == ([] if after else ["l0", "check"]), "what waits for its kind waits until it is done"
    assert wrong.is_due(1_800_000_000.0)
    assert not wrong.is_due(4_000_000_000.0 - 300)


@pytest.mark.parametrize(("column", "value"), [("subject", b"\xff"), ("position", "first"), ("pinned", "x")])
async def test_a_task_that_cannot_be_read_is_left_out_and_holds_up_no_other(store, column, value):
    await store.outbox.add([task("mirror"), task("l1")])
    await store._database.execute(f"UPDATE task SET {column}=? WHERE kind='mirror'", (value,))
    assert [one.kind for one in await store.outbox.next(1, 50.0)] == ["l1"]
    assert [one.kind for one in await store.outbox.all()] == ["l1"]
    assert await store.outbox.counts() == {"waiting": 1}
    assert await store.skipped_rows() == {"background tasks": 1}


async def test_a_task_is_there_once_and_waits_again_only_after_a_failure(store):
    await store.outbox.add([task("l1"), task("l1")])
    (one,) = await store.outbox.all()
    await store.outbox.set_state(one.id, "fresh")
    await store.outbox.add([task("l1")])
    assert await store.outbox.counts() == {"fresh": 1}
    await store.outbox.set_state(one.id, "failed", "no key", 9.0)
    (failed,) = await store.outbox.all()
    assert (failed.tries, failed.error, failed.not_before) == (1, "no key", 9.0)
    await store.outbox.add([task("l1")])
    (waiting,) = await store.outbox.next(5, 0.0)
    assert (waiting.id, waiting.tries, waiting.error) == (one.id, 0, "")


async def test_a_newer_text_replaces_the_tasks_of_the_older_one_but_profiles_have_one_a_position(store):
    await store.outbox.add([task("l1"), task("profile", "e1", "p1", 1)])
    await store.outbox.add([task("l1", source="s2"), task("profile", "e1", "p2", 2)])
    assert [(one.kind, one.source) for one in await store.outbox.all()] == [
        ("profile", "p1"),
        ("l1", "s2"),
        ("profile", "p2"),
    ]
    await store.outbox.add([task("l1")])
    assert [one.source for one in await store.outbox.all() if one.kind == "l1"] == ["s1"]


async def test_what_ran_when_the_process_ended_waits_again(store, reopen):
    await store.outbox.add([task("l1")])
    await store.outbox.set_state((await store.outbox.all())[0].id, "running")
    assert await store.outbox.next(5, 0.0) == ()
    await store.close()
    assert [one.kind for one in await (await reopen()).outbox.next(5, 0.0)] == ["l1"]


async def test_each_lane_gets_its_own_kinds(store):
    await store.outbox.add([task("knowledge"), task("l1"), task("index")])
    assert [one.kind for one in await store.outbox.next(1, 0.0, ("l1", "knowledge"))] == ["knowledge"]
    assert [one.kind for one in await store.outbox.next(9, 0.0, ("l1", "index"))] == ["index", "l1"]


async def test_a_lane_waits_for_those_of_another_that_are_due_or_running(store):
    await store.outbox.add([task("l1"), replace(task("index"), not_before=100.0)])
    lane = {"kinds": ("l1",), "after": ("index", "entities")}
    assert [one.kind for one in await store.outbox.next(9, 50.0, **lane)] == ["l1"]
    assert await store.outbox.next(9, 100.0, **lane) == ()
    (index,) = await store.outbox.next(9, 100.0, ("index",))
    assert await store.outbox.begin(index.id)
    assert await store.outbox.next(9, 50.0, **lane) == ()
    await store.outbox.set_state(index.id, "fresh")
    assert [one.kind for one in await store.outbox.next(9, 50.0, **lane)] == ["l1"]


async def test_a_running_task_that_begins_later_waits_behind_all_others(store):
    await store.outbox.add([task("profile"), task("story")])
    profile, story = await store.outbox.all()
    await store.outbox.begin_later(story.id)
    assert [one.kind for one in await store.outbox.all()] == ["profile", "story"], "it does not run"
    await store.outbox.begin(profile.id)
    await store.outbox.begin_later(profile.id)
    assert [one.kind for one in await store.outbox.next(9, 0.0)] == ["story", "profile"]
    assert not await store.outbox.has(profile.id)
    await store.outbox.add([task("arc")])
    assert [one.kind for one in await store.outbox.next(9, 0.0)] == ["story", "profile", "arc"]


async def test_all_tasks_of_some_kinds_are_moved(store):
    await store.outbox.add([task("mirror"), task("story")])
    assert await store.outbox.move(("waiting",), "cancelled", kinds=("story", "l1")) == 1
    assert [(one.kind, one.state) for one in await store.outbox.all()] == [
        ("mirror", "waiting"),
        ("story", "cancelled"),
    ]


async def test_a_task_begins_once_and_not_after_it_was_cancelled_or_replaced(store):
    await store.outbox.add([task("l1"), task("l0"), task("index")])
    l1, l0, index = await store.outbox.all()
    assert await store.outbox.begin(l1.id) and not await store.outbox.begin(l1.id)
    assert await store.outbox.move(("waiting",), "cancelled", l0.id) == 1
    assert not await store.outbox.begin(l0.id)
    await store.outbox.add([task("index", source="s2")])
    assert not await store.outbox.begin(index.id)


async def test_what_is_taken_up_again_is_as_good_as_new(store):
    await store.outbox.add([task("l1"), task("l0")])
    failed, _other = await store.outbox.all()
    for _try in range(5):
        await store.outbox.set_state(failed.id, "failed", "no key", 9.0)
    assert await store.outbox.move(("failed", "cancelled"), "waiting") == 1
    again = (await store.outbox.all())[0]
    assert (again.state, again.tries, again.error, again.not_before) == ("waiting", 0, "", 0.0)


COUNTED = Usage(100, 20)


def call(run="r", cost="0.10", currency="USD", usage=COUNTED):
    known = Decimal(cost) if cost else None
    return UsageRecord("user", "m", "node", usage, 90, known, currency, run)


async def test_money_is_added_exactly_and_by_run(store):
    assert await store.usage.totals() == Totals()
    for _call in range(3):
        await store.usage.add(call())
    await store.usage.add(call("other", "0.20", usage=Usage()))
    assert await store.usage.totals(RunId("r")) == Totals(3, 300, 60, Decimal("0.30"), "USD", 0)
    assert await store.usage.totals() == Totals(4, 390, 60, Decimal("0.50"), "USD", 0, 1)


async def test_calls_of_a_free_model_are_not_paid_and_their_currency_does_not_count(store):
    records = [call(cost="0", currency="USD", usage=Usage()), call(currency="CNY"), call(cost="0", currency="USD")]
    counted = Totals()
    for record in records:
        await store.usage.add(record)
        counted = counted.plus(record)
    totals = await store.usage.totals()
    assert totals == counted
    assert (totals.paid_calls, totals.cost, totals.currency, totals.about) == (1, Decimal("0.10"), "CNY", "")


@pytest.mark.parametrize("second", [call(cost=""), call(currency="CNY")])
async def test_an_unknown_price_or_two_currencies_make_the_sum_unknown(store, second):
    await store.usage.add(call())
    await store.usage.add(second)
    totals = await store.usage.totals()
    assert totals.cost is None
    assert totals.unknown_calls == (second.cost is None)


async def test_small_values_drafts_and_answers_are_remembered(store, reopen):
    await store.values.put("tokens:m", {"factor": 1.25, "字": [1]})
    await store.values.put_draft("chapter/c1", "写到一半\x1b")
    await store.answers.put(Digest("k"), "{}", "m", Usage(1, 1))
    await store.answers.put(Digest("k"), "other", "m", Usage(1, 1))
    await store.close()
    store = await reopen()
    assert await store.values.get("tokens:m", object) == {"factor": 1.25, "字": [1]}
    assert await store.values.get("none", int) is None
    assert await store.values.draft("chapter/c1") == "写到一半\x1b"
    await store.values.put_draft("chapter/c1", None)
    assert await store.values.draft("chapter/c1") is None
    assert await store.answers.get(Digest("k")) == "{}"
    assert await store.answers.get(Digest("none")) is None


async def test_what_was_remembered_for_a_generation_goes_when_no_run_will_read_it_again(store):
    flow, keys = Workflow(id="chapter", nodes=(Node(id=NodeId("plan")),)), []
    runs = [("one", 1), ("one", 2), ("two", 3), ("one", 4), ("open", 5), ("three", 6), ("four", 7), ("four", 8)]
    for number, (chapter, generation) in enumerate(runs):
        run = RunId(f"r{number}")
        await store.journal.begin_run(run, RunRequest("chapter@1", ChapterId(chapter)), flow, Generation(generation))
        if chapter != "open":
            await store.journal.record(RunEvent(run, "run-ended", payload={"state": "done"}))
        keys += [f"find/{generation}/abc", f"tokens/{generation}"]
    keys += ["tokens", "find/9/abc", "bootstrap"]
    for key in keys:
        await store.values.put(key, 1)
    await store.maintenance.sweep(recent=2)
    left = [key for key in keys if await store.values.get(key, object) is None]
    assert left == ["find/1/abc", "tokens/1", "find/2/abc", "tokens/2"], "a later run of chapter one reads generation 4"
    await store.maintenance.sweep(recent=0)
    assert [key for key in keys if await store.values.get(key, object) is None] == [*left, "find/7/abc", "tokens/7"]


async def test_without_a_run_nothing_that_was_remembered_goes(store):
    await store.values.put("tokens/1", 1)
    await store.maintenance.sweep()
    assert await store.values.get("tokens/1", int) == 1
