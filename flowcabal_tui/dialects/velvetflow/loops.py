"""VelvetFlow's loops: their repetition, and their exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.places import Places, Telling
from flowcabal_tui.dialects.velvetflow.references import BindingReferences, NameScope
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import is_binding
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import RESULT
from flowcabal_tui.locale import _

KINDS: Final = ("count", "count_if", "sum", "avg", "min", "max")
"""The aggregates of VelvetFlow's loops."""
_RESERVED: Final = ("loop", "index", "size", "accumulator", "result_of", "state", "input", "chapter", "project")
_KNOWN: Final = (
    *("loop_kind", "source", "condition", "item_alias", "body_subgraph", "exports", "accumulator", "max_iterations"),
)
_FIELDS: Final = (
    *(("mode", "loop_kind"), ("item", "item_alias"), ("body", "body_subgraph"), ("body.exit", "body_subgraph.exit")),
    ("accumulator.initial", "accumulator"),
)


class Reader(Protocol):
    """The parts of the reader that a loop needs."""

    references: BindingReferences
    telling: Telling
    places: Places

    def condition(self, params: Mapping[str, Any], scope: NameScope, place: str) -> Document: ...

    def body(self, body: Mapping[str, Any], scope: NameScope, place: str, path: str, field: str) -> Document | None: ...

    def placeholder(self, node: Document, path: str) -> Document: ...


def read(reader: Reader, node: Document, scope: NameScope, place: str, path: str) -> Document:
    """Our loop, as a node without id and name."""
    params, at, here = node["params"], f"{place}.params", path + node["id"]
    given = params.get("body_subgraph")
    body = given if isinstance(given, dict) else {}
    inside = _inside(reader, node, scope, at)
    holds = params.get("loop_kind") == "while" and (
        isinstance(params.get("condition"), dict) or not params.get("source")
    )
    made: Document = {"mode": "while" if holds else "for_each"}
    fields = list(_FIELDS)
    repeated = reader.body(body, inside, f"{at}.body_subgraph.", f"{here}/", "body.")
    if repeated is None:
        return reader.placeholder(node, here)
    _kind(reader, params, at)
    seen = inside.within(*names_of(body.get("nodes")))
    if made["mode"] == "while":
        if isinstance(params.get("condition"), dict):
            made["condition"] = reader.condition(params["condition"], seen, f"{at}.condition")
        if params.get("source") is not None:
            reader.telling.note("lost", f"{at}.source", _("A loop of the mode while has no source."))
    elif params.get("source") not in (None, ""):
        made["source"] = reader.references.source(params["source"], scope, f"{at}.source")
    if (alias := _alias(params)) and made["mode"] == "for_each":
        made["item"] = alias
    made["body"] = repeated
    if exports := _Exports(reader, seen, f"{at}.exports", fields).read(params.get("exports"), body):
        made["exports"] = exports
    if isinstance(params.get("accumulator"), dict) and params["accumulator"]:
        initial = reader.references.value(params["accumulator"], scope, f"{at}.accumulator")
        made["accumulator"] = {"initial": initial}
    if params.get("max_iterations") is not None:
        made["max_iterations"] = _limit(reader, params["max_iterations"], at)
    for key in (one for one in params if one not in _KNOWN):
        reader.telling.wrong("UNKNOWN_PARAM", f"{at}.{key}", _("{name} has no meaning in a loop.").format(name=key))
    reader.places.node(here, node["id"], fields)
    return {"kind": "loop", "params": made}


def _jinja_exports(node: Mapping[str, Any]) -> frozenset[str]:
    """The names of exports in today's form, `{name: "{{...}}"}`."""
    params = node.get("params")
    exports = params.get("exports") if isinstance(params, dict) else None
    if node.get("type") != "loop" or not isinstance(exports, dict):
        return frozenset()
    return frozenset(name for name, value in exports.items() if _is_today(name, value))


def _is_today(name: str, value: Any) -> bool:
    return isinstance(value, str) or (is_binding(value) and name not in ("items", "aggregates"))


def _inside(reader: Reader, node: Document, scope: NameScope, place: str) -> NameScope:
    """The names that the body can use, except its own nodes."""
    params = node["params"]
    alias = _alias(params)
    if isinstance(given := params.get("item_alias"), str) and given in _RESERVED:
        message = _("{name} is reserved; the item is called item.").format(name=given)
        reader.telling.note("changed", f"{place}.item_alias", message)
    names = {"loop", "item", "index", "size"} | ({alias} if alias else set())
    return NameScope(scope.types, scope.exports, scope.names | names, (*scope.loops, node["id"]))


