"""`run --knowledge` waits for the server, or says before it pays that it goes without; `run --quote` in few lines."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_a_run_says_before_it_begins_that_the_server_is_not_there(demo: Path, call: Call) -> None:
    done = call("run", demo, "quick-draft", "--chapter", "3", "--knowledge", "--plain")
    assert done.code == 0
    assert "note: the run does without the knowledge server: it is not there (" in done.err
    without = call("run", demo, "quick-draft", "--chapter", "3", "--plain")
    assert "knowledge server" not in without.err


def test_a_quote_names_what_would_run_once(demo: Path, call: Call) -> None:
    quoted = call("run", demo, "quick-draft", "--chapter", "3", "--quote")
    assert quoted.out.count("would run") == 1
    assert "1 of 1 would run: draft" in quoted.out
