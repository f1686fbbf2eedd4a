from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import ChapterId, EntityId, NodeId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.search import SearchHit, SearchKind
from flowcabal_tui.project.book import matching
from flowcabal_tui.project.memory import search
from flowcabal_tui.protocol.book import AddChapter, EditChapter, WriteChapter, WriteMeta
from flowcabal_tui.protocol.story import PutEntity
from tests.project.case import CHAPTERS, Case, make, opened
from tests.trusting import confirmed


@pytest.fixture
async def case(tmp_path: Path) -> AsyncIterator[Case]:
    """Three chapters, and a memory that has followed."""
    folder = await make(tmp_path / "book")
    async with opened(folder) as case:
        for title, text in CHAPTERS.items():
            chapter = await case.project.carry_out(AddChapter(title))
            await case.project.carry_out(WriteChapter(chapter, text))
        await case.settled()
        yield case


async def hits(case: Case, query: str, *kinds: SearchKind) -> list[SearchHit]:
    answer = await (case.project.book.search(query, kinds) if kinds else case.project.book.search(query))
    return list(answer.hits)


async def test_a_hit_of_the_text_opens_at_the_characters_that_were_sought(case: Case) -> None:
    (hit,) = await hits(case, "blue glove", "text")
    source = await case.project.memory.source(hit.uri, hit.start, hit.end, hit.level)
    assert source.text[source.start : source.end] == "blue glove"
    assert (hit.title, hit.position) == ("Chapter 1 The Ferry", 1)


async def test_what_was_just_kept_is_found_and_what_has_left_the_book_is_not(case: Case) -> None:
    third = await case.chapter(3)
    await case.project.carry_out(WriteChapter(third, "A heron stood there."))
    assert [hit.line for hit in await hits(case, "heron", "text")] == ["A heron stood there."]
    assert await hits(case, "rope", "text") == []
    await case.project.carry_out(EditChapter(third, deleted=True))
    assert await hits(case, "heron") == []


async def test_chapters_are_found_by_title_names_by_alias_and_meta_texts_by_their_words(case: Case) -> None:
    await case.project.carry_out(
        PutEntity(Entity(EntityId("ines"), "character", "Ines Marlow", ("the ferrywoman",), "Counts the dead."))
    )
    await case.project.carry_out(WriteMeta("world-rules", "The dead walk at low water."))
    assert [hit.title for hit in await hits(case, "ledger", "chapters")] == ["Chapter 2 The Ledger"]
    assert [hit.uri for hit in await hits(case, "ferrywoman", "entities")] == ["entities/ines"]
    (note,) = await hits(case, "counts the dead", "entities")
    source = await case.project.memory.source(note.uri, note.start, note.end, note.level)
    assert source.text[source.start : source.end] == "Counts the dead"
    (rule,) = await hits(case, "low water", "meta")
    source = await case.project.memory.source(rule.uri, rule.start, rule.end, rule.level)
    assert (rule.uri, source.text[source.start : source.end]) == ("meta/world-rules", "low water")


async def test_a_summary_opens_as_the_summary_at_its_words(case: Case) -> None:
    found = await hits(case, "Saltreach", "summaries")
    assert found
    source = await case.project.memory.source(found[0].uri, found[0].start, found[0].end, found[0].level)
    assert found[0].level in ("L0", "L1")
    assert source.text[source.start : source.end].lower() == "saltreach"
    assert source.text != await case.project.book.chapter_text(await case.chapter(1))


async def test_every_kind_says_how_many_there_are(case: Case) -> None:
    answer = await case.project.book.search("Ines", ("text", "chapters"), 2)
    assert dict(answer.counts) == {"text": 5, "chapters": 0}
    assert len(answer.hits) == 2


async def test_by_meaning_nothing_is_found_while_no_server_is_there(case: Case) -> None:
    assert dict((await case.project.book.search("river", ("similar",))).counts) == {"similar": 0}


async def test_places_to_replace_are_exact_whole_words_in_story_order(case: Case) -> None:
    await case.project.carry_out(WriteChapter(await case.chapter(3), "Inesita, INES and Ines. Ines!"))
    found = await case.project.book.occurrences("Ines")
    assert [place.position for place in found] == [1, 1, 2, 2, 3, 3]
    assert all(place.line[place.span.start : place.span.end] == "Ines" for place in found)
    assert await case.project.book.occurrences("") == ()


async def test_places_are_looked_for_beside_the_loop(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set[str]()

    def places(*asked: Any, **how: Any) -> Iterator[int]:
        threads.add(threading.current_thread().name)
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return matching.places(*asked, **how)

    monkeypatch.setattr(search, "places", places)
    assert await case.project.book.occurrences("Ines")
    assert threads


async def test_what_a_receipt_cites_is_opened_as_its_run_saw_it_whatever_was_changed_since(demos, tmp_path) -> None:
    folder = confirmed(shutil.copytree(demos["en"], tmp_path / "demo"))
    async with opened(folder) as case:
        last = (await case.project.book.chapters())[-1]
        receipt = await case.project.runs.preview_context(RunRequest("chapter", last.id), NodeId("draft"))
        cited = next(each for each in receipt.sources if each.start >= 0 and each.uri.startswith("manuscript/"))
        before = await case.project.memory.source(cited.uri, cited.start, cited.end, cited.level, receipt)
        chapter = ChapterId(cited.uri.removeprefix("manuscript/"))
        await case.project.carry_out(
            WriteChapter(chapter, "New words.\n" + await case.project.book.chapter_text(chapter))
        )
        assert await case.project.memory.source(cited.uri, cited.start, cited.end, cited.level, receipt) == before
        assert (await case.project.memory.source(cited.uri, cited.start, cited.end, cited.level)).text != before.text
