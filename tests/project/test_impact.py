"""A change of the book is followed to the places that rest on it, applied at once, and taken back at once."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.impact import BookChange, ChapterChanged, ChapterMoved, FactChanged, Impact, Rename
from flowcabal_tui.domain.memory import Derived, Entity, Evidence
from flowcabal_tui.domain.proposals import TextEdit
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.project.change_words import change_words
from flowcabal_tui.project.impact_words import impact_words
from flowcabal_tui.protocol.book import AddChapter, DeleteOutput, EditChapter, RevertChange, WriteChapter, WriteMeta
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.story import ApplyImpact, AskPatches, PutEntity, PutRecord, UndoDecision
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.project.case import Case, make, make_one, opened

TEXTS = (
    "Ines Marlow was thirty-four years old. Ines rowed the ferry over.",
    "“Marlow?” said Tobias. At thirty-four years of age Ines could still row.",
    "Nobody knew where Ines was. Marlowe Street lay dark.",
)
OUTLINE = "# Marlow\n\nInes Marlow leaves.\n"
INES = Entity(
    EntityId("ines"), "character", "Ines Marlow", ("Marlow", "Ines"), "Ines Marlow rows.",
    own_kind="Ferrier", fields=(("looks", "tall"), ("motto", "A Marlow waits.")),
)  # fmt: skip
RENAME = Rename("Marlow", "Vane")


@pytest.fixture
async def case(folder: Path) -> AsyncIterator[Case]:
    async with book(folder, ModelsSettings()) as case:
        yield case


@pytest.fixture
async def writing(folder: Path) -> AsyncIterator[Case]:
    """The same book, in which a model writes."""
    async with book(folder, ModelsSettings(user=Endpoint(provider="offline", model="offline"))) as case:
        yield case


@asynccontextmanager
async def book(folder: Path, models: ModelsSettings) -> AsyncIterator[Case]:
    async with opened(await make_one(folder, models)) as case:
        for number, text in enumerate(TEXTS, 1):
            if number > 1:
                await case.project.carry_out(AddChapter(f"Chapter {number}"))
            await case.project.carry_out(WriteChapter(await case.chapter(number), text))
        await case.project.carry_out(EditChapter(await case.chapter(1), title="Marlow at Work"))
        await case.project.carry_out(PutEntity(INES))
        await case.project.carry_out(WriteMeta("outline", OUTLINE))
        quotation = "Ines Marlow was thirty-four years old."
        evidence = Evidence(quotation, await case.chapter(1), 0, len(quotation))
        age = Fact(RecordId("age"), "Ines Marlow is thirty-four", (INES.id,), evidence=(evidence,))
        await case.project.carry_out(PutRecord(age))
        await case.project.memory.settled()
        yield case


def stored(folder: Path) -> list[tuple[object, ...]]:
    """The newest state of all that a writer has: texts, titles, names, records."""
    newest = "{fields} FROM {table} AS at WHERE {order}=(SELECT max({order}) FROM {table} WHERE {key}=at.{key})"
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        rows: list[tuple[object, ...]] = []
        for fields, table, key, order in (
            ("subject, digest", "version", "subject", "number"),
            ("chapter, position, title, volume, deleted", "place", "chapter", "generation"),
            ("id, kind, name, aliases, note, by, removed, own_kind, fields", "entity", "id", "generation"),
            ("id, kind, body, chapter, source, by, removed", "record", "id", "generation"),
        ):
            rows += sorted(
                database.execute("SELECT " + newest.format(fields=fields, table=table, key=key, order=order))
            )
        return rows


async def applied(case: Case, change: BookChange, **chosen: tuple[str, ...]) -> Impact:
    impact = await case.project.story.impact(change)
    await case.project.carry_out(ApplyImpact(change, impact.digest, **chosen))
    return impact


async def text(case: Case, number: int) -> str:
    return await case.project.book.chapter_text(await case.chapter(number))


async def test_a_name_is_changed_in_texts_titles_outline_names_and_records_and_one_undo_restores_all(case, folder):
    before = stored(folder)
    await applied(case, RENAME)
    assert await text(case, 1) == TEXTS[0].replace("Marlow", "Vane")
    assert (await text(case, 3)) == TEXTS[2]  # Marlowe is another word
    assert (await case.project.book.chapters())[0].title == "Vane at Work"
    assert await case.project.book.meta("outline") == OUTLINE.replace("Marlow", "Vane")
    (ines,) = [each for each in await case.project.story.entities() if each.id == INES.id]
    assert (ines.names, ines.note) == (("Ines Vane", "Vane", "Ines"), "Ines Vane rows.")
    assert ines.fields == (("looks", "tall"), ("motto", "A Vane waits.")) and ines.own_kind == "Ferrier"
    (fact,) = (await case.project.story.all()).facts
    assert fact.text == "Ines Vane is thirty-four"
    assert fact.evidence[0].sentence == "Ines Vane was thirty-four years old."
    await case.project.carry_out(UndoDecision())
    assert stored(folder) == before


async def test_the_log_of_changes_undoes_it_too(case, folder):
    before = stored(folder)
    await applied(case, RENAME)
    change = await case.project.book.last_change()
    assert change.kind == "review" and "Vane" in change_words(change)
    await case.project.carry_out(RevertChange(change.generation))
    assert stored(folder) == before
    assert next(each for each in await case.project.book.changes() if each.generation == change.generation).undone
    with pytest.raises(RunError):
        await case.project.carry_out(RevertChange(change.generation))


async def test_what_is_left_out_stays_and_what_was_not_ticked_can_be_taken(case):
    impact = await case.project.story.impact(RENAME)
    chapter = await case.chapter(2)
    (row,) = [each for each in impact.rows if each.proposal.place and each.proposal.place.chapter == chapter]
    assert isinstance(row.proposal.difference.after, TextEdit)
    await applied(case, RENAME, leave=(row.proposal.id,))
    assert await text(case, 2) == TEXTS[1]


async def test_a_book_that_changed_in_the_meantime_is_not_touched(case, folder):
    impact = await case.project.story.impact(RENAME)
    await case.project.carry_out(WriteChapter(await case.chapter(3), "Marlow came."))
    before = stored(folder)
    with pytest.raises(VersionConflict):
        await case.project.carry_out(ApplyImpact(RENAME, impact.digest))
    assert stored(folder) == before


async def test_unsaved_text_is_never_written_over(case):
    await case.project.drafts.put(await case.chapter(1), "Marlow, typed", 1)
    assert "Unsaved text in: 1 " in impact_words(await case.project.story.impact(RENAME))
    with pytest.raises(RunError, match="unsaved"):
        await applied(case, RENAME)


async def test_an_undo_after_a_later_edit_changes_nothing(case, folder):
    await applied(case, RENAME)
    await case.project.carry_out(WriteChapter(await case.chapter(1), "Another text."))
    before = stored(folder)
    with pytest.raises(RunError, match="not undone"):
        await case.project.carry_out(UndoDecision())
    assert stored(folder) == before


async def test_a_name_that_is_taken_is_said(case):
    await case.project.carry_out(PutEntity(Entity(EntityId("vane"), "character", "Vane")))
    assert (await case.project.story.impact(RENAME)).taken == ("Vane",)


async def test_a_changed_comma_lists_nothing(case):
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("old. Ines", "old; Ines")))
    impact = await case.project.story.impact(ChapterChanged(chapter))
    assert impact.is_same and not impact.rows


async def test_a_changed_age_leads_to_the_record_and_to_the_places_that_say_it(case, folder):
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("thirty-four", "twenty-nine")))
    before = stored(folder)
    impact = await applied(case, ChapterChanged(chapter))
    assert [(row.directness, row.position) for row in impact.rows] == [("record", 0), ("value", 2)]
    assert await text(case, 2) == TEXTS[1].replace("thirty-four", "twenty-nine")
    (fact,) = (await case.project.story.all()).facts
    assert fact.text == "Ines Marlow is twenty-nine"
    await case.project.carry_out(UndoDecision())
    assert stored(folder) == before


async def test_a_changed_fact_leads_to_the_places_that_say_it(case):
    impact = await case.project.story.impact(FactChanged(RecordId("age"), "Ines Marlow is twenty-nine years old"))
    assert [row.position for row in impact.rows] == [0, 1, 2]
    assert all(row.answer == "patch" for row in impact.rows)


async def test_a_chapter_that_was_written_from_the_changed_words_comes_last_and_only_while_its_text_is_kept(writing):
    await writing.project.carry_out(AddChapter("Chapter 4"))
    fourth = await writing.chapter(4)
    run = await writing.run("chapter", 4)
    kept = await writing.keep(run, "polish", chapter=fourth)
    given = (await writing.view(run, "draft")).attempts[0].receipt
    uris = {source.uri for source in given.sources}
    chapter = await writing.chapter(1)
    assert {f"manuscript/{chapter}", "facts/age"} & uris
    said = await text(writing, 4)
    await writing.project.carry_out(WriteChapter(fourth, said.replace("thirty-four", "many")))
    await writing.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("thirty-four", "twenty-nine")))
    rows = (await writing.project.story.impact(ChapterChanged(chapter))).rows
    *others, last = rows
    assert (last.directness, last.position) == ("receipt", 4) and 4 not in {row.position for row in others}
    assert not last.chosen and last.answer == "decide" and last.asks is not None
    assert last.proposal.quotation in await text(writing, 4)
    of_fact = (await writing.project.story.impact(FactChanged(RecordId("age"), "Ines Marlow is ninety years old"))).rows
    assert ("receipt", 4) in [(row.directness, row.position) for row in of_fact]
    await writing.project.carry_out(DeleteOutput(kept))
    rows = (await writing.project.story.impact(ChapterChanged(chapter))).rows
    assert "receipt" not in {row.directness for row in rows}


async def test_what_was_written_before_the_words_were_there_does_not_rest_on_them(writing):
    await writing.project.carry_out(AddChapter("Chapter 4"))
    fourth = await writing.chapter(4)
    await writing.keep(await writing.run("chapter", 4), "polish", chapter=fourth)
    chapter = await writing.chapter(2)
    added = TEXTS[1] + " Ines had forty sheep."
    await writing.project.carry_out(WriteChapter(chapter, added))
    await writing.project.carry_out(WriteChapter(chapter, added.replace("forty", "sixty")))
    assert (await writing.project.story.impact(ChapterChanged(chapter))).rows == ()


async def test_a_moved_chapter_leads_to_uses_of_what_it_is_the_first_to_tell(case):
    impact = await case.project.story.impact(ChapterMoved(await case.chapter(1), 3))
    assert {row.position for row in impact.rows} == {2, 3}
    assert all(row.answer == "decide" for row in impact.rows)
    ids = tuple(row.proposal.id for row in impact.rows)
    await case.project.carry_out(ApplyImpact(impact.change, impact.digest, (), ids))
    page = await case.project.findings.findings(FindingFilter())
    assert {row.proposal.origin.maker for row in page.rows} >= {"impact"}


async def test_a_chapter_that_was_written_from_one_that_now_comes_later_is_listed_last(writing):
    await writing.project.carry_out(AddChapter("Chapter 4"))
    first, fourth = await writing.chapter(1), await writing.chapter(4)
    run = await writing.run("chapter", 4)
    kept = await writing.keep(run, "polish", chapter=fourth)
    uris = {source.uri for source in (await writing.view(run, "draft")).attempts[0].receipt.sources}
    assert f"manuscript/{first}" in uris
    await writing.project.carry_out(WriteChapter(fourth, "Rain fell. Somebody rowed, and was tired."))
    *others, last = (await writing.project.story.impact(ChapterMoved(first, 4))).rows
    assert (last.directness, last.position) == ("receipt", 4) and 4 not in {row.position for row in others}
    assert last.proposal.quotation == "Somebody rowed, and was tired."
    assert last.proposal.difference.after.source.text == "Ines rowed the ferry over."
    assert not last.chosen and last.answer == "decide" and last.asks is not None
    back = await writing.project.story.impact(ChapterMoved(fourth, 1))
    assert {row.directness for row in back.rows} == {"receipt"} and {row.position for row in back.rows} == {4}
    await writing.project.carry_out(DeleteOutput(kept))
    rows = (await writing.project.story.impact(ChapterMoved(first, 4))).rows
    assert "receipt" not in {row.directness for row in rows}


@pytest.mark.parametrize(
    "change",
    [
        RENAME,
        replace(RENAME, aliases=(("Ines", "Ann"),)),
        ChapterChanged(ChapterId("c"), 2),
        ChapterMoved(ChapterId("c"), 3),
        FactChanged(RecordId("age"), "words"),
    ],
)
def test_every_change_has_a_message(change):
    command = ApplyImpact(change, "digest", ("one",), holds=("two",))
    for each in (command, AskPatches(change, ("one",))):
        assert from_message(to_message(each)) == each


async def test_a_changed_comma_makes_nothing_out_of_date_and_a_changed_word_does(case):
    store, call = case.project._parts.store, case.project._engine.call
    chapter = await case.chapter(1)
    state = Derived(f"manuscript/{chapter}", "L1", "Ines rows.", Digest("made"), 1, Generation(0))
    await call(store.memory.put_derived(state))
    await case.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("old. Ines", "old; Ines")))

    async def stale() -> list[str]:
        return [each.uri for each in await (await store.memory.view(None)).stale()]

    assert await call(stale()) == []
    await case.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("thirty-four", "twenty-nine")))
    assert f"manuscript/{chapter}" in await call(stale())


async def test_a_record_keeps_its_quotation_when_a_comma_in_it_is_changed(case):
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("Marlow was", "Marlow, was")))
    (fact,) = (await case.project.story.all()).facts
    assert fact.evidence[0].sentence == "Ines Marlow, was thirty-four years old"


async def test_a_chinese_name_is_changed_everywhere_and_no_other_word_is_touched(folder):
    """林 in 林黛玉 and in 林姑娘, but not in 森林 or 林如海."""
    await make(folder, language="zh")
    texts = ("林黛玉走进森林。森林很深，林姑娘不说话。", "林如海在竹林里等黛玉。“林妹妹来了。”")
    async with opened(folder) as case:
        for number, words in enumerate(texts, 1):
            await case.project.carry_out(AddChapter(f"林黛玉之{'一二'[number - 1]}"))
            await case.project.carry_out(WriteChapter(await case.chapter(number), words))
        heroine = Entity(EntityId("dai"), "character", "林黛玉", ("黛玉", "林姑娘", "林妹妹"), "林黛玉，林如海之女。")
        await case.project.carry_out(PutEntity(heroine))
        await case.project.carry_out(PutEntity(Entity(EntityId("hai"), "character", "林如海")))
        await case.project.carry_out(WriteMeta("outline", "林黛玉离开林如海，走进森林。"))
        said = Evidence("林黛玉走进森林。", await case.chapter(1), 0, 8)
        await case.project.carry_out(
            PutRecord(Fact(RecordId("woods"), "林黛玉进了森林", (heroine.id,), evidence=(said,)))
        )
        await case.project.memory.settled()
        before = stored(folder)
        await applied(case, Rename("林黛玉", "苏绛珠"))
        assert await text(case, 1) == "苏绛珠走进森林。森林很深，苏姑娘不说话。"
        assert await text(case, 2) == "林如海在竹林里等绛珠。“苏妹妹来了。”"
        assert [each.title for each in await case.project.book.chapters()] == ["苏绛珠之一", "苏绛珠之二"]
        assert await case.project.book.meta("outline") == "苏绛珠离开林如海，走进森林。"
        names = {each.id: each for each in await case.project.story.entities()}
        assert names[heroine.id].names == ("苏绛珠", "绛珠", "苏姑娘", "苏妹妹")
        assert (names[heroine.id].note, names[EntityId("hai")].name) == ("苏绛珠，林如海之女。", "林如海")
        (fact,) = (await case.project.story.all()).facts
        assert (fact.text, fact.evidence[0].sentence) == ("苏绛珠进了森林", "苏绛珠走进森林。")
        await case.project.carry_out(UndoDecision())
        assert stored(folder) == before
