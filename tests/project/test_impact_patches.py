"""Patches of a model for places that no rule can change, and the writer's word on places, which is remembered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flowcabal_tui.agents.impact.renaming import NamePlace
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, RunError
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import ChapterChanged, ChapterMoved, Impact, ImpactRow, Rename
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import Finding, TextEdit
from flowcabal_tui.project.story.impact_choice import ImpactChoice, reviewed
from flowcabal_tui.project.story.impact_rows import BookText, name_row
from flowcabal_tui.protocol.book import AddChapter, EditChapter, WriteChapter
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.protocol.story import ApplyImpact, AskPatches, PutEntity, UndoDecision
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, change, endpoint, make_one, opened
from tests.project.test_impact import stored

TOLD = "Ines Marlow was thirty-four years old, and a ferryman's widow."
NOW = "Ines Marlow was young, and a ferryman's daughter."
TEXTS = (
    f"{TOLD} The river was high.",
    "It rained. At thirty-four years of age Ines Marlow could still row. Tobias laughed at her.",
    "“Ines Marlow?” said Tobias. “She is thirty-four years old.”",
)
PATCH = "Young as she was, Ines Marlow could still row."


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server


@pytest.fixture
async def case(folder: Path, server: FaultServer) -> AsyncIterator[Case]:
    await make_one(folder, both(endpoint(server, price_in=1, price_out=2)))
    change(folder, "agents", curator=False)
    async with opened(folder) as case:
        for number, text in enumerate(TEXTS, 1):
            if number > 1:
                await case.project.carry_out(AddChapter(f"Chapter {number}"))
            await case.project.carry_out(WriteChapter(await case.chapter(number), text))
        await case.project.carry_out(PutEntity(Entity(EntityId("ines"), "character", "Ines Marlow", ("Ines",))))
        await case.project.memory.settled()
        await case.project.carry_out(WriteChapter(await case.chapter(1), TEXTS[0].replace(TOLD, NOW)))
        await case.project.memory.settled()
        yield case


async def impact(case: Case) -> Impact:
    return await case.project.story.impact(ChapterChanged(await case.chapter(1)))


async def second(case: Case) -> ImpactRow:
    """The place in the second chapter."""
    return next(row for row in (await impact(case)).rows if row.position == 2)


async def asked(case: Case, *places: str) -> int:
    return int(await case.project.carry_out(AskPatches((await impact(case)).change, places)))


async def applied(case: Case, **chosen: tuple[str, ...]) -> None:
    found = await impact(case)
    await case.project.carry_out(ApplyImpact(found.change, found.digest, **chosen))


def answer(server: FaultServer, place: str) -> None:
    server.push({"content": json.dumps({"place": place})})


async def text(case: Case, number: int) -> str:
    return await case.project.book.chapter_text(await case.chapter(number))


async def test_a_patch_is_quoted_asked_once_shown_ticked_by_hand_applied_and_undone(
    case: Case, server: FaultServer, folder: Path
) -> None:
    row, before = await second(case), calls(server)
    assert row.answer == "decide" and row.asks and row.asks.was == TOLD and row.asks.now == NOW
    quote = await case.project.story.quote_patches(ChapterChanged(await case.chapter(1)), (row.proposal.id,))
    assert quote.likely.calls == 1 and quote.likely.cost and quote.most and quote.most.cost
    assert quote.most.cost > quote.likely.cost and calls(server) == before
    answer(server, PATCH)
    assert await asked(case, row.proposal.id) == 0
    patched = await second(case)
    assert isinstance(patched.proposal.difference.after, TextEdit)
    assert patched.is_by_model and not patched.chosen
    with pytest.raises(RunError, match="no place"):
        await asked(case, row.proposal.id)
    assert calls(server) == before + 1
    kept = stored(folder)
    await applied(case, take=(row.proposal.id,))
    assert await text(case, 2) == TEXTS[1].replace("At thirty-four years of age Ines Marlow could still row.", PATCH)
    lines = await case.project.book.blame(await case.chapter(2))
    assert any(span.origin.model == "mock" for line in lines for span in line.spans)
    await case.project.carry_out(UndoDecision())
    assert stored(folder) == kept
    assert (await second(case)).is_by_model and calls(server) == before + 1


@pytest.mark.parametrize(
    "place",
    [
        "",
        "  \n ",
        "I cannot assist with that request.",
        "Here is the revised text: Ines Marlow could still row at her age.",
        "It rained. At twenty years of age Ines Marlow could still row.",
        "It rained. At twenty years of age Ines Marlow could still row. Tobias laughed at her.",
        "At twenty years\nof age Ines Marlow could still row.",
        "At twenty years of age **Ines Marlow** could still row.",
        "The dragon came over the mountains and burned the mill.",
        "At twenty years of age Ines Marlow could still row" + " and row" * 40 + ".",
    ],
)
async def test_an_answer_that_changes_other_text_is_never_a_patch(case: Case, server: FaultServer, place: str) -> None:
    row = await second(case)
    answer(server, place)
    await asked(case, row.proposal.id)
    told = (await second(case)).proposal.difference.after
    assert isinstance(told, Finding) and "cannot be used" in told.explanation


async def test_prose_is_not_read_and_can_be_asked_again(case: Case, server: FaultServer) -> None:
    row = await second(case)
    server.push({"content": "Certainly! I would change the age.", "times": 8})
    assert await asked(case, row.proposal.id) == 1
    assert (await second(case)) == row
    server.clear()
    answer(server, PATCH)
    assert await asked(case, row.proposal.id) == 0
    assert (await second(case)).is_by_model


async def test_an_answer_that_changes_nothing_is_said(case: Case, server: FaultServer) -> None:
    row = await second(case)
    answer(server, row.proposal.quotation)
    await asked(case, row.proposal.id)
    told = (await second(case)).proposal.difference.after
    assert isinstance(told, Finding) and "change nothing" in told.explanation


async def test_the_cap_of_the_project_bounds_it_and_what_was_answered_is_kept(
    folder: Path, case: Case, server: FaultServer
) -> None:
    row = await second(case)
    answer(server, PATCH)
    await asked(case, row.proposal.id)
    settings = case.project._parts.base.settings
    capped = settings.model_copy(update={"budget": settings.budget.model_copy(update={"max_tokens": 1})})
    case.project._parts.base.settings_file.settings = capped
    before = calls(server)
    with pytest.raises(BudgetExceeded):
        await asked(case)
    assert calls(server) == before and (await second(case)).is_by_model


async def test_a_server_that_is_gone_ends_the_asking_and_the_first_answer_stays(
    case: Case, server: FaultServer
) -> None:
    rows = (await impact(case)).rows
    assert len([row for row in rows if row.asks]) == 2
    server.push({"status": 401, "body": {"error": {"message": "no"}}, "times": 2})
    with pytest.raises(ModelError):
        await asked(case)
    assert [row.answer for row in (await impact(case)).rows] == [row.answer for row in rows]


async def test_a_moved_chapter_can_be_patched_too(case: Case, server: FaultServer) -> None:
    moved = ChapterMoved(await case.chapter(1), 3)
    row = next(row for row in (await case.project.story.impact(moved)).rows if row.position == 2)
    assert row.asks and row.asks.kind == "moved"
    answer(server, "At her age Ines Marlow could still row.")
    await case.project.carry_out(AskPatches(moved, (row.proposal.id,)))
    patched = next(row for row in (await case.project.story.impact(moved)).rows if row.position == 2)
    assert patched.is_by_model


# the writer's word


async def test_what_still_holds_is_not_listed_again_until_its_text_changes(case: Case, folder: Path) -> None:
    row, before = await second(case), stored(folder)
    await applied(case, holds=(row.proposal.id,))
    found = await impact(case)
    assert 2 not in {each.position for each in found.rows}
    assert [(each.position, each.word) for each in found.settled] == [(2, "holds")] and stored(folder) == before
    await case.project.carry_out(WriteChapter(await case.chapter(2), f"A word before. {TEXTS[1]}"))
    assert [each.position for each in (await impact(case)).settled] == [2]
    changed = TEXTS[1].replace("could still row", "rowed")
    await case.project.carry_out(WriteChapter(await case.chapter(2), changed))
    assert (await second(case)).word is None


async def test_what_still_holds_is_listed_again_when_the_value_changes_and_when_it_is_wished(case: Case) -> None:
    row = await second(case)
    await applied(case, holds=(row.proposal.id,))
    await applied(case, again=(row.proposal.id,))
    assert (await second(case)).key == row.key
    await applied(case, holds=(row.proposal.id,))
    chapter = await case.chapter(1)
    await case.project.carry_out(WriteChapter(chapter, TEXTS[0].replace("thirty-four", "twenty-nine")))
    other = await case.project.story.impact(ChapterChanged(chapter, 1))
    assert 2 in {each.position for each in other.rows}


async def test_an_undo_takes_the_word_back(case: Case) -> None:
    row = await second(case)
    await applied(case, holds=(row.proposal.id,))
    await case.project.carry_out(UndoDecision())
    assert (await second(case)).key == row.key


async def test_what_the_writer_decides_later_is_a_finding_once_and_an_undo_withdraws_it(case: Case) -> None:
    row = await second(case)

    async def waiting() -> int:
        page = await case.project.findings.findings(FindingFilter())
        return sum(each.proposal.origin.maker == "impact" for each in page.rows)

    await applied(case, take=(row.proposal.id,))
    assert await waiting() == 1
    assert [(each.position, each.word) for each in (await impact(case)).settled] == [(2, "decide")]
    await case.project.carry_out(UndoDecision())
    assert await waiting() == 0
    await applied(case, take=((await second(case)).proposal.id,))
    await case.project.carry_out(UndoDecision())
    assert await waiting() == 0


async def test_a_purged_chapter_takes_what_was_said_of_it(case: Case, folder: Path) -> None:
    row = await second(case)
    await applied(case, holds=(row.proposal.id,))
    store, call = case.project._parts.store, case.project._engine.call
    assert await call(store.proposals.place_words())
    chapter = await case.chapter(2)
    await case.project.carry_out(EditChapter(chapter, deleted=True))
    assert await call(store.proposals.place_words())
    await case.project.carry_out(Purge(chapter=chapter))
    assert not await call(store.proposals.place_words())


def test_two_differences_of_the_same_words_are_not_applied() -> None:
    source = BookText("c1", 1, "One", "Ines Marlow rowed.", 1)
    rows = [name_row(source, NamePlace(0, at, old, "Ann")) for at, old in ((0, "Ines Marlow"), (5, "Marlow"))]
    choice = ImpactChoice(rows, (), ())
    with pytest.raises(RunError, match="same words"):
        reviewed(Rename("Marlow", "Ann"), choice, {"c1": source}, (), "", datetime.now(UTC))
    assert reviewed(
        Rename("Marlow", "Ann"), ImpactChoice(rows[:1], (), ()), {"c1": source}, (), "", datetime.now(UTC)
    ).texts
