"""What was written when: versions that somebody wrote, and no others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.store.book.curation import Keeping
from flowcabal_tui.store.book.edits import NewText
from flowcabal_tui.store.rows.tasks import no_tasks
from flowcabal_tui.store.store import Store


async def lengths(store: Store) -> list[tuple[str, int]]:
    return [(each.author, each.length) for each in await store.days.grown()]


async def test_texts_count_by_what_they_grew_by_hand_and_by_a_model(store: Store) -> None:
    one, two = [(await store.book.add_chapter(title)).id for title in "ab"]
    await store.book.write(one, "雪下了")
    await store.book.write(one, "雪下了一夜")
    await store.book.write(one, "雪下")
    await store.book.keep(Keeping("门开了", "chapter", "append", two, run="r", node="n", attempt=1))
    await store.book.write_meta("outline", "很长很长的大纲")
    assert await lengths(store) == [("human", 3), ("human", 2), ("human", -3), ("model", 3)]
    since = (await store.days.grown())[1].at + timedelta(microseconds=1)
    assert [each.length for each in await store.days.grown(since)] == [-3, 3]


async def test_what_nobody_wrote_does_not_count(store: Store) -> None:
    (one,) = await store.book.import_chapters([ImportedChapter("一", "雪下了一夜。门开了。")])
    await store.book.write(one.id, "雪下了一夜。门开了。他走了。")
    assert await lengths(store) == [("human", 3)]
    two = await store.edits.split(one.id, 6, "二", 2, no_tasks)
    await store.edits.merge(one.id, two.id, no_tasks)
    now = (await store.book.chapter(one.id)).version
    made = await store.edits.write([NewText(one.id, "雪下了三夜三天。门开了。他走了。", now)], "夜", no_tasks)
    await store.changes.undo(Generation(made), "undone", no_tasks)
    await store.book.write(one.id, "雪下了一夜。门开了。")
    kept = await store.book.keep(Keeping("灯灭了", "chapter", "append", one.id, run="r", node="n", attempt=1))
    await store.book.forget(kept.output.id)
    await store.book.restore(kept.output.id)
    assert await lengths(store) == [("human", 3), ("model", 3)], "restored by hand, too: the text was there before"


async def test_a_chapter_that_was_deleted_was_written_all_the_same(store: Store) -> None:
    one = (await store.book.add_chapter("a")).id
    await store.book.write(one, "雪下了")
    await store.book.delete(one)
    assert await lengths(store) == [("human", 3)]


async def test_all_days_are_one_question(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        chapter = (await store.book.add_chapter(f"{number}")).id
        await store.book.write(chapter, "雪" * (number + 1))
    asked: list[str] = []
    rows = store.days._database.rows

    async def counted(question: str, *given: Any) -> Any:
        asked.append(question)
        return await rows(question, *given)

    monkeypatch.setattr(store.days._database, "rows", counted)
    assert sum(each.length for each in await store.days.grown()) == 820
    assert len(asked) == 1
