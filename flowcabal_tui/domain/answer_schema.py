"""The JSON Schema of an answer, as it is sent to a model."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field

_UNSAID: Final = frozenset({"title", "default"})
LONGEST_TEXT: Final = 400
"""Characters of a sentence or a quotation: a server that keeps the schema ends what a model repeats without end."""


def short_text(**how: Any) -> Any:
    """A text whose schema asks for a short one; a longer one is read as well."""
    return Field(**how, json_schema_extra={"maxLength": LONGEST_TEXT})


def answer_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The schema of `shape`, closed."""
    found: dict[str, Any] = closed(shape.model_json_schema())
    return found


def closed(schema: Any) -> Any:
    """The schema with every property required and no further ones allowed: native modes insist on it.

    Without pydantic's titles and defaults and the docstrings of classes, which tell a model nothing and are paid for
    in every call.
    """
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    unsaid = _UNSAID | {"description"} if "properties" in schema else _UNSAID
    kept = {name: closed(each) for name, each in schema.items() if name not in unsaid or isinstance(each, dict)}
    if kept.get("type") == "object" and "properties" in kept:
        kept.setdefault("additionalProperties", False)
        kept["required"] = list(kept["properties"])
    return kept
