"""The card of a name: as of a chapter, from the texts, the records and the profile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.book_kinds import BookKind
from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.name_card import NameCard
from flowcabal_tui.domain.story import RecordId, Relation
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript
from flowcabal_tui.protocol.memory import WriteProfile
from flowcabal_tui.protocol.story import PutEntity, PutRecord, RemoveEntity, SetNameKinds
from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import Case, both, make, opened, write_chapters

TOBIAS = Entity(EntityId("tobias"), "character", "Tobias Crane")
INES = Entity(EntityId("ines"), "character", "Ines Marlow", ("the ferrywoman",), "She lost a brother.")


@pytest_asyncio.fixture
async def case(folder: Path, tmp_path: Path) -> AsyncIterator[Case]:
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        for entity in (TOBIAS, INES):
            await case.project.carry_out(PutEntity(entity))
        await case.settled()
        yield case


async def card(case: Case, chapter: int | None, entity: EntityId = TOBIAS.id) -> NameCard:
    return await case.project.story.name_card(entity, await case.chapter(chapter) if chapter else None)


async def test_it_says_where_the_name_was_last_and_quotes_where_it_was_first(case: Case) -> None:
    at_three, at_one, at_end = [await card(case, chapter) for chapter in (3, 1, None)]
    assert at_three.entity.name == "Tobias Crane" and at_three.mentions == 4
    assert at_three.seen and at_three.seen.position == 2 and at_three.seen.sentence.startswith("Tobias Crane read")
    assert at_one.seen is None, "nothing is before the first chapter"
    assert at_end.seen and at_end.seen.position == 3
    first = at_one.first
    assert first and first.position == 1 and first.sentence == "Tobias Crane watched her go."
    text = await case.project.book.chapter_text(first.chapter)
    assert text[first.start : first.end] == "Tobias Crane"


async def test_relations_are_those_of_the_chapter_as_its_subject_sees_them(case: Case) -> None:
    _one, two, three = [await case.chapter(number) for number in (1, 2, 3)]
    for name, since, until, directed in (("pupil of", None, three, True), ("knows", two, None, False)):
        record = Relation(RecordId(name[:2]), TOBIAS.id, INES.id, name, directed, since, until)
        await case.project.carry_out(PutRecord(record))
    told = {number: {(each.words, each.outward) for each in (await card(case, number)).relations} for number in (1, 3)}
    assert told == {1: {("pupil of", True)}, 3: {("knows", None)}}
    assert {(each.words, each.outward, each.name) for each in (await card(case, 2, INES.id)).relations} == {
        ("pupil of", False, "Tobias Crane"),
        ("knows", None, "Tobias Crane"),
    }
    await case.project.carry_out(RemoveEntity(INES.id))
    assert (await card(case, 3)).relations == ()


async def test_its_line_is_that_of_the_profile(case: Case) -> None:
    uri = f"profiles/characters/{TOBIAS.id}"
    await case.project.carry_out(WriteProfile(uri, "L0", "A clerk with red hair."))
    found = await card(case, None)
    assert (found.profile, found.about) == (uri, "A clerk with red hair.")


async def test_a_name_that_no_text_has_yet_and_one_that_is_unknown(case: Case) -> None:
    await case.project.carry_out(PutEntity(Entity(EntityId("bell"), "item", "The Anchor")))
    four = ChapterId(await case.project.carry_out(AddChapter("Four")))
    bare = await case.project.story.name_card(EntityId("bell"), four)
    assert (bare.mentions, bare.seen, bare.first, bare.relations) == (0, None, None, ())
    assert (await case.project.story.name_card(TOBIAS.id, four)).seen.position == 3
    for entity, chapter in (("nobody", four), ("bell", ChapterId("none"))):
        with pytest.raises(Gone):
            await case.project.story.name_card(EntityId(entity), chapter)


async def test_kinds_and_fields_are_the_writers_words_and_survive_the_project(folder: Path, case: Case) -> None:
    kinds = (BookKind("公会", "organisation", ("职位",)), BookKind("character", "character", ("looks",)))
    await case.project.carry_out(SetNameKinds(kinds))
    noted = replace(INES, own_kind="公会", kind="organisation", fields=(("职位", "船\x1b[2J主"), ("empty", " ")))
    await case.project.carry_out(PutEntity(noted))
    assert await case.project.story.name_kinds() == kinds
    assert '[names.kinds."公会"]' in (folder / "flowcabal.toml").read_text(encoding="utf-8")
    await case.project.close()
    async with opened(folder) as again:
        assert await again.project.story.name_kinds() == kinds
        entity = (await card(again, None, INES.id)).entity
        assert (entity.own_kind, entity.fields) == ("公会", (("职位", "船主"),))


@pytest.mark.parametrize(
    "kind", [BookKind(" ", "item"), BookKind("x" * 41, "item"), BookKind("y", "item", ("z" * 41,))]
)
async def test_a_kind_without_a_name_or_with_a_very_long_one_is_refused(case: Case, kind: BookKind) -> None:
    with pytest.raises(RunError, match="needs a name"):
        await case.project.carry_out(SetNameKinds((kind,)))
    with pytest.raises(RunError, match="a unique name"):
        await case.project.carry_out(SetNameKinds((BookKind("one", "item"), BookKind(" one", "location"))))
    assert await case.project.story.name_kinds() == ()
