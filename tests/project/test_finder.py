"""What the knowledge server finds is read from the book as the run sees it; nothing else of it counts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from flowcabal_tui.agents.context.gather import Found
from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId
from flowcabal_tui.domain.memory import Derived, Entity
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.project.memory.finder import RememberingFinder
from flowcabal_tui.project.queries import entity_text
from flowcabal_tui.protocol import EditChapter, ImportManuscript, PutEntity, WriteChapter
from flowcabal_tui.settings.project_file import OFFLINE
from flowcabal_tui.viking.search import KnowledgeHit
from tests.project.desk import CHAPTERS, Desk, both, make, opened, write_chapters

FERRY = CHAPTERS["Chapter 1 The Ferry"]


@dataclass
class FakeKnowledge:
    """A server that finds what it is told to find; None: it is not there."""

    hits: list[KnowledgeHit] | None = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    embedder: str = "fake"
    vectors: LexicalEmbedder | None = None
    is_up: bool = True

    async def started(self, seconds: float) -> None:
        pass

    def sync(self) -> FakeKnowledge:
        if self.hits is None:
            raise KnowledgeError("It is not there.")
        return self

    async def find(self, query: str, before: int, limit: int, scope: str) -> list[KnowledgeHit]:
        self.asked.append(query)
        return [hit for hit in self.hits or () if hit.uri.startswith(scope)]


@pytest_asyncio.fixture
async def desk(folder: Path, tmp_path: Path) -> AsyncIterator[Desk]:
    await make(folder, both(OFFLINE))
    async with opened(folder) as desk:
        await desk.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await desk.settled()
        yield desk


async def found(desk: Desk, knowledge: FakeKnowledge, before: int = 3, *, remember: bool = False) -> list[Found]:
    store, queries = desk.project._parts.store, desk.project._parts.queries
    generation = await desk.project._ask(store.memory.generation())
    finder = RememberingFinder(knowledge, store, queries, generation, remember=remember)  # type: ignore[arg-type]  # a fake
    return list(await desk.project._ask(finder.find("the river", before, 10)))


async def hit(desk: Desk, number: int = 1, **how: Any) -> KnowledgeHit:
    """The first forty characters of a chapter."""
    chapter = await desk.chapter(number)
    text = (await desk.project.chapter_text(chapter))[:40]
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


async def test_a_passage_is_read_at_its_place(desk: Desk) -> None:
    (item,) = await found(desk, FakeKnowledge([await hit(desk)]))
    assert (item.text, item.start, item.end, item.position) == (FERRY[:40], 0, 40, 1)
    assert item.title == "Chapter 1 The Ferry" or "Ferry" in item.title


async def test_a_text_that_has_changed_since_the_server_was_told_is_left_out(desk: Desk) -> None:
    old = await hit(desk)
    await desk.project.carry_out(WriteChapter(await desk.chapter(1), "Not a word of it is left. " * 9))
    assert await found(desk, FakeKnowledge([old])) == []


async def test_a_chapter_that_was_deleted_or_moved_behind_the_target_is_left_out(desk: Desk) -> None:
    first = await hit(desk)
    await desk.project.carry_out(EditChapter(await desk.chapter(1), position=3))
    assert await found(desk, FakeKnowledge([first])) == []
    await desk.project.carry_out(EditChapter(ChapterId(first.subject.partition("/")[2]), deleted=True))
    assert await found(desk, FakeKnowledge([first])) == []


async def test_a_profile_of_another_state_than_the_servers_is_left_out(desk: Desk) -> None:
    store, uri = desk.project._parts.store, "profiles/characters/ines"
    generation = await desk.project._ask(store.memory.generation())
    for position, text in ((1, "She rows."), (2, "She drowned.")):
        await desk.project._ask(
            store.memory.put_derived(Derived(uri, "L1", text, Digest(text), position, generation, "hand"))
        )
    told = KnowledgeHit(f"{uri}-1", "L1", 0.8, 2, uri, digest("She drowned."))
    assert [item.text for item in await found(desk, FakeKnowledge([told]))] == ["She drowned."]
    assert await found(desk, FakeKnowledge([replace(told, position=1, digest=digest("She rows."))])) == []


async def test_an_entity_by_hand_is_cited_by_its_own_uri(desk: Desk) -> None:
    bell = Entity(EntityId("bell"), "item", "The bell", (), "It was cast in the year of the flood.")
    await desk.project.carry_out(PutEntity(bell))
    told = KnowledgeHit("entities/items/bell-1", "L1", 0.7, 0, "entity/bell", digest(entity_text(bell)))
    (item,) = await found(desk, FakeKnowledge([told]))
    assert item.uri == "entities/items/bell" and "year of the flood" in item.text


async def test_what_was_answered_is_remembered_for_the_generation_and_the_embedder(desk: Desk) -> None:
    knowledge = FakeKnowledge([await hit(desk)])
    first = await found(desk, knowledge, remember=True)
    knowledge.hits = None
    assert await found(desk, knowledge, remember=True) == first
    knowledge.embedder = "another"
    with pytest.raises(KnowledgeError, match="not there"):
        await found(desk, knowledge, remember=True)
    knowledge.hits = []
    with pytest.raises(KnowledgeError, match="not there"):
        await found(desk, knowledge, remember=True)


async def test_of_a_scene_the_nearest_passages_go_in(desk: Desk) -> None:
    chapter = await desk.chapter(1)
    far, near = "Barrels were counted in the yard before noon. " * 20, "The river ran under the ferry all night. " * 20
    text = f"{far}\n\n{near}\n\n{far}"
    await desk.project.carry_out(WriteChapter(chapter, text))
    await desk.settled()
    scene = await hit(desk, end=len(text), digest=digest(text))
    (whole,) = await found(desk, FakeKnowledge([scene]))
    assert whole.text == text
    passages = await found(desk, FakeKnowledge([scene], vectors=LexicalEmbedder()))
    assert passages[0].text == text[passages[0].start : passages[0].end]
    assert "The river ran" in passages[0].text and "Barrels" not in passages[0].text
    assert len(passages) == 2 and passages[0].score > passages[1].score
