"""Checks paths against the JSON Schemas of node outputs before a run."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.errors import BindingError, available
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import RESULT, Part, Path
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _

Schema = Mapping[str, Any]
ANYTHING: Final[Schema] = {}
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
_DEFINITIONS: Final = ("$defs", "definitions")
_MAX_COMPARED: Final = 300
"""The number of names compared for the nearest one, which takes milliseconds for each error."""
_MAX_OPTIONS: Final = 200
_WITH_LENGTH: Final = frozenset(("array", "string", "object"))


class _Mismatch(Exception):
    def __init__(self, reason: str, index: int, known: tuple[str, ...] = ()) -> None:
        self.reason, self.index, self.known = reason, index, known


def check_path(
    path: str,
    schemas: Mapping[NodeId, Schema | None],
    *,
    roots: Mapping[str, Schema | None] | None = None,
    field: str = "",
) -> Problem | None:
    """The error in a path; None when the schemas show none. See `follow`."""
    found = follow(path, schemas, roots=roots, field=field)
    return found if isinstance(found, Problem) else None


def follow(
    path: str,
    schemas: Mapping[NodeId, Schema | None],
    *,
    roots: Mapping[str, Schema | None] | None = None,
    field: str = "",
) -> Schema | Problem:
    """The JSON Schema of the value of a path (empty: anything), or the error in the path.

    `schemas` holds the schema of every node that may be referred to (None: anything); `roots` the other names (`loop`,
    an alias, `state`), or None to leave those unchecked. `field` goes into the finding.
    """
    try:
        read = paths.parse(path)
    except BindingError as error:
        return Problem(code="SCHEMA_MISMATCH", message=error.title, field=field)
    try:
        if read.root == RESULT:
            return _follow_node(read, schemas)
        if roots is None:
            return ANYTHING
        if read.root not in roots:
            known = (RESULT, *roots)
            raise _Mismatch(_("Nothing here is named {name}.").format(name=read.parts[0]), 0, known)
        return _walk(read, 1, roots[read.root] or ANYTHING)
    except _Mismatch as mismatch:
        names = _(", ").join(mismatch.known[:20])
        return Problem(
            code="SCHEMA_MISMATCH",
            message=f"{read}: {mismatch.reason}" + (" " + _("Available: {names}").format(names=names) if names else ""),
            field=field,
            fix=_fix(read, mismatch, schemas),
        )
    except BindingError as error:
        return Problem(code="SCHEMA_MISMATCH", message=f"{error.title} {error.detail}", field=field)


def follow_field(schema: Schema, name: str, *, path: str, field: str = "") -> Schema | Problem:
    """The schema of the field `name` in the value of `path`, or in each of its items; or the error."""
    try:
        parts = paths.parse(name).parts
        return _walk(Path((path, *parts)), 1, schema)
    except BindingError as error:
        return Problem(code="SCHEMA_MISMATCH", message=error.title, field=field)
    except _Mismatch as mismatch:
        close = difflib.get_close_matches(str(parts[mismatch.index - 1]), mismatch.known, 1)
        names = " " + available(mismatch.known[:20]) if mismatch.known else ""
        message = _("{path} has no field {name}.").format(path=path, name=name) + names
        return Problem(code="SCHEMA_MISMATCH", message=message, field=field, fix="".join(close))


def item_types(schema: Schema) -> frozenset[str]:
    """The JSON types of a value, or of the items if it is a list; empty when unknown."""
    found: set[str] = set()
    for option in options_of(schema, schema):
        types, items = types_of(option), option.get("items")
        if "array" in types and isinstance(items, Mapping):
            types = frozenset(one for inner in options_of(items, schema) for one in types_of(inner)) | (
                types - {"array"}
            )
        if not types or "array" in types:
            return frozenset()
        found |= types
    return frozenset(found)


def _follow_node(path: Path, schemas: Mapping[NodeId, Schema | None]) -> Schema:
    named = paths.node_of(path, schemas)
    if named is None:
        raise _Mismatch(_("result_of needs the name of a node."), 1, tuple(schemas))
    node, used = named
    if node not in schemas:
        raise _Mismatch(
            _("There is no node {name} whose result can be read here.").format(name=node), 1, tuple(schemas)
        )
    schema = schemas[node]
    if schema is None:
        return ANYTHING
    parts = _completed(path, used, schema)
    return _walk(Path((*path.parts[:used], *parts)), used, schema)


def _fix(path: Path, mismatch: _Mismatch, schemas: Mapping[NodeId, Schema | None]) -> str:
    """The path with the nearest existing name; empty when none is near."""
    if mismatch.index == 0 and path.root in schemas:
        return paths.shown((RESULT, *path.parts))
    if mismatch.index >= len(path.parts):
        return ""
    if len(mismatch.known) > _MAX_COMPARED:
        return ""
    close = difflib.get_close_matches(str(path.parts[mismatch.index]), mismatch.known, 1)
    if not close:
        return ""
    return paths.shown((*path.parts[: mismatch.index], close[0], *path.parts[mismatch.index + 1 :]))


def _completed(path: Path, used: int, schema: Schema) -> tuple[Part, ...]:
    """The parts after the node, completed by the omitted `items` or `aggregates` of a loop; see `paths.completed`."""
    parts, fields = path.parts[used:], _properties(schema)
    if not parts or "iterations" not in fields:
        return parts
    if parts[0] == "exports":
        return parts if len(parts) > 1 and parts[1] in _properties(fields.get("exports")) else parts[1:]
    if parts[0] in fields:
        return parts
    items = fields.get("items")
    inside = {
        "items": _properties(items.get("items") if isinstance(items, Mapping) else None),
        "aggregates": _properties(fields.get("aggregates")),
    }
    choices = [name for name, there in inside.items() if parts[0] in there]
    if len(choices) > 1:
        raise paths.ambiguous(path, parts[0])
    return (*choices, *parts)


def _properties(schema: Any) -> Mapping[str, Any]:
    fields = schema.get("properties") if isinstance(schema, Mapping) else None
    return fields if isinstance(fields, Mapping) else ANYTHING


def _walk(path: Path, start: int, schema: Schema) -> Schema:
    """`schema` followed along the parts of `path` from `start`; raises _Mismatch."""
    top, options = schema, [schema]
    for index in range(start, len(path.parts)):
        part, where = path.parts[index], paths.shown(path.parts[:index])
        known: dict[str, None] = {}
        length = part == paths.LENGTH and paths.has_length(path, index)
        inner = (one for option in options for one in _step(option, part, top, known, length=length))
        options = list(islice(inner, _MAX_OPTIONS))
        if not options:
            raise _Mismatch(_reason(where, part, known), index, tuple(known))
        if any(not option for option in options):
            return ANYTHING
    found = options[0] if len(options) == 1 else {"anyOf": options}
    return {**found, **{key: top[key] for key in _DEFINITIONS if key in top}}


def _reason(where: str, part: Part, known: Mapping[str, None]) -> str:
    if isinstance(part, int):
        return _("{where} is not a list.").format(where=where)
    if not known:
        return _("{where} has no fields.").format(where=where)
    return _("{where} has no field {name}.").format(where=where, name=part)


def _step(schema: Schema, part: Part, top: Schema, known: dict[str, None], *, length: bool) -> Iterator[Schema]:
    """The possible schemas of a field or an index of `schema`; adds the existing fields to `known`.

    A field of a list is the list of that field of its objects, as in `paths.look_up`.
    """
    for option in options_of(schema, top):
        types = types_of(option)
        if not types:
            yield ANYTHING
        if "array" in types:
            items = option.get("items")
            inner = items if isinstance(items, Mapping) else ANYTHING
            if isinstance(part, int):
                yield inner
            else:
                yield from ({"type": "array", "items": one} for one in _fields(inner, part, top, known))
        if isinstance(part, str) and "object" in types:
            yield from _field(option, part, known)
        if length and types & _WITH_LENGTH and not _has_field(option, paths.LENGTH):
            yield {"type": "integer"}


def _has_field(schema: Schema, name: str) -> bool:
    """True when an object of this schema, or an item of such a list, declares a field of that name."""
    items = schema.get("items")
    return name in _properties(items if isinstance(items, Mapping) else schema)


def _fields(items: Schema, name: str, top: Schema, known: dict[str, None]) -> Iterator[Schema]:
    """The possible schemas of the field in those items that are objects."""
    for option in options_of(items, top):
        types = types_of(option)
        if not types:
            yield ANYTHING
        elif "object" in types:
            yield from _field(option, name, known)


def _field(schema: Schema, name: str, known: dict[str, None]) -> Iterator[Schema]:
    fields, more = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(fields, Mapping):
        known.update(dict.fromkeys(str(key) for key in fields))
        if name in fields:
            inner = fields[name]
            yield inner if isinstance(inner, Mapping) else ANYTHING
            return
    if isinstance(more, Mapping):
        yield more
    elif more is True or "patternProperties" in schema or (fields is None and more is None):
        yield ANYTHING


def types_of(schema: Schema) -> frozenset[str]:
    """The JSON types that a schema allows; empty when it does not restrict them."""
    types = schema.get("type")
    if isinstance(types, str):
        return frozenset((types,))
    if isinstance(types, (list, tuple)):
        return frozenset(str(one) for one in types)
    if "properties" in schema or "additionalProperties" in schema:
        return frozenset(("object",))
    return frozenset(("array",)) if "items" in schema else frozenset()


def options_of(schema: Schema, top: Schema) -> list[Schema]:
    """The alternatives of a schema, without `$ref`, `anyOf`, `oneOf` and `allOf`. References point into `top`."""
    found: list[Schema] = []
    waiting, seen = [schema], 0
    while waiting and seen < _MAX_OPTIONS:
        one, seen = waiting.pop(), seen + 1
        listed = [one[key] for key in _ALTERNATIVES if isinstance(one.get(key), (list, tuple))]
        inner = [part for parts in listed for part in parts if isinstance(part, Mapping)]
        if isinstance(reference := one.get("$ref"), str):
            inner.append(_referred(reference, top))
        waiting += reversed(inner)
        if not inner or "properties" in one:
            found.append(one)
    return found


def _referred(reference: str, top: Schema) -> Schema:
    place: Any = top
    for key in reference.removeprefix("#").split("/")[1:]:
        place = place.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
    return place if isinstance(place, Mapping) else ANYTHING


def literal(value: Any, *, open_text: Callable[[str], bool]) -> Schema:
    """The schema of a literal value in a document; `open_text` is true for texts with unknown values."""
    if isinstance(value, str):
        return ANYTHING if open_text(value) else {"type": "string"}
    if isinstance(value, Mapping):
        if any(key in value for key in ("__from__", "__agg__")):
            return ANYTHING
        fields = {str(key): literal(part, open_text=open_text) for key, part in value.items()}
        return {"type": "object", "properties": fields, "additionalProperties": False}
    if isinstance(value, (list, tuple)):
        kinds = [literal(part, open_text=open_text) for part in value[:_MAX_OPTIONS]]
        distinct = [one for number, one in enumerate(kinds) if one not in kinds[:number]]
        items = distinct[0] if len(distinct) == 1 else {"anyOf": distinct} if distinct else ANYTHING
        return {"type": "array", "items": ANYTHING if ANYTHING in distinct else items}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, (int, float)):
        return {"type": "integer" if isinstance(value, int) else "number"}
    return {"type": "null"} if value is None else ANYTHING
