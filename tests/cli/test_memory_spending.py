"""Commands that wait for background work say what it would cost, and never wait for an answer themselves."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.settings.user_file import UserSettings, change_user
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint
from tests.project.test_main_job import DRAFT


@pytest.fixture
def book(project: Make, server: FaultServer, call: Call) -> Path:
    """A book with a kept chapter whose memory work was not waited for."""
    folder = project(both(endpoint(server, price_in=Decimal(2), price_out=Decimal(10), max_output=400)))
    server.push({"content": DRAFT})
    done = call("run", folder, "quick-draft", "--chapter", 1, "--keep", "draft", "--plain")
    assert done.code == 0, done.err
    return folder


def test_without_an_answer_the_price_is_printed_and_nothing_is_sent(
    call: Call, book: Path, server: FaultServer
) -> None:
    before = calls(server)
    done = call("rebuild", book, "--what", "stale")
    assert (done.code, calls(server)) == (0, before)
    for words in (
        "This costs money.",
        "Likely: $",
        "At most: $",
        "nothing was sent for it",
        "--yes",
        "memory_spending",
    ):
        assert words in done.err
    assert call("delete", book, "1").code == 0
    assert call("undo", book).code in (0, 1)
    assert calls(server) == before


@pytest.mark.parametrize("rule", ["ask", "never"])
def test_yes_pays_for_what_waits(call: Call, book: Path, server: FaultServer, rule: str) -> None:
    change_user(lambda _before: UserSettings(memory_spending=rule))
    before = calls(server)
    done = call("rebuild", book, "--what", "stale", "--yes")
    assert (done.code, "At most: $" in done.err, "nothing was sent for it" in done.err) == (0, True, False)
    assert calls(server) > before
    again = call("rebuild", book, "--what", "stale")
    assert (again.code, again.err) == (0, "")


def test_an_amount_a_day_is_spent_without_a_word(call: Call, book: Path, server: FaultServer) -> None:
    change_user(lambda _before: UserSettings(memory_spending=Decimal(5)))
    before = calls(server)
    done = call("rebuild", book, "--what", "stale")
    assert (done.code, done.err) == (0, "")
    assert calls(server) > before
