"""The main job over HTTP: import, run, keep, and the memory that follows, with both protocols."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, WriteChapter
from flowcabal_tui.protocol.story import PutEntity
from tests.faultserver import FaultServer
from tests.project.case import CHAPTERS, Case, both, calls, endpoint, make, opened, write_chapters

DRAFT = (
    "Ines Marlow tied the ferry to the ring at Saltreach. Tobias Crane came down the steps with the ledger.\n\n"
    "“You are late,” said Tobias Crane. Ines Marlow gave him the blue glove.\n\n"
    "Tobias Crane put it on. Ines Marlow looked away, and the bell did not ring again."
)
PEOPLE = ("Ines Marlow", "Tobias Crane")


@pytest_asyncio.fixture(params=["openai", "anthropic"])
async def case(
    request: pytest.FixtureRequest, server: FaultServer, folder: Path, tmp_path: Path
) -> AsyncIterator[Case]:
    """Three chapters were imported, and a fourth is to be written."""
    await make(folder, both(endpoint(server, request.param)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4 The Glove"))
        for name in PEOPLE:
            await case.project.carry_out(PutEntity(Entity(EntityId(name.replace(" ", "-")), "character", name)))
        await case.settled()
        yield case


async def kept_chapter(case: Case, server: FaultServer) -> None:
    """Chapter 4 was run and kept, and the memory has followed."""
    server.push({"content": "Cast: Ines Marlow\n1. She ties up."}, {"content": DRAFT})
    run = await case.run("chapter", 4)
    await case.keep(run, "draft")
    await case.settled()


async def test_an_import_spends_no_money(case: Case, server: FaultServer) -> None:
    assert calls(server) == 0
    assert [chapter.title for chapter in await case.project.book.chapters()] == [*CHAPTERS, "Chapter 4 The Glove"]
    assert await case.project.memory.background() == () or {
        task.kind for task in await case.project.memory.background()
    } == {"knowledge"}


async def test_the_prompt_holds_what_precedes_the_chapter(case: Case, server: FaultServer) -> None:
    await case.run("chapter", 4)
    sent = str(server.log[0]["body"])
    assert "Nobody at Saltreach had touched the rope" in sent
    receipt = (await case.view((await case.project.runs.summaries())[0].id, "plan")).attempts[0].receipt
    assert receipt is not None
    assert 0 < receipt.used <= receipt.budget


async def test_a_kept_chapter_gets_its_memory(case: Case, server: FaultServer) -> None:
    await kept_chapter(case, server)
    chapter = (await case.project.book.chapters())[3]
    text = await case.project.book.chapter_text(chapter.id)
    assert text == DRAFT
    assert {task.kind for task in await case.project.memory.background()} <= {"knowledge"}
    levels = await case.levels(f"manuscript/{chapter.id}")
    assert 0 < TokenEstimator("").count(levels["L0"].text) <= 50
    assert levels["L1"].evidence
    for evidence in levels["L1"].evidence:
        source = await case.project.book.chapter_text(evidence.chapter)
        assert 0 <= evidence.start < evidence.end <= len(source)
        assert evidence.sentence in levels["L1"].text
    first = {entity.name: entity.first_position for entity in await case.project.story.entities()}
    assert {first[name] for name in PEOPLE} == {1}


async def test_profiles_rest_on_the_text(case: Case, server: FaultServer) -> None:
    await kept_chapter(case, server)
    rows = [row for row in await case.project.memory.profiles() if row.kind == "characters"]
    assert set(PEOPLE) <= {row.name for row in rows}
    for row in rows:
        for state in (await case.levels(row.uri)).values():
            for evidence in state.evidence:
                assert evidence.end <= len(await case.project.book.chapter_text(evidence.chapter))


async def test_a_second_run_makes_no_call(case: Case, server: FaultServer) -> None:
    await kept_chapter(case, server)
    before = calls(server)
    quote = await case.project.runs.quote(RunRequest("chapter", await case.chapter(4)))
    assert (quote.would_run, quote.likely.calls) == ((), 0)
    run = await case.run("chapter", 4)
    assert calls(server) == before
    assert (await case.view(run, "draft")).attempts[0].cached
    assert (await case.view(run, "draft")).attempts[0].text == DRAFT


async def test_an_edit_of_an_earlier_chapter_makes_the_next_run_call_again(case: Case, server: FaultServer) -> None:
    await kept_chapter(case, server)
    await case.project.carry_out(WriteChapter(await case.chapter(3), "The bell was stolen. Ines Marlow knew by whom."))
    await case.settled()
    before = calls(server)
    quote = await case.project.runs.quote(RunRequest("chapter", await case.chapter(4)))
    assert quote.served == ()
    await case.run("chapter", 4)
    assert calls(server) > before
    assert "The bell was stolen" in str(server.log[before]["body"])


async def test_fresh_context_reads_the_newest_memory(case: Case, server: FaultServer) -> None:
    await kept_chapter(case, server)
    first = await case.run("chapter", 4)
    fresh = await case.run("chapter", 4, fresh_context=True)
    generations = {run.id: run.generation for run in await case.project.runs.summaries()}
    assert generations[fresh] > generations[first]


async def test_what_was_paid_is_counted(case: Case, server: FaultServer) -> None:
    await kept_chapter(case, server)
    totals = await case.project.runs.totals()
    assert totals.calls == calls(server)
    assert totals.input_tokens > 0
    assert totals.output_tokens > 0
