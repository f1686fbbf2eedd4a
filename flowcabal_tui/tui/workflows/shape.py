"""The nodes of a workflow as the pane shows them: in working order, with inner nodes and titles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import Dependencies, dependencies, order
from flowcabal_tui.project.words import inner_title
from flowcabal_tui.tui.editing.places import STEPS, bodies_of, graph_at, spot_of
from flowcabal_tui.tui.shared.words import one_line


class WorkflowShape:
    """The shape of one document. `rows` are its outer nodes, `needs` the nodes that each reads; `trouble` is the reason
    why the order is unknown ("": it is known). `library` has the workflows that it calls."""

    def __init__(self, workflow: Workflow, library: Sequence[Workflow] = ()) -> None:
        self.workflow, self.trouble = workflow, ""
        self._library = library
        self.needs: Dependencies = {}
        self._titles: dict[NodeId, str] = {}
        self._nodes = {node.id: node for node in workflow.nodes}
        rows = tuple(self._nodes)
        try:
            self.needs = dependencies(workflow)
            rows = order(self.needs)
        except WorkflowError as error:
            self.needs, self.trouble = {}, str(error)
        self.rows = [node for node in rows if node in self._nodes]

    def inner_paths(self) -> Iterator[NodeId]:
        """The paths of all nodes inside other nodes, outer ones first."""
        for node in self.rows:
            yield from _inner_paths(node, self._nodes[node])

    def is_node(self, path: NodeId) -> bool:
        """False for a round or branch, which is not a node of the document."""
        return spot_of(self.workflow, path) is not None

    def title(self, path: NodeId) -> str:
        """The title of a row: the name of a node, or the part of the path of a round or branch."""
        if path not in self._titles:
            self._titles[path] = _title_of(self.workflow, path, self._library)
        return self._titles[path]


def _title_of(workflow: Workflow, path: NodeId, library: Sequence[Workflow]) -> str:
    last = path.rpartition("/")[2]
    spot = spot_of(workflow, path)
    owner_path, _flow, inner = path.partition("/flow/")
    if spot is None and inner and (caller := spot_of(workflow, NodeId(owner_path))) is not None:
        node = graph_at(workflow, caller.owners).node(caller.node)
        refs = [node.params.get("ref")] if node is not None else []
        called = next((each for each in library if each.id in refs or each.reference in refs), None)
        if called is not None:
            return _title_of(called, NodeId(inner), library)
    if spot is None and last.isdigit():
        owner = spot_of(workflow, NodeId(path.rpartition("/")[0]))
        node = graph_at(workflow, owner.owners).node(owner.node) if owner else None
        return _("round {n}").format(n=int(last) + (node is not None and node.kind == "loop"))
    if spot is None:
        return one_line(inner_title(path))
    node = None if spot.is_step else graph_at(workflow, spot.owners).node(spot.node)
    return one_line(node.title if node else last)


def _inner_paths(path: NodeId, node: Node) -> Iterator[NodeId]:
    for field, nodes in bodies_of(node):
        branch = field.partition(".")[2] if field != STEPS else ""
        inside = NodeId(f"{path}/{branch}") if branch else path
        if branch:
            yield inside
        for each in nodes:
            yield NodeId(f"{inside}/{each.id}")
            yield from _inner_paths(NodeId(f"{inside}/{each.id}"), each)
