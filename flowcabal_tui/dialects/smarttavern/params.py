"""Converts the parameters of SmartTavern's node types into those of this program's kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.dialects.report import ConversionNote, Level
from flowcabal_tui.domain.bindings import paths_in
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _

DEFAULT_MODEL: Final = "narrative-llm"
"""The model of an LLMChat without a model."""
Note = tuple[Level, str, str]
"""The level of a note, its parameter, and its message."""


class _Reader:
    """Reads parameters one by one; those that remain in `left` are unknown."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.left = dict(params)
        self.notes: list[Note] = []

    def take(self, name: str, wanted: type, default: Any = None) -> Any:
        """The parameter, converted to a text or a Boolean as Python would; a value of another wrong type is left out.

        Both are reported. None counts as missing, except for a Boolean.
        """
        if name not in self.left or (self.left[name] is None and wanted is not bool):
            self.left.pop(name, None)
            return default
        value = self.left.pop(name)
        if wanted is not dict and wanted is not list and not isinstance(value, wanted):
            made = bool(value) if wanted is bool else str(value)
            self.say("changed", name, _("{name} is read as {value}.").format(name=name, value=made))
            return made
        if not isinstance(value, wanted):
            message = _("{name} has the wrong type ({kind}) and is left out.")
            self.say("lost", name, message.format(name=name, kind=type(value).__name__))
            return default
        return value

    def texts(self, name: str) -> dict[str, str]:
        """A mapping of texts to texts; empty when any value is not a text."""
        given = self.take(name, dict, {})
        bad = [key for key, value in given.items() if not isinstance(value, str)]
        for key in bad:
            self.say("lost", f"{name}.{key}", _("It is not text, so {name} is ignored.").format(name=name))
        return {} if bad else given

    def list_of_texts(self, name: str) -> list[str] | None:
        given = self.take(name, list)
        return None if given is None else [value for value in given if isinstance(value, str)]

    def say(self, level: Level, name: str, message: str) -> None:
        self.notes.append((level, name, message))


def _map(read: _Reader) -> dict[str, Any]:
    return {"set": read.texts("set"), "overwrite": read.take("overwrite", bool, True)}


def _same(**defaults: str | bool) -> Callable[[_Reader], dict[str, Any]]:
    """Parameters with the same names here, each with its default, whose type it has."""
    return lambda read: {name: read.take(name, type(default), default) for name, default in defaults.items()}


def _code(read: _Reader) -> dict[str, Any]:
    function, outputs = read.take("function", str, ""), read.list_of_texts("outputs") or []
    if not function:
        wanted = {name: name for name in ("messages", "context_slots") if not outputs or name in outputs}
        return {"kind": "chat_context", "into": wanted.get("messages", ""), "slots": wanted.get("context_slots", "")}
    read.say("info", "function", _("The project must allow the function {name}.").format(name=function))
    return {"function": function, "outputs": outputs}


def _chat(read: _Reader) -> dict[str, Any]:
    model = read.take("model", str, DEFAULT_MODEL)
    if model == DEFAULT_MODEL:
        read.say("info", "model", _("The project's writing model answers in place of {name}.").format(name=model))
    else:
        message = _("{name} is a name of SmartTavern's own settings: choose a model of your provider.")
        read.say("changed", "model", message.format(name=model))
    return {
        "model": None if model == DEFAULT_MODEL else model,
        "messages_from": read.take("messages_from", str, "messages"),
        "response_field": read.take("response_field", str, "llm_response"),
        "world": True,
    }


def _read_state(read: _Reader) -> dict[str, Any]:
    if isinstance(one := read.left.get("keys"), str):
        read.left["keys"] = [one]
        read.say("changed", "keys", _("A single text is read as a list with this one key."))
    return {
        "keys": read.list_of_texts("keys"),
        "into": read.take("into", str, "state"),
        "for_prompt": read.take("for_prompt", bool, False),
    }


def _write_state(read: _Reader) -> dict[str, Any]:
    updates, fields = read.take("updates", dict, {}), read.texts("from_item_map")
    for place, path in paths_in(updates, location="updates"):
        read.say("changed", place, _("Here the text is read as the binding {path}.").format(path=path))
    from_item = {key: field for field, key in fields.items()}
    if len(from_item) < len(fields):
        read.say("lost", "from_item_map", _("Two fields are written to one key: only the last is kept."))
    return {"updates": updates, "from_item": from_item}


def _count(read: _Reader) -> dict[str, Any]:
    known = isinstance(read.left.get("field"), str)
    field = read.take("field", str, "") if known else ""
    if not field:
        read.say("lost", "field", _("No counter is named: nothing is counted."))
    return {"increment": [field] if field else []}


ATOM_KINDS: Final[Mapping[str, tuple[str, Callable[[_Reader], dict[str, Any]]]]] = {
    "Map": ("map", _map),
    "Filter": ("filter", _same(where="")),
    "Merge": ("merge", _same(from_field="", overwrite=True, prefix="")),
    "Split": ("split", _same(from_field="", dest_field="element", delimiter=",")),
    "Code": ("code", _code),
    "LLMChat": ("llm_chat", _chat),
    "ReadState": ("state_read", _read_state),
    "WriteState": ("state_write", _write_state),
    "IncrementCounter": ("state_write", _count),
}


def converted_params(
    kind: str, params: Mapping[str, Any], place: str
) -> tuple[str, dict[str, Any], tuple[ConversionNote, ...]]:
    """Converts the parameters of a SmartTavern node of `kind`.

    Returns the kind of node here, its parameters without the source, and the notes of the conversion. `place` is the
    path of the node in the document.
    """
    name, convert = ATOM_KINDS[kind]
    read = _Reader(params)
    made = convert(read)
    name = made.pop("kind", name)
    for left in read.left:
        read.say("lost", left, _("{kind} ignores {field}.").format(kind=kind, field=clean(left)[:60]))
    return name, made, tuple(_notes(read.notes, place))


def _notes(notes: list[Note], place: str) -> Iterator[ConversionNote]:
    for level, name, message in notes:
        yield ConversionNote(level, f"{place}.params.{name}", message)
