"""Compiles a SmartTavern flow into a workflow: sequences become chains, an If becomes a condition with two branches and
a join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flowcabal_tui.dialects.report import ConversionNote, DialectError
from flowcabal_tui.dialects.smarttavern.conditions import condition_problem, more_functions, to_expression
from flowcabal_tui.dialects.smarttavern.document import MAX_NESTING, MAX_NODES, Branches, Call, FlowNode, TavernFlow
from flowcabal_tui.dialects.smarttavern.params import converted_params
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import RESULT, shown
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.locale import _

INPUT = "input.items"


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two nodes: the source of the items, and its branch."""

    source: str = INPUT
    branch: tuple[NodeId, str] | None = None
    """The condition and the label of the branch."""
    depth: int = 0
    fresh: bool = False
    """At the beginning of the branch: the items still come from before it."""

    @property
    def items(self) -> str:
        """The path of the items."""
        return self.source if self.source == INPUT else f"{self.source}.items"


def workflow_of(flow: TavernFlow) -> tuple[Workflow, tuple[ConversionNote, ...]]:
    """The workflow of a flow without errors, and notes on changes. Raises DialectError when it is too large."""
    made = _Compiler(flow)
    made.node(flow.by_id[flow.entry], Place())
    if not made.nodes:
        made.add(flow.entry, "map", {"source": INPUT}, Place())
    workflow = Workflow(
        id=flow.id, version=flow.version, nodes=tuple(made.nodes), edges=tuple(made.edges), metadata=flow.metadata
    )
    return workflow, tuple(dict.fromkeys(made.notes))


class _Compiler:
    def __init__(self, flow: TavernFlow) -> None:
        self._flow, self._ids = flow, flow.by_id
        self._numbers = {node.id: number for number, node in enumerate(flow.nodes)}
        self._taken = set[str]()
        self._copies: Counter[str] = Counter({node.id: 1 for node in flow.nodes})
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.notes: list[ConversionNote] = []

    def node(self, spec: FlowNode, place: Place) -> Place:
        """Adds the nodes for a flow node. Returns the place after it."""
        if place.depth > MAX_NESTING:
            raise DialectError(
                _("The document is too large or nested too deeply."),
                _("Nodes are nested {n} levels deep.").format(n=place.depth),
            )
        if spec.kind == "Sequence":
            return self._chain(spec.children, place)
        if spec.kind == "If" and spec.branches:
            return self._choice(spec, spec.branches, place)
        if spec.kind == "Subflow" and spec.subflow:
            return self._call(spec, spec.subflow, place)
        kind, params, notes = converted_params(spec.kind, spec.params, f"nodes[{self._numbers[spec.id]}]")
        self.notes += notes
        return self._after(self.add(spec.id, kind, {"source": place.source, **params}, place), place)

    def add(self, wanted: str, kind: str, params: dict[str, Any], place: Place) -> NodeId:
        """A node under its own id, or one close to it, in the branch of the place."""
        if len(self.nodes) >= MAX_NODES:
            raise DialectError(
                _("The document is too large or nested too deeply."),
                _("It expands to more than {n} nodes.").format(n=MAX_NODES),
            )
        name = NodeId(self._free(wanted))
        if name != wanted and wanted in self._taken and wanted in self._ids:
            where = f"nodes[{self._numbers[wanted]}]"
            self._note("changed", where, _("It occurs in several places; here it is called {name}.").format(name=name))
        self._taken.add(name)
        self.nodes.append(Node(id=name, kind=kind, params=params))
        if place.branch and (place.fresh or "sources" in params):
            condition, label = place.branch
            self.edges.append(Edge(source=condition, target=name, condition=label))
        return name

    def _free(self, wanted: str) -> str:
        wanted = wanted[-80:]
        name = wanted
        while name in self._taken or (name != wanted and name in self._ids):
            self._copies[wanted] += 1
            name = f"{wanted[:70]}_{self._copies[wanted]}"
        return name

    def _after(self, node: NodeId, place: Place) -> Place:
        return replace(place, source=shown((RESULT, node)), fresh=False)

    def _chain(self, children: Sequence[str], place: Place) -> Place:
        inner = replace(place, depth=place.depth + 1)
        for child in children:
            inner = self.node(self._ids[child], inner)
        return replace(inner, depth=place.depth)

    def _choice(self, spec: FlowNode, branches: Branches, place: Place) -> Place:
        if place.source == INPUT:  # the join must need a node that runs whichever branch does
            place = self._after(self.add(f"{spec.id}_in", "map", {"source": INPUT}, place), place)
        condition = {"kind": "expression", "source": place.items, "expression": self._expression(spec, branches)}
        node = self.add(spec.id, "condition", condition, place)
        ends = []
        for label, children in (("true", branches.then), ("false", branches.otherwise)):
            inner = self._chain(children, replace(place, branch=(node, label), fresh=True))
            if inner.source != place.source:
                ends.append(inner.source)
        if len(ends) < 2:
            ends.append(place.source)
        join = self.add(f"{spec.id}_join", "merge", {"sources": ends, "how": "first"}, place)
        return self._after(join, place)

    def _expression(self, spec: FlowNode, branches: Branches) -> str:
        where = f"nodes[{self._numbers[spec.id]}].if.condition"
        if problem := condition_problem(branches.condition):
            self._note("lost", where, problem)
            return branches.condition
        expression = to_expression(branches.condition)
        if more := more_functions(branches.condition):
            message = _("SmartTavern does not know {names} and always takes the else branch; here it is evaluated.")
            self._note("changed", where, message.format(names=_(", ").join(more)))
        return expression

    def _call(self, spec: FlowNode, call: Call, place: Place) -> Place:
        given = place
        if call.input_map:
            renames = {name: field for field, name in call.input_map.items()}
            fields = {name: _field(field) for name, field in renames.items()}
            taken = {"source": place.source, "set": fields, "missing": "skip"}
            given = self._after(self.add(f"{spec.id}_in", "map", taken, place), place)
            if len(renames) < len(call.input_map):
                where = f"nodes[{self._numbers[spec.id]}].subflow.input_map"
                self._note("lost", where, _("Two fields are written to one key: only the last is kept."))
        called = {"ref": call.ref, "inputs": {"items": given.items}, "share_state": call.share_state}
        self._tell_call(spec, call)
        after = self._after(self.add(spec.id, "subflow", called, given), place)
        if not call.output_map:
            return after
        params = {"sources": [place.source, after.source], "how": "match", "fields": call.output_map}
        return self._after(self.add(f"{spec.id}_out", "merge", params, place), place)

    def _tell_call(self, spec: FlowNode, call: Call) -> None:
        where = f"nodes[{self._numbers[spec.id]}].subflow"
        if not call.share_state:
            message = _("SmartTavern shares the state anyway; here the flow starts with an empty one.")
            self._note("changed", f"{where}.share_state", message)
        if call.ref == self._flow.reference:
            message = _("The flow runs itself: it cannot run until the node has a depth, such as input.depth.")
            self._note("lost", f"{where}.ref", message)

    def _note(self, level: Any, place: str, message: str) -> None:
        self.notes.append(ConversionNote(level, place, message))


def _field(name: str) -> str:
    """The JMESPath expression of a field."""
    return name if name.isascii() and name.isidentifier() else f'"{name}"'
