"""The command that runs recorded cases: it counts, names what nobody runs, and fails when a case does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compat import __main__ as command
from tests.compat import velvetflow_values
from tests.compat.__main__ import counts, main, report, results, runners, unread
from tests.compat.result import CaseResult


def put(folder: Path, name: str, value: Any) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def test_every_module_of_cases_is_found():
    assert {"velvetflow_values", "velvetflow_execution", "velvetflow_validation", "smarttavern", "flowcabal"} <= set(
        runners()
    )


def test_a_file_that_nobody_runs_is_named(tmp_path):
    for name in ("velvetflow/new_cases.json", "smarttavern/state_cases.json"):
        put(tmp_path, name, [])
    others = unread(tmp_path, [CaseResult("smarttavern/state_cases.json", "a", "pass", "")])
    assert others == ["velvetflow/new_cases.json"]
    assert "not run by anybody" in "\n".join(report([], others))


def test_a_module_that_breaks_off_fails_and_the_others_still_run(tmp_path):
    def broken(folder: Path) -> list[CaseResult]:
        raise KeyError("id")

    found = results(tmp_path, {"broken": broken, "sound": lambda folder: [CaseResult("f", "a", "pass", "")]})
    assert [(each.file, each.outcome) for each in found] == [("broken", "fail"), ("f", "pass")]
    assert "KeyError" in found[0].detail


def test_outcomes_are_counted_by_file():
    found = [CaseResult("f", str(n), outcome, "why\nso") for n, outcome in enumerate(("pass", "pass", "deliberate"))]
    assert counts(found)["f"] == {"pass": 2, "deliberate": 1}
    lines = list(report(found, []))
    assert "  deliberate  2: why so" in lines
    assert lines[-1].split() == ["total", "2", "0", "1"]


@pytest.mark.parametrize(("content", "code"), [("{", 1), (None, 1)], ids=["malformed", "empty folder"])
def test_what_cannot_be_read_or_is_not_there_is_no_success(tmp_path, capsys, monkeypatch, content, code):
    monkeypatch.setattr(command, "runners", lambda: {"velvetflow_values": velvetflow_values.run})
    if content is not None:
        put(tmp_path, "velvetflow/path_cases.json", content)
    assert main([str(tmp_path), "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert [each["outcome"] for each in told["cases"]] == (["fail"] if content else [])


def test_a_folder_that_is_not_there_is_a_wrong_argument(tmp_path, capsys):
    assert main([str(tmp_path / "nothing")]) == 2
    assert "no folder" in capsys.readouterr().err
