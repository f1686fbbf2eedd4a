"""The contents of a workflow document, as JSON Schema and in words, both made from the kinds themselves."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from flowcabal_tui.domain.errors import WorkflowError, available
from flowcabal_tui.domain.workflow import Body, Edge, Keep, Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.registry import kinds

JsonSchema = dict[str, Any]
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DEFAULT: Final = "prompt"
"""The kind of a node that does not name one."""
_SHARED: Final = frozenset(("Body", "TextBlock", "VirtualBlock", "InquiryBlock"))
"""Models that the page explains once."""


def workflow_schema() -> JsonSchema:
    """The JSON Schema (draft 2020-12) of a document: a node's params are those of its kind, in bodies too."""
    models: list[type[BaseModel]] = [Workflow, *(kind.params for kind in kinds().values())]
    found, whole = models_json_schema([(model, "validation") for model in models], ref_template="#/$defs/{model}")
    definitions = whole["$defs"]
    node = definitions.pop("Node")
    names = []
    for kind in kinds().values():
        names.append(name := f"{kind.name}-node")
        definitions[name] = _node_schema(node, kind, found[(kind.params, "validation")])
    definitions["Node"] = {
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "discriminator": {"propertyName": "kind"},
    }
    return {"$schema": _DIALECT, "title": "Workflow", **found[(Workflow, "validation")], "$defs": definitions}


def _node_schema(node: JsonSchema, kind: NodeKind, params: JsonSchema) -> JsonSchema:
    fields = {**node["properties"], "kind": {"const": kind.name, "default": kind.name}, "params": params}
    needed = [*node["required"], *([] if kind.name == _DEFAULT else ["kind"])]
    if any(field.is_required() for field in kind.params.model_fields.values()):
        needed.append("params")
    return {**node, "description": _sentence(kind), "properties": fields, "required": needed}


def kind_schema(name: str) -> JsonSchema:
    """The JSON Schema of the params of one kind. Raises WorkflowError that names the nearest."""
    kind = _kind(name)
    return {"$schema": _DIALECT, **kind.params.model_json_schema(), "title": name, "description": _sentence(kind)}


def help_text(name: str | None = None) -> str:
    """One kind, or all of them, in words, as Markdown. Raises WorkflowError for an unknown kind."""
    found = [_kind(name)] if name else list(kinds().values())
    return "\n".join(line for kind in found for line in _described(kind))


def model_table(name: str) -> str:
    """The fields of a part of the document, such as "Edge", as a table in Markdown."""
    found: dict[str, type[BaseModel]] = {one.__name__: one for one in (Workflow, Node, Edge, Body, Keep)}
    return "\n".join(_table(found[name], {})).rstrip()


def _kind(name: str) -> NodeKind:
    if name not in kinds():
        close = nearest(name, tuple(kinds()))
        raise WorkflowError(
            _("There is no kind {kind}.").format(kind=name[:60]),
            available(kinds()),
            _("Did you mean {near}?").format(near=close) if close else "",
        )
    return kinds()[name]


def _sentence(kind: NodeKind) -> str:
    return f"{_doc(kind.params)} {_doc(type(kind))}".strip()


def _doc(documented: type[Any]) -> str:
    own = documented.__doc__ or ""
    return " ".join(inspect.cleandoc(own).split())


def _described(kind: NodeKind) -> Iterator[str]:
    yield from (f"## {kind.name}", "", _sentence(kind), "")
    if kind.joins:
        yield from ("It runs also when some of its sources were skipped.", "")
    if not kind.params.model_fields:
        yield from ("It has no parameters.", "")
        return
    seen: dict[str, type[BaseModel]] = {}
    yield from _table(kind.params, seen)
    done: set[str] = set()
    while rest := [name for name in seen if name not in done]:
        done.add(rest[0])
        yield from (f"### {kind.name}: {rest[0]}", "", _doc(seen[rest[0]]), "")
        yield from _table(seen[rest[0]], seen)


def _table(model: type[BaseModel], seen: dict[str, type[BaseModel]]) -> Iterator[str]:
    schema = model.model_json_schema()
    seen |= {name: one for name, one in _inner(model) if name not in seen}
    yield from ("| field | type | default | what it is |", "| --- | --- | --- | --- |")
    for name, field in schema.get("properties", {}).items():
        words = field.get("description", "").replace("|", "\\|")
        cells = (f"`{name}`", _type(field), _default(model.model_fields[name]), words)
        yield f"| {' | '.join(cells)} |"
    yield ""


def _inner(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The models in the fields of a model."""
    for field in model.model_fields.values():
        waiting: list[Any] = [field.annotation]
        while waiting:
            one = waiting.pop()
            if isinstance(one, type) and issubclass(one, BaseModel):
                if one.__name__ not in _SHARED:
                    yield one.__name__, one
            else:
                waiting += getattr(one, "__args__", ())


def _default(field: FieldInfo) -> str:
    """The default as JSON; "" for None and for empty values."""
    if field.is_required():
        return "needed"
    default = field.get_default(call_default_factory=True)
    if default in (None, "", (), [], {}) or isinstance(default, BaseModel):
        return ""
    return f"`{json.dumps(default, ensure_ascii=False)}`"


def _type(field: JsonSchema) -> str:
    """A field's type in a word or two."""
    if "enum" in field or "const" in field:
        return ", ".join(f"`{one}`" for one in field.get("enum", [field.get("const")]))
    if reference := field.get("$ref"):
        name = str(reference).rpartition("/")[2]
        return "graph" if name == "Body" else name
    if options := field.get("anyOf") or field.get("oneOf"):
        kept = [_type(one) for one in options if one.get("type") != "null"]
        return "block" if set(kept) <= _SHARED else " or ".join(dict.fromkeys(kept))
    kind = str(field.get("type", "any"))
    if kind == "array":
        return f"list of {_type(field.get('items', {}))}"
    if kind == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    bounds = [f"{sign} {field[key]}" for key, sign in (("minimum", "≥"), ("maximum", "≤")) if key in field]
    names = {"string": "text", "integer": "whole number", "boolean": "true or false", "any": "any"}
    return " ".join((names.get(kind, kind), *bounds))
