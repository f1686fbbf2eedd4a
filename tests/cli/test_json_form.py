"""The JSON form of commands and events as another program was written against it: `json_form.json` beside this test."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from flowcabal_tui.protocol.messages import COMMANDS, EVENTS

FORM = json.loads(Path(__file__).with_name("json_form.json").read_text(encoding="utf-8"))
ROWS = [(kind, name) for kind in ("commands", "events") for name in FORM[kind]]


def form(kind: type) -> dict[str, str]:
    """Each field, and whether a message must have it."""
    none = dataclasses.MISSING
    return {
        field.name: "required" if field.default is none and field.default_factory is none else "optional"
        for field in dataclasses.fields(kind)
    }


@pytest.mark.parametrize(("kind", "name"), ROWS, ids=[name for _kind, name in ROWS])
def test_a_client_of_today_can_go_on(kind: str, name: str) -> None:
    now, then = form({"commands": COMMANDS, "events": EVENTS}[kind][name]), FORM[kind][name]
    assert set(then) <= set(now), "no field is lost"
    if kind == "commands":
        assert {field for field, need in now.items() if need == "required"} <= {
            field for field, need in then.items() if need == "required"
        }, "a new field of a command can be left out"


def test_every_command_and_event_has_a_row() -> None:
    assert set(COMMANDS) == set(FORM["commands"])
    assert set(EVENTS) == set(FORM["events"])