def names_of(given: Any) -> tuple[dict[NodeId, str], dict[NodeId, frozenset[str]]]:
    """The types of the nodes of a graph, and the names that its loops in the current form export."""
    many = given if isinstance(given, list) else []
    nodes = [one for one in many if isinstance(one, dict) and isinstance(one.get("id"), str)]
    exports = {NodeId(one["id"]): names for one in nodes if (names := _jinja_exports(one))}
    return {NodeId(one["id"]): str(one.get("type")) for one in nodes}, exports


def _kind(reader: Reader, params: Document, place: str) -> None:
    """Reports missing or wrong fields of a loop that VelvetFlow requires and this program would supply."""
    kind = params.get("loop_kind")
    if not kind:
        message = _("A loop needs a loop_kind: for_each or while.")
        reader.telling.wrong("MISSING_REQUIRED_PARAM", f"{place}.loop_kind", message)
    elif kind not in ("for_each", "while"):
        message = _("{kind} is not a kind of loop: for_each or while.").format(kind=str(kind)[:60])
        reader.telling.wrong("SCHEMA_MISMATCH", f"{place}.loop_kind", message)
    if kind == "while" and params.get("source") and not isinstance(params.get("condition"), dict):
        message = _("A loop of the kind while needs a condition.")
        reader.telling.wrong("MISSING_REQUIRED_PARAM", f"{place}.condition", message)
    if kind != "while" and not params.get("item_alias"):
        message = _("A loop needs an item_alias: the name of the item in the body.")
        reader.telling.wrong("MISSING_REQUIRED_PARAM", f"{place}.item_alias", message)


def _limit(reader: Reader, limit: Any, place: str) -> Any:
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        message = _("It must be a whole number from 1.")
        reader.telling.wrong("SCHEMA_MISMATCH", f"{place}.max_iterations", message)
        return 100
    return limit


def _alias(params: Mapping[str, Any]) -> str:
    alias = params.get("item_alias")
    return alias if isinstance(alias, str) and alias != "item" and alias not in _RESERVED else ""


