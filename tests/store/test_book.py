"""Chapters, versions and keeping."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.errors import Gone, ProjectError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.memory import BackgroundTask
from flowcabal_tui.domain.text import digest
from flowcabal_tui.store.book.curation import Keeping
from flowcabal_tui.store.rows import texts
from flowcabal_tui.store.store import Store


def index(subject, source, position):
    return (BackgroundTask(0, "index", subject, source, "waiting", position),)


async def titles(store):
    chapters = await store.book.chapters()
    assert [chapter.position for chapter in chapters] == list(range(1, len(chapters) + 1))
    return "".join(chapter.title for chapter in chapters)


@pytest.fixture
async def chapter(store):
    return (await store.book.add_chapter("雪")).id


def draft(text, chapter, mode="replace", kind="chapter"):
    return Keeping(text, kind, mode, chapter, run="r", node="n", attempt=2)


async def test_chapters_keep_their_ids_and_have_positions_without_gaps(store):
    a, b, c = [(await store.book.add_chapter(title)).id for title in "abc"]
    new = await store.book.add_chapter("n", "卷一", 2)
    assert (new.position, new.volume, await titles(store)) == (2, "卷一", "anbc")
    await store.book.move(c, 1)
    assert await titles(store) == "canb"
    await store.book.move(c, 99)
    assert await titles(store) == "anbc"
    await store.book.rename(b, "B")
    await store.book.delete(a)
    assert await titles(store) == "nBc"
    with pytest.raises(Gone):
        await store.book.write(a, "gone")
    assert (await store.book.undelete(a)).position == 1
    assert await titles(store) == "anBc"
    assert (await store.book.chapter(c)).position == 4
    with pytest.raises(Gone):
        await store.book.undelete(a)


async def test_what_was_deleted_last_is_offered_first(store):
    a, b, c = [(await store.book.add_chapter(title)).id for title in "abc"]
    for chapter in (b, a, c):
        await store.book.delete(chapter)
    assert [chapter.title for chapter in await store.book.deleted()] == ["c", "a", "b"]


async def test_a_title_stands_on_one_line_and_keeps_its_wide_spaces(store):
    made = await store.book.add_chapter(" 第一章\u3000风雪\n第二行\t\x1b[31m ", "卷\n一")
    assert (made.title, made.volume) == ("第一章\u3000风雪 第二行", "卷 一")
    await store.book.rename(made.id, "坏\r\n标题", "卷\u2028二")
    renamed = await store.book.chapter(made.id)
    assert (renamed.title, renamed.volume) == ("坏 标题", "卷 二")


async def test_writing_adds_versions_and_the_same_text_adds_none(store, chapter, reopen):
    empty = await store.book.chapter(chapter)
    assert (empty.version, empty.digest, await store.book.text(chapter)) == (0, None, "")
    first = await store.book.write(chapter, "大雪满弓刀。", tasks=index)
    assert await store.book.write(chapter, "大雪满弓刀。", tasks=index) == first
    second = await store.book.write(chapter, "大雪\r\n\x1b[31m", "outside", "from a file")
    await store.close()
    book = (await reopen()).book
    assert await book.versions(chapter) == (second, first)
    assert (await book.text(chapter), await book.text(chapter, 1)) == ("大雪\n", "大雪满弓刀。")
    now = await book.chapter(chapter)
    assert (now.version, now.length, now.author) == (2, 2, "outside")
    with pytest.raises(Gone):
        await book.text(chapter, 9)


async def test_an_edit_of_an_old_version_is_refused(store, chapter):
    await store.book.write(chapter, "one", expected_version=0)
    with pytest.raises(VersionConflict, match="version 1"):
        await store.book.write(chapter, "two", expected_version=0)
    assert await store.book.text(chapter) == "one"


async def test_an_import_is_appended_in_order_with_its_tasks(store, chapter):
    found = [ImportedChapter(f"第{number}回", f"正文{number}。", "上卷") for number in range(1, 121)]
    new = await store.book.import_chapters(found, index)
    assert [one.position for one in new] == list(range(2, 122))
    assert [one.title for one in (await store.book.chapters())[1:]] == [one.title for one in found]
    assert await store.book.text(new[6].id) == "正文7。"
    assert [task.subject for task in await store.outbox.all()] == [one.id for one in new]
    assert len({one.id for one in await store.book.chapters()}) == 121


async def test_keeping_writes_text_version_and_tasks_at_once(store, chapter):
    kept = await store.book.keep(draft("正文。", chapter), index)
    assert kept.created
    assert (kept.output.version, kept.output.digest, kept.output.attempt) == (1, digest("正文。"), 2)
    assert await store.book.text(chapter) == "正文。"
    (version,) = await store.book.versions(chapter)
    assert (version.output, version.author) == (kept.output.id, "model")
    (task,) = await store.outbox.all()
    assert (task.subject, task.source, task.position) == (chapter, digest("正文。"), 1)


async def test_keeping_fails_as_a_whole(store, chapter):
    def broken(*_given):
        raise ValueError("no tasks")

    with pytest.raises(ValueError, match="no tasks"):
        await store.book.keep(draft("正文。", chapter), broken)
    assert await store.book.kept() == ()
    assert (await store.book.chapter(chapter)).version == 0


async def test_keeping_the_same_again_does_nothing_even_after_an_edit_by_hand(store, chapter):
    first = await store.book.keep(draft("正文。", chapter))
    await store.book.write(chapter, "正文，改过。")
    again = await store.book.keep(draft("正文。", chapter))
    assert (again.created, again.output) == (False, first.output)
    assert await store.book.text(chapter) == "正文，改过。"


async def test_an_earlier_output_can_be_kept_again_over_a_later_one(store, chapter):
    first = await store.book.keep(draft("甲", chapter))
    await store.book.keep(draft("乙", chapter))
    again = await store.book.keep(draft("甲", chapter))
    assert (again.created, again.output.id, again.output.version) == (True, first.output.id, 3)
    assert await store.book.text(chapter) == "甲"
    assert len(await store.book.kept(chapter)) == 2


async def test_an_output_that_stands_again_because_a_later_one_was_forgotten_is_not_kept_twice(store, chapter):
    await store.book.keep(draft("甲", chapter))
    later = await store.book.keep(draft("乙", chapter))
    await store.book.forget(later.output.id)
    assert await store.book.text(chapter) == "甲"
    assert not (await store.book.keep(draft("甲", chapter))).created


async def test_a_forgotten_scene_leaves_the_text_and_comes_back(store, chapter):
    await store.book.write(chapter, "手写。")
    scene = await store.book.keep(draft("第一场。", chapter, "append", "scene"))
    await store.book.keep(draft("第二场。", chapter, "append", "scene"))
    assert await store.book.text(chapter) == "手写。\n\n第一场。\n\n第二场。"
    assert (await store.book.forget(scene.output.id, index)).deleted
    assert await store.book.text(chapter) == "手写。\n\n第二场。"
    assert len(await store.outbox.all()) == 1
    await store.book.restore(scene.output.id)
    assert await store.book.text(chapter) == "手写。\n\n第一场。\n\n第二场。"
    assert not any(output.deleted for output in await store.book.kept())
    with pytest.raises(Gone):
        await store.book.forget(OutputId("none"))


async def test_forgetting_the_only_text_leaves_a_chapter_that_is_not_written(store, chapter):
    kept = await store.book.keep(draft("正文。", chapter))
    await store.book.forget(kept.output.id)
    assert (await store.book.chapter(chapter)).digest is None
    await store.book.delete(chapter)
    await store.book.restore(kept.output.id)
    await store.book.undelete(chapter)
    assert await store.book.text(chapter) == "正文。"


async def test_an_outline_is_kept_as_a_text_about_the_book(store):
    await store.book.write_meta("outline", "起")
    kept = await store.book.keep(Keeping("承", "outline", "append"), index)
    assert await store.book.meta_text("outline") == "起\n\n承"
    assert await store.book.meta_text("style-guide") == ""
    assert [task.subject for task in await store.outbox.all()] == ["meta/outline"]
    await store.book.forget(kept.output.id)
    assert await store.book.meta_text("outline") == "起"


async def test_a_chapter_output_needs_a_chapter(store):
    with pytest.raises(ProjectError, match="chapter"):
        await store.book.keep(Keeping("正文。", "chapter", "replace"))
    with pytest.raises(Gone):
        await store.book.keep(draft("正文。", ChapterId("none")))


TEXTS = st.sampled_from(["甲", "乙", "丙\n丙"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("keep"), TEXTS, st.sampled_from(["replace", "append"])),
        st.tuples(st.just("forget"), TEXTS, st.sampled_from(["replace", "append"])),
        st.tuples(st.just("write"), TEXTS, st.just("replace")),
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@example(steps=[("keep", "甲", mode) for mode in ("replace", "append")] + [
    ("forget", "甲", "replace"), ("forget", "甲", "append"), ("keep", "甲", "append"), ("forget", "甲", "replace"),
])  # fmt: skip
def test_whatever_was_done_before_keeping_twice_is_keeping_once(steps, tmp_path_factory, clock):
    async def scenario():
        store = await Store.open(tmp_path_factory.mktemp("book"), clock=clock, language="zh")
        chapter = (await store.book.add_chapter("一")).id
        outputs = {}
        for step, text, mode in steps:
            keeping = draft(text, chapter, mode)
            if step == "write":
                await store.book.write(chapter, text)
            elif step == "keep":
                kept = await store.book.keep(keeping, index)
                before = await store.book.versions(chapter), await store.book.kept()
                again = await store.book.keep(keeping, index)
                assert not again.created
                assert again.output == kept.output
                assert outputs.get((text, mode), again.output).id == again.output.id
                assert (await store.book.versions(chapter), await store.book.kept()) == before
                assert text in await store.book.text(chapter) or not kept.created
                outputs[text, mode] = again.output
            elif (text, mode) in outputs:
                forgotten = await store.book.forget(outputs[text, mode].id)
                text_without = await store.book.text(chapter)
                await store.book.restore(forgotten.id)
                await store.book.forget(forgotten.id)
                assert await store.book.text(chapter) == text_without
        await store.close()

    asyncio.run(scenario())


async def test_one_chapter_is_read_without_the_others(store: Store) -> None:
    added = [await store.book.add_chapter(f"{n}") for n in range(3)]
    await store.book.write(added[1].id, "One.")
    await store.book.write(added[1].id, "Two.")
    await store.book.delete(added[2].id)
    lines = store.book._database

    def asked(connection: sqlite3.Connection) -> list[tuple[str, int, str]]:
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        found = texts.chapter_now(connection, added[1].id)
        connection.set_trace_callback(None)
        with pytest.raises(Gone):
            texts.chapter_now(connection, added[2].id)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {seen[0]}").fetchall()
        return [(found.title, found.version, str(step[3])) for step in plan]

    steps = await lines.do(asked)
    assert {(title, version) for title, version, _step in steps} == {("1", 2)}
    assert not [step for _title, _version, step in steps if step.startswith("SCAN")]
