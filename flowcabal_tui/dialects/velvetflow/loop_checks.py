"""What is wrong with the parameters of VelvetFlow's loops, their bodies apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.loops import KINDS
from flowcabal_tui.dialects.velvetflow.schemas import Names, entries_of, inside_loop, path_of, well_formed
from flowcabal_tui.dialects.velvetflow.value_checks import check_bindings, types_at
from flowcabal_tui.domain import conditions
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.schemas import follow_field, item_types
from flowcabal_tui.domain.workflow import Finding
from flowcabal_tui.locale import _

PARAMS: Final = (
    *("loop_kind", "source", "condition", "item_alias", "body_subgraph", "exports", "accumulator", "max_iterations"),
)
_NUMERIC: Final = ("sum", "avg", "min", "max")
_NUMBERS: Final = frozenset(("number", "integer"))


def body_of(node: Document) -> Document:
    """The body of a loop; empty for other nodes, and when there is none."""
    body = node["params"].get("body_subgraph") if node.get("type") == "loop" else None
    return body if isinstance(body, dict) else {}


def check(node: Document, names: Names, inside: Names) -> Iterator[Finding]:
    """Findings of one loop; `inside` are the names of its body, the nodes there included."""
    params = node["params"]
    if not well_formed(body_of(node).get("nodes")):
        yield Finding(code="INVALID_LOOP_BODY", message=_("The body has no nodes."), field="body_subgraph.nodes")
        return
    if "exports" in body_of(node):
        said = _("What a loop exports stands in params.exports, not in the body.")
        yield Finding(code="INVALID_SCHEMA", message=said, field="body_subgraph.exports")
    yield from _kind(node, names)
    for key in params:
        if key not in PARAMS:
            said = _("{name} means nothing in a loop.").format(name=key)
            yield Finding(code="UNKNOWN_PARAM", message=said, field=key)
    limit = params.get("max_iterations", 1)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        yield _mismatch("max_iterations", _("It must be a whole number from 1."))
    yield from _exports(params.get("exports"), [one["id"] for one in well_formed(body_of(node)["nodes"])], inside)


def _kind(node: Document, names: Names) -> Iterator[Finding]:
    params = node["params"]
    kind = params.get("loop_kind")
    if not kind:
        yield _missing("loop_kind", _("A loop needs a loop_kind: for_each or while."))
    elif kind not in ("for_each", "while"):
        yield _mismatch("loop_kind", _("{kind} is no kind of loop: for_each or while.").format(kind=str(kind)[:60]))
    if kind == "while":
        if not isinstance(params.get("condition"), dict):
            yield _missing("condition", _("A loop of the kind while needs a condition."))
        else:
            yield from conditions.check_shape(params["condition"], location="condition", dialect="velvetflow")
            for place, path in conditions.paths_in(params["condition"], location="condition"):
                yield from check_bindings({"__from__": path}, inside_loop(node, names), place)
        return
    yield from _source(params.get("source"), names)
    if not params.get("item_alias"):
        yield _missing("item_alias", _("A loop needs an item_alias: the name of the item in the body."))


def _source(source: Any, names: Names) -> Iterator[Finding]:
    if source is None or source == "":
        yield _missing("source", _("A loop needs a source: the list that it goes through."))
    elif isinstance(source, (int, float)):
        yield _mismatch("source", _("The source must be a path, a binding or a list."))
    elif path := path_of(source):
        found = list(check_bindings({"__from__": path}, names, "source"))
        yield from found
        types = types_at(path, names)
        if not found and types and "array" not in types:
            yield _mismatch("source", _("{path} is no list but {types}.").format(path=path, types=" / ".join(types)))
    else:
        yield from check_bindings(source, names, "source")


def _exports(exports: Any, body: list[str], inside: Names) -> Iterator[Finding]:
    if exports is None:
        return
    if not isinstance(exports, dict):
        yield _mismatch("exports", _("exports must be an object."))
        return
    items, aggregates = exports.get("items"), exports.get("aggregates")
    if isinstance(items, dict):
        yield from _items(items, body, inside)
    elif items is not None and not isinstance(items, str):
        yield _mismatch("exports.items", _("{name} must be an object.").format(name="exports.items"))
    if isinstance(aggregates, list):
        for number, one in enumerate(aggregates):
            yield from _aggregate(one, f"exports.aggregates[{number}]", body, inside)
        names = Counter(
            one.get("name") for one in aggregates if isinstance(one, dict) and isinstance(one.get("name"), str)
        )
        for name, count in names.items():
            if count > 1:
                said = _("{n} aggregates are called {name}.").format(n=count, name=name)
                yield Finding(code="DUPLICATE_SYMBOL", message=said, field="exports.aggregates")
    elif aggregates is not None and not isinstance(aggregates, str):
        yield _mismatch("exports.aggregates", _("{name} must be a list.").format(name="exports.aggregates"))
    for name, text in exports.items():
        if isinstance(text, str):
            yield from check_bindings(text, inside, f"exports.{name}")


def _items(items: Document, body: list[str], inside: Names) -> Iterator[Finding]:
    place, source, fields = "exports.items", items.get("from_node"), items.get("fields")
    if source not in body:
        yield _not_in_body(f"{place}.from_node", source, body)
        return
    if items.get("mode") not in (None, "collect", "first", "last"):
        yield _mismatch(f"{place}.mode", _("It must be one of: {names}").format(names="collect, first, last"))
    if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
        if fields is not None:
            yield _mismatch(f"{place}.fields", _("The fields must be a list of names."))
        return
    if NodeId(str(source)) not in inside.nodes:
        said = _("{node} leaves no result whose fields could be taken.").format(node=source)
        yield _mismatch(f"{place}.fields", said)
    whole = entries_of(items, inside)
    for name in fields if whole else ():
        if whole and isinstance(found := follow_field(whole, name, path=str(source)), Finding):
            yield found.model_copy(update={"field": f"{place}.fields"})


def _aggregate(one: Any, place: str, body: list[str], inside: Names) -> Iterator[Finding]:
    if not isinstance(one, dict):
        yield _mismatch(place, _("An aggregate must be an object."))
        return
    expression = one["expr"] if isinstance(one.get("expr"), dict) else {}
    kind = expression.get("kind") or one.get("kind")
    if kind not in KINDS or (one.get("kind") is not None and one["kind"] not in KINDS):
        yield _mismatch(f"{place}.kind", _("It must be one of: {names}").format(names=", ".join(KINDS)))
        return
    if not isinstance(one.get("name"), str) or not one["name"]:
        yield _missing(f"{place}.name", _("An aggregate needs a name."))
    source, name = one.get("from_node"), expression.get("field")
    if source not in body:
        yield _not_in_body(f"{place}.from_node", source, body)
        return
    if kind == "count_if" and "value" not in expression:
        yield _missing(f"{place}.expr.value", _("count_if needs field, op and value: value is missing."))
    whole = inside.nodes.get(NodeId(str(source)))
    if not isinstance(name, str) or not whole or name == "length":
        return
    found = follow_field(whole, name, path=str(source), field=f"{place}.expr.field")
    if isinstance(found, Finding):
        yield found
    elif kind in _NUMERIC and (types := item_types(found)) and not types & _NUMBERS:
        said = _("{name} is {types}; {kind} needs numbers.")
        yield _mismatch(f"{place}.expr.field", said.format(name=name, types=" / ".join(types), kind=kind))


def _not_in_body(place: str, node: Any, body: list[str]) -> Finding:
    said = _("{node} is not in the body. Nodes: {names}")
    return _mismatch(place, said.format(node=str(node)[:80], names=", ".join(body[:20])))


def _missing(place: str, message: str) -> Finding:
    return Finding(code="MISSING_REQUIRED_PARAM", message=message, field=place)


def _mismatch(place: str, message: str) -> Finding:
    return Finding(code="SCHEMA_MISMATCH", message=message, field=place)
