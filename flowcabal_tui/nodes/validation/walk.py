"""Walks through a workflow, graph by graph and node by node, and collects the findings of every check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.domain import binding_checks
from flowcabal_tui.domain.bindings import references as bound_references
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_text import references
from flowcabal_tui.domain.schemas import Schema
from flowcabal_tui.domain.sizes import TooLarge
from flowcabal_tui.domain.workflow import KEEP_EXAMPLE, Body, Edge, Node, Problem, Workflow
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.validation.actions import check_action
from flowcabal_tui.nodes.validation.bindings import check_bound
from flowcabal_tui.nodes.validation.branches import check_branches
from flowcabal_tui.nodes.validation.calls import Library, check_library
from flowcabal_tui.nodes.validation.graph import check_circles, check_edges, check_ids, order_of
from flowcabal_tui.nodes.validation.output_schemas import loop_roots, scope_of
from flowcabal_tui.nodes.validation.params import check_prompts, read_node
from flowcabal_tui.nodes.validation.scope import RUN_ROOTS, ActionShape, CheckedNode, GraphScope
from flowcabal_tui.nodes.validation.state import check_state

MAX_FINDINGS: Final = 1000
MAX_WARNINGS: Final = 400
MAX_ROUNDS: Final = 1_000_000
"""Maximum product of the rounds of nested loops."""
_UNREADABLE: Final = ("UNKNOWN_KIND", "BAD_PARAMS", "CHECK_FAILED")
Needs = dict[NodeId, None]


class _Enough(Exception):
    """Raised when MAX_FINDINGS is reached."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A graph in the document: the path of the node that contains it, its field, and the highest number of times it
    runs."""

    owner: str = ""
    field: str = ""
    path: str = ""
    rounds: int = 1


class Walk:
    """One validation. `actions` are those of the registry by id; None: not checked."""

    def __init__(self, actions: Mapping[str, ActionShape] | None) -> None:
        self._actions = actions
        self._found: dict[tuple[str, str, str, str], Problem] = {}
        self._warnings = 0
        self._more = False
        """True when some findings are not listed."""
        self._calls: dict[NodeId, str] = {}
        """Sub-flow nodes with their paths."""
        self._of_made: set[tuple[str, str, str]] = set()
        """Node, code and message of findings in generated prompts: many of them are equal."""

    def findings(self, workflow: Workflow, library: Library | None) -> tuple[Problem, ...]:
        """All errors, in the order of the document."""
        try:
            _needs, scope = self._graph(workflow.nodes, workflow.edges, None, RUN_ROOTS, _Place())
            self._add(_entry(workflow))
            self._add(_keep(workflow, scope))
            self._add(check_state(workflow.nodes, workflow.edges))
            if self._calls and not any(key[0] in _UNREADABLE for key in self._found):
                self._add(_library(workflow, library, self._calls))
        except _Enough:
            self._more = True
        if not self._more:
            return tuple(self._found.values())
        message = _("There are more problems than the {n} that are listed.").format(n=len(self._found))
        return (*self._found.values(), Problem(code="MORE_FINDINGS", message=message, severity="warning"))

    def _add(self, findings: Iterable[Problem]) -> None:
        """Adds findings. Equal ones count once, and warnings never displace errors. Raises _Enough."""
        for finding in findings:
            key = (finding.code, finding.node, finding.field, finding.message)
            if key in self._found:
                continue
            if finding.severity == "warning":
                self._warnings += 1
                self._more = self._more or self._warnings > MAX_WARNINGS
                if self._warnings > MAX_WARNINGS:
                    continue
            self._found[key] = finding
            if len(self._found) >= MAX_FINDINGS:
                raise _Enough

    def _graph(
        self,
        nodes: Sequence[Node],
        edges: Sequence[Edge],
        around: GraphScope | None,
        roots: Mapping[str, Schema | None],
        place: _Place,
    ) -> tuple[Needs, GraphScope]:
        """Checks a graph and those in it; returns the surrounding nodes that it needs, and the names available to its
        nodes.
        """
        self._add(check_ids(nodes, place.path))
        own: dict[NodeId, CheckedNode] = {}
        for node in nodes:
            path = place.path + node.id
            try:
                read, wrong = read_node(node, path, self._actions)
            except Exception as error:  # the edge: a kind may come from a plug-in
                read, wrong = CheckedNode(node, path), (_failed(node, path, error),)
            self._add(wrong)
            own.setdefault(node.id, read)
        scope = scope_of(own, around, roots, place.owner, place.field, self._actions)
        self._add(check_edges(edges, scope))
        needs = {node: self._node(read, scope, place.rounds) for node, read in own.items()}
        ways = {node: list(needed) for node, needed in needs.items()}
        for edge in edges:
            if edge.target in ways:
                ways[edge.target].append(edge.source)
        order, circles = order_of(ways)
        self._add(check_circles(circles, place.path))
        if any(edge.condition is not None for edge in edges):
            self._add(check_branches(order, needs, edges, scope, place.path))
        return {each: None for needed in needs.values() for each in needed if each not in own}, scope

    def _node(self, read: CheckedNode, scope: GraphScope, rounds: int) -> Needs:
        """Checks a node and its contents; returns the nodes that it needs. Raises _Enough."""
        if read.kind is None or read.params is None:
            return {}
        try:
            return self._read(read, read.kind, scope, rounds)
        except _Enough:
            raise
        except FlowCabalError as error:
            self._add([_refused(read.path, error)])
        except Exception as error:  # the edge: a kind may come from a plug-in
            self._add([_failed(read.node, read.path, error)])
        return {}

    def _read(self, read: CheckedNode, kind: NodeKind, scope: GraphScope, rounds: int) -> Needs:
        params: Any = read.params
        self._add(found.model_copy(update={"node": read.path}) for found in kind.check(params, read.node))
        self._add(check_prompts(read, scope))
        if kind.name == "action":
            self._add(check_action(read, self._actions, scope))
        elif kind.name == "subflow":
            self._calls.setdefault(read.node.id, read.path)
        known = scope.schemas
        needs: Needs = dict.fromkeys(
            (*references(kind.blocks(params), known), *bound_references(kind.bound(params), known))
        )
        inner = None
        for field, body in (bodies := kind.bodies(params)):
            needed, inner = self._body(read, kind, scope, field, body, rounds, alone=len(bodies) == 1)
            needs |= needed
        self._add(check_bound(read, scope, inner))
        if read.node.id in needs:
            del needs[read.node.id]
            message = _("It asks for its own output.")
            self._add([Problem(code="SELF_REFERENCE", node=read.path, message=message)])
        return needs

    def _body(
        self, read: CheckedNode, kind: NodeKind, scope: GraphScope, field: str, body: Body, rounds: int, *, alone: bool
    ) -> tuple[Needs, GraphScope]:
        params: Any = read.params
        own = loop_roots(params, scope) if kind.name == "loop" else dict.fromkeys(kind.names(params))
        roots = {**scope.roots, **own}
        inside = rounds * max(1, kind.rounds(params))
        if inside > MAX_ROUNDS >= rounds:
            message = _("Its body would run {n} times, counting the loops around it.").format(n=f"{inside:,}")
            self._add([Problem(code="LOOP_TOO_LARGE", node=read.path, message=message, severity="warning")])
        part = "" if alone else f"{field.partition('.')[2] or field}/"
        place = _Place(read.path, field, f"{read.path}/{part}", inside)
        if _is_in_document(read.node.params, field):
            return self._graph(body.nodes, body.edges, scope, roots, place)
        made = Walk(self._actions)  # of prompts that the kind makes from its parameters, often many alike
        needs, inner = made._graph(body.nodes, body.edges, scope, roots, place)
        for found in made._found.values():
            alike = (read.path, found.code, found.message)
            if found.code != "EMPTY_PROMPT" and alike not in self._of_made:
                self._of_made.add(alike)
                self._add([_of_owner(found, read.path, field)])
        return needs, inner


def _library(workflow: Workflow, library: Library | None, paths: Mapping[NodeId, str]) -> list[Problem]:
    try:
        return list(check_library(workflow, library, paths))
    except FlowCabalError as error:
        return [_refused("", error)]


def _refused(path: str, error: FlowCabalError) -> Problem:
    code = "TOO_LARGE" if isinstance(error, TooLarge) else "BAD_PARAMS"
    return Problem(code=code, node=path, message=sentences(error.title, error.detail))


def _failed(node: Node, path: str, error: Exception) -> Problem:
    message = _("The kind {kind} could not check this node: {error}").format(
        kind=node.kind, error=f"{type(error).__name__}: {error}"[:200]
    )
    return Problem(code="CHECK_FAILED", node=path, message=message)


def _is_in_document(params: Mapping[str, Any], field: str) -> bool:
    """True when a body is in the document; False when the kind made it."""
    value: Any = params
    for part in field.split(".", 1):
        value = value.get(part) if isinstance(value, Mapping) else None
    return isinstance(value, Mapping) and "nodes" in value


def _of_owner(found: Problem, owner: str, field: str) -> Problem:
    """Turns a finding about a generated prompt into one about the parameter that it was made from."""
    place = f"{field}.{found.field}" if found.field else field
    return found.model_copy(update={"node": owner, "field": place.replace("next.prompt", "next", 1)})


def _keep(workflow: Workflow, scope: GraphScope) -> Iterable[Problem]:
    """Checks that an output kept as an entity has a kind and a name that can be filled in."""
    if workflow.keep.kind == "entity" and not workflow.keep.names_entity:
        template = _("Its outputs cannot be kept: `keep` does not say what entity they describe. Add {example}.")
        message = template.format(example=KEEP_EXAMPLE)
        yield Problem(code="KEEP_ENTITY", message=message, field="keep", severity="warning")
    roots = {name: scope.roots[name] for name in ("input", "chapter")}
    for found in binding_checks.check({"name": workflow.keep.name}, scope.schemas, roots=roots, location="keep"):
        yield found.model_copy(update={"severity": "warning"})


def _entry(workflow: Workflow) -> Iterable[Problem]:
    ids = {node.id for node in workflow.nodes}
    if workflow.entry is not None and workflow.entry not in ids:
        message = _("The entry {node} is not in the workflow.").format(node=workflow.entry)
        yield Problem(code="UNKNOWN_NODE", field="entry", message=message, fix=nearest(workflow.entry, ids))
