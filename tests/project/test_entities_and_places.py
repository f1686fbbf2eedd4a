"""What the writer does to names and places by hand, and what follows from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import Gone, RunError
from flowcabal_tui.domain.ids import EntityId, NodeId, RunId
from flowcabal_tui.domain.memory import BackgroundTask, Entity
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.story import Fact, Moment, Promise, RecordId, Relation
from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
from flowcabal_tui.protocol.book import AddChapter, EditChapter, ImportManuscript, OutsideEdit, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.story import PutEntity, PutRecord, RemoveEntity, RemoveRecord
from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import CHAPTERS, Case, both, make, opened, write_chapters

TOBIAS = Entity(EntityId("tobias"), "character", "Tobias Crane")
INES = Entity(EntityId("ines"), "character", "Ines Marlow", ("the ferrywoman",), "She lost a brother.")


@pytest_asyncio.fixture
async def case(folder: Path, tmp_path: Path) -> AsyncIterator[Case]:
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.settled()
        yield case


async def owed(case: Case) -> dict[str, BackgroundTask]:
    """What the knowledge server, which is not there, will be told."""
    return {task.subject: task for task in await case.project.memory.background() if task.kind == "knowledge"}


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "manuscript").iterdir())


async def test_a_character_written_by_hand_is_owed_to_the_knowledge_server(case: Case) -> None:
    await case.project.carry_out(PutEntity(INES))
    first = (await owed(case))["entity/ines"]
    await case.project.carry_out(PutEntity(replace(INES, note="She has no brother.")))
    second = (await owed(case))["entity/ines"]
    await case.project.carry_out(RemoveEntity(INES.id))
    with pytest.raises(Gone, match="There is nothing named"):
        await case.project.carry_out(RemoveEntity(EntityId("nobody")))
    third = (await owed(case))["entity/ines"]
    assert len({first.source, second.source, third.source}) == 3


async def test_a_name_by_hand_is_found_in_every_chapter_at_once(case: Case) -> None:
    await case.project.carry_out(PutEntity(Entity(EntityId("bell"), "item", "The bell", ("bell",))))
    await case.settled()
    first = {entity.id: entity.first_position for entity in await case.project.story.entities()}
    assert first[EntityId("bell")] == 3


@pytest.mark.parametrize("identity", ["", "a/b", "../up", "a@b", "two words"])
async def test_an_id_that_could_be_a_path_is_refused(case: Case, identity: str) -> None:
    with pytest.raises(RunError, match="empty or the id is invalid"):
        await case.project.carry_out(PutEntity(replace(INES, id=EntityId(identity))))
    with pytest.raises(RunError, match="empty or the id is invalid"):
        await case.project.carry_out(PutEntity(replace(INES, name=" \x1b[2J ")))


async def test_a_chapter_that_is_deleted_or_named_anew_is_owed_to_the_knowledge_server(case: Case) -> None:
    chapter = await case.chapter(2)
    seen = set()
    for change in ({"title": "The Book"}, {"deleted": True}, {"deleted": False}):
        await case.project.carry_out(EditChapter(chapter, **change))
        seen.add((await owed(case))[f"manuscript/{chapter}"].id)
    assert len(seen) == 3


async def test_a_chapter_named_anew_deleted_and_brought_back_has_its_file(case: Case, folder: Path) -> None:
    chapter = await case.chapter(2)
    for change in ({"title": "The Book"}, {"deleted": True}, {"deleted": False}):
        await case.project.carry_out(EditChapter(chapter, **change))
        await case.settled()
    assert [name for name in files(folder) if "The-Book" in name]


async def test_a_chapter_put_in_front_moves_the_files_of_the_others(case: Case, folder: Path) -> None:
    await case.project.carry_out(AddChapter("Prologue", position=1))
    await case.settled()
    assert [name[:4] for name in files(folder)] == ["0002", "0003", "0004"]


async def test_text_from_outside_is_kept_below_what_is_written_without_looking_at_it(case: Case, folder: Path) -> None:
    chapter = await case.chapter(1)
    path = folder / "manuscript" / files(folder)[0]
    path.write_text(path.read_text("utf-8") + "\nFrom elsewhere.\n", "utf-8")
    await case.project.carry_out(EditChapter(chapter, title="The Ferry"))
    await case.until(OutsideEdit)
    await case.project.carry_out(WriteChapter(chapter, "Written here."))
    await case.settled()
    versions = await case.project.book.chapter_versions(chapter)
    texts = [await case.project.book.chapter_text(chapter, version.version) for version in versions]
    assert [version.author for version in versions] == ["human", "outside", "import"]
    assert texts[0] == "Written here." and "From elsewhere." in texts[1] and texts[2] == CHAPTERS["Chapter 1 The Ferry"]
    assert len(case.told(OutsideEdit)) == 1, "offered once"


async def test_questions_about_what_is_not_there_name_it(case: Case) -> None:
    for question in (
        case.project.workflows.get("nothing"),
        case.project.runs.run_workflow(RunId("nothing")),
        case.project.runs.node(RunId("nothing"), NodeId("draft")),
        case.project.memory.source("manuscript/nothing"),
        case.project.runs.quote(RunRequest("nothing")),
    ):
        with pytest.raises(RunError, match="nothing named"):
            await question


@dataclass
class FakeTree:
    """The server's tree as the steps see it."""

    held: dict[str, str] = field(default_factory=dict)

    sources: dict[str, str] = field(default_factory=dict)
    """Subjects, as the server comes up with them again."""

    async def put_resource(self, uri: str, name: str, l0: str, l1: str, text: str, **how: Any) -> bool:
        subject = how.get("subject") or uri
        await self.remove(subject)
        self.held[uri], self.sources[subject] = l1 or text, how["source"]
        self._places[subject] = uri
        return True

    async def put_chapter(self, chapter: Any, text: str, l0: str, l1: str, *, source: str) -> bool:
        subject = f"manuscript/{chapter.id}"
        self.held[subject], self.sources[subject] = text, source
        return True

    async def remove(self, subject: str) -> None:
        self.held.pop(self._places.pop(subject, subject), None)
        self.sources.pop(subject, None)

    _places: dict[str, str] = field(default_factory=dict)


