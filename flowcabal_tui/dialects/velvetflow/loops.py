"""VelvetFlow's loops: what is repeated, and what is taken out of the rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from flowcabal_tui.dialects.report import Level
from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.references import References, Scope
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.paths import RESULT
from flowcabal_tui.locale import _

KINDS: Final = ("count", "count_if", "sum", "avg", "min", "max")
"""The aggregates of VelvetFlow's loops."""
_RESERVED: Final = ("loop", "index", "size", "accumulator", "result_of", "state", "input", "chapter", "project")
_KNOWN: Final = (
    *("loop_kind", "source", "condition", "item_alias", "body_subgraph", "exports", "accumulator", "max_iterations"),
)


class Reader(Protocol):
    """What reading a loop needs of the rest."""

    references: References

    def note(self, level: Level, place: str, message: str) -> None: ...

    def condition(self, params: Mapping[str, Any], scope: Scope, place: str) -> Document: ...

    def body(self, body: Mapping[str, Any], scope: Scope, place: str) -> Document: ...


def read(reader: Reader, node: Document, scope: Scope, place: str) -> Document:
    """The parameters of our loop. Raises DialectError."""
    params, at = node["params"], f"{place}.params"
    alias = _alias(reader, params, at)
    names = {"loop", "item", "index", "size"} | ({alias} if alias else set())
    inside = Scope(scope.types, scope.exports, scope.names | names, (*scope.loops, node["id"]))
    made: Document = {"mode": "while" if params.get("loop_kind") == "while" else "for_each"}
    if made["mode"] == "while":
        if isinstance(params.get("condition"), dict):
            made["condition"] = reader.condition(params["condition"], inside, f"{at}.condition")
        if params.get("source") is not None:
            reader.note("lost", f"{at}.source", _("A loop of the mode while has no source."))
    elif params.get("source") is not None:
        made["source"] = reader.references.source(params["source"], scope, f"{at}.source")
    if alias and made["mode"] == "for_each":
        made["item"] = alias
    body = params.get("body_subgraph")
    made["body"] = reader.body(body if isinstance(body, dict) else {}, inside, f"{at}.body_subgraph.")
    if exports := _exports(reader, params.get("exports"), inside, f"{at}.exports"):
        made["exports"] = exports
    if isinstance(params.get("accumulator"), dict) and params["accumulator"]:
        initial = reader.references.value(params["accumulator"], scope, f"{at}.accumulator")
        made["accumulator"] = {"initial": initial}
    if isinstance(params.get("max_iterations"), int):
        made["max_iterations"] = params["max_iterations"]
    for key in (one for one in params if one not in _KNOWN):
        reader.note("lost", f"{at}.{key}", _("{name} means nothing in a loop.").format(name=key))
    return made


def jinja_exports(node: Mapping[str, Any]) -> frozenset[str]:
    """The names of exports in today's form, `{name: "{{...}}"}`."""
    params = node.get("params")
    exports = params.get("exports") if isinstance(params, dict) else None
    if node.get("type") != "loop" or not isinstance(exports, dict):
        return frozenset()
    return frozenset(name for name, value in exports.items() if isinstance(value, str))


def _alias(reader: Reader, params: Mapping[str, Any], place: str) -> str:
    alias = params.get("item_alias")
    if not isinstance(alias, str) or alias == "item":
        return ""
    if alias in _RESERVED:
        said = _("{name} has a meaning of its own; the item is called item.").format(name=alias)
        reader.note("changed", f"{place}.item_alias", said)
        return ""
    return alias


def _exports(reader: Reader, exports: Any, scope: Scope, place: str) -> Document:
    if not isinstance(exports, dict):
        return {}
    made: Document = {}
    aggregates: list[Document] = []
    items = exports.get("items")
    if isinstance(items, dict):
        known = ("from_node", "fields", "mode", "list_field")
        made["items"] = {key: items[key] for key in known if items.get(key) is not None}
        if made["items"].get("mode") not in (None, "collect", "first", "last"):
            reader.note("lost", f"{place}.items.mode", _("Every round is collected."))
            del made["items"]["mode"]
    given = exports.get("aggregates")
    for number, one in enumerate(given if isinstance(given, list) else []):
        at = f"{place}.aggregates[{number}]"
        if isinstance(one, dict) and (made_of := _aggregate(reader, one, scope, at)):
            aggregates.append(made_of)
    for name, text in exports.items():
        if isinstance(text, str):
            reader.note("changed", f"{place}.{name}", _("It is an aggregate of the kind collect."))
            aggregates.append({"name": name, "kind": "collect", "source": reader.references.source(text, scope, place)})
    return made | ({"aggregates": aggregates} if aggregates else {})


def _aggregate(reader: Reader, given: Mapping[str, Any], scope: Scope, place: str) -> Document | None:
    expression = given["expr"] if isinstance(given.get("expr"), dict) else {}
    kind = expression.get("kind") or given.get("kind")
    if kind not in (*KINDS, "join", "collect"):
        reader.note("lost", place, _("{kind} is no aggregate of a loop.").format(kind=str(kind)[:60]))
        return None
    node, source, named = given.get("from_node"), given.get("source"), expression.get("field")
    if isinstance(source, str) and not named:
        parsed = paths.braced(source)
        known = paths.unwrap(parsed).partition(".")[0] in (RESULT, *scope.names, *scope.types)
        source = reader.references.source(parsed, scope, place) if known else f"{RESULT}.{node}.{source}"
    else:
        source = f"{RESULT}.{node}" if isinstance(node, str) else source
    made = {"name": str(given.get("name")), "kind": kind, "source": source, "field": named}
    made |= {key: expression[key] for key in ("op", "value", "sep") if key in expression}
    return {key: value for key, value in made.items() if value is not None or key == "value"}
