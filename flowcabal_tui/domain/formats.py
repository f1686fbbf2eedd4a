"""Values as text, and formats such as `{name}: {score:>4}` filled in from an item.

Only fields of objects can be named, never attributes: a format is text of the document, and `str.format` would expose
the program's internals to it.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from typing import Any, Final, Literal

from flowcabal_tui.domain.late_pattern import late

_Conversion = Literal["r", "s", "a"] | None
MISSING: Final = object()
_CONVERSIONS: Final[dict[str | None, _Conversion]] = {"r": "r", "s": "s", "a": "a"}
_FORMATTER: Final = string.Formatter()
_WIDTH: Final = late(r"[0-9]{4,}")
_INNER: Final = late(r"\[(\w+)\]")


def text_of(value: Any) -> str:
    """Converts a value to text for insertion: None becomes empty, lists and objects become JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)


def picked(item: Any, field: str | None, missing: Any = None) -> Any:
    """Returns a field of an object; dots lead into nested objects. Without a field, returns the item itself."""
    if not field:
        return item
    if not isinstance(item, dict):
        return missing
    if field in item:
        return item[field]
    for part in field.split("."):
        if not isinstance(item, dict) or part not in item:
            return missing
        item = item[part]
    return item


def placeholders(template: str) -> tuple[str, ...]:
    """The fields that a format names, in order. Raises ValueError like `formatted`."""
    return tuple(name for _literal, name, _spec, _conversion in _pieces(template) if name is not None)


def formatted(template: str, item: Any) -> str:
    """`template` with `{field}`, `{field.inner}` and `{field:>8}` filled in from `item`; unknown ones stay.

    Only fields of objects can be named: never an attribute. Raises ValueError for a format that cannot be read,
    and for widths above 999.
    """
    out = []
    for literal, name, spec, conversion in _pieces(template):
        out.append(literal)
        if name is None:
            continue
        value = picked(item, _INNER.sub(r".\1", name), MISSING)
        if value is MISSING:
            value = "{" + name + "}"
        plain = isinstance(value, (str, int, float))
        out.append(format(_FORMATTER.convert_field(value, conversion), spec) if plain else text_of(value))
    return "".join(out)


def _pieces(template: str) -> Iterator[tuple[str, str | None, str, _Conversion]]:
    for literal, name, spec, conversion in _FORMATTER.parse(template):
        if name is not None and (not name or name.isdigit() or "{" in (spec or "") or _WIDTH.search(spec or "")):
            raise ValueError(template)
        yield literal, name, spec or "", _CONVERSIONS.get(conversion)
