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
from tests.project.case import CHAPTERS, Case, calls, endpoint, make_one, opened
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
async def case(folder: Path, demos: dict[str, Path]) -> AsyncIterator[Case]:
    async with opened(confirmed(shutil.copytree(demos["zh"], folder))) as case:
        await case.settled()
        yield case


async def dump(case: Case, *targets: int) -> dict[str, Any]:
    """All that is derived, and what contexts make of it."""
    project = case.project
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
        request = RunRequest("chapter", await case.chapter(number), (("instruction", "宝玉见黛玉"),))
        receipt = await project.runs.preview_context(request, NodeId("draft"))
        found[f"context {number}"] = (receipt.digest, len(receipt.sources))
    return found


def by_hand(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / ".flowcabal" / "project.db")) as database:
        database.execute(statement)
        database.commit()


@pytest.mark.parametrize("damage", DAMAGES)
async def test_the_result_is_what_was_there(case: Case, folder: Path, damage: str) -> None:
    before = await dump(case)
    calls = (await case.project.runs.totals()).calls
    await case.project.close()
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


async def test_a_rebuild_says_before_what_it_would_do_and_changes_nothing(case: Case, folder: Path) -> None:
    await case.project.close()
    by_hand(folder, DAMAGES["letters"])
    async with opened(folder, read_only=True) as reader:
        plan = await reader.project.memory.rebuild_plan("all")
        assert plan.chapters == len([chapter for chapter in await reader.project.book.chapters() if chapter.digest])
        assert plan.damaged and dict(plan.steps)["l1"] == plan.chapters
        assert (await reader.project.memory.rebuild_plan("index")).steps == ()


async def test_what_a_hand_wrote_stays(case: Case) -> None:
    from flowcabal_tui.protocol.memory import WriteProfile

    uri = (await case.project.memory.profiles())[0].uri
    await case.project.carry_out(WriteProfile(uri, "L1", "我自己写的。"))
    await case.project.carry_out(Rebuild())
    await case.settled()
    assert (await case.levels(uri))["L1"].text == "我自己写的。"


async def test_only_what_rests_on_changed_text_is_stale_and_can_be_made_again(case: Case) -> None:
    chapter = await case.chapter(2)
    text = await case.project.book.chapter_text(chapter)
    assert await case.project.memory.stale() == ()
    await case.project.carry_out(WriteChapter(chapter, text + "\n\n贾宝玉又笑了一回。"))
    await case.settled()
    stale = await case.project.memory.stale()
    assert stale and all(chapter in each.chapters for each in stale)
    steps = dict((await case.project.memory.rebuild_plan("stale")).steps)
    assert sum(steps.values()) >= len(stale)
    await case.project.carry_out(Rebuild("stale"))
    await case.settled()
    assert await case.project.memory.stale() == ()


async def test_of_what_is_stale_one_text_alone_can_be_made_again(case: Case) -> None:
    chapter = await case.chapter(2)
    text = await case.project.book.chapter_text(chapter)
    await case.project.carry_out(WriteChapter(chapter, text + "\n\n贾宝玉又笑了一回。"))
    await case.settled()
    chosen, *others = dict.fromkeys(each.uri for each in await case.project.memory.stale())
    assert others
    await case.project.carry_out(Rebuild("stale", (chosen,)))
    await case.settled()
    left = {each.uri for each in await case.project.memory.stale()}
    assert chosen not in left and left


async def test_a_rebuilt_index_tells_how_far_it_is_and_what_was_wrong(case: Case, folder: Path) -> None:
    chapters = len([chapter for chapter in await case.project.book.chapters() if chapter.digest])
    await case.project.carry_out(Rebuild("index"))
    told = case.told(RebuildProgress)
    assert [event.done for event in told] == [*range(1, chapters + 1), chapters]
    assert told[-1].wrong == 0
    by_hand(folder, "DELETE FROM mention WHERE chapter=(SELECT min(chapter) FROM mention)")
    await case.project.carry_out(Rebuild("index"))
    assert case.told(RebuildProgress)[-1].wrong == 1


async def test_a_deleted_chapter_and_all_that_was_made_of_it_is_out_of_every_context_and_comes_back(case: Case) -> None:
    before = await dump(case)
    chapter = await case.chapter(2)
    await case.project.carry_out(EditChapter(chapter, deleted=True))
    view = await case.project._parts.store.memory.view(None)
    for prefix in ("manuscript/", "profiles/", "summaries/", "arcs/"):
        for level in ("L0", "L1"):
            for state in await view.derived_under(prefix, level):
                assert chapter not in {each.chapter for each in state.evidence} | set(state.rests)
                assert chapter not in state.uri
    for entity in await view.entities():
        assert chapter not in {each.chapter for each in await view.mentions(entity.id)}
    assert chapter not in str(to_plain(await view.story()))
    await case.project.carry_out(EditChapter(chapter, deleted=False))
    await case.settled()
    after = await dump(case)
    assert {key: digest_of(value) for key, value in after.items()} == {
        key: digest_of(value) for key, value in before.items()
    }


async def test_answers_of_a_model_that_takes_money_are_not_paid_again(folder: Path, server: FaultServer) -> None:
    await make_one(folder, ModelsSettings(user=OFFLINE, agent=endpoint(server, "anthropic", model="agent")))
    async with opened(folder) as case:
        for number, (title, text) in enumerate(CHAPTERS.items(), 2):
            await case.project.carry_out(AddChapter(title))
            await case.project.carry_out(WriteChapter(await case.chapter(number), text))
            await case.settled()
        before, paid = await dump(case, 2, 3, 4), calls(server)
        assert paid and before["profiles"]
    by_hand(folder, "DELETE FROM derived")
    by_hand(folder, "DELETE FROM passage")
    async with opened(folder) as again:
        await again.project.carry_out(Rebuild())
        await again.settled()
        assert await dump(again, 2, 3, 4) == before
        assert calls(server) == paid
