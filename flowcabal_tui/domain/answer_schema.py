"""Answers in a fixed shape, and their JSON Schema as a model receives it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

_OMITTED: Final = frozenset({"title", "default"})
LONGEST_TEXT: Final = 400
"""Limit of a sentence or quotation, in characters: a server that enforces the schema stops a model that repeats
itself."""


def short_text(**how: Any) -> Any:
    """A text field whose schema asks for at most `LONGEST_TEXT` characters; longer texts are accepted too."""
    return Field(**how, json_schema_extra={"maxLength": LONGEST_TEXT})


def long_text(**how: Any) -> Any:
    """Like `short_text`, for text that replaces a passage of the book: the limit is three times as high."""
    return Field(**how, json_schema_extra={"maxLength": 3 * LONGEST_TEXT})


def few(most: int, **how: Any) -> Any:
    """A list whose schema asks for at most `most` items, since a model may repeat itself; more are accepted."""
    return Field(**how, json_schema_extra={"maxItems": most})


class StructuredAnswer(BaseModel):
    """A structured answer that may be partly unreadable.

    `unread` names the unreadable parts: a field, or an item such as `findings[2]`. It is not part of the schema.
    """

    unread: SkipJsonSchema[tuple[str, ...]] = ()


def shape_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The schema of `shape` as pydantic writes it, as a new copy: writing it takes 10 ms and more."""
    found: dict[str, Any] = json.loads(_schema_text(shape))
    return found


@lru_cache(64)
def _schema_text(shape: type[BaseModel]) -> str:
    return json.dumps(shape.model_json_schema())


def answer_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The schema of `shape`, closed, as a new copy."""
    found: dict[str, Any] = json.loads(_closed_text(shape))
    return found


@lru_cache(64)
def _closed_text(shape: type[BaseModel]) -> str:
    return json.dumps(closed(shape_schema(shape)))


def closed(schema: Any) -> Any:
    """The schema with every property required and no further ones allowed, as native modes demand.

    Leaves out titles, defaults and class docstrings of pydantic: they do not help a model and cost tokens in every
    call.
    """
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    omitted = _OMITTED | {"description"} if "properties" in schema else _OMITTED
    kept = {name: closed(each) for name, each in schema.items() if name not in omitted or isinstance(each, dict)}
    if kept.get("type") == "object" and "properties" in kept:
        kept.setdefault("additionalProperties", False)
        kept["required"] = list(kept["properties"])
    return kept


def tool_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The schema of `shape` as the parameters of a tool, with definitions inlined.

    Further properties are not ruled out, since a shape ignores them. This makes it shorter than `answer_schema`, which
    matters because tools are part of every prompt.
    """
    schema = answer_schema(shape)
    found: dict[str, Any] = _inlined(schema, schema.pop("$defs", {}))
    return found


def _inlined(schema: Any, named: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        return _inlined(named[reference.rpartition("/")[2]], named)
    return {name: _inlined(each, named) for name, each in schema.items() if name != "additionalProperties"}