async def test_what_the_story_says_is_in_the_servers_tree_as_long_as_it_is_said(case: Case) -> None:
    parts, tree = case.project._parts, FakeTree()
    steps = KnowledgeSteps(parts.store, parts.memory.sources, lambda: tree)  # type: ignore[arg-type,return-value]  # a fake
    first, second, _third = [chapter.id for chapter in await case.project.book.chapters()]

    async def told() -> dict[str, str]:
        for task in (await owed(case)).values():
            await case.project._engine.call(steps.do(task))
        return {name: text for name, text in tree.held.items() if name.startswith("story/")}

    await case.project.carry_out(PutEntity(INES))
    await case.project.carry_out(PutEntity(TOBIAS))
    for record in (
        Relation(RecordId("r1"), INES.id, TOBIAS.id, "sister of", since=first, until=second),
        Promise(RecordId("p1"), "The bell will ring", second, paid=second, about=(TOBIAS.id,)),
        Moment(RecordId("m1"), "The ferry sinks", second, "in March"),
        Fact(RecordId("f1"), "The ledger is forged", (TOBIAS.id,), since=second, secret=True),
        Fact(RecordId("f2"), "The river floods", ()),
    ):
        await case.project.carry_out(PutRecord(record))
    assert await told() == {
        "story/before": "The river floods\n",
        f"story/{first}": "Ines Marlow → Tobias Crane: sister of\n",
        f"story/{second}": "in March: The ferry sinks\nThe bell will ring\n",
    }
    wanted = {task.subject: task.source for task in (await owed(case)).values()}
    assert wanted == tree.sources, "so nothing is sent again when the server comes up"
    await case.project.carry_out(PutEntity(replace(INES, name="Ines Crane")))
    assert (await told())[f"story/{first}"].startswith("Ines Crane →")
    await case.project.carry_out(RemoveRecord(RecordId("f2")))
    await case.project.carry_out(EditChapter(second, deleted=True))
    assert set(await told()) == {f"story/{first}"}
    await case.project.carry_out(EditChapter(second, deleted=False))
    assert set(await told()) == {f"story/{first}", f"story/{second}"}
    await case.project.carry_out(Purge(chapter=second))
    assert set(await told()) == {f"story/{first}"}
    await case.project.carry_out(RemoveEntity(TOBIAS.id))
    assert await told() == {}


async def test_the_servers_tree_follows_the_book(case: Case) -> None:
    parts, tree = case.project._parts, FakeTree()
    steps = KnowledgeSteps(parts.store, parts.memory.sources, lambda: tree)  # type: ignore[arg-type,return-value]  # a fake

    async def told() -> None:
        for task in (await owed(case)).values():
            await case.project._engine.call(steps.do(task))

    await case.project.carry_out(PutEntity(INES))
    await told()
    assert "brother" in tree.held["entities/characters/ines"]
    assert tree.held[f"manuscript/{await case.chapter(1)}"] == CHAPTERS["Chapter 1 The Ferry"]
    wanted = {task.subject: task.source for task in (await owed(case)).values()}
    assert wanted == tree.sources, "so nothing is sent again when the server comes up"
    gone = await case.chapter(1)
    await case.project.carry_out(PutEntity(replace(INES, kind="plot-thread")))
    await case.project.carry_out(EditChapter(gone, deleted=True))
    await told()
    assert "entities/characters/ines" not in tree.held and "entities/plot-threads/ines" in tree.held
    assert f"manuscript/{gone}" not in tree.held
    await case.project.carry_out(RemoveEntity(INES.id))
    await told()
    assert not [name for name in tree.held if name.startswith("entities/")]
