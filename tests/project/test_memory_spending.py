"""Background work with a paid model: the user's rule decides, and what it allows is a bound."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import SettingsError, SpendingNotAgreed
from flowcabal_tui.domain.run import SpendLimit
from flowcabal_tui.models.bounds import CallBound
from flowcabal_tui.project.models.memory_gate import FILE, MemoryGate
from flowcabal_tui.project.views import UnpaidWork
from flowcabal_tui.protocol.book import RevertChange, WriteChapter
from flowcabal_tui.protocol.memory import MemoryWaits, PayMemory
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project
from flowcabal_tui.settings.user_file import SpendingRule, UserSettings, change_user
from tests.faultserver import FaultServer
from tests.project.case import Case, calls, endpoint, make_one, opened

TEXT = "Ines Marlow pushed the ferry off the bank at Saltreach. Tobias Crane watched her go. " * 3
PRICE = {"price_in": Decimal(2), "price_out": Decimal(10), "max_output": 400}
DAY = datetime(2026, 3, 4, 12, tzinfo=UTC)


def rule(wanted: SpendingRule) -> None:
    change_user(lambda _before: UserSettings(memory_spending=wanted))


async def paid(folder: Path, server: FaultServer, **price: object) -> Path:
    return await make_one(folder, ModelsSettings(user=OFFLINE, agent=endpoint(server, **(price or PRICE))))


async def write(case: Case, text: str = TEXT) -> None:
    await case.project.carry_out(WriteChapter(await case.chapter(1), text))
    await case.settled()


async def unpaid(case: Case) -> UnpaidWork:
    work = await case.project.memory.unpaid()
    assert work is not None
    return work


async def test_a_saved_chapter_sends_nothing_to_a_paid_model_before_the_answer(
    folder: Path, server: FaultServer
) -> None:
    await paid(folder, server)
    async with opened(folder) as case:
        await write(case)
        assert await case.project.book.chapter_text(await case.chapter(1)) == TEXT
        assert calls(server) == 0
        waits = await case.until(MemoryWaits)
        work = await unpaid(case)
        assert (waits.tasks, work.rule) == (work.tasks, "ask") and work.tasks > 0
        assert work.quote.pause is not None and work.quote.likely.cost < work.quote.pause.cost
        await case.project.carry_out(PayMemory(work.quote.pause))
        await case.settled()
        assert calls(server) > 0
        assert await case.project.memory.unpaid() is None
        await case.until(MemoryWaits, lambda event: event.tasks == 0)
        totals = await case.project.runs.totals()
        assert totals.cost <= work.quote.pause.cost
        sent = calls(server)
        await write(case, TEXT + " He did not wave.")
        assert calls(server) == sent, "the answer has ended with the work that it was given for"
        await case.project.carry_out(RevertChange((await case.project.book.changes())[0].generation))
        await case.settled()
        assert calls(server) == sent


async def test_an_answer_that_is_used_up_asks_again(folder: Path, server: FaultServer) -> None:
    await paid(folder, server)
    async with opened(folder) as case:
        await write(case)
        await case.project.carry_out(PayMemory(SpendLimit(None, Decimal("0.0001"), "USD")))
        await case.settled()
        assert calls(server) == 0
        assert await unpaid(case)


async def test_never_sends_nothing_and_the_work_waits_in_the_next_process(folder: Path, server: FaultServer) -> None:
    rule("never")
    await paid(folder, server)
    async with opened(folder) as case:
        await write(case)
        assert (await unpaid(case)).rule == "never"
    async with opened(folder) as again:
        await again.settled()
        assert (calls(server), (await unpaid(again)).rule) == (0, "never")
        await again.project.carry_out(PayMemory(SpendLimit(None, Decimal(1), "USD")))
        await again.settled()
        assert calls(server) > 0


async def test_another_rule_is_followed_without_a_restart(folder: Path, server: FaultServer) -> None:
    await paid(folder, server)
    async with opened(folder) as case:
        await write(case)
        assert await unpaid(case)
        await case.until(MemoryWaits)
        rule(Decimal(5))
        await case.until(MemoryWaits, lambda event: event.tasks == 0)
        await case.settled()
        assert calls(server) > 0


@pytest.mark.parametrize("price", [{"retries": 0}, {"price_in": Decimal(0), "price_out": Decimal(0)}])
async def test_a_free_model_is_never_asked_about(folder: Path, server: FaultServer, price: dict[str, object]) -> None:
    rule("never")
    await paid(folder, server, **price)
    async with opened(folder) as case:
        await write(case)
        assert await case.project.memory.unpaid() is None
        assert calls(server) > 0


@pytest.mark.parametrize(
    ("fields", "free"),
    [
        ({"base_url": "http://127.0.0.1:1/v1"}, True),
        ({"base_url": "http://127.0.0.1:1/v1", "price_in": Decimal(1)}, False),
        ({"base_url": "https://models.example/v1"}, False),
        ({"base_url": "https://models.example/v1", "price_in": Decimal(0), "price_out": Decimal(0)}, True),
        ({"base_url": "https://models.example/v1", "price_in": Decimal(0)}, False),
        ({"provider": "offline"}, True),
    ],
)
def test_which_models_are_free(fields: dict[str, object], free: bool) -> None:
    assert Endpoint.model_validate({"model": "m"} | fields).is_free is free


async def test_a_project_cannot_set_the_rule(folder: Path, server: FaultServer) -> None:
    await paid(folder, server)
    file = folder / "flowcabal.toml"
    whole = file.read_text(encoding="utf-8")
    for line in ("memory_spending = 100\n", "[budget]\nmemory_spending = 100\n"):
        file.write_text(f"{line}\n{whole}" if line[0] != "[" else f"{whole}\n{line}", encoding="utf-8")
        with pytest.raises(SettingsError):
            load_project(folder)


async def test_an_amount_a_day_is_spent_without_a_question_and_never_exceeded(
    folder: Path, server: FaultServer
) -> None:
    rule(Decimal("0.10"))
    await paid(folder, server)
    async with opened(folder) as case:
        for number in range(40):
            await write(case, f"{TEXT} It was year {number}.")
            if await case.project.memory.unpaid():
                break
        spent = (await case.project.runs.totals()).cost
    assert Decimal(0) < spent <= Decimal("0.10")
    assert Decimal(booked()) <= Decimal("0.10")
    assert stat.S_IMODE((paths.state_folder() / FILE).stat().st_mode) == 0o600


def booked() -> str:
    return str(json.loads((paths.state_folder() / FILE).read_text(encoding="utf-8"))["booked"])


def gate(day: Callable[[], datetime] = lambda: DAY) -> MemoryGate:
    return MemoryGate(day)


CALL = CallBound(1_000, 400, Decimal("0.03"))


async def test_two_processes_share_the_amount_of_a_day() -> None:
    """Four workers book at the same time, each with a gate of its own, as processes have."""
    rule(Decimal("0.10"))

    async def worker() -> int:
        mine, begun = gate(), 0
        for _try in range(5):
            try:
                await mine.begin("USD", CALL)
            except SpendingNotAgreed:
                break
            begun += 1
        return begun

    assert sum(await asyncio.gather(*(worker() for _each in range(4)))) == 3
    assert booked() == "0.09"


async def test_a_call_that_was_cut_off_by_a_kill_stays_booked_at_its_highest_cost() -> None:
    rule(Decimal("0.10"))
    killed = gate()
    for _call in range(3):
        await killed.begin("USD", CALL)  # and no end of it
    with pytest.raises(SpendingNotAgreed):
        await gate().begin("USD", CALL)
    with pytest.raises(SpendingNotAgreed):
        await gate().begin("CNY", CallBound(1, 1, Decimal("0.0001")))


async def test_what_a_call_has_cost_takes_the_place_of_its_booking() -> None:
    rule(Decimal("0.10"))
    mine = gate()
    booking = await mine.begin("USD", CALL)
    booking.paid += Decimal("0.03")
    mine.again(booking, CALL)
    assert booked() == "0.06", "a failed try was paid for, and the next may cost as much"
    booking.paid += Decimal("0.01")
    mine.end(booking)
    assert booked() == "0.04"


async def test_each_day_has_its_amount() -> None:
    rule(Decimal("0.05"))
    late = await gate().begin("USD", CALL)
    with pytest.raises(SpendingNotAgreed):
        await gate().begin("USD", CALL)
    tomorrow = gate(lambda: DAY + timedelta(days=1))
    await tomorrow.begin("USD", CALL)
    late.paid = Decimal("0.01")
    tomorrow.end(late)
    assert booked() == "0.03", "what a call of yesterday has cost less is not spent again today"


async def test_a_day_that_a_wrong_clock_has_booked_does_not_take_the_amounts_of_the_days_before_it() -> None:
    rule(Decimal("0.05"))
    wrong = await gate(lambda: DAY + timedelta(days=26_000)).begin("USD", CALL)
    with pytest.raises(SpendingNotAgreed):
        await gate().begin("USD", CALL)  # what was booked counts today, and no longer
    await gate().begin("USD", CallBound(1, 1, Decimal("0.01")))
    gate().end(wrong)
    assert booked() == "0.04"
    await gate(lambda: DAY + timedelta(days=1)).begin("USD", CALL)
    with pytest.raises(SpendingNotAgreed):
        await gate(lambda: DAY + timedelta(days=1)).begin("USD", CALL)


@pytest.mark.parametrize("damaged", ["", "{}", '{"day": "2026-03-04", "currency": "USD", "booked": "-9"}', "[1]"])
async def test_a_damaged_sum_lets_nothing_begin(damaged: str) -> None:
    rule(Decimal(5))
    paths.state_folder().mkdir(parents=True, exist_ok=True)
    (paths.state_folder() / FILE).write_text(damaged, encoding="utf-8")
    with pytest.raises(SpendingNotAgreed):
        await gate().begin("USD", CALL)


async def test_a_call_without_a_price_is_not_within_an_amount() -> None:
    rule(Decimal(5))
    with pytest.raises(SpendingNotAgreed):
        await gate().begin("USD", CallBound(1, 1, None))
