"""The graph of the references between nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

from pydantic import BaseModel, ValidationError

from flowcabal_tui.domain.bindings import paths_in
from flowcabal_tui.domain.bindings import references as bound_references
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.prompt_text import block_paths, references
from flowcabal_tui.domain.reaching import reached
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.workflow import Node, PromptParams, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.base import NodeKind
from flowcabal_tui.nodes.registry import kind_named, kinds

Dependencies = Mapping[NodeId, tuple[NodeId, ...]]
_STATE: Final = late(r"\bstate\b")


def kind_and_params(node: Node) -> tuple[NodeKind, BaseModel]:
    """The kind of a node and its checked parameters. Raises WorkflowError."""
    kind = kind_named(node.kind)
    if kind is None:
        raise WorkflowError(
            _("Node {node} is of the unknown kind {kind}.").format(node=node.id, kind=node.kind),
            _("Known kinds: {names}").format(names=_(", ").join(sorted(kinds()))),
        )
    try:
        return kind, kind.params.model_validate(node.params)
    except ValidationError as error:
        problems = "\n".join(f"{'.'.join(map(str, item['loc']))}: {refusal(item)}" for item in error.errors())
        raise WorkflowError(_("Node {node} has bad parameters.").format(node=node.id), problems) from error


def all_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes and those nested in them, as far as they can be read."""
    for node in nodes:
        yield node
        try:
            kind, params = kind_and_params(node)
        except WorkflowError:  # validation reports it
            continue
        for _field, body in kind.bodies(params):
            yield from all_nodes(body.nodes)


def needs_of(kind: NodeKind, params: BaseModel, known: Collection[NodeId]) -> tuple[tuple[NodeId, ...], bool]:
    """The nodes whose live outputs the parameters need, bodies included, and whether they name the state.

    In order of appearance, without duplicates; nodes that are not in `known` belong to a graph around, or do not exist.
    """
    blocks, bound = kind.blocks(params), kind.bound(params)
    found = dict.fromkeys((*references(blocks, known), *bound_references(bound, known)))
    state = any(_STATE.search(path) for path in (*block_paths(blocks), *(path for _place, path in paths_in(bound))))
    for _field, body in kind.bodies(params):
        inner = {node.id for node in body.nodes}
        for node in body.nodes:
            needed, reads = needs_of(*kind_and_params(node), known={*known, *inner})
            found |= dict.fromkeys(each for each in needed if each not in inner)
            state = state or reads
    return tuple(found), state


def dependencies(workflow: Workflow) -> Dependencies:
    """For each node the nodes that it needs: by reference first, then by edge; unknown ones are left in."""
    known = {node.id for node in workflow.nodes}
    needed: dict[NodeId, dict[NodeId, None]] = {}
    for node in workflow.nodes:
        needed[node.id] = dict.fromkeys(needs_of(*kind_and_params(node), known)[0])
    for edge in workflow.edges:
        needed.setdefault(edge.target, {})[edge.source] = None
    return {node: tuple(sources) for node, sources in needed.items()}


def order(graph: Dependencies) -> tuple[NodeId, ...]:
    """Kahn's order; nodes that are ready together keep the document's order. Raises WorkflowError on a cycle."""
    place = {node: index for index, node in enumerate(graph)}
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        raise WorkflowError(
            _("The workflow contains a cycle."),
            " → ".join(error.args[1]),
            _("Nothing was run. Remove one of these references."),
        ) from error
    found: list[NodeId] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=lambda node: place.get(node, len(place)))
        found += ready
        sorter.done(*ready)
    return tuple(found)


def dependents(graph: Mapping[NodeId, Iterable[NodeId]]) -> dict[NodeId, list[NodeId]]:
    """For each node that others need, these, in the order of the graph."""
    found: dict[NodeId, list[NodeId]] = {}
    for node, sources in graph.items():
        for source in sources:
            found.setdefault(source, []).append(node)
    return found


def needed_for(graph: Dependencies, targets: Collection[NodeId]) -> frozenset[NodeId]:
    """The targets and all nodes above them; no targets: all nodes."""
    return frozenset(reached(targets, lambda node: graph.get(node, ())) if targets else graph)


def last_nodes(graph: Dependencies) -> tuple[NodeId, ...]:
    """Nodes that nothing depends on, in the document's order."""
    used = {source for sources in graph.values() for source in sources}
    return tuple(node for node in graph if node not in used)


def prompt_at(nodes: Sequence[Node], path: NodeId) -> tuple[Node, PromptParams] | None:
    """The node and its parameters; None where the path leads through another workflow, or to no prompt.

    If a node has bodies for the first and for later rounds, the first round selects the first body, later rounds the
    last.
    """
    name, *inside = path.split("/", 2)
    found = [node for node in nodes if node.id == name]
    if not found:
        return None
    try:
        kind, params = kind_and_params(found[0])
    except WorkflowError:
        return None
    if not inside:
        return (found[0], params) if isinstance(params, PromptParams) else None
    if len(inside) < 2:
        return None
    part, rest = inside
    bodies = [body for field, body in kind.bodies(params) if field == part] or [
        body for _field, body in kind.bodies(params)
    ]
    ways = [way for body in bodies if (way := prompt_at(body.nodes, NodeId(rest))) is not None]
    return None if not ways else ways[0] if part in ("0", "1") else ways[-1]
