"""`words`: days by hand and by a model, goals, and what a program reads."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call


def test_days_and_goals_are_printed_and_set(call: Call, demo: Path) -> None:
    told = call("words", demo)
    assert told.code == 0 and "0 days in a row" in told.out
    assert call("words", demo, "--goal", "day=1000", "--goal", "until=2027-03-31").code == 0
    found = json.loads(call("words", demo, "--json").out)
    assert (found["goals"]["day"], found["goals"]["until"], found["days"]) == (1_000, "2027-03-31", [])
    assert found["length"] > 1_000 and found["streak"] == 0 and set(found["speed"]) == {"7", "30"}
    call("words", demo, "--goal", "until=", "--goal", "day=")
    assert json.loads(call("words", demo, "--json").out)["goals"]["until"] is None
