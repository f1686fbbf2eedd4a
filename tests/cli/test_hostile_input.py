"""Flags that would ask for ever, and standard input that holds no commands."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from flowcabal_tui.cli.running import _command, _lines
from flowcabal_tui.domain.errors import RunError
from tests.cli.conftest import Call, Make
from tests.faultserver import FaultServer
from tests.project.case import both, calls, endpoint


def test_a_flag_asks_for_one_new_attempt_and_then_leaves_the_question(
    project: Make, server: FaultServer, call: Call
) -> None:
    for number in range(6):
        server.push({"content": f"Cut off {number}", "finish": "length"})
    folder = project(both(endpoint(server)))
    ran = call("run", folder, "quick-draft", "--chapter", 1, "--plain", "--decide", "draft=retry:longer")
    assert ran.code == 3, ran.out + ran.err
    assert calls(server) == 2


def test_an_answer_that_does_not_fit_leaves_the_question_open(project: Make, server: FaultServer, call: Call) -> None:
    server.push({"content": "Cut off", "finish": "length"})
    folder = project(both(endpoint(server)))
    ran = call("run", folder, "quick-draft", "--chapter", 1, "--plain", "--decide", "draft=approve:9")
    assert ran.code == 3, ran.out + ran.err
    assert "no attempt 9" in ran.out


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no json",
        "[]",
        "7",
        "{}",
        '{"type": []}',
        '{"type": "nothing:known"}',
        '{"type": "run:state", "run": "r", "state": "done"}',
        '{"type": "workflow:run", "request": 7}',
        '{"type": "human:decision", "question": "q", "decision": {"kind": "destroy"}}',
        '{"type": "entity:put", "entity": {"id": 1, "kind": "dragon", "name": null}}',
        "[" * 200_000,
    ],
)
def test_a_line_that_is_no_command_is_refused_as_such(line: str) -> None:
    with pytest.raises(RunError, match="not a command"):
        _command(line)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no json", "column 1: Expecting value"),
        ("[]", "Its type is unknown."),
        ('{"type": "nothing:known"}', "Its type is unknown."),
        ('{"type": "human:decision", "question": "q"}', "decision: It is missing."),
    ],
)
def test_a_line_that_is_no_command_is_told_in_plain_words(line: str, why: str) -> None:
    with pytest.raises(RunError) as refused:
        _command(line)
    assert refused.value.detail == why


async def test_bytes_that_are_no_text_end_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"approve\n" + b"\xff\xfe" * 9_000), "utf-8"))
    lines = [line async for line in _lines()]
    assert lines in ([], ["approve\n"])


LONG = "雪" * 100


@pytest.mark.parametrize("words", [[LONG], ["status", LONG], ["new", LONG], ["validate", LONG], ["import", ".", LONG]])
def test_a_name_that_is_too_long_for_a_file_is_one_clear_error(
    call: Call, demo: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(demo)
    done = call(*words)
    assert done.code in (1, 2) and LONG in done.err
