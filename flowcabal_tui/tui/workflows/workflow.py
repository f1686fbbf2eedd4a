"""The workflow: its nodes with their states, as a tree or as rails, and the choice of a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import var
from textual.widgets import OptionList, Static, Tree
from textual.widgets.tree import TreeNode

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickTree
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.rail_graph import RailGraph, RailNode
from flowcabal_tui.tui.widgets.role_words import key_words
from flowcabal_tui.tui.widgets.roles import role_style
from flowcabal_tui.tui.workflows.keys import KEYS
from flowcabal_tui.tui.workflows.rows import (
    AT_WORK,
    NO_MARKS,
    NO_NODE,
    NodeMarks,
    ShownState,
    mark_words,
    row_label,
    row_state,
    title_line,
)
from flowcabal_tui.tui.workflows.workflow_list import Templates, WorkflowList

if TYPE_CHECKING:
    from flowcabal_tui.domain.workflow import Workflow
    from flowcabal_tui.tui.workflows.shape import WorkflowShape


def _no_workflow() -> Content:
    return key_words(_("No workflow yet. `w` chooses a template."))


class WorkflowPane(Vertical):
    """Shows one workflow; both views have the same cursor."""

    help = HelpData(
        mark("Workflow"),
        mark(
            "The steps of the workflow and their progress. Enter opens a step, `t` switches between tree and "
            "rails. `+` adds a step, `i` connects it with another, Delete removes it; Ctrl+z undoes any change."
        ),
    )
    jump_key = "w"
    DEFAULT_CSS = """
    WorkflowPane > .head { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    WorkflowPane > #templates { display: none; }
    WorkflowPane > RailGraph { display: none; height: 1fr; }
    WorkflowPane.-rails > RailGraph { display: block; }
    WorkflowPane.-choosing > #templates { display: block; }
    WorkflowPane.-rails > PickTree, WorkflowPane.-choosing > PickTree { display: none; }
    WorkflowPane.-choosing > RailGraph { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    is_choosing = var(False, toggle_class="-choosing")
    is_rails = var(False, toggle_class="-rails")

    class NodeChosen(Request):
        """The cursor moved to a node."""

        node: NodeId

    class NodeOpened(Request):
        """The writer opens a node."""

        node: NodeId

    class RunRequested(Request):
        """Requests a run of the workflow."""

    class StopRequested(Request):
        """Requests that a node stop, or (None) all of them."""

        node: NodeId | None

    class TemplateChosen(Request):
        """The writer chose another workflow."""

        reference: str

    class VerbRequested(Request):
        """The writer requests another action on the node under the cursor; `verb` is the key's, such as "add"."""

        verb: str
        node: NodeId | None

    class PreviewRequested(Request):
        """The writer requests a preview of a node's context."""

        node: NodeId

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._shape: WorkflowShape | None = None
        self._states: dict[NodeId, NodeState] = {}
        self._details: dict[NodeId, str] = {}
        self._marks: Mapping[NodeId, NodeMarks] = {}
        self._branches: dict[NodeId, TreeNode[NodeId]] = {}
        self._of_document: dict[NodeId, set[NodeId]] = {}  # rows inside a node, until a run shows its own
        self.highlighted: NodeId | None = None
        """The node under the cursor."""
        self._in_run = False
        self._notice = self.opening = ""
        """`opening`: the head while the project opens."""
        self._library: Sequence[Workflow] = ()

    def compose(self) -> ComposeResult:
        """Yields the name of the workflow, the nodes, and the templates, hidden at first."""
        yield Static(self.opening or _no_workflow(), markup=False, classes="head")
        yield PickTree[NodeId]()
        yield RailGraph(plain=is_plain(self.app))
        yield Templates(id="templates")

    def opened(self) -> None:
        """The project is open: without a workflow, says how one is chosen."""
        self.opening = ""
        if self._shape is None:
            self.query_one(".head", Static).update(_no_workflow())

    def show(self, workflow: Workflow, states: Mapping[NodeId, NodeState]) -> None:
        """Shows a workflow with the states of its nodes, inner ones by path; the cursor stays at its node."""
        was_in_run, self._in_run = self._in_run, bool(states)
        is_same = self._shape is not None and workflow == self._shape.workflow and was_in_run == self._in_run
        if is_same and all("/" not in path or path in states for path in self._states):
            for path in (*(node.id for node in workflow.nodes), *states):
                state = states.get(path, "pending")
                if state != self._states.get(path, "pending"):
                    self.set_state(path, state, "")
            for path in states:
                self._put_owners_to_work(path)
            return
        from flowcabal_tui.tui.workflows.shape import WorkflowShape  # brings the nodes: the first frame has none

        self._shape, self._states, self._details = WorkflowShape(workflow, self._library), dict(states), {}
        self._fill_tree(self._shape)
        for path in states:
            self._put_owners_to_work(path)
        self._fill_rails()
        self._refresh_head()

    def show_marks(self, marks: Mapping[NodeId, NodeMarks]) -> None:
        """Shows outputs, stars and findings next to the states of the nodes."""
        before, self._marks = self._marks, marks
        for path in self._branches:
            if before.get(path) != marks.get(path):
                self._refresh_row(path)
        self._refresh_head()

    def show_notice(self, words: str) -> None:
        """Shows a line above the nodes, such as the next level; "" hides it."""
        if words != self._notice:
            self._notice = words
            self._refresh_head()

    def set_state(self, node: NodeId, state: NodeState, detail: str = "") -> None:
        """Sets the state of one node and repaints its row; adds a row for an inner node that has started."""
        is_new, is_first = node not in self._branches, not self._in_run
        self._in_run = True
        self._states[node], self._details[node] = state, detail
        for path in self._branches if is_first else ():  # outputs of earlier runs are not done in this one
            self._refresh_row(path)
        if self._ensure(node) is None:
            return
        self._put_owners_to_work(node)
        if is_new:
            self._fill_rails()
        else:
            self._refresh_row(node)
        self._refresh_head()

    def follow(self, node: NodeId) -> None:
        """Moves the cursor to the displayed node without moving the focus or posting a message."""
        if node in self._branches and node != self.highlighted:
            self.highlighted = node
            self._unfold(node)
            self._refresh_head()
            with self.prevent(RailGraph.NodeHighlighted):
                self.query_one(RailGraph).go_to(node)
            self.call_after_refresh(self._place_cursor)

    def show_templates(self, workflows: Sequence[Workflow], current: str) -> None:
        """Fills the list opened by `w`; `current` is the reference of the workflow in use."""
        self._library = workflows
        self.query_one(WorkflowList).fill(workflows, current)

    # Rows

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
        if self.highlighted is not None and (branch := self._branches.get(self.highlighted)) is not None:
            tree = self.query_one(PickTree)
            with tree.prevent(Tree.NodeHighlighted):
                tree.move_cursor(branch)

    def _fill_tree(self, shape: WorkflowShape) -> None:
        """Adds a branch for each node in the order of work; below it the nodes whose output it reads, and the nodes
        inside it."""
        tree = self.query_one(PickTree)
        unfolded = [path for path, branch in self._branches.items() if branch.is_expanded]
        tree.clear()
        self._branches, self._of_document = {}, {}
        for node in shape.rows:
            sources = shape.needs.get(node, ())
            branch = tree.root.add(self._label(node), node, allow_expand=bool(sources))
            self._branches[node] = branch
            for source in sources:
                words = _("reads {name}").format(name=self.title(source))
                branch.add_leaf(Text.assemble((words, role_style("secondary"))), source)
        of_document: dict[NodeId, set[NodeId]] = {}
        for path in shape.inner_paths():
            self._ensure(path)
            of_document.setdefault(NodeId(path.rpartition("/")[0]), set()).add(path)
        self._of_document = of_document
        for path in self._states:
            self._ensure(path)
        for path in unfolded:
            if path in self._branches:
                self._branches[path].expand()
        self.highlighted = self.highlighted if self.highlighted in self._branches else next(iter(shape.rows), None)
        self.call_after_refresh(self._place_cursor)

    def _ensure(self, path: NodeId) -> TreeNode[NodeId] | None:
        """Returns the row of a path, and creates it inside a node at first use; None for a node that is not shown."""
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
        """Opens the branches that contain a row."""
        while path := NodeId(path.rpartition("/")[0]):
            if path in self._branches:
                self._branches[path].expand()

    def _fill_rails(self) -> None:
        """One row per node, and those inside an open node; the head has the state of the current node in words."""
        rails = self.query_one(RailGraph)
        rails.set_graph(self._rail(path) for path in self._rows_in_sight())
        if self.highlighted is not None:
            rails.go_to(self.highlighted)

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
        label = f"{'  ' * depth}{self.title(path)}" + (f" {words}" if words else "")
        needs = self._shape.needs.get(path, ()) if self._shape else ()
        return RailNode(path, label, state, (owner,) if owner else tuple(needs))

    def title(self, path: NodeId) -> str:
        """The name of a node, of a called workflow too."""
        return self._shape.title(path) if self._shape else path

    def _shown_state(self, path: NodeId) -> ShownState:
        is_part = path not in self._states and "/" in path
        if is_part and self._shape is not None and not self._shape.is_node(path):
            return "round"
        return row_state(self._states.get(path), self._marks.get(path, NO_MARKS), in_run=self._in_run)

    def _label(self, path: NodeId) -> Text:
        marks = self._marks.get(path, NO_MARKS)
        return row_label(self.title(path), self._shown_state(path), marks, plain=is_plain(self.app))

    # Keys

    def on_resize(self) -> None:
        """Adapts the heading to the width of the pane."""
        self.call_after_refresh(self._refresh_head)

    def _refresh_head(self) -> None:
        if self._shape is None:
            return
        title = title_line(self._shape.workflow, self.query_one(".head", Static).content_size.width)
        lines = [one_line(self._notice)] if self._notice else []
        marks = self._marks.get(self.highlighted, NO_MARKS) if self.highlighted else NO_MARKS
        if self._shape.trouble:
            lines.append(clean(self._shape.trouble))
        elif marks.message:
            lines.append(f"! {one_line(marks.message)}")
        elif self.is_rails and self.highlighted is not None:
            detail = one_line(self._details.get(self.highlighted, ""))
            lines.append("  ".join(filter(None, (self._label(self.highlighted).plain, detail))))
        self.query_one(".head", Static).update(Content("\n").join([title, *map(Content, lines)]))

    def _go_to(self, node: NodeId | None) -> None:
        if node is not None and node != self.highlighted:
            self.highlighted = node
            self._refresh_head()
            if self._shown_state(node) != "round":
                self.post_message(self.NodeChosen(node))

    @on(Tree.NodeHighlighted)
    def _follow_tree(self, message: Tree.NodeHighlighted[NodeId]) -> None:
        message.stop()
        if not self.is_rails:
            self._go_to(message.node.data)

    @on(RailGraph.NodeHighlighted)
    def _follow_rails(self, message: RailGraph.NodeHighlighted) -> None:
        message.stop()
        if self.is_rails:
            self._go_to(NodeId(message.node))

    @on(Tree.NodeSelected)
    def _open_from_tree(self, message: Tree.NodeSelected[NodeId]) -> None:
        message.stop()
        if message.node.data is not None and self._shown_state(message.node.data) != "round":
            self.post_message(self.NodeOpened(message.node.data))

    @on(RailGraph.NodeSelected)
    def _open_from_rails(self, message: RailGraph.NodeSelected) -> None:
        message.stop()
        self.post_message(self.NodeOpened(NodeId(message.node)))

    @on(OptionList.OptionSelected)
    def _take_template(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.action_leave()
        if message.option.id is not None:
            self.post_message(self.TemplateChosen(message.option.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables the keys of the list instead of those of the nodes while a workflow is chosen."""
        return action in ("choose", "leave") or not self.is_choosing

    def watch_is_choosing(self) -> None:
        """Refreshes the keys."""
        self.refresh_bindings()

    def action_choose(self) -> None:
        """Shows the templates."""
        self.is_choosing = True
        self.query_one(WorkflowList).focus()

    def action_leave(self) -> None:
        """Returns from the templates to the nodes."""
        if self.is_choosing:
            self.is_choosing = False
            self._focus_nodes()

    def action_rails(self) -> None:
        """Switches between tree and rails; the cursor stays at its node."""
        self.is_rails = not self.is_rails
        if self.is_rails:
            self._fill_rails()
        elif self.highlighted is not None:
            self.call_after_refresh(self._place_cursor)
        self._refresh_head()
        self._focus_nodes()

    def _focus_nodes(self) -> None:
        self.query_one(RailGraph if self.is_rails else PickTree).focus()

    def action_run_workflow(self) -> None:
        """Asks for a run."""
        self.post_message(self.RunRequested())

    def action_ask(self, verb: str) -> None:
        """Requests an action on a node from the workspace."""
        self.post_message(self.VerbRequested(verb, self.highlighted))

    def action_fold(self) -> None:
        """Shows or hides the contents of the node in the rails; the tree does this by itself."""
        if self.highlighted in self._branches:
            self._branches[self.highlighted].toggle()
            self._fill_rails()

    def action_preview(self) -> None:
        """Asks for a preview of the node's context."""
        if self.highlighted is not None:
            self.post_message(self.PreviewRequested(self.highlighted))
        else:
            self.notify(_(NO_NODE), markup=False)

    def action_stop(self, every: bool) -> None:
        """Asks for the node, or all nodes, to stop."""
        if every or self.highlighted is not None:
            self.post_message(self.StopRequested(None if every else self.highlighted))
        else:
            self.notify(_(NO_NODE), markup=False)
