"""What a rebuild makes again is what was there, also when it was deleted or spoiled by hand."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.protocol.book import AddChapter, EditChapter, WriteChapter
from flowcabal_tui.protocol.memory import Rebuild, RebuildProgress
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.faultserver import FaultServer
from tests.project.desk import CHAPTERS, Desk, calls, endpoint, make_one, opened
from tests.trusting import confirmed

DAMAGES = {
    "nothing": "SELECT 1",
    "passages": "DELETE FROM passage",
    "mentions": "DELETE FROM mention WHERE number % 2",
    "words": "DROP TABLE passage_words",
    "summaries": "DELETE FROM derived WHERE uri LIKE 'manuscript/%'",
    "profiles": "DELETE FROM derived WHERE uri LIKE 'profiles/%'",
    "all that is derived": "DELETE FROM derived",
    "lines": "DELETE FROM derived WHERE level='L0'",
    "letters": "UPDATE blob SET body='spoiled' WHERE digest IN (SELECT digest FROM derived WHERE number % 3 = 0)",
    "steps": "DELETE FROM task WHERE kind IN ('l1', 'l0')",
    "steps of an earlier release": "UPDATE task SET pinned=NULL",
    "evidence": "UPDATE derived SET evidence='[' WHERE number % 2",
}


@pytest_asyncio.fixture
async def desk(folder: Path, demos: dict[str, Path]) -> AsyncIterator[Desk]:
    async with opened(confirmed(shutil.copytree(demos["zh"], folder))) as desk:
        await desk.settled()
        yield desk


async def dump(desk: Desk, *targets: int) -> dict[str, Any]:
    """All that is derived, and what contexts make of it."""
    project = desk.project
    store = project._parts.store
    view = await store.memory.view(None)
    chapters = [chapter for chapter in await project.book.chapters() if chapter.digest]
    names = [name for entity in await project.story.entities() for name in entity.names]
    found: dict[str, Any] = {
        "profiles": [
            (row.uri, row.position, [(state.level, state.text, to_plain(state.evidence)) for state in levels])
            for row in await project.memory.profiles()
            if (levels := (await project.memory.profile(row.uri)).levels)
        ],
        "passages": [to_plain(await view.passages(chapter.id)) for chapter in chapters],
        "mentions": [to_plain(await view.mentions_in(chapter.id)) for chapter in chapters],
        "found": [(name, to_plain(await view.search([name], 20))) for name in names],
        "story": to_plain(await project.story.all()),
    }
    for number in targets or (3, 5, len(await project.book.chapters())):
        request = RunRequest("chapter", await desk.chapter(number), (("instruction", "宝玉见黛玉"),))
        receipt = await project.runs.preview_context(request, NodeId("draft"))
        found[f"context {number}"] = (receipt.digest, len(receipt.sources))
    return found


def by_hand(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        database.execute(statement)
        database.commit()


@pytest.mark.parametrize("damage", DAMAGES)
async def test_the_result_is_what_was_there(desk: Desk, folder: Path, damage: str) -> None:
    before = await dump(desk)
    calls = (await desk.project.runs.totals()).calls
    await desk.project.close()
    by_hand(folder, DAMAGES[damage])
    async with opened(folder) as again:
        await again.project.carry_out(Rebuild())
        await again.settled()
        assert [task for task in await again.project.memory.background() if task.kind != "knowledge"] == []
        after = await dump(again)
        assert {key: digest_of(value) for key, value in after.items()} == {
            key: digest_of(value) for key, value in before.items()
        }
        assert (await again.project.runs.totals()).calls == calls, "nothing is paid twice"


async def test_a_rebuild_says_before_what_it_would_do_and_changes_nothing(desk: Desk, folder: Path) -> None:
    await desk.project.close()
    by_hand(folder, DAMAGES["letters"])
    async with opened(folder, read_only=True) as reader:
        plan = await reader.project.memory.rebuild_plan("all")
        assert plan.chapters == len([chapter for chapter in await reader.project.book.chapters() if chapter.digest])
        assert plan.damaged and dict(plan.steps)["l1"] == plan.chapters
        assert (await reader.project.memory.rebuild_plan("index")).steps == ()


async def test_what_a_hand_wrote_stays(desk: Desk) -> None:
    from flowcabal_tui.protocol.memory import WriteProfile

    uri = (await desk.project.memory.profiles())[0].uri
    await desk.project.carry_out(WriteProfile(uri, "L1", "我自己写的。"))
    await desk.project.carry_out(Rebuild())
    await desk.settled()
    assert (await desk.levels(uri))["L1"].text == "我自己写的。"


async def test_only_what_rests_on_changed_text_is_stale_and_can_be_made_again(desk: Desk) -> None:
    chapter = await desk.chapter(2)
    text = await desk.project.book.chapter_text(chapter)
    assert await desk.project.memory.stale() == ()
    await desk.project.carry_out(WriteChapter(chapter, text + "\n\n贾宝玉又笑了一回。"))
    await desk.settled()
    stale = await desk.project.memory.stale()
    assert stale and all(chapter in each.chapters for each in stale)
    steps = dict((await desk.project.memory.rebuild_plan("stale")).steps)
    assert sum(steps.values()) >= len(stale)
    await desk.project.carry_out(Rebuild("stale"))
    await desk.settled()
    assert await desk.project.memory.stale() == ()


async def test_of_what_is_stale_one_text_alone_can_be_made_again(desk: Desk) -> None:
    chapter = await desk.chapter(2)
    text = await desk.project.book.chapter_text(chapter)
    await desk.project.carry_out(WriteChapter(chapter, text + "\n\n贾宝玉又笑了一回。"))
    await desk.settled()
    chosen, *others = dict.fromkeys(each.uri for each in await desk.project.memory.stale())
    assert others
    await desk.project.carry_out(Rebuild("stale", (chosen,)))
    await desk.settled()
    left = {each.uri for each in await desk.project.memory.stale()}
    assert chosen not in left and left


async def test_a_rebuilt_index_tells_how_far_it_is_and_what_was_wrong(desk: Desk, folder: Path) -> None:
    chapters = len([chapter for chapter in await desk.project.book.chapters() if chapter.digest])
    await desk.project.carry_out(Rebuild("index"))
    told = desk.told(RebuildProgress)
    assert [event.done for event in told] == [*range(1, chapters + 1), chapters]
    assert told[-1].wrong == 0
    by_hand(folder, "DELETE FROM mention WHERE chapter=(SELECT min(chapter) FROM mention)")
    await desk.project.carry_out(Rebuild("index"))
    assert desk.told(RebuildProgress)[-1].wrong == 1


async def test_a_deleted_chapter_and_all_that_was_made_of_it_is_out_of_every_context_and_comes_back(desk: Desk) -> None:
    before = await dump(desk)
    chapter = await desk.chapter(2)
    await desk.project.carry_out(EditChapter(chapter, deleted=True))
    view = await desk.project._parts.store.memory.view(None)
    for prefix in ("manuscript/", "profiles/", "summaries/", "arcs/"):
        for level in ("L0", "L1"):
            for state in await view.derived_under(prefix, level):
                assert chapter not in {each.chapter for each in state.evidence} | set(state.rests)
                assert chapter not in state.uri
    for entity in await view.entities():
        assert chapter not in {each.chapter for each in await view.mentions(entity.id)}
    assert chapter not in str(to_plain(await view.story()))
    await desk.project.carry_out(EditChapter(chapter, deleted=False))
    await desk.settled()
    after = await dump(desk)
    assert {key: digest_of(value) for key, value in after.items()} == {
        key: digest_of(value) for key, value in before.items()
    }


async def test_answers_of_a_model_that_takes_money_are_not_paid_again(folder: Path, server: FaultServer) -> None:
    await make_one(folder, ModelsSettings(user=OFFLINE, agent=endpoint(server, "anthropic", model="agent")))
    async with opened(folder) as desk:
        for number, (title, text) in enumerate(CHAPTERS.items(), 2):
            await desk.project.carry_out(AddChapter(title))
            await desk.project.carry_out(WriteChapter(await desk.chapter(number), text))
            await desk.settled()
        before, paid = await dump(desk, 2, 3, 4), calls(server)
        assert paid and before["profiles"]
    by_hand(folder, "DELETE FROM derived")
    by_hand(folder, "DELETE FROM passage")
    async with opened(folder) as again:
        await again.project.carry_out(Rebuild())
        await again.settled()
        assert await dump(again, 2, 3, 4) == before
        assert calls(server) == paid
