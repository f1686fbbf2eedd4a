"""Reference books: what is added can be listed, read and searched, as of its time."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.manuscript import ImportedChapter, ReferenceId, Span
from flowcabal_tui.store.book.references import WordsOfPassage, words_of
from flowcabal_tui.store.rows.tasks import no_tasks
from flowcabal_tui.store.store import Store

TEA = ImportedChapter("第一章 茶", "茶者，南方之嘉木也。\n其树如瓜芦，叶如栀子。")
WATER = ImportedChapter("第二章 水", "其水，用山水上，江水中，井水下。\n煮茶之时，水沸如鱼目。", "卷下")


def lines(*parts: ImportedChapter) -> list[list[WordsOfPassage]]:
    """A passage a line."""
    middles = [part.text.index("\n") + 1 for part in parts]
    return [
        words_of(part.text, [Span(0, middle), Span(middle, len(part.text))])
        for part, middle in zip(parts, middles, strict=True)
    ]


async def test_a_reference_book_is_listed_and_read_and_is_no_chapter(store: Store) -> None:
    book = await store.references.add("茶经", [TEA, WATER], lines(TEA, WATER))
    (listed,) = await store.references.all()
    assert (listed.id, listed.title, listed.parts, listed.length) == (book, "茶经", 2, len(TEA.text + WATER.text))
    assert await store.references.parts(book) == ((1, TEA.title, ""), (2, WATER.title, "卷下"))
    assert await store.references.text(book, 2) == (WATER.title, WATER.text)
    assert await store.book.chapters() == ()
    assert await (await store.memory.view(None)).search(["茶"], 5) == ()


async def test_the_best_passage_comes_first_with_its_place(store: Store) -> None:
    book = await store.references.add("茶经", [TEA, WATER], lines(TEA, WATER))
    best, *_others = await store.references.search(["井水", "江水"], 5)
    assert (best.uri, best.title) == (f"reference/{book}/2", WATER.title)
    assert best.text == WATER.text[best.start : best.end] == "其水，用山水上，江水中，井水下。\n"
    assert await store.references.search(["……"], 5) == ()


async def test_a_search_can_be_in_one_book_only(store: Store) -> None:
    await store.references.add("茶经", [TEA], lines(TEA))
    other = await store.references.add("水记", [WATER], lines(WATER))
    assert {hit.book for hit in await store.references.search(["茶"], 5)} == {"茶经", "水记"}
    assert {hit.book for hit in await store.references.search(["茶"], 5, other)} == {"水记"}


async def test_what_was_removed_is_found_only_as_of_its_time(store: Store) -> None:
    book = await store.references.add("茶经", [TEA], lines(TEA))
    then = await store.memory.generation()
    await store.references.remove(book)
    assert await store.references.all() == () == await store.references.search(["茶"], 5)
    assert [hit.book for hit in await store.references.search(["茶"], 5, generation=then)] == ["茶经"]
    with pytest.raises(Gone):
        await store.references.remove(book)
    with pytest.raises(Gone):
        await store.references.text(ReferenceId("nothing"), 1)


async def test_what_is_purged_from_the_book_stays_in_a_reference_book_of_the_same_text(store: Store) -> None:
    book = await store.references.add("茶经", [TEA], lines(TEA))
    (chapter,) = await store.book.import_chapters([TEA])
    await store.maintenance.purge_chapter(chapter.id, no_tasks)
    assert await store.references.text(book, 1) == (TEA.title, TEA.text)
