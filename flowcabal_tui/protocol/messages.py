"""All commands and events by their type, and their JSON form.

`to_message` and `from_message` convert them into the JSON objects that the command line prints and that a socket could
carry: `{"type": "node:started", ...}`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from flowcabal_tui.domain.codec import from_plain, to_plain
from flowcabal_tui.protocol import (
    book,
    builds,
    comparisons,
    conversations,
    findings,
    memory,
    models,
    revision,
    runs,
    settings,
    story,
    workflows,
)
from flowcabal_tui.protocol.base import Command, Event

SUBJECTS = (
    *(book, builds, comparisons, conversations, findings),
    *(memory, models, revision, runs, settings, story, workflows),
)
COMMANDS: dict[str, type[Command]] = {kind.type: kind for kind in Command.__subclasses__()}
EVENTS: dict[str, type[Event]] = {kind.type: kind for kind in Event.__subclasses__()}


def to_message(value: Command | Event) -> dict[str, Any]:
    """The JSON object of a command or event, with its `type` first."""
    return {"type": value.type} | {item.name: _plain(getattr(value, item.name)) for item in fields(value)}


def _plain(value: Any) -> Any:
    """A field's value as JSON-compatible Python values."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return to_plain(value)


def from_message(message: dict[str, Any]) -> Command | Event:
    """The value that `to_message` wrote.

    Raises KeyError for an unknown type and pydantic.ValidationError for bad fields, also for unknown ones of a command.
    """
    kind = message["type"]
    known = COMMANDS.get(kind) or EVENTS[kind]
    given = {key: item for key, item in message.items() if key != "type"}
    if issubclass(known, Command) and (unknown := given.keys() - {item.name for item in fields(known)}):
        raise _unknown_fields(kind, sorted(unknown))
    value: Command | Event = from_plain(known, given)
    return value


def _unknown_fields(kind: str, names: Iterable[str]) -> ValueError:
    from pydantic import ValidationError

    return ValidationError.from_exception_data(
        kind, [{"type": "extra_forbidden", "loc": (name,), "input": None} for name in names]
    )
