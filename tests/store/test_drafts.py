"""Unsaved text of chapters: it knows the version that it was typed over, and what is saved is no draft."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import VersionConflict
from flowcabal_tui.store.book.curation import Keeping
from flowcabal_tui.store.file.blobs import pack


@pytest.fixture
async def chapter(store):
    made = await store.book.add_chapter("雪")
    await store.book.write(made.id, "one")
    return made.id


async def put_old_row(store, chapter, text):
    """A row as programs wrote it that did not record the base."""
    await store._database.do(
        lambda connection: connection.execute(
            "INSERT OR REPLACE INTO draft (key, body, at) VALUES (?, ?, '2026-01-01T12:00:00+00:00')",
            (f"chapter:{chapter}", pack(text)),
        ).close()
    )


async def rows(store):
    return tuple(key for (key,) in await store._database.rows("SELECT key FROM draft ORDER BY at, key"))


async def test_a_draft_knows_the_version_that_it_was_typed_over(store, chapter):
    await store.drafts.put(chapter, "one and two", 1)
    draft = await store.drafts.of(chapter)
    assert (draft.chapter, draft.text, draft.base, draft.newest) == (chapter, "one and two", 1, 1)
    await store.book.write(chapter, "another")
    draft = await store.drafts.of(chapter)
    assert (draft.base, draft.newest) == (1, 2)
    assert await store.drafts.all() == (draft,)


async def test_text_equal_to_its_base_is_no_draft_and_takes_an_earlier_one_away(store, chapter):
    await store.drafts.put(chapter, "one and two", 1)
    await store.drafts.put(chapter, "one", 1)
    assert await store.drafts.of(chapter) is None
    assert await rows(store) == ()


async def test_a_late_write_of_what_was_saved_meanwhile_is_no_draft(store, chapter):
    await store.book.write(chapter, "one and two", expected_version=1)
    await store.drafts.put(chapter, "one and two", 1)
    await store.book.write(chapter, "three", expected_version=2)
    assert await store.drafts.all() == ()


async def test_saving_takes_the_draft_away_in_the_same_step(store, chapter):
    await store.drafts.put(chapter, "one and t", 1)
    await store.book.write(chapter, "one and two", expected_version=1, settles_draft=True)
    assert await rows(store) == ()


async def test_a_change_from_elsewhere_leaves_the_draft(store, chapter):
    await store.drafts.put(chapter, "mine", 1)
    await store.book.write(chapter, "theirs")
    assert (await store.drafts.of(chapter)).text == "mine"


async def test_a_row_of_an_older_program_that_says_what_a_version_says_goes_when_it_is_found(store, chapter):
    await store.book.write(chapter, "two")
    await put_old_row(store, chapter, "one")
    assert await store.drafts.of(chapter) is None
    assert await rows(store) == ()


async def test_a_row_of_an_older_program_with_other_words_has_no_known_base(store, chapter):
    await put_old_row(store, chapter, "mine")
    draft = await store.drafts.of(chapter)
    assert (draft.text, draft.base) == ("mine", None)


async def test_a_reader_sees_no_ghosts_although_it_can_take_none_away(store, chapter, reopen):
    await put_old_row(store, chapter, "one")
    reader = await reopen(read_only=True)
    assert await reader.drafts.all() == ()


async def test_a_new_version_with_the_same_text_outdates_nothing(store, chapter):
    kept = await store.book.keep(Keeping("one", "chapter", "append", chapter))
    await store.book.forget(kept.output.id)
    newest = (await store.book.chapter(chapter)).version
    assert newest > 1
    await store.drafts.put(chapter, "mine", 1)
    draft = await store.drafts.of(chapter)
    assert draft.base == draft.newest
    assert (await store.book.write(chapter, "mine", expected_version=1)).version == newest + 1


async def test_two_who_write_over_the_same_version_do_not_overwrite_each_other(store, chapter):
    await store.book.write(chapter, "first", expected_version=1, settles_draft=True)
    with pytest.raises(VersionConflict):
        await store.book.write(chapter, "second", expected_version=1, settles_draft=True)
    assert await store.book.text(chapter) == "first"


async def test_a_refused_save_leaves_the_draft(store, chapter):
    await store.drafts.put(chapter, "mine", 1)
    await store.book.write(chapter, "theirs")
    with pytest.raises(VersionConflict):
        await store.book.write(chapter, "mine", expected_version=1, settles_draft=True)
    assert (await store.drafts.of(chapter)).text == "mine"


async def test_two_who_write_the_outline_do_not_overwrite_each_other(store):
    await store.book.write_meta("outline", "first", expected_version=0)
    with pytest.raises(VersionConflict):
        await store.book.write_meta("outline", "second", expected_version=0)
    assert await store.book.meta_text("outline") == "first"
    await store.book.write_meta("outline", "second", expected_version=1)