class _Exports:
    """Reads the exports of a loop; `scope` contains the nodes of its body."""

    def __init__(self, reader: Reader, scope: NameScope, place: str, fields: list[tuple[str, str]]) -> None:
        self.reader, self.scope, self.place, self.fields = reader, scope, place, fields
        self.aggregates: list[Document] = []

    def wrong(self, code: str, place: str, message: str) -> None:
        self.reader.telling.wrong(code, f"{self.place}{place}", message)

    def read(self, exports: Any, body: Document) -> Document:
        if not isinstance(exports, dict):
            if exports is not None:
                self.wrong("SCHEMA_MISMATCH", "", _("exports must be an object."))
            return {}
        ids = [one["id"] for one in body["nodes"] if isinstance(one, dict) and isinstance(one.get("id"), str)]
        made: Document = {}
        for name, value in exports.items():
            if _is_today(name, value):
                self.collected(name, value)
            elif name == "items":
                if items := self.items(value, ids):
                    made["items"] = items
            elif name == "aggregates":
                self.listed(value, ids)
            else:
                self.wrong("SCHEMA_MISMATCH", f".{name}", _("It must be a text with a path in braces, or a binding."))
        return made | ({"aggregates": self.aggregates} if self.aggregates else {})

    def items(self, items: Any, ids: list[str]) -> Document:
        if not isinstance(items, dict):
            if items is not None:
                self.wrong("SCHEMA_MISMATCH", ".items", _("{name} must be an object.").format(name="exports.items"))
            return {}
        known = ("from_node", "fields", "mode", "list_field")
        made = {key: items[key] for key in known if items.get(key) is not None}
        for key in (one for one in items if one not in known):
            message = _("{name} has no meaning here.").format(name=key)
            self.reader.telling.note("lost", f"{self.place}.items.{key}", message)
        if made.get("mode") not in (None, "collect", "first", "last"):
            message = _("It must be one of: {names}").format(names="collect, first, last")
            self.wrong("SCHEMA_MISMATCH", ".items.mode", message)
            del made["mode"]
        fields = made.get("fields", [])
        if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
            self.wrong("SCHEMA_MISMATCH", ".items.fields", _("The fields must be a list of names."))
            del made["fields"]
        if made.get("from_node") not in ids:
            self.not_in_body(".items.from_node", made.get("from_node"), ids)
            return {}
        if not isinstance(made.get("list_field", ""), str):
            self.wrong("SCHEMA_MISMATCH", ".items.list_field", _("It must be the name of a field."))
            del made["list_field"]
        return made

    def listed(self, aggregates: Any, ids: list[str]) -> None:
        if not isinstance(aggregates, list):
            if aggregates is not None:
                message = _("{name} must be a list.").format(name="exports.aggregates")
                self.wrong("SCHEMA_MISMATCH", ".aggregates", message)
            return
        for number, one in enumerate(aggregates):
            at = f".aggregates[{number}]"
            if not isinstance(one, dict):
                self.wrong("SCHEMA_MISMATCH", at, _("An aggregate must be an object."))
            elif made := self.aggregate(one, ids, at):
                field = f"exports{at}"
                self.add(made, ((".source", f"{field}.from_node"), (".field", f"{field}.expr.field"), ("", field)))

    def add(self, made: Document, fields: tuple[tuple[str, str], ...]) -> None:
        ours = f"exports.aggregates[{len(self.aggregates)}]"
        self.fields += [(ours + inside, theirs) for inside, theirs in fields]
        self.aggregates.append(made)

    def collected(self, name: str, value: Any) -> None:
        """An export in today's form."""
        at = f"{self.place}.{name}"
        self.reader.telling.note("changed", at, _("It is an aggregate of the kind collect."))
        if isinstance(value, str) and "{" not in value:
            source = self.reader.references.source(value, self.scope, at)
        else:
            source = self.reader.references.value(value, self.scope, at)
        field = f"exports.{name}"
        self.add({"name": name, "kind": "collect", "source": source}, ((".source", field), ("", field)))

    def aggregate(self, given: Mapping[str, Any], ids: list[str], at: str) -> Document | None:
        expression = given["expr"] if isinstance(given.get("expr"), dict) else {}
        kind = expression.get("kind") or given.get("kind")
        possible = (*KINDS, "join", "collect")
        if kind not in possible or (given.get("kind") is not None and given["kind"] not in possible):
            message = _("It must be one of: {names}").format(names=_(", ").join(KINDS))
            self.wrong("SCHEMA_MISMATCH", f"{at}.kind", message)
            return None
        if not isinstance(given.get("name"), str) or not given["name"]:
            self.wrong("MISSING_REQUIRED_PARAM", f"{at}.name", _("An aggregate needs a name."))
            return None
        node, source, named = given.get("from_node"), given.get("source"), expression.get("field")
        if node not in ids and (node is not None or not isinstance(source, (str, dict))):
            self.not_in_body(f"{at}.from_node", node, ids)
            return None
        if kind == "count_if" and "value" not in expression:
            message = _("count_if needs field, op and value: value is missing.")
            self.wrong("MISSING_REQUIRED_PARAM", f"{at}.expr.value", message)
        if isinstance(source, (str, dict)) and not named:
            read = self.from_source(source, node, f"{self.place}{at}.source")
        else:
            read = f"{RESULT}.{node}"
        made = {"name": given["name"], "kind": kind, "source": read, "field": named}
        made |= {key: expression[key] for key in ("op", "value", "sep") if key in expression}
        return {key: value for key, value in made.items() if value is not None or key == "value"}

    def from_source(self, source: Any, node: Any, place: str) -> Any:
        """A source of its own: a path, or a field of `from_node`."""
        if isinstance(source, dict) or "{" in source:
            return self.reader.references.source(source, self.scope, place)
        known = paths.unwrap(source).partition(".")[0] in (RESULT, *self.scope.names, *self.scope.types)
        return self.reader.references.source(source, self.scope, place) if known else f"{RESULT}.{node}.{source}"

    def not_in_body(self, place: str, node: Any, ids: list[str]) -> None:
        message = _("{node} is not in the body. Nodes: {names}")
        self.wrong("SCHEMA_MISMATCH", place, message.format(node=str(node)[:80], names=_(", ").join(ids[:20])))
