"""The story of a kept chapter: read once, replaced with the text, gone with the chapter, a hand's word above it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.story import Fact, Promise, RecordId, Relation
from flowcabal_tui.protocol.book import AddChapter, EditChapter, WriteChapter
from flowcabal_tui.protocol.memory import Rebuild
from flowcabal_tui.protocol.story import PutEntity, PutRecord, RemoveRecord
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import Case, make_one, opened

INES, TOBIAS = EntityId("ines"), EntityId("tobias")
FERRY = (
    "Ines Marlow was Tobias Crane's sister. Ines Marlow now lives in Saltreach. Tobias Crane vowed to ring the "
    "bell of Saltreach for her.\n\nOnly Tobias Crane knew that the ledger was forged. Ines Marlow slept. "
    "Tobias Crane walked to Saltreach and back again with the forged ledger under his coat."
)
LATER = (
    "Ines Marlow moved to Northwick. Tobias Crane kept his vow: he would ring the bell of Saltreach for her that night."
    "\n\nInes Marlow learned that the ledger was forged. Tobias Crane said nothing of it for two years before he died."
)


async def written(case: Case, *texts: str) -> list[ChapterId]:
    """Chapters with these texts, and everything made that follows."""
    made = []
    for number, text in enumerate(texts, 1):
        made.append(ChapterId(await case.project.carry_out(AddChapter(f"Chapter {number}"))))
        await case.project.carry_out(WriteChapter(made[-1], text))
        await case.settled()
    return made


@pytest.fixture
async def case(folder):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        for name in ("Ines Marlow", "Tobias Crane"):
            await case.project.carry_out(PutEntity(Entity(EntityId(name.split()[0].lower()), "character", name)))
        yield case


async def test_a_kept_chapter_tells_its_relations_states_secrets_and_vows(case):
    one, two = await written(case, FERRY, LATER)
    story = await case.project.story.all()
    (sister,) = story.relations
    assert (sister.source, sister.kind, sister.target) == (INES, "sister of", TOBIAS)
    homes = [(fact.text, fact.since, fact.until) for fact in story.facts if fact.attribute == "lives in"]
    assert homes == [("Ines Marlow now lives in Saltreach.", one, two), ("Ines Marlow moved to Northwick.", two, None)]
    (secret,) = [fact for fact in story.facts if fact.secret]
    assert [knower.entity for knower in secret.known_by] == [TOBIAS, INES]
    assert secret.known_by[1].since == two
    (vow,) = [promise for promise in story.promises if promise.planted == one]
    assert vow.paid == two
    text = await case.project.book.chapter_text(one)
    evidence = secret.evidence[0]
    assert text[evidence.start : evidence.end] == evidence.sentence
    opened_at = await case.project.memory.source(f"facts/{secret.id}")
    assert (opened_at.uri, opened_at.start, opened_at.text) == (f"manuscript/{one}", evidence.start, text)


async def test_keeping_again_pays_nothing_and_doubles_nothing(case):
    one, _two = await written(case, FERRY, LATER)
    before, calls = await case.project.story.all(), (await case.project.runs.totals()).calls
    await case.project.carry_out(WriteChapter(one, FERRY))
    await case.settled()
    assert (await case.project.story.all(), (await case.project.runs.totals()).calls) == (before, calls)


async def test_records_leave_with_their_text_and_with_their_chapter(case):
    one, two = await written(case, FERRY, LATER)
    whole = await case.project.story.all()
    await case.project.carry_out(EditChapter(two, deleted=True))
    (secret,) = [fact for fact in (await case.project.story.all()).facts if fact.secret]
    assert len(secret.known_by) == 1
    await case.project.carry_out(EditChapter(two, deleted=False))
    assert await case.project.story.all() == whole
    await case.project.carry_out(WriteChapter(one, FERRY.replace("was Tobias Crane's sister", "hummed")))
    await case.settled()
    assert (await case.project.story.all()).relations == ()


async def owed(case: Case) -> dict[str, tuple[int, str]]:
    """What the knowledge server, which is not there, will be told of the story."""
    tasks = await case.project.memory.background()
    return {task.subject: (task.id, task.source) for task in tasks if task.subject.startswith("story/")}


async def test_the_knowledge_server_is_told_of_all_chapters_whose_lines_change_and_of_no_others(case):
    one, two, three = await written(case, FERRY, f"{FERRY} It rained.", LATER)
    told = await owed(case)
    assert told.keys() == {f"story/{chapter}" for chapter in (one, two, three)}
    await case.project.carry_out(PutEntity(Entity(EntityId("mill"), "place", "The old mill")))
    assert await owed(case) == told, "a reading and a hand ask for the same"
    await case.project.carry_out(WriteChapter(one, FERRY.replace("was Tobias Crane's sister", "hummed")))
    await case.settled()
    read = await owed(case)
    assert {subject for subject in told if read[subject] != told[subject]} == {f"story/{one}", f"story/{two}"}
    await case.project.carry_out(EditChapter(one, deleted=True))
    gone = await owed(case)
    assert {subject for subject in told if gone[subject] != read[subject]} == {f"story/{one}", f"story/{two}"}
    await case.project.carry_out(EditChapter(one, deleted=False))
    back = {subject: source for subject, (_id, source) in (await owed(case)).items()}
    assert back == {subject: source for subject, (_id, source) in read.items()}


async def test_what_a_hand_writes_and_removes_stays_so_when_the_chapter_is_read_again(case):
    one, _two = await written(case, FERRY, LATER)
    story = await case.project.story.all()
    (sister,) = story.relations
    await case.project.carry_out(PutRecord(replace(sister, kind="half-sister of")))
    for promise in story.promises:
        await case.project.carry_out(RemoveRecord(promise.id))
    made = await case.project.carry_out(PutRecord(Fact(RecordId(""), "She hums.", (INES,), since=one)))
    await case.project.carry_out(WriteChapter(one, f"{FERRY} It rained."))
    await case.settled()
    after = await case.project.story.all()
    assert [(each.kind, each.by) for each in after.relations] == [("half-sister of", "hand")]
    assert after.promises == ()
    assert made in [fact.id for fact in after.facts]
    assert (await case.project.memory.source(f"facts/{made}")).text == "She hums."
    with pytest.raises(RunError):
        await case.project.memory.source("facts/none")


async def test_a_record_that_says_nothing_or_names_nobody_is_refused(case):
    (one,) = await written(case, FERRY)
    for record in (
        Promise(RecordId(""), "  ", one),
        Promise(RecordId("../x"), "A bell.", one),
        Relation(RecordId(""), EntityId("none"), TOBIAS, "friend of"),
    ):
        with pytest.raises(RunError):
            await case.project.carry_out(PutRecord(record))
    with pytest.raises(RunError):
        await case.project.carry_out(RemoveRecord(RecordId("none")))


async def test_a_name_that_an_agent_finds_for_one_that_a_hand_wrote_waits(case):
    await written(case, f"{FERRY} Mistress Tide laughed.")
    ines = next(entity for entity in await case.project.story.entities() if entity.id == INES)
    await case.project.carry_out(PutEntity(replace(ines, aliases=("the ferrywoman",))))
    memory = case.project._parts.store.memory  # what an agent does, which no command can do
    said = replace(ines, aliases=("Mistress Tide",), proposed=("Mistress Tide", "the ferrywoman"), by="agent")
    stands = await case.project._engine.call(memory.put_entity(said))
    assert (stands.aliases, stands.proposed, stands.by) == (("the ferrywoman",), ("Mistress Tide",), "hand")
    await case.settled()
    before = await case.project.story.mentions(INES)
    await case.project.carry_out(PutEntity(replace(stands, aliases=("the ferrywoman", "Mistress Tide"), proposed=())))
    await case.settled()
    assert len(await case.project.story.mentions(INES)) == len(before) + 1, "a confirmed name is found"


async def test_the_context_of_a_point_of_view_is_told_no_secret_of_others(case):
    _one, two = await written(case, FERRY, LATER)
    last = ChapterId(await case.project.carry_out(AddChapter("Chapter 3")))

    async def told(view: str, chapter: ChapterId) -> set[str]:
        wish, eyes = ("instruction", "Ines Marlow meets Tobias Crane."), ("draft", {"point_of_view": view})
        request = RunRequest("quick-draft", chapter, (wish,), overrides=(eyes,))
        receipt = await case.project.runs.preview_context(request, "draft")
        return {source.uri for source in receipt.sources if source.budget_class == "facts"}

    (secret,) = [fact for fact in (await case.project.story.all()).facts if fact.secret]
    assert f"facts/{secret.id}" in await told("Tobias Crane", two)
    assert f"facts/{secret.id}" not in await told("Ines Marlow", two)
    assert f"facts/{secret.id}" in await told("Ines Marlow", last)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_sample_novel_brings_its_story_and_the_agents_add_to_it(demos, language):
    async with opened(demos[language], read_only=True) as case:
        story = await case.project.story.all()
        texts = {
            chapter.id: await case.project.book.chapter_text(chapter.id)
            for chapter in await case.project.book.chapters()
        }
        assert min(len(story.relations), len(story.facts), len(story.promises), len(story.moments)) >= 3
        assert {fact.by for fact in story.facts} == {"hand", "agent"}
        records = (*story.relations, *story.facts, *story.promises, *story.moments)
        for evidence in (each for record in records for each in record.evidence):
            assert texts[evidence.chapter][evidence.start : evidence.end] == evidence.sentence
        moved = [fact for fact in story.facts if fact.until]
        assert moved, "where the book is has changed"


async def test_a_rebuild_asks_for_the_records_of_a_book_for_which_nobody_asked(case, folder):
    await written(case, FERRY)
    told = await owed(case)
    with sqlite3.connect(folder / ".flowcabal" / "project.db") as connection:
        connection.execute("DELETE FROM task WHERE subject LIKE 'story/%'")
    connection.close()
    assert await owed(case) == {}
    await case.project.carry_out(Rebuild("knowledge"))
    assert (await owed(case)).keys() == told.keys() != set()
