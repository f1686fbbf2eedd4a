"""Converts domain values to JSON and back, by their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """The adapter of a type, cached: building one takes milliseconds."""
    from pydantic import TypeAdapter  # imported with the first value

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_json(value: Any) -> str:
    """`value` (a frozen dataclass or document) as JSON text."""
    return _adapter(type(value)).dump_json(value).decode()


def to_plain(value: Any) -> Any:
    """`value` as JSON-compatible Python values."""
    return _adapter(type(value)).dump_python(value, mode="json")


def from_json(kind: type[T], text: str | bytes) -> T:
    """The value of type `kind` that `to_json` wrote. Raises pydantic.ValidationError."""
    value: T = _adapter(kind).validate_json(text)
    return value


def from_plain(kind: type[T], value: Any) -> T:
    """The value of type `kind` that `to_plain` made. Raises pydantic.ValidationError."""
    plain: T = _adapter(kind).validate_python(value)
    return plain
