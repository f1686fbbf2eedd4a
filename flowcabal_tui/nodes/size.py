"""Limits the size of a workflow. Counted before a single node is read by its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.domain.sizes import MAX_DEPTH
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _

MAX_NODES: Final = 20_000
"""Nodes of a workflow, those in bodies included."""
MAX_BODIES: Final = 10
"""Graphs inside each other."""
MAX_VALUES: Final = 4_000_000
"""Texts, numbers, lists and objects in all parameters together."""


def too_large(workflow: Workflow) -> Problem | None:
    """The reason why the workflow is refused unread; None when it may be read."""
    count = len(workflow.nodes)
    return _many(count) if count > MAX_NODES else _counted([(node.id, node.params) for node in workflow.nodes])


def too_many(nodes: Sequence[Any]) -> Problem | None:
    """A finding when a parsed document has too many nodes, else None."""
    if len(nodes) > MAX_NODES:
        return _many(len(nodes))
    names = (str(node.get("id", ""))[:80] if isinstance(node, Mapping) else "" for node in nodes)
    return _counted(list(zip(names, nodes, strict=True)))


def _counted(parts: Sequence[tuple[str, Any]]) -> Problem | None:
    """Counts nodes with their names, or their params; returns a finding when there are too many."""
    nodes, values = len(parts), 0
    waiting: list[tuple[str, Any, int, int]] = [(name, part, 0, 0) for name, part in reversed(parts)]
    while waiting:
        place, value, depth, bodies = waiting.pop()
        values += 1
        if depth > MAX_DEPTH or bodies > MAX_BODIES:
            return _deep(place, bodies > MAX_BODIES)
        if values > MAX_VALUES:
            message = _("The parameters contain more than {n} values.").format(n=MAX_VALUES)
            return Problem(code="TOO_LARGE", message=message)
        if isinstance(value, Mapping):
            inner = value.get("nodes")
            if isinstance(inner, (list, tuple)):
                nodes += sum(isinstance(one, Mapping) and "id" in one for one in inner)
                if nodes > MAX_NODES:
                    return _many(nodes)
            waiting += [
                (place, part, depth + 1, bodies + (key == "nodes" and part is inner)) for key, part in value.items()
            ]
        elif isinstance(value, (list, tuple)):
            waiting += [(place, part, depth + 1, bodies) for part in value]
    return None


def _many(count: int) -> Problem:
    message = _("The workflow has {n} nodes or more; {most} can run. Repeat nodes with a loop, or split the workflow.")
    return Problem(code="TOO_MANY_NODES", message=message.format(n=count, most=MAX_NODES), field="nodes")


def _deep(node: str, graphs: bool) -> Problem:
    if graphs:
        message = _("Graphs are nested more than {n} levels deep.").format(n=MAX_BODIES)
    else:
        message = _("The parameters are nested more than {n} levels deep.").format(n=MAX_DEPTH)
    return Problem(code="TOO_DEEP", message=message, node=node, field="params")
