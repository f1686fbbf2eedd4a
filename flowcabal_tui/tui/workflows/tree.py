"""The rows of the workflow pane: a tree that grows with the run, and the same nodes as rails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text
from textual.containers import Vertical
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import Dependencies
from flowcabal_tui.tui.editing.places import spot_of
from flowcabal_tui.tui.shared.lists import PickTree
from flowcabal_tui.tui.widgets.rail_graph import RailGraph
from flowcabal_tui.tui.widgets.rail_layout import RailNode
from flowcabal_tui.tui.workflows.rows import (
    AT_WORK,
    NO_MARKS,
    NodeMarks,
    ShownState,
    inner_paths,
    mark_words,
    row_label,
    row_state,
    title_of,
)


class WorkflowTree(Vertical):
    """Holds a PickTree and a RailGraph over the same nodes; a row is known by its path."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._workflow: Workflow | None = None
        self._states: dict[NodeId, NodeState] = {}
        self._details: dict[NodeId, str] = {}
        self._marks: Mapping[NodeId, NodeMarks] = {}
        self._titles: dict[NodeId, str] = {}
        self._branches: dict[NodeId, TreeNode[NodeId]] = {}
        self._of_document: dict[NodeId, set[NodeId]] = {}  # rows inside a node, until a run shows its own
        self._needs: Dependencies = {}
        self._at: NodeId | None = None
        self._in_run = False
        self._trouble = ""
        self._notice = ""

    @property
    def _is_plain(self) -> bool:
        """Is the terminal without the signs that are no ASCII?"""
        return not self.app.console.encoding.lower().startswith("utf")

    def _put_owners_to_work(self, path: NodeId) -> None:
        """A node in which something works or waits is at work itself."""
        is_at_work = self._states.get(path) in AT_WORK
        while is_at_work and (path := NodeId(path.rpartition("/")[0])):
            if path in self._branches and self._shown_state(path) in ("pending", "ready"):
                self._states[path] = "running"
                self._refresh_row(path)

    def _refresh_row(self, path: NodeId) -> None:
        self._branches[path].set_label(self._label(path))
        self.query_one(RailGraph).set_state(path, self._shown_state(path))

    def _place_cursor(self) -> None:
        """The tree's cursor, as soon as lines are known; silent, for the view may have gone on since."""
        if self._at is not None and (branch := self._branches.get(self._at)) is not None:
            tree = self.query_one(PickTree)
            with tree.prevent(Tree.NodeHighlighted):
                tree.move_cursor(branch)

    def _fill_tree(self, rows: Sequence[NodeId]) -> None:
        """A branch a node, in the order of work; below it the nodes whose output it reads, and what is inside it."""
        tree = self.query_one(PickTree)
        unfolded = [path for path, branch in self._branches.items() if branch.is_expanded]
        tree.clear()
        self._branches, self._of_document = {}, {}
        nodes = {node.id: node for node in self._workflow.nodes} if self._workflow else {}
        for node in rows:
            sources = self._needs.get(node, ())
            branch = tree.root.add(self._label(node), node, allow_expand=bool(sources))
            self._branches[node] = branch
            for source in sources:
                words = _("reads {name}").format(name=self._title(source))
                branch.add_leaf(Text(words, style="dim"), source)
        of_document: dict[NodeId, set[NodeId]] = {}
        for path in [path for node in rows for path in inner_paths(node, nodes[node])]:
            self._ensure(path)
            of_document.setdefault(NodeId(path.rpartition("/")[0]), set()).add(path)
        self._of_document = of_document
        for path in self._states:
            self._ensure(path)
        for path in unfolded:
            if path in self._branches:
                self._branches[path].expand()
        self._at = self._at if self._at in self._branches else next(iter(rows), None)
        self.call_after_refresh(self._place_cursor)

    def _ensure(self, path: NodeId) -> TreeNode[NodeId] | None:
        """The row of a path; one inside a node is made when it is first met. None for a node that is not shown."""
        if path in self._branches:
            return self._branches[path]
        owner = NodeId(path.rpartition("/")[0])
        parent = self._ensure(owner) if owner else None
        if parent is None:
            return None
        for stale in self._of_document.pop(owner, ()):
            self._branches[stale].remove()
            for gone in [known for known in self._branches if f"{known}/".startswith(f"{stale}/")]:
                del self._branches[gone]
        parent.allow_expand = True
        branch = self._branches[path] = parent.add(self._label(path), path, allow_expand=False)
        return branch

    def _unfold(self, path: NodeId) -> None:
        """Opens what a row lies in."""
        while path := NodeId(path.rpartition("/")[0]):
            if path in self._branches:
                self._branches[path].expand()

    def _fill_rails(self) -> None:
        """One row a node, and those inside a node that is open; the state in words stands above, for the cursor's."""
        rails = self.query_one(RailGraph)
        rails.set_graph(self._rail(path) for path in self._rows_in_sight())
        if self._at is not None:
            rails.go_to(self._at)

    def _rows_in_sight(self) -> Iterator[NodeId]:
        waiting = list(reversed(self.query_one(PickTree).root.children))
        while waiting:
            branch = waiting.pop()
            if branch.data is not None and self._branches.get(branch.data) is branch:
                yield branch.data
                waiting += reversed(branch.children) if branch.is_expanded else ()

    def _rail(self, path: NodeId) -> RailNode:
        owner, depth = NodeId(path.rpartition("/")[0]), path.count("/")
        state = self._shown_state(path)
        words = mark_words(self._marks.get(path, NO_MARKS), state)
        label = f"{'  ' * depth}{self._title(path)}" + (f" {words}" if words else "")
        return RailNode(path, label, state, (owner,) if owner else tuple(self._needs.get(path, ())))

    def _title(self, path: NodeId) -> str:
        if path not in self._titles and self._workflow is not None:
            self._titles[path] = title_of(self._workflow, path)
        return self._titles.get(path, path)

    def _shown_state(self, path: NodeId) -> ShownState:
        is_part = path not in self._states and "/" in path
        if is_part and self._workflow is not None and spot_of(self._workflow, path) is None:
            return "round"
        return row_state(self._states.get(path), self._marks.get(path, NO_MARKS), in_run=self._in_run)

    def _label(self, path: NodeId) -> Text:
        marks = self._marks.get(path, NO_MARKS)
        return row_label(self._title(path), self._shown_state(path), marks, plain=self._is_plain)
