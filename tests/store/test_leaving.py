"""What leaves the memory with a text, what comes back with it, what is stale, and what a purge leaves in the file."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.manuscript import ImportedChapter, Passage
from flowcabal_tui.domain.memory import Derived, Entity, Evidence, Mention
from flowcabal_tui.store import Keeping
from flowcabal_tui.store.rows.tasks import no_tasks
from flowcabal_tui.store.rows.texts import REORDERED
from flowcabal_tui.store.store import Store

FIRST, SECOND = "大雪封了山门，只剩一盏灯。", "老僧把剑埋在了梅树下面。"
ADDED = "黑衣客在夜里来过，他叫裴十七。"


@pytest.fixture
async def book(store: Store):
    """Two chapters; the second has an overview that rests on it, and a profile that rests on both."""
    await store.book.import_chapters([ImportedChapter("一", FIRST), ImportedChapter("二", SECOND)])
    one, two = await store.book.chapters()
    await store.memory.put_entity(Entity("monk", "character", "老僧", by="discovered"))
    profile = await state(store, "profiles/characters/monk", two.position, (one.id, two.id))
    line = replace(profile, level="L0", text="守灯人", evidence=())
    await store.memory.put_derived(await overview(store, two.id), profile, line)
    return one.id, two.id


async def overview(store, chapter, text="此章概要"):
    position = (await store.book.chapter(chapter)).position
    return await state(store, f"manuscript/{chapter}", position, (chapter,), text)


async def state(store, uri, position, chapters, text="他守着灯"):
    evidence = tuple(Evidence(text, chapter, 0, 2) for chapter in chapters)
    generation = await store.memory.generation()
    return Derived(uri, "L1", text, f"source {text}", position, generation, "model", evidence)


async def seen(store, uri, generation=None):
    found = await (await store.memory.view(None, generation)).derived(uri, "L1")
    return found.text if found else None


async def test_a_profile_leaves_with_an_earlier_chapter_and_comes_back_with_it(store, book):
    one, _two = book
    pinned = await store.memory.generation()
    await store.book.delete(one)
    assert await seen(store, "profiles/characters/monk") is None
    assert await seen(store, "profiles/characters/monk", pinned) == "他守着灯", (
        "a run that began before reads as before"
    )
    await store.book.undelete(one)
    assert await seen(store, "profiles/characters/monk") == "他守着灯"


async def test_a_profile_that_left_with_an_earlier_chapter_is_stale_until_it_is_told_without(store, book):
    one, two = book
    await store.book.delete(one)
    stale = await (await store.memory.view(None)).stale()
    assert [(text.uri, text.position, text.chapters, text.anchor) for text in stale] == [
        ("profiles/characters/monk", 1, (one,), two)
    ]
    new = await state(store, "profiles/characters/monk", 1, (two,))  # of the same source: what left was not part of it
    await store.memory.put_derived(new, replace(new, level="L0", text="守灯人", evidence=()))
    assert await seen(store, "profiles/characters/monk") == "他守着灯"
    assert await (await store.memory.view(None)).stale() == ()
    await store.book.delete(two)
    assert await (await store.memory.view(None)).stale() == (), "it went with its own chapter"


async def test_a_profile_that_rests_on_a_chapter_which_is_later_now_is_told_no_more_and_is_stale(store, book):
    one, two = book
    pinned = await store.memory.generation()
    await store.book.move(one, 2)
    assert await seen(store, "profiles/characters/monk") is None, "it is as of the chapter before"
    assert await seen(store, f"manuscript/{two}") == "此章概要", "it rests on its own chapter alone"
    assert await seen(store, "profiles/characters/monk", pinned) == "他守着灯"
    stale = await (await store.memory.view(None)).stale()
    assert [(text.uri, text.position) for text in stale] == [("profiles/characters/monk", 1)]
    await store.book.move(one, 1)
    assert await seen(store, "profiles/characters/monk") == "他守着灯"
    assert await (await store.memory.view(None)).stale() == ()


async def test_chapters_put_between_or_taken_out_reorder_nothing(store, book):
    one, _two = book
    await store.book.add_chapter("零", position=1)
    await store.book.delete(one)
    await store.book.undelete(one)
    assert await store.values.get(REORDERED, object) is None
    assert await seen(store, "profiles/characters/monk") == "他守着灯"


async def test_what_was_made_of_an_output_leaves_with_it_and_comes_back(store, book):
    _one, two = book
    kept = (await store.book.keep(Keeping(ADDED, "chapter", "append", two))).output
    await store.memory.put_derived(await overview(store, two, "裴十七来过"))
    assert await seen(store, f"manuscript/{two}") == "裴十七来过"
    await store.book.forget(kept.id)
    assert await seen(store, f"manuscript/{two}") == "此章概要", "what rests on the text that stands is still there"
    await store.memory.put_derived(await overview(store, two, "又写了一遍"))
    await store.book.restore(kept.id)
    assert await seen(store, f"manuscript/{two}") == "裴十七来过"


async def test_an_emptied_chapter_has_no_summary(store, book):
    _one, two = book
    await store.book.write(two, "")
    assert await seen(store, f"manuscript/{two}") is None


async def test_what_rests_on_a_text_that_was_edited_is_stale_and_still_read(store, book):
    one, two = book
    assert await (await store.memory.view(None)).stale() == ()
    await store.book.write(one, FIRST + "天亮了。")
    assert await seen(store, "profiles/characters/monk") == "他守着灯"
    (stale,) = await (await store.memory.view(None)).stale()
    assert (stale.uri, stale.position, stale.chapters) == ("profiles/characters/monk", 2, (one,))
    new = await state(store, "profiles/characters/monk", 2, (one, two), "新的一段")
    await store.memory.put_derived(new, replace(new, level="L0", text="新", evidence=()))
    assert await (await store.memory.view(None)).stale() == ()


async def test_what_is_confirmed_is_the_state_of_a_chapter_that_is_there(store, book):
    one, two = book
    three = await store.book.add_chapter("三")
    await store.book.write(three.id, "天亮了。")
    await store.memory.put_derived(await state(store, "profiles/characters/lamp", 3, (one, three.id)))
    await store.memory.put_derived(await state(store, "profiles/characters/lamp", 2, (one, two)))
    await store.book.delete(two)
    await store.book.write(one, FIRST + "天亮了。")
    lamp = [text for text in await (await store.memory.view(None)).stale() if text.uri.endswith("lamp")]
    assert [text.anchor for text in lamp] == [three.id]
    await store.memory.confirm_derived("profiles/characters/lamp", 2)
    assert [text for text in await (await store.memory.view(None)).stale() if text.uri.endswith("lamp")] == []


async def test_the_profile_of_somebody_who_was_removed_is_not_asked_for_again(store, book):
    one, _two = book
    await store.book.write(one, FIRST + "天亮了。")
    await store.memory.remove_entity("monk")
    assert await (await store.memory.view(None)).stale() == ()
    await store.memory.put_entity(Entity("monk", "character", "老僧", by="hand"))
    assert len(await (await store.memory.view(None)).stale()) == 1


def words_in_file(folder, *words):
    """Which of the words stand in the database file or its log, as UTF-8."""
    data = b"".join(file.read_bytes() for file in (folder / ".flowcabal").iterdir() if file.is_file())
    return [word for word in words if word.encode() in data]


async def test_a_purged_chapter_is_in_no_table_and_no_page(store, folder):
    text = " ".join(f"quixotry{number} zephyrine{number}" for number in range(30))
    await store.book.import_chapters([ImportedChapter("one", "The ferry waits."), ImportedChapter("two", text)])
    one, two = await store.book.chapters()
    await store.memory.put_entity(Entity("zed", "character", "zephyrine7", by="discovered"))
    passage, mention = Passage(two.id, 2, 0, 0, len(text), text), Mention("zed", two.id, 2, 10, 20)
    await store.memory.index_chapter(two.id, 1, [passage], [mention])
    await store.memory.put_derived(await overview(store, two.id, "zephyrine3 speaks"))
    await store.values.put_draft(f"chapter/{two.id}", text)
    assert words_in_file(folder, "zephyrine3"), "the words are readable, or this test could not fail"
    purged = await store.maintenance.purge_chapter(two.id, no_tasks)
    await store.maintenance.compact()
    assert (purged.versions, purged.derived) == (1, 1)
    assert words_in_file(folder, "quixotry", "zephyrine") == []
    assert [chapter.id for chapter in await store.book.chapters()] == [one.id]
    assert await store.book.text(one.id) == "The ferry waits."
    with pytest.raises(Gone):
        await store.maintenance.purge_chapter(two.id, no_tasks)


async def test_a_purged_output_goes_and_what_a_hand_wrote_stays(store, book):
    _one, two = book
    kept = (await store.book.keep(Keeping(ADDED, "chapter", "append", two))).output
    await store.memory.put_derived(await overview(store, two, "裴十七来过"))
    await store.maintenance.purge_output(kept.id, no_tasks)
    assert await store.book.text(two) == SECOND
    assert await store.book.kept() == ()
    assert await seen(store, f"manuscript/{two}") == "此章概要"
    with sqlite3.connect(store.maintenance._path) as connection:
        assert connection.execute("SELECT count(*) FROM version WHERE output=?", (kept.id,)).fetchone() == (0,)
    connection.close()
    with pytest.raises(Gone):
        await store.book.restore(kept.id)


async def test_an_index_that_was_deleted_or_spoiled_is_put_right(store, book, folder):
    from flowcabal_tui.store.memory.indexing import ChapterIndex

    one, _two = book
    passage, mention = Passage(one, 1, 0, 0, len(FIRST), FIRST), Mention("monk", one, 1, 0, 2)
    await store.memory.index_chapter(one, 1, [passage], [mention])
    pinned = await store.memory.generation()
    index = [ChapterIndex(one, 1, [passage], [mention])]

    async def found():
        view = await store.memory.view(None, pinned)
        hits = await view.search(["山门", "灯"], 5)
        return [(hit.passage.start, hit.score) for hit in hits], await view.mentions("monk"), await view.passages(one)

    whole = await found()
    assert await store.maintenance.restore_index(index) == 0
    assert await found() == whole
    for damage in (
        "DELETE FROM passage",
        "DELETE FROM mention",
        "UPDATE mention SET spans='[[1,9]]'",
        "UPDATE passage SET end=3, tokens=1",
        "DROP TABLE passage_words",
        "INSERT INTO passage_words (passage_words) VALUES ('delete-all')",
    ):
        await store._database.do(lambda connection, damage=damage: connection.execute(damage).close())
        await store.maintenance.restore_index(index)
        assert await found() == whole, damage


async def test_a_copy_is_whole_while_others_write(store, tmp_path):
    name = await store.journal.put_text("大雪")
    await store.maintenance.copy_to(tmp_path / "copy.db")
    await store.journal.put_text("later")
    with sqlite3.connect(tmp_path / "copy.db") as connection:
        assert connection.execute("SELECT digest FROM blob").fetchall() == [(name,)]
    connection.close()


async def test_derived_texts_that_cannot_be_read_are_forgotten(store, book):
    _one, two = book
    await store.memory.put_derived(replace(await overview(store, two, "守灯人"), level="L0", evidence=()))
    await store._database.do(
        lambda connection: connection.execute(
            "UPDATE blob SET body=x'00' WHERE digest IN"
            " (SELECT digest FROM derived WHERE uri LIKE 'manuscript/%' AND level='L1')"
        ).close()
    )
    assert await store.maintenance.damaged() == (f"manuscript/{two}",)
    assert await store.maintenance.forget_damaged() == (f"manuscript/{two}",)
    await store.memory.put_derived(await overview(store, two))
    assert await seen(store, f"manuscript/{two}") == "此章概要"
    line = await (await store.memory.view(None)).derived("profiles/characters/monk", "L0")
    assert line.text == "守灯人", "a text that another one shares stays"
