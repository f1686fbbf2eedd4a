"""kill -9 of processes that spend the amount of a day at once: it is never passed, and nothing is sent unbooked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.project.models.memory_gate import FILE
from flowcabal_tui.settings import paths
from tests.project.test_memory_spending import rule

pytestmark = pytest.mark.slow
AMOUNT = Decimal("1.00")
POINTS = 16
"""At least those of a call: before and after each lock, sync and replacement of a file, and around what is sent."""
BEFORE_REPLACING = 5
"""The point of the first call at which the sum was read and is not written yet."""
SPENDER = """
import asyncio, fcntl, os, signal, sys
from datetime import UTC, datetime
from decimal import Decimal
from flowcabal_tui.domain.errors import SpendingNotAgreed
from flowcabal_tui.models.bounds import CallBound
from flowcabal_tui.project.models.memory_gate import MemoryGate

ledger, calls, last, pause = sys.argv[1], *map(int, sys.argv[2:])
passed = 0

def point():
    global passed
    passed += 1
    if passed == 1:
        print("at the lock", flush=True)
    if passed == last:
        os.kill(os.getpid(), signal.SIGKILL)
    if passed == pause:
        os.kill(os.getpid(), signal.SIGSTOP)

def pointed(work):
    def working(*arguments, **named):
        point()
        value = work(*arguments, **named)
        point()
        return value
    return working

for owner, name in ((fcntl, "flock"), (os, "fsync"), (os, "replace")):
    setattr(owner, name, pointed(getattr(owner, name)))

async def spend():
    gate = MemoryGate(lambda: datetime(2026, 3, 4, 12, tzinfo=UTC))
    for _call in range(calls):
        try:
            booking = await gate.begin("USD", CallBound(1_000, 400, Decimal("0.03")))
        except SpendingNotAgreed:
            return
        point()
        file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, b"0.02\\n")
        os.close(file)
        point()
        booking.paid += Decimal("0.02")
        gate.end(booking)

asyncio.run(spend())
"""


def spender(ledger: Path, calls: int, *, last: int = 0, pause: int = 0) -> subprocess.Popen[str]:
    """A process that makes so many calls, and is killed at the point `last` or stops at the point `pause`."""
    command = [sys.executable, "-c", SPENDER, str(ledger), *map(str, (calls, last, pause))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def spend(ledger: Path, *how: tuple[int, int]) -> list[int]:
    """Processes that make so many calls at once, each killed at a point (0: not); returns their exit codes."""
    at_once = [spender(ledger, calls, last=point) for calls, point in how]
    return [process.communicate() and process.returncode for process in at_once]


def sums(ledger: Path) -> tuple[Decimal, Decimal]:
    """What was sent, and what is booked."""
    sent = sum(map(Decimal, ledger.read_text().split())) if ledger.exists() else 0
    file = paths.state_folder() / FILE
    return Decimal(sent), Decimal(json.loads(file.read_text("utf-8"))["booked"]) if file.exists() else Decimal(0)


def test_what_was_sent_is_booked_and_the_amount_is_never_passed(tmp_path: Path) -> None:
    rule(AMOUNT)
    ledger = tmp_path / "ledger"
    for point in range(1, POINTS + 1):
        ends = spend(ledger, (2, point), (2, POINTS + 1 - point))
        sent, booked = sums(ledger)
        assert sent <= booked <= AMOUNT, (point, ends)
        assert -signal.SIGKILL in ends or booked > AMOUNT - Decimal("0.03")
    assert spend(ledger, (100, 0), (100, 0)) == [0, 0]
    sent, booked = sums(ledger)
    assert sent <= booked <= AMOUNT
    assert booked > AMOUNT - Decimal("0.03"), "all of it could be spent"


def test_a_booking_waits_for_one_that_is_being_written(tmp_path: Path) -> None:
    rule(AMOUNT)
    first = spender(tmp_path / "ledger", 1, pause=BEFORE_REPLACING)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED)
    second = spender(tmp_path / "ledger", 1)
    assert second.stdout is not None and second.stdout.readline() == "at the lock\n"
    first.send_signal(signal.SIGCONT)
    for process in (first, second):
        process.communicate()
    assert sums(tmp_path / "ledger") == (Decimal("0.04"), Decimal("0.04"))
