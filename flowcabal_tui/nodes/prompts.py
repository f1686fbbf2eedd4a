"""The prompt node at a path of a run, as its document and the nodes around it make it."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.nodes.graph import kind_and_params


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
