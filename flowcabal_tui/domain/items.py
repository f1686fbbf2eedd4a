"""The output of a node: JSON, with a text for people and for prompts."""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.locale import _

_MOST_ERRORS: Final = 100

Form = Literal["text", "json"]
"""Storage of an output: as plain text, or as JSON whose objects keep the order of their keys."""


class Output:
    """An output as later nodes see it; JSON is parsed on first access."""

    __slots__ = ("_value", "digest", "form", "stored")

    def __init__(self, stored: str, form: Form = "text", name: Digest | None = None) -> None:
        """`stored` is the text itself or the JSON; `name` is its digest when that is known."""
        self.stored, self.form = stored, form
        self.digest = name or digest(stored)
        self._value: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Output) and (self.digest, self.form) == (other.digest, other.form)

    def __hash__(self) -> int:
        return hash((self.digest, self.form))

    def __repr__(self) -> str:
        return f"Output({self.stored[:60]!r}, {self.form!r})"

    @classmethod
    def of(cls, value: Any) -> Output:
        """The output that holds a JSON value; `{"text": ...}` alone is that text. Raises TypeError or ValueError."""
        if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("text"), str):
            return cls(value["text"])
        stored = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        _require_names(value)
        return cls(stored, "json")

    @property
    def value(self) -> Any:
        """The JSON value; a text is `{"text": ...}`. Shared: read it, do not change it."""
        if self._value is None:
            self._value = {"text": self.stored} if self.form == "text" else json.loads(self.stored)
        return self._value

    @property
    def items(self) -> list[dict[str, Any]]:
        """The value as items, see `items_of`."""
        return items_of(self.value)

    @property
    def errors(self) -> tuple[str, ...]:
        """The errors of single items, in words for a person; see `item_errors`."""
        return item_errors(self.value) if self.form == "json" else ()

    @property
    def text(self) -> str:
        """The text for people and prompts: the text, the `text` of an object, or indented JSON."""
        return self.stored if self.form == "text" else readable(self.value)


def items_of(value: Any) -> list[dict[str, Any]]:
    """A JSON value as a list of objects: one for an object, `{"value": ...}` for anything else, none for null.

    For the output of item kinds, `{"items": [...], "errors": [...]}`, its items. Shared: do not change them.
    """
    if value is None:
        return []
    inner = value["items"] if _carries(value) else value
    return [_item(each) for each in (inner if isinstance(inner, list) else [inner])]


def item_errors(value: Any) -> tuple[str, ...]:
    """The `errors` of a node over items, each with the number of its item from 1; 100 at most."""
    if not _carries(value):
        return ()
    found = []
    for one in value["errors"][:_MOST_ERRORS]:
        number, problem = (one.get("item"), one.get("message")) if isinstance(one, dict) else (None, one)
        words = clean(str(problem)).replace("\n", " ")
        found.append(_("Item {n}: {problem}").format(n=number + 1, problem=words) if isinstance(number, int) else words)
    return tuple(found)


def readable(value: Any) -> str:
    """A JSON value for people: the text of `{"text": ...}` objects, a string unchanged, else indented JSON.

    Of `{"items": [...], "errors": [...]}` only the items.
    """
    if isinstance(value, str):
        return value
    if _carries(value):
        return readable(value["items"])
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value, list) and value and all(isinstance(each, dict) and "text" in each for each in value):
        return "\n".join(readable(each) for each in value)
    return json.dumps(value, ensure_ascii=False, indent=2)


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values have equal digests. No NaN, no infinity."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _require_names(value: Any) -> None:
    """Raises TypeError for a key that is not a string: JSON would convert it."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if any(not isinstance(key, str) for key in part):
                raise TypeError("a key is no text")
            waiting += part.values()
        elif isinstance(part, (list, tuple)):
            waiting += part


def _carries(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("items"), list) and isinstance(value.get("errors"), list)


def _item(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"value": value}
