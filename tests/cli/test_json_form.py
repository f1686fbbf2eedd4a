"""The JSON form of commands and events as another program was written against it: `json_form.json` beside this test."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from flowcabal_tui.protocol.messages import COMMANDS, EVENTS

FORM = json.loads(Path(__file__).with_name("json_form.json").read_text(encoding="utf-8"))
ROWS = [(kind, name) for kind in ("commands", "events") for name in FORM[kind]]


def form(kind: type) -> dict[str, str]:
    """Each field: whether a message must have it, and its type, with the names of classes alone."""
    none, hints = dataclasses.MISSING, get_type_hints(kind)
    return {
        field.name: ("required " if field.default is none and field.default_factory is none else "optional ")
        + _words(hints[field.name])
        for field in dataclasses.fields(kind)
    }


def _words(hint: Any) -> str:
    return re.sub(r"\b(?:[a-z_]\w*\.)+", "", re.sub(r"<class '([^']*)'>", r"\1", str(hint)))


@pytest.mark.parametrize(("kind", "name"), ROWS, ids=[name for _kind, name in ROWS])
def test_a_client_of_today_can_go_on(kind: str, name: str) -> None:
    now, then = form({"commands": COMMANDS, "events": EVENTS}[kind][name]), FORM[kind][name]
    assert then.items() <= now.items(), "no field is lost, and each has its type"
    if kind == "commands":
        assert all(words.startswith("optional") for field, words in now.items() if field not in then), (
            "a new field of a command can be left out"
        )


def test_every_command_and_event_has_a_row() -> None:
    assert set(COMMANDS) == set(FORM["commands"])
    assert set(EVENTS) == set(FORM["events"])
