"""A model's advice on the beats of a chapter: priced, and paid once for the same text and beats."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.beats import BeatAdvice
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, RunError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.protocol.book import AddChapter, CheckBeats, WriteChapter, WriteMeta
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.store import Store
from tests.faultserver import FaultServer
from tests.project.case import Case, both, change, endpoint, make, opened

OUTLINE = "## 1 Rain\n- Maud lights the lamp.\n- Vera dies.\n"
TEXT = "Maud lit the lamp. Vera fell ill."
BROUGHT = BeatAdvice("brought", Span(0, 17))
MISSING, UNKNOWN = BeatAdvice("not found"), BeatAdvice("not checked")


def answer(*rows: tuple[str, str, str]) -> dict[str, object]:
    beats = [{"beat": beat, "verdict": verdict, "quote": quote} for beat, verdict, quote in rows]
    return {"content": json.dumps({"beats": beats})}


GOOD = answer(("b1", "brought", "Maud lit the lamp."), ("b2", "not_found", ""))


async def written(case: Case) -> ChapterId:
    """A chapter with two beats; nothing is left to do for the memory."""
    chapter = ChapterId(await case.project.carry_out(AddChapter("Rain")))
    await case.project.carry_out(WriteMeta("outline", OUTLINE))
    await case.project.carry_out(WriteChapter(chapter, TEXT))
    await case.settled()
    return chapter


async def advice(case: Case, chapter: ChapterId, text: str | None = None) -> list[BeatAdvice | None]:
    return [beat.advice for beat in (await case.project.book.beats(chapter, text)).beats]


async def asked_of(folder: Path, server: FaultServer, **fields: object) -> None:
    await make(folder, both(endpoint(server, price_in=Decimal(2), price_out=Decimal(8), **fields)))
    change(folder, "agents", curator=False)


async def test_the_answer_is_priced_paid_once_and_shown_again_after_reopening(
    folder: Path, server: FaultServer
) -> None:
    await asked_of(folder, server)
    async with opened(folder) as case:
        chapter = await written(case)
        book, before = case.project.book, len(server.log)
        assert await advice(case, chapter) == [None, None]
        quote = await book.quote_beats(chapter)
        assert quote and quote.likely.calls == 1 and quote.likely.cost and quote.most and quote.most.cost
        assert quote.most.cost > quote.likely.cost and len(server.log) == before
        server.push(GOOD)
        await case.project.carry_out(CheckBeats(chapter))
        assert await advice(case, chapter) == [BROUGHT, MISSING]
        assert (await case.project.runs.totals()).calls == 1, "It is booked."
        assert await book.quote_beats(chapter) is None
        await case.project.carry_out(CheckBeats(chapter))
        assert len(server.log) == before + 1, "The same text and beats are not paid for twice."
    async with opened(folder) as case:
        assert await advice(case, chapter) == [BROUGHT, MISSING]


async def test_it_is_out_of_date_when_the_text_or_a_beat_changes(folder: Path, server: FaultServer) -> None:
    await asked_of(folder, server)
    async with opened(folder) as case:
        chapter = await written(case)
        server.push(GOOD)
        await case.project.carry_out(CheckBeats(chapter))
        stale = [BeatAdvice("brought", None, is_stale=True), BeatAdvice("not found", None, is_stale=True)]
        assert await advice(case, chapter, f"{TEXT} More.") == stale, "The text that is typed is another one."
        await case.project.carry_out(WriteMeta("outline", OUTLINE.replace("dies", "leaves")))
        assert await advice(case, chapter) == [stale[0], None]
        assert await case.project.book.quote_beats(chapter) is not None
        await case.project.carry_out(WriteMeta("outline", OUTLINE))
        await case.project.carry_out(WriteChapter(chapter, f"{TEXT} More."))
        assert await advice(case, chapter) == stale
        await case.project.carry_out(WriteChapter(chapter, TEXT))
        assert await advice(case, chapter) == [BROUGHT, MISSING]


async def test_an_unreadable_answer_was_not_checked_and_can_be_asked_again(folder: Path, server: FaultServer) -> None:
    await asked_of(folder, server)
    async with opened(folder) as case:
        chapter = await written(case)
        server.push({"content": "I would be glad to help.", "times": 3})
        await case.project.carry_out(CheckBeats(chapter))
        assert await advice(case, chapter) == [UNKNOWN, UNKNOWN]
        assert await case.project.book.quote_beats(chapter) is not None
        server.push(answer(("b1", "brought", "Maud lit her lamp."), ("b2", "not_found", "")))
        await case.project.carry_out(CheckBeats(chapter))
        assert await advice(case, chapter) == [UNKNOWN, MISSING], "The quotation is not in the text."
        before = len(server.log)
        server.push(GOOD)
        await case.project.carry_out(CheckBeats(chapter))
        assert await advice(case, chapter) == [BROUGHT, MISSING] and len(server.log) == before + 1


async def test_nothing_is_sent_without_beats_a_text_a_model_or_money(folder: Path, server: FaultServer) -> None:
    await asked_of(folder, server)
    async with opened(folder) as case:
        chapter = ChapterId(await case.project.carry_out(AddChapter("Rain")))
        with pytest.raises(RunError, match="no beats"):
            await case.project.book.quote_beats(chapter)
        await case.project.carry_out(WriteMeta("outline", OUTLINE))
        with pytest.raises(RunError, match="empty"):
            await case.project.carry_out(CheckBeats(chapter))
        await case.project.carry_out(WriteChapter(chapter, TEXT))
    change(folder, "budget", max_cost=Decimal(0))
    async with opened(folder) as case:
        with pytest.raises(BudgetExceeded):
            await case.project.carry_out(CheckBeats(chapter))
        assert await advice(case, chapter) == [None, None]
    change(folder, "models", user=None, agent=None)
    async with opened(folder) as case:
        with pytest.raises(ModelError):
            await case.project.book.quote_beats(chapter)
    assert not server.log


async def test_a_text_that_is_too_long_for_the_window_is_read_in_parts(folder: Path, server: FaultServer) -> None:
    await asked_of(folder, server, context_window=3_000, max_output=300)
    async with opened(folder) as case:
        chapter = await written(case)
        rain = " ".join(f"On day {n} it rained on the hill." for n in range(700))
        await case.project.carry_out(WriteChapter(chapter, f"{rain}\n\n{TEXT}"))
        await case.settled()
        quote, before = await case.project.book.quote_beats(chapter), len(server.log)
        missing = answer(("b1", "not_found", ""), ("b2", "not_found", ""))
        assert quote and quote.likely.calls > 2
        server.push({**missing, "times": quote.likely.calls - 1}, GOOD)
        await case.project.carry_out(CheckBeats(chapter))
        assert [each and each.verdict for each in await advice(case, chapter)] == ["brought", "not found"]
        assert len(server.log) == before + quote.likely.calls


async def test_a_purged_chapter_leaves_no_advice(folder: Path, server: FaultServer) -> None:
    await asked_of(folder, server)
    async with opened(folder) as case:
        chapter = await written(case)
        server.push(GOOD)
        await case.project.carry_out(CheckBeats(chapter))
        await case.project.carry_out(Purge(chapter=chapter))
        await case.settled()
    store = await Store.open(folder, read_only=True, clock=lambda: datetime(2026, 11, 1, tzinfo=UTC), language="en")
    assert await store.values.get(f"beats/{chapter}", object) is None
    await store.close()
