"""The workflow: its nodes with their states, as a tree or as rails, and the choice of a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import var
from textual.widgets import OptionList, Static, Tree
from textual.widgets.option_list import Option
from textual.widgets.tree import TreeNode

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _, mark
from flowcabal_tui.nodes.graph import Dependencies, dependencies, order
from flowcabal_tui.tui.panes.lists import PickList, PickTree
from flowcabal_tui.tui.panes.words import STATES, one_line
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.rail_graph import RailGraph, state_sign
from flowcabal_tui.tui.widgets.rail_layout import RailNode


class WorkflowPane(Vertical):
    """Shows one workflow; the cursor is at the same node in both views."""

    help = HelpData(
        mark("Workflow"),
        mark("The steps of the workflow and how far they are. Enter opens a step, `t` switches tree and rails."),
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
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "run_workflow", mark("Run"), tooltip=mark("Run this workflow."), id="workflow.run"),
        Binding("w", "choose", mark("Template"), tooltip=mark("Choose another workflow."), id="workflow.template"),
        Binding("t", "rails", mark("Rails"), tooltip=mark("Switch between tree and rails."), id="workflow.rails"),
        Binding("c", "preview", mark("Context"), tooltip=mark("What this node would be given; costs nothing."),
                id="workflow.context"),
        Binding("x", "stop(False)", mark("Stop node"), show=False, id="workflow.stop-node"),
        Binding("X", "stop(True)", mark("Stop all"), show=False, id="workflow.stop-all"),
        Binding("escape", "leave", mark("Back"), show=False, id="workflow.back"),
    ]  # fmt: skip
    is_choosing = var(False, toggle_class="-choosing")
    is_rails = var(False, toggle_class="-rails")

    @dataclass
    class NodeChosen(Message):
        """The cursor is at a node."""

        node: NodeId

    @dataclass
    class NodeOpened(Message):
        """The writer opens a node."""

        node: NodeId

    @dataclass
    class RunRequested(Message):
        """The workflow is to run."""

    @dataclass
    class StopRequested(Message):
        """A node is to stop, or (None) all of them."""

        node: NodeId | None

    @dataclass
    class TemplateChosen(Message):
        """Another workflow is wanted."""

        reference: str

    @dataclass
    class PreviewRequested(Message):
        """What a node would be given is to be shown."""

        node: NodeId

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._workflow: Workflow | None = None
        self._states: dict[NodeId, NodeState] = {}
        self._details: dict[NodeId, str] = {}
        self._branches: dict[NodeId, TreeNode[NodeId]] = {}
        self._at: NodeId | None = None
        self._trouble = ""

    def compose(self) -> ComposeResult:
        """The name of the workflow, the nodes, and the templates, hidden until asked for."""
        yield Static(_("No workflow yet. `w` chooses a template."), markup=False, classes="head")
        yield PickTree[NodeId]()
        yield RailGraph(plain=self._is_plain)
        yield PickList(id="templates")

    @property
    def _is_plain(self) -> bool:
        """Is the terminal without the signs that are no ASCII?"""
        return not self.app.console.encoding.lower().startswith("utf")

    @property
    def highlighted(self) -> NodeId | None:
        """The node under the cursor."""
        return self._at

    def show(self, workflow: Workflow, states: Mapping[NodeId, NodeState]) -> None:
        """Shows a workflow with the states of its nodes; the cursor stays at its node."""
        states = dict(states)
        if workflow == self._workflow:
            for node in workflow.nodes:
                state = states.get(node.id, "pending")
                if state != self._states.get(node.id, "pending"):
                    self.set_state(node.id, state, "")
            return
        self._workflow, self._states, self._details = workflow, states, {}
        trouble = ""
        try:
            needs = dependencies(workflow)
            rows = order(needs)
        except WorkflowError as error:
            needs, trouble = {}, str(error)
            rows = tuple(node.id for node in workflow.nodes)
        self._trouble = trouble
        rows = tuple(node for node in rows if node in {item.id for item in workflow.nodes})
        self._fill_tree(rows, needs)
        self._fill_rails(rows, needs)
        self._refresh_head()

    def set_state(self, node: NodeId, state: NodeState, detail: str = "") -> None:
        """Another state of one node; repaints its row."""
        self._states[node], self._details[node] = state, detail
        if (branch := self._branches.get(node)) is not None:
            branch.set_label(self._label(node))
            self.query_one(RailGraph).set_state(node, state)
            self._refresh_head()

    def follow(self, node: NodeId) -> None:
        """The cursor goes where the view went: the focus stays, and nothing is posted, for nobody chose."""
        if node in self._branches and node != self._at:
            self._at = node
            self._refresh_head()
            with self.prevent(RailGraph.NodeHighlighted):
                self.query_one(RailGraph).go_to(node)
            self.call_after_refresh(self._place_cursor)

    def _place_cursor(self) -> None:
        """The tree's cursor, as soon as lines are known; silent, for the view may have gone on since."""
        if self._at is not None and (branch := self._branches.get(self._at)) is not None:
            tree = self.query_one(PickTree)
            with tree.prevent(Tree.NodeHighlighted):
                tree.move_cursor(branch)

    def show_templates(self, workflows: Sequence[Workflow], current: str) -> None:
        """What `w` offers; `current` is the reference of the one in use."""
        names = self.query_one("#templates", PickList)
        names.set_options([Option(self._template_row(item, current), id=item.reference) for item in workflows])
        names.pick(current)

    def _template_row(self, workflow: Workflow, current: str) -> Text:
        name = one_line(workflow.name or workflow.id)
        row = Text("> " if workflow.reference == current else "  ").append(name, style="bold")
        about = one_line(workflow.description)
        return row.append(f" {workflow.reference}", style="dim").append(f" · {about}" if about else "", style="dim")

    def _fill_tree(self, rows: Sequence[NodeId], needs: Dependencies) -> None:
        """A branch a node, in the order of work; below it the nodes whose output it reads."""
        tree = self.query_one(PickTree)
        tree.clear()
        self._branches = {}
        at = self._at if self._at in rows else next(iter(rows), None)
        for node in rows:
            sources = needs.get(node, ())
            branch = tree.root.add(self._label(node), node, allow_expand=bool(sources))
            self._branches[node] = branch
            for source in sources:
                words = _("reads {name}").format(name=self._title(source))
                branch.add_leaf(Text(words, style="dim"), source)
        self._at = at
        self.call_after_refresh(self._place_cursor)

    def _fill_rails(self, rows: Sequence[NodeId], needs: Dependencies) -> None:
        """One row a node; the state in words stands above, for the node under the cursor."""
        rails = self.query_one(RailGraph)
        rails.set_graph(
            RailNode(node, self._title(node), self._states.get(node, "pending"), needs.get(node, ())) for node in rows
        )
        if self._at is not None:
            rails.go_to(self._at)

    def _refresh_head(self) -> None:
        if self._workflow is None:
            return
        name = one_line(self._workflow.name or self._workflow.id)
        lines = [f"{name} · {self._workflow.reference}"]
        if self._trouble:
            lines.append(clean(self._trouble))
        elif self.is_rails and self._at is not None:
            detail = one_line(self._details.get(self._at, ""))
            lines.append(self._label(self._at).plain + (f" · {detail}" if detail else ""))
        self.query_one(".head", Static).update("\n".join(lines))

    def _title(self, node: NodeId) -> str:
        nodes = self._workflow.nodes if self._workflow else ()
        title = next((item.title for item in nodes if item.id == node), node)
        return one_line(title)

    def _label(self, node: NodeId) -> Text:
        """Glyph, title and state word."""
        state = self._states.get(node, "pending")
        label = Text(f"{state_sign(state, self._is_plain)} ", no_wrap=True)
        label.append(self._title(node), style="bold" if state in ("running", "waiting", "failed") else "")
        return label.append(f" {_(STATES[state])}", style="dim")

    def _go_to(self, node: NodeId | None) -> None:
        if node is not None and node != self._at:
            self._at = node
            self._refresh_head()
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
        if message.node.data is not None:
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

    def action_choose(self) -> None:
        """Show the templates."""
        self.is_choosing = True
        self.query_one("#templates", PickList).focus()

    def action_leave(self) -> None:
        """Back from the templates to the nodes."""
        if self.is_choosing:
            self.is_choosing = False
            self._focus_nodes()

    def action_rails(self) -> None:
        """Switch between tree and rails; the cursor stays at its node."""
        self.is_rails = not self.is_rails
        if self.is_rails and self._at is not None:
            self.query_one(RailGraph).go_to(self._at)
        elif self._at is not None:
            self.call_after_refresh(self._place_cursor)
        self._refresh_head()
        self._focus_nodes()

    def _focus_nodes(self) -> None:
        self.query_one(RailGraph if self.is_rails else PickTree).focus()

    def action_run_workflow(self) -> None:
        """Ask for a run."""
        self.post_message(self.RunRequested())

    def action_preview(self) -> None:
        """Ask what the node would be given."""
        if self._at is not None:
            self.post_message(self.PreviewRequested(self._at))

    def action_stop(self, every: bool) -> None:
        """Ask for the node, or all nodes, to stop."""
        if every or self._at is not None:
            self.post_message(self.StopRequested(None if every else self._at))
