"""Parameters of nodes for one run, which override the document and are part of the content keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _


def overridden(workflow: Workflow, overrides: Sequence[tuple[NodeId, Mapping[str, Any]]]) -> Workflow:
    """The document with these parameters for a run. Raises RunError for an unknown node or place."""
    if not overrides:
        return workflow
    given: dict[NodeId, dict[str, Any]] = {}
    for node, params in overrides:
        given.setdefault(node, {}).update(params)
    known = {node.id for node in workflow.nodes}
    if unknown := [node for node in given if node not in known]:
        raise no_node(workflow, unknown[0])
    nodes = tuple(
        node.model_copy(update={"params": _laid(node.id, node.params, given[node.id])}) if node.id in given else node
        for node in workflow.nodes
    )
    return workflow.model_copy(update={"nodes": nodes})


def no_node(workflow: Workflow, node: NodeId) -> UnknownName:
    """The error for a node that does not exist in the document."""
    return UnknownName(
        _("The workflow {name} has no node {node}.").format(name=workflow.id, node=node),
        _("Its nodes: {names}").format(names=_(", ").join(each.id for each in workflow.nodes)),
    )


def _laid(node: NodeId, params: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with the given ones over them; dots in a name lead inside."""
    laid = dict(params)
    for name, value in given.items():
        *way, last = name.split(".")
        place = laid
        for part in way:
            inner = place.get(part, {})
            if not isinstance(inner, Mapping):
                raise RunError(
                    _("{node} has no parameter {name}.").format(node=node, name=name),
                    _("{part} contains no parameters.").format(part=part),
                )
            place[part] = dict(inner)
            place = place[part]
        place[last] = value
    return laid
