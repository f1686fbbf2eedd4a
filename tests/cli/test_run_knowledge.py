"""`run --knowledge` waits for the server, or says before it pays that it goes without; `run --quote` in few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.cli.knowledge import tell_what_the_server_lacks
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import BackgroundTask, Freshness
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.memory import KnowledgeStatus
from tests.cli.conftest import Call


def test_a_run_says_before_it_begins_that_the_server_is_not_there(demo: Path, call: Call) -> None:
    done = call("run", demo, "quick-draft", "--chapter", "3", "--knowledge", "--plain")
    assert done.code == 0
    assert "note: the run works without the knowledge server: it is not available (" in done.err
    without = call("run", demo, "quick-draft", "--chapter", "3", "--plain")
    assert "knowledge server" not in without.err


def test_a_quote_names_what_would_run_once(demo: Path, call: Call) -> None:
    quoted = call("run", demo, "quick-draft", "--chapter", "3", "--quote")
    assert quoted.out.count("would run") == 1
    assert "1 of 1 would run: draft" in quoted.out


class TakesTexts:
    """A project whose knowledge server is there and takes a text between two looks, but for those it puts off."""

    def __init__(self, texts: int, put_off: int) -> None:
        self._left, self._put_off = texts, put_off
        self.memory = self

    def take(self) -> list[Event]:
        return [KnowledgeStatus("ready", "")]

    async def background(self) -> tuple[BackgroundTask, ...]:
        self._left -= 1

        def task(n: int, later: float, state: Freshness = "waiting") -> BackgroundTask:
            return BackgroundTask(n, "knowledge", f"manuscript/{n}", Digest("d"), state, not_before=later)

        return (
            *(task(n, 0) for n in range(max(0, self._left))),
            *(task(90 + n, 1e12) for n in range(self._put_off)),
            BackgroundTask(99, "story", "c1", Digest("d"), "waiting"),
        )


@pytest.mark.parametrize("put_off", [0, 2])
async def test_a_run_waits_until_the_server_has_the_texts_and_counts_those_that_it_put_off(
    capsys: pytest.CaptureFixture[str], put_off: int
) -> None:
    await tell_what_the_server_lacks(TakesTexts(3, put_off))  # type: ignore[arg-type]  # what the function asks of it
    said = capsys.readouterr().err
    assert ("does not have 2 texts yet" in said) if put_off else not said
