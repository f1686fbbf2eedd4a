"""The parameters of a new node: the minimum that its kind can read, from the kind's JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flowcabal_tui.nodes.registry import kind_named

Schema = Mapping[str, Any]


def starter(kind: str) -> dict[str, Any]:
    """Params with every required field; validation reports those that are still to be filled in."""
    found = kind_named(kind)
    if found is None:
        return {}
    schema = found.params.model_json_schema()
    made: dict[str, Any] = _least(schema, schema.get("$defs", {}))
    return made


def resolved(schema: Schema, known: Schema) -> Schema:
    """A schema with its reference followed and without the null of an optional field."""
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(options) == 1:
        return {**{key: value for key, value in schema.items() if key != "anyOf"}, **resolved(options[0], known)}
    if isinstance(name := schema.get("$ref"), str):
        return {**known.get(name.rpartition("/")[2], {}), **{key: schema[key] for key in schema if key != "$ref"}}
    return schema


def _least(schema: Schema, known: Schema) -> Any:
    schema = resolved(schema, known)
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            made = {name: _least(schema["properties"][name], known) for name in schema.get("required", ())}
            if schema.get("minProperties") and not made:
                made["a"] = _least(schema.get("additionalProperties", {}), known)
            return made
        case "array":
            return [_least(schema["items"], known) for _number in range(schema.get("minItems", 0))]
        case "string":
            return "step"[: schema.get("minLength", 0) * len("step")]
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return None
