"""What the knowledge server finds is read from the book as the run sees it; nothing else of it counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.agents.context.viewpoint import VeiledFinder, VeiledView, look_through
from flowcabal_tui.domain.errors import KnowledgeAbsent, KnowledgeError
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId
from flowcabal_tui.domain.memory import Derived, Entity
from flowcabal_tui.domain.story import ChapterReading, Fact, Moment, Promise, RecordId, Relation, Sequel, StoryRecord
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.project.memory.sources import entity_text
from flowcabal_tui.project.memory.story_records import subject, visible_records
from flowcabal_tui.protocol.book import AddChapter, EditChapter, ImportManuscript, WriteChapter
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.protocol.story import PutEntity, PutRecord, RemoveRecord
from flowcabal_tui.settings.project_file import OFFLINE, KnowledgeSettings
from flowcabal_tui.viking.search import KnowledgeHit
from tests.guards import NOTHING_GUARDED
from tests.project.case import CHAPTERS, Case, both, make, opened, write_chapters

FERRY = CHAPTERS["Chapter 1 The Ferry"]


@dataclass
class FakeKnowledge:
    """A server that finds what it is told to find; None: it is not there."""

    hits: list[KnowledgeHit] | None = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    embedder: str = "fake"
    vectors: LexicalEmbedder | None = None
    is_up: bool = True
    is_in_use: bool = True
    last: KnowledgeStatus = field(default_factory=lambda: KnowledgeStatus("failed", "it ended"))
    is_over: bool = False

    async def started(self, seconds: float) -> None:
        pass

    async def costs_nothing(self, query: str) -> bool:
        return True

    async def paid_vector(self, query: str) -> None:
        pass

    async def known_vectors(self, texts: list[str]) -> list[list[float]] | None:
        return await self.vectors.embed(texts) if self.vectors else None

    def require_paid(self) -> None:
        if self.is_over:
            raise KnowledgeError("The cap is reached.")

    def sync(self) -> FakeKnowledge:
        if self.hits is None:
            raise KnowledgeError("It is not there.")
        return self

    async def find(self, query: str, before: int, limit: int, scope: str) -> list[KnowledgeHit]:
        self.asked.append(query)
        return [hit for hit in self.hits or () if hit.uri.startswith(scope)]


@pytest_asyncio.fixture
async def case(folder: Path, tmp_path: Path) -> AsyncIterator[Case]:
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.settled()
        yield case


async def found(case: Case, knowledge: FakeKnowledge, before: int = 3, *, remember: bool = False) -> list[Found]:
    store, queries = case.project._parts.store, case.project._parts.memory.sources
    generation = await case.project._engine.call(store.memory.generation())
    finder = RememberingFinder(knowledge, store, queries, generation, remember=remember)  # type: ignore[arg-type]  # a fake
    return list(await case.project._engine.call(finder.find("the river", before, 10)))


async def hit(case: Case, number: int = 1, **how: Any) -> KnowledgeHit:
    """The first forty characters of a chapter."""
    chapter = await case.chapter(number)
    text = (await case.project.book.chapter_text(chapter))[:40]
    made = KnowledgeHit(
        f"manuscript/main/{number}/scene-001.md",
        "L2",
        0.9,
        number,
        f"manuscript/{chapter}",
        digest(text),
        chapter,
        0,
        40,
    )
    return replace(made, **how)


async def test_a_passage_is_read_at_its_place(case: Case) -> None:
    (item,) = await found(case, FakeKnowledge([await hit(case)]))
    assert (item.text, item.start, item.end, item.position) == (FERRY[:40], 0, 40, 1)
    assert item.title == "Chapter 1 The Ferry" or "Ferry" in item.title


async def test_what_was_not_asked_since_the_cap_was_reached_is_asked_when_it_is_raised(case: Case) -> None:
    knowledge = FakeKnowledge([await hit(case)], is_over=True)
    with pytest.raises(KnowledgeError, match="cap"):
        await found(case, knowledge, remember=True)
    assert knowledge.asked == []
    knowledge.is_over = False
    assert len(await found(case, knowledge, remember=True)) == 1


async def test_a_text_that_has_changed_since_the_server_was_told_is_left_out(case: Case) -> None:
    old = await hit(case)
    await case.project.carry_out(WriteChapter(await case.chapter(1), "Not a word of it is left. " * 9))
    assert await found(case, FakeKnowledge([old])) == []


async def test_a_chapter_that_was_deleted_or_moved_behind_the_target_is_left_out(case: Case) -> None:
    first = await hit(case)
    await case.project.carry_out(EditChapter(await case.chapter(1), position=3))
    assert await found(case, FakeKnowledge([first])) == []
    await case.project.carry_out(EditChapter(ChapterId(first.subject.partition("/")[2]), deleted=True))
    assert await found(case, FakeKnowledge([first])) == []


async def test_a_profile_of_another_state_than_the_servers_is_left_out(case: Case) -> None:
    store, uri = case.project._parts.store, "profiles/characters/ines"
    generation = await case.project._engine.call(store.memory.generation())
    for position, text in ((1, "She rows."), (2, "She drowned.")):
        await case.project._engine.call(
            store.memory.put_derived(Derived(uri, "L1", text, Digest(text), position, generation, "hand"))
        )
    told = KnowledgeHit(f"{uri}-1", "L1", 0.8, 2, uri, digest("She drowned."))
    assert [item.text for item in await found(case, FakeKnowledge([told]))] == ["She drowned."]
    assert await found(case, FakeKnowledge([replace(told, position=1, digest=digest("She rows."))])) == []


async def test_a_profile_as_of_a_chapter_that_was_moved_behind_the_target_is_left_out(case: Case) -> None:
    store, uri = case.project._parts.store, "profiles/characters/ines"
    generation = await case.project._engine.call(store.memory.generation())
    state = Derived(uri, "L1", "She drowned.", Digest("a"), 1, generation, "model")
    await case.project._engine.call(store.memory.put_derived(state))
    told = FakeKnowledge([KnowledgeHit(f"{uri}-1", "L1", 0.8, 1, uri, digest("She drowned."))])
    assert [item.position for item in await found(case, told)] == [1]
    await case.project.carry_out(EditChapter(await case.chapter(1), position=3))
    assert await found(case, told) == [], "the server was not told that it stands elsewhere by now"


async def test_an_entity_by_hand_is_cited_by_its_own_uri(case: Case) -> None:
    bell = Entity(EntityId("bell"), "item", "The bell", (), "It was cast in the year of the flood.")
    await case.project.carry_out(PutEntity(bell))
    told = KnowledgeHit("entities/items/bell-1", "L1", 0.7, 0, "entity/bell", digest(entity_text(bell)))
    (item,) = await found(case, FakeKnowledge([told]))
    assert item.uri == "entities/items/bell" and "year of the flood" in item.text


async def told_of(case: Case, number: int, *, apart: bool = True, head: bool = False) -> list[KnowledgeHit]:
    """The records that begin in a chapter, as the server has them: each in a file of its own, all in one, or only whom
    they are about."""
    place = subject(await case.chapter(number))
    view = await case.project._engine.call(case.project._parts.store.memory.view(None))
    here = (await case.project._engine.call(visible_records(view)))[place]
    if head:
        return [KnowledgeHit(f"{place}-1", "L0", 0.9, number, place, digest(here.head))]
    spans = [(line.start, line.end) for line in here.lines] if apart else [(0, len(here.text))]
    return [
        KnowledgeHit(f"{place}-1/{at}.md", "L2", 0.9, number, place, digest(here.text[at:end]), None, at, end)
        for at, end in spans
    ]


async def test_of_what_the_story_says_only_what_holds_before_the_target_is_found(case: Case) -> None:
    first, second, third = [chapter.id for chapter in await case.project.book.chapters()]
    for name in ("Ines", "Tobias"):
        await case.project.carry_out(PutEntity(Entity(EntityId(name.lower()), "character", name)))
    who = EntityId("ines"), EntityId("tobias")
    for record in (
        Relation(RecordId("r1"), *who, "owes money to", since=first, until=second),
        Fact(RecordId("f1"), "Ines rows a red boat.", who[:1], "boat", since=first),
        Fact(RecordId("f2"), "Ines rows a blue boat.", who[:1], "boat", since=second),
        Fact(RecordId("f3"), "Ines burnt the ledger.", who[:1], since=first, secret=True),
        Promise(RecordId("p1"), "The bell will ring.", first, paid=third),
    ):
        await case.project.carry_out(PutRecord(record))
    one, two = await told_of(case, 1), await told_of(case, 2)

    async def uris(before: int, hits: list[KnowledgeHit]) -> set[str]:
        items = await found(case, FakeKnowledge(hits), before)
        assert all(item.position < before and "ledger" not in item.text for item in items)
        return {item.uri for item in items}

    assert await uris(2, one) == {"facts/f1", "promises/p1", "relations/r1"}
    assert await uris(3, one + two) == {"promises/p1", "facts/f2"}
    assert await uris(4, one + two) == {"facts/f2"}
    assert await uris(2, two) == set(), "from later in the story"
    await case.project.carry_out(RemoveRecord(RecordId("p1")))
    assert await uris(2, one) == {"facts/f1"}, "what stands elsewhere by now the server has not been told"


async def read(case: Case, number: int, *records: StoryRecord, ends: RecordId | None = None) -> None:
    """What an agent read from a chapter, which may end a record there."""
    place = await case.chapter(number)
    sequels = (Sequel(RecordId(f"{ends}-ends"), ends, place),) if ends else ()
    reading = ChapterReading(place, number, Digest(""), Digest("read"), records, sequels)
    await case.project._engine.call(case.project._parts.store.records.put_reading(reading))


async def test_what_a_later_chapter_changes_hides_nothing_of_an_earlier_one(case: Case) -> None:
    first, second = [chapter.id for chapter in await case.project.book.chapters()][:2]
    ines, tobias = [Entity(EntityId(name.lower()), "character", name) for name in ("Ines", "Tobias")]
    late = Entity(EntityId("late"), "character", "Whom nobody named yet", by="agent")
    await case.project.carry_out(PutEntity(ines))
    await case.project.carry_out(PutEntity(tobias))
    await case.project._engine.call(case.project._parts.store.memory.put_entity(late))
    ally = Relation(RecordId("r1"), ines.id, tobias.id, "ally of", since=first, by="agent")
    moment = Moment(RecordId("m1"), "The ferry sank.", second, about=(late.id, ines.id))
    text = "At night Whom nobody named yet came to the ferry."
    await case.project.carry_out(WriteChapter(await case.chapter(3), text))
    await case.settled()
    await read(case, 1, ally, replace(ally, id=RecordId("r3"), target=late.id))
    await read(case, 2, replace(ally, id=RecordId("r2"), since=second), moment)
    await read(case, 3, ends=ally.id)
    hits = [*await told_of(case, 1), *await told_of(case, 2, apart=False), *await told_of(case, 2, head=True)]
    for before, wanted in ((2, {"r1"}), (3, {"r1", "m1"}), (4, {"r3", "m1"})):
        items = await found(case, FakeKnowledge(hits), before)
        assert {item.uri.partition("/")[2] for item in items} == wanted
        assert before == 4 or all("nobody" not in item.text for item in items), "a name from later in the story"


async def test_before_a_chapter_that_is_not_written_yet_nothing_later_is_known(case: Case) -> None:
    first, *_rest, third = [chapter.id for chapter in await case.project.book.chapters()]
    await case.project.carry_out(PutRecord(Promise(RecordId("p1"), "The bell will ring.", first, paid=third)))
    await case.project.carry_out(PutRecord(Moment(RecordId("m1"), "The bell rings.", third)))
    await case.project.carry_out(AddChapter("Not written", position=2))
    hits = [*await told_of(case, 1), *await told_of(case, 4)]
    assert {item.uri for item in await found(case, FakeKnowledge(hits), 2)} == {"promises/p1"}
    assert {item.uri for item in await found(case, FakeKnowledge(hits), 5)} == {"moments/m1"}


async def test_of_a_chapters_records_the_nearest_are_found_and_opened_at_their_source(case: Case) -> None:
    chapter = await case.chapter(1)
    for number, words in enumerate(("Mills close.", "The river, the river!", "Bread is dear.", "By the river.")):
        await case.project.carry_out(PutRecord(Moment(RecordId(f"m{number}"), words, chapter)))
    knowledge = FakeKnowledge(await told_of(case, 1, apart=False), vectors=LexicalEmbedder())
    items = await found(case, knowledge)
    assert {item.text for item in items} == {"The river, the river!", "By the river."}
    assert (await case.project.memory.source(items[0].uri)).text == items[0].text


async def test_records_leave_room_for_passages(case: Case) -> None:
    chapter = await case.chapter(1)
    for number in range(9):
        await case.project.carry_out(
            PutRecord(Moment(RecordId(f"m{number}"), f"The river rose {number} feet.", chapter))
        )
    items = await found(case, FakeKnowledge([*await told_of(case, 1), await hit(case, score=0.1)]))
    assert [item.uri.partition("/")[0] for item in items] == ["moments"] * 3 + ["manuscript"]


async def test_through_the_eyes_of_somebody_no_record_is_found_that_rests_on_a_secret(case: Case) -> None:
    chapter = await case.chapter(1)
    ines = Entity(EntityId("ines"), "character", "Ines")
    await case.project.carry_out(PutEntity(ines))
    for record in (
        Fact(RecordId("f1"), "The bell was sold", (), since=chapter, secret=True),
        Moment(RecordId("m1"), "The bell was sold", chapter, "in March"),
        Moment(RecordId("m2"), "The river froze", chapter, "in May"),
    ):
        await case.project.carry_out(PutRecord(record))
    items = await found(case, FakeKnowledge(await told_of(case, 1)))
    assert {item.uri for item in items} == {"moments/m1", "moments/m2"}

    class Finds:
        async def find(self, query: str, before: int, limit: int) -> list[Found]:
            return items

    view = await case.project._engine.call(case.project._parts.store.memory.view(await case.chapter(3)))
    eyes = await case.project._engine.call(look_through(view, "Ines"))
    veiled = await case.project._engine.call(VeiledFinder(Finds(), VeiledView(view, eyes), eyes).find("", 3, 9))
    assert {item.uri for item in veiled} == {"moments/m2"}


@pytest.mark.parametrize("is_in_use", [True, False])
async def test_a_server_that_fails_is_told_from_one_that_is_not_in_use(case: Case, is_in_use: bool) -> None:
    knowledge = FakeKnowledge(None, is_up=False, is_in_use=is_in_use)
    for _time in ("asked", "remembered"):
        with pytest.raises(KnowledgeError, match="it ended") as raised:
            await found(case, knowledge, remember=True)
        assert isinstance(raised.value, KnowledgeAbsent) is not is_in_use


@pytest.mark.parametrize(
    ("state", "elsewhere", "is_in_use"),
    [("off", "", False), ("absent", "", False), ("asks", "", False), ("failed", "", True), ("starting", "", True),
     ("off", "http://127.0.0.1:1933", True)],
)  # fmt: skip
async def test_a_server_is_in_use_where_one_is_installed_or_elsewhere(
    tmp_path: Path, state: Any, elsewhere: str, is_in_use: bool
) -> None:
    settings = KnowledgeSettings(url=elsewhere)
    connection = KnowledgeConnection(settings, ("id", "name", tmp_path), "en", print, None, NOTHING_GUARDED)  # type: ignore[arg-type]  # it is not started
    connection.last = KnowledgeStatus(state)
    assert connection.is_in_use is is_in_use


async def test_what_was_answered_is_remembered_for_the_generation_and_the_embedder(case: Case) -> None:
    knowledge = FakeKnowledge([await hit(case)])
    first = await found(case, knowledge, remember=True)
    knowledge.hits = None
    assert await found(case, knowledge, remember=True) == first
    knowledge.embedder = "another"
    with pytest.raises(KnowledgeError, match="not there"):
        await found(case, knowledge, remember=True)
    knowledge.hits = []
    with pytest.raises(KnowledgeError, match="not there"):
        await found(case, knowledge, remember=True)


async def test_of_a_scene_the_nearest_passages_go_in(case: Case) -> None:
    chapter = await case.chapter(1)
    far, near = "Barrels were counted in the yard before noon. " * 20, "The river ran under the ferry all night. " * 20
    text = f"{far}\n\n{near}\n\n{far}"
    await case.project.carry_out(WriteChapter(chapter, text))
    await case.settled()
    scene = await hit(case, end=len(text), digest=digest(text))
    (whole,) = await found(case, FakeKnowledge([scene]))
    assert whole.text == text
    passages = await found(case, FakeKnowledge([scene], vectors=LexicalEmbedder()))
    assert passages[0].text == text[passages[0].start : passages[0].end]
    assert "The river ran" in passages[0].text and "Barrels" not in passages[0].text
    assert len(passages) == 2 and passages[0].score > passages[1].score
