"""Writes a workflow as a SmartTavern flow if it consists of chains of items, joining branches, and calls of flows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flowcabal_tui.dialects.report import ConversionNote, DialectError
from flowcabal_tui.dialects.smarttavern.conditions import from_expression
from flowcabal_tui.dialects.smarttavern.params import DEFAULT_MODEL
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import FROM
from flowcabal_tui.domain.errors import BindingError, ExpressionError
from flowcabal_tui.domain.paths import RESULT, shown
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import kind_and_params

INPUT: Final = "input.items"
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_\-]")


def write(workflow: Workflow) -> tuple[dict[str, Any], tuple[ConversionNote, ...]]:
    """The flow as JSON values, with notes on differences. Raises DialectError with the parts that it cannot
    represent."""
    written = _Writer(workflow)
    try:
        top, _end = written.chain(INPUT)
    except RecursionError as error:
        raise _cannot(_("Its branches are nested too deeply.")) from error
    if left := [node.id for node in workflow.nodes if node.id not in written.done]:
        raise _cannot(_("These nodes are not in one chain of items: {names}").format(names=_(", ").join(left[:20])))
    entry = written.name_for(f"{workflow.id}_main")
    nodes = [{"id": entry, "type": "Sequence", "children": top}, *written.nodes]
    document: dict[str, Any] = {"id": written.ascii(workflow.id), "version": workflow.version, "entry": entry}
    if workflow.metadata:
        document["metadata"] = workflow.metadata
    return {**document, "nodes": nodes}, tuple(written.notes)


def _cannot(detail: str) -> DialectError:
    return DialectError(
        _("SmartTavern cannot represent this workflow."), detail, _("Remove these nodes, or use another format.")
    )


@dataclass
class _Writer:
    workflow: Workflow
    nodes: list[dict[str, Any]] = field(default_factory=list)
    notes: list[ConversionNote] = field(default_factory=list)
    done: dict[str, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.by_source: dict[str, list[Node]] = {}
        for node in self.workflow.nodes:
            for source in _sources(node):
                self.by_source.setdefault(source, []).append(node)
        self.gates: dict[str, set[tuple[str, str]]] = {}
        for edge in self.workflow.edges:
            if edge.condition:
                self.gates.setdefault(edge.target, set()).add((edge.source, edge.condition))

    def chain(self, source: str) -> tuple[list[str], str]:
        """The ids of the nodes that follow each other from a source, and the source behind the last one."""
        children: list[str] = []
        while (node := self._next(source)) is not None:
            name, source = self._one(node, source)
            children += name
        return children, source

    def _next(self, source: str) -> Node | None:
        """The one node that follows here; several would be branches without a condition."""
        after = [node for node in self.by_source.get(source, ()) if node.id not in self.done]
        free = [node for node in after if node.id not in self.gates and not _joins(node)]
        if len(free) > 1:
            raise _cannot(
                _("Several nodes read their items from {path}: {names}").format(
                    path=source, names=_(", ").join(node.id for node in free)
                )
            )
        return free[0] if free else None

    def _one(self, node: Node, source: str) -> tuple[list[str], str]:
        self.done[node.id] = None
        here = shown((RESULT, node.id))
        if node.kind == "condition":
            return self._choice(node, source)
        if node.kind == "subflow":
            return self._call(node, source, {})
        if node.kind == "map" and (call := self._call_behind(node, here)) is not None:
            self.done[call.id] = None
            renames = {_plain(expression): name for name, expression in node.params["set"].items()}
            return self._call(call, source, renames)
        kind, params = self._atom(node)
        if kind == "Map" and not params.get("set"):  # it only passes items on
            return [], here
        name = self.name_for(node.id)
        self.nodes.append({"id": name, "type": kind, "params": params})
        return [name], here

    def _atom(self, node: Node) -> tuple[str, dict[str, Any]]:
        """Type and params of a node; a part without a counterpart gets a note."""
        if (writer := _ATOMS.get(node.kind)) is None:
            raise _cannot(
                _("There is no node type for the node {node} of the kind {kind}.").format(node=node.id, kind=node.kind)
            )
        kind, supported, convert = writer
        _kind, checked = kind_and_params(node)
        values = checked.model_dump(mode="json", exclude_defaults=True)
        for name in sorted(set(values) - {*supported, "source"}):
            message = _("{kind} cannot express this.").format(kind=kind)
            self.notes.append(ConversionNote("lost", f"{node.id}.{name}", message))
        made = convert(node, {name: value for name, value in values.items() if name in supported})
        return made.pop("type", kind), made

    def _choice(self, node: Node, source: str) -> tuple[list[str], str]:
        try:
            condition = from_expression(str(node.params.get("expression", "")))
        except ExpressionError as error:
            raise _cannot(f"{node.id}: {error.title}") from error
        then, after_then = self._branch((node.id, "true"), source)
        otherwise, after_otherwise = self._branch((node.id, "false"), source)
        join = self._join(node, {after_then, after_otherwise})
        self.done[join.id] = None
        name = self.name_for(node.id)
        branches = {"condition": condition, "then": then, "else": otherwise}
        self.nodes.append({"id": name, "type": "If", "if": branches})
        return [name], shown((RESULT, join.id))

    def _branch(self, gate: tuple[str, str], source: str) -> tuple[list[str], str]:
        after = self.by_source.get(source, ())
        inside = [one for one in after if gate in self.gates.get(one.id, ()) and not _joins(one)]
        if not inside:
            return [], source
        names, behind = self._one(inside[0], source)
        more, end = self.chain(behind)
        return [*names, *more], end

    def _join(self, node: Node, ends: set[str]) -> Node:
        """The merge at which the branches of a condition come together, in the same branch as the condition."""
        found = [
            one
            for one in self.by_source.get(max(ends), ())
            if one.id not in self.done and one.params.get("how") == "first" and set(_sources(one)) == ends
        ]
        if not found or node.params.get("kind") != "expression":
            raise _cannot(_("The branches of {node} do not join again.").format(node=node.id))
        gates = self.gates.get(node.id, set())
        return next((one for one in found if self.gates.get(one.id, set()) == gates), found[0])

    def _call_behind(self, node: Node, here: str) -> Node | None:
        """The sub-flow whose items this map renames."""
        behind = self.by_source.get(here, [])
        renames = node.params.get("missing") == "skip" and all(
            _plain(expression).isidentifier() or expression.startswith('"')
            for expression in node.params.get("set", {}).values()
        )
        return behind[0] if renames and len(behind) == 1 and behind[0].kind == "subflow" else None

    def _call(self, node: Node, source: str, renames: Mapping[str, str]) -> tuple[list[str], str]:
        more = sorted({*node.params} - {"ref", "inputs", "share_state"})
        if more or set(node.params.get("inputs", {})) != {"items"} or "@" not in str(node.params["ref"]):
            raise _cannot(_("The call of {node} passes or returns more than items.").format(node=node.id))
        call: dict[str, Any] = {"ref": node.params["ref"]}
        if renames:
            call["input_map"] = dict(renames)
        here = shown((RESULT, node.id))
        matched = [one for one in self.by_source.get(here, ()) if one.kind == "merge" and _joins(one)]
        if matched and matched[0].params.get("how") == "match" and _sources(matched[0]) == (source, here):
            call["output_map"] = matched[0].params.get("fields", {})
            self.done[matched[0].id] = None
            here = shown((RESULT, matched[0].id))
        if node.params.get("share_state") is False:
            call["share_state"] = False
            self.notes.append(ConversionNote("lost", node.id, _("SmartTavern shares the state anyway.")))
        name = self.name_for(node.id)
        self.nodes.append({"id": name, "type": "Subflow", "subflow": call})
        return [name], here

    def ascii(self, name: str) -> str:
        """SmartTavern takes Latin letters, digits, `_` and `-` only."""
        return _FOREIGN.sub(lambda sign: f"u{ord(sign[0]):x}", name)

    def name_for(self, node: str) -> str:
        name, number = self.ascii(node), 2
        while name in self.names:
            name, number = f"{self.ascii(node)}_{number}", number + 1
        self.names.add(name)
        if name != node:
            self.notes.append(
                ConversionNote("changed", node, _("It is renamed to {name} in the written document.").format(name=name))
            )
        return name


def _sources(node: Node) -> tuple[str, ...]:
    """The places from which a node takes items."""
    if node.kind == "subflow":
        given: Any = [node.params.get("inputs", {}).get("items", "")]
    elif node.params.get("sources"):
        given = node.params["sources"]
    else:
        given = [node.params.get("source") or INPUT]
    return tuple(_place(one) for one in given)


def _place(binding: Any) -> str:
    """`input.items`, or the node that a binding reads whole; other bindings as they are."""
    text = binding.get(FROM) if isinstance(binding, Mapping) else binding
    try:
        parts = paths.parse(str(text)).parts
    except BindingError:
        return str(text)
    return shown(parts[:2]) if parts[0] == RESULT and parts[2:] in ((), ("items",)) else shown(parts)


def _joins(node: Node) -> bool:
    return bool(node.params.get("sources"))


def _plain(expression: str) -> str:
    return expression.strip('"')


def _same(_node: Node, params: dict[str, Any]) -> dict[str, Any]:
    return params


def _chat(_node: Node, params: dict[str, Any]) -> dict[str, Any]:
    params.pop("world", None)
    return {"model": DEFAULT_MODEL, "messages_from": "messages", "response_field": "response", **params}


def _context(node: Node, params: dict[str, Any]) -> dict[str, Any]:
    into, slots = params.get("into", "messages"), params.get("slots", "")
    if into not in ("", "messages") or slots not in ("", "context_slots") or not (into or slots):
        raise _cannot(_("{node} puts its messages where SmartTavern cannot.").format(node=node.id))
    return {} if into and slots else {"outputs": [into or slots]}


def _state(node: Node, params: dict[str, Any]) -> dict[str, Any]:
    counters, fields = params.get("increment", []), params.get("from_item", {})
    if node.params.get("mode", "write") != "write" or (counters and (len(counters) > 1 or len(params) > 1)):
        raise _cannot(_("{node} changes the state in a way that SmartTavern cannot.").format(node=node.id))
    if len(set(fields.values())) < len(fields):
        raise _cannot(_("{node} writes one field under two keys.").format(node=node.id))
    if counters:
        return {"type": "IncrementCounter", "field": counters[0]}
    updates = {"updates": params["updates"]} if "updates" in params else {}
    return {**updates, **({"from_item_map": {field: key for key, field in fields.items()}} if fields else {})}


_ATOMS: Final[Mapping[str, tuple[str, tuple[str, ...], Callable[[Node, dict[str, Any]], dict[str, Any]]]]] = {
    "map": ("Map", ("set", "overwrite"), _same),
    "filter": ("Filter", ("where",), _same),
    "merge": ("Merge", ("from_field", "overwrite", "prefix"), _same),
    "split": ("Split", ("from_field", "dest_field", "delimiter"), _same),
    "code": ("Code", ("function", "outputs"), _same),
    "chat_context": ("Code", ("into", "slots"), _context),
    "llm_chat": ("LLMChat", ("model", "messages_from", "response_field", "world"), _chat),
    "state_read": ("ReadState", ("keys", "into", "for_prompt"), _same),
    "state_write": ("WriteState", ("updates", "from_item", "increment"), _state),
}
"""Our kind: the type, the params that it holds, and how they are written."""
