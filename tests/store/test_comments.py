"""Comments stay with their passages through edits, splits, merges and undo, and go with a purge."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.comments import Comment, CommentId
from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.store.rows.tasks import no_tasks
from flowcabal_tui.store.store import Store

TEXT = "雨停了。\n\n宝玉推开绿门。\n\n屋里没有人。"
WORDS = "宝玉推开绿门。"


async def written(store: Store, text: str = TEXT, title: str = "一") -> ChapterId:
    chapter = await store.book.add_chapter(title)
    await store.book.write(chapter.id, text)
    return chapter.id


async def noted(store: Store, chapter: ChapterId, words: str = WORDS) -> CommentId:
    start = (await store.book.text(chapter)).index(words)
    return await store.comments.add(Comment(chapter, "颜色？", "question", words, start, start + len(words)))


async def only(store: Store) -> Comment:
    (comment,) = await store.comments.all()
    text = await store.book.text(comment.chapter)
    assert comment.lost or text[comment.start : comment.end] == comment.quotation
    return comment


async def test_a_comment_follows_its_passage_is_lost_with_it_and_comes_back(store: Store) -> None:
    chapter = await written(store)
    await noted(store, chapter)
    await store.book.write(chapter, TEXT.replace("雨", "大雨").replace("绿门", "红门"))
    assert (await only(store)).quotation == "宝玉推开红门。"
    await store.book.write(chapter, "雪。")
    assert (await only(store)).lost
    await store.book.write(chapter, "雪。\n\n宝玉推开红门。")
    assert not (await only(store)).lost


async def test_a_comment_goes_with_its_words_into_another_chapter_and_back(store: Store) -> None:
    chapter = await written(store)
    await noted(store, chapter, "屋里没有人。")
    other = await store.edits.split(chapter, TEXT.index("屋里"), "二", 1, no_tasks)
    assert ((await only(store)).chapter, (await only(store)).start) == (other.id, 0)
    await store.edits.merge(chapter, other.id, no_tasks)
    found = await only(store)
    assert (found.chapter, found.lost, found.quotation) == (chapter, False, "屋里没有人。")


async def test_a_deleted_chapter_hides_its_comments_and_a_purge_removes_them(store: Store) -> None:
    chapter = await written(store)
    note = await noted(store, chapter)
    await store.book.delete(chapter)
    assert await store.comments.all() == ()
    await store.book.undelete(chapter)
    assert (await only(store)).words == "颜色？"
    await store.findings.decide([], "useless", "秘密", [note])
    await store.maintenance.purge_chapter(chapter, no_tasks)
    await written(store)
    assert await store.comments.all() == ()
    assert await store.comments._database.rows("SELECT number FROM note_word") == []


async def test_a_readers_note_that_cannot_be_read_hides_no_other(store: Store) -> None:
    chapter = await written(store)
    for author in ("Ada", "Ben"):
        await store.comments.add(Comment(chapter, "颜色？", "question", author=author))
    damage = "UPDATE comment SET at='x' WHERE author='Ada'"
    await store.comments._database.do(lambda connection: connection.execute(damage).rowcount)
    assert [comment.author for comment, _word in await store.comments.of_readers()] == ["Ben"]
    assert store.comments._database.skipped.counts == {"comments": 1}


async def test_comments_change_all_or_none(store: Store) -> None:
    chapter = await written(store)
    one, two = await noted(store, chapter), await noted(store, chapter)
    await store.comments.edit([one, two], resolved=True)
    with pytest.raises(UnknownName):
        await store.comments.edit([one, CommentId(99)], words="x", resolved=False)
    assert {(each.words, each.resolved, each.kind) for each in await store.comments.all()} == {
        ("颜色？", True, "question")
    }
    await store.comments.remove([one, two])
    assert await store.comments.all() == ()
