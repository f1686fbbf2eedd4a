"""Tasks of a paid job: apart from the others, pinned once, out of the job when they are done."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.ids import Digest, EntityId
from flowcabal_tui.domain.memory import BackgroundTask, Entity, TaskKind
from flowcabal_tui.store.store import Store

JOB = "bootstrap-1"


def task(kind: TaskKind, subject: str = "c1", position: int = 1, source: str = "by model") -> BackgroundTask:
    return BackgroundTask(0, kind, subject, Digest(source), "waiting", position)


async def test_tasks_of_a_job_take_the_place_of_others_and_are_not_the_backgrounds(store: Store) -> None:
    await store.outbox.add([task("l1", source="by rule"), task("mirror", source="by rule")])
    await store.jobs.add(JOB, [task("l1"), task("story", "c2", 2), task("story")])
    assert [each.kind for each in await store.outbox.next(9, 0.0)] == ["mirror"]
    assert await store.outbox.counts() == {"waiting": 1}
    assert [(each.kind, each.subject) for each in await store.jobs.open(JOB)] == [
        ("l1", "c1"),
        ("story", "c1"),
        ("story", "c2"),
    ]
    await store.outbox.move(("waiting",), "cancelled")
    assert {each.state for each in await store.jobs.open(JOB)} == {"waiting"}


async def test_a_task_that_begins_again_reads_the_generation_of_the_first_time(store: Store) -> None:
    await store.jobs.add(JOB, [task("story")])
    (waiting,) = await store.jobs.open(JOB)
    first = await store.jobs.begin(waiting)
    await store.memory.put_entity(Entity(EntityId("bao"), "character", "宝玉"))
    await store.jobs.move(JOB, ("running",), "waiting")
    again = await store.jobs.begin(waiting)
    assert again.pinned == first.pinned != await store.memory.generation()


async def test_what_is_done_leaves_the_job_and_pins_what_follows_in_its_chapter(store: Store) -> None:
    await store.jobs.add(JOB, [task("story"), task("l1"), task("l1", "c2", 2)])
    story = await store.jobs.begin((await store.jobs.open(JOB))[0])
    await store.memory.put_entity(Entity(EntityId("bao"), "character", "宝玉"))
    await store.jobs.finish(story)
    mine, other = await store.jobs.open(JOB)
    assert (mine.subject, mine.pinned) == ("c1", await store.memory.generation())
    assert (other.subject, other.pinned) == ("c2", None)
    assert [replace(each, id=0) for each in await store.outbox.all(("fresh",))] == [
        replace(task("story"), state="fresh", pinned=story.pinned)
    ]
