"""Editing the graph of a workflow: every change is a new value of the document, and can be undone.

Modules for forms are imported when the first form is opened, so that the first frame need not wait for them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from pydantic import ValidationError
from textual.screen import Screen

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.workflow import Node, Problem, PromptParams, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.registry import kind_named, kinds
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.workflows import MarksChanged
from flowcabal_tui.tui.editing import changes
from flowcabal_tui.tui.editing.history import EditHistory
from flowcabal_tui.tui.editing.places import Graph, Spot, graph_at, spot_of, whole_with, with_graph
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import NODE_KINDS, one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.blocks import changed_params, same_content
from flowcabal_tui.tui.workflows.document import WorkflowDocument, WorkflowOpened
from flowcabal_tui.tui.workflows.linking import Linking
from flowcabal_tui.tui.workflows.node_form import NodeForm
from flowcabal_tui.tui.workflows.rows import NO_NODE, node_marks
from flowcabal_tui.tui.workflows.workflow import WorkflowPane

_FIRST_KINDS: Final = ("prompt", "human", "recursive", "evolution", "loop", "condition", "parallel", "subflow")


class GraphController:
    """Changes the nodes of the current document.

    `show_node` shows a node of the workflow, `choose_node` also selects it.
    """

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        document: WorkflowDocument,
        show_node: Callable[[NodeId], Awaitable[None]],
        choose_node: Callable[[NodeId], Awaitable[None]],
    ) -> None:
        self._screen, self._project, self._view, self._document = screen, project, view, document
        self._show_node, self._choose_node = show_node, choose_node
        self._history = EditHistory()
        self._copied: tuple[Node, ...] = ()
        self._findings: tuple[Problem, ...] = ()
        self._verbs: Mapping[str, Callable[[Workflow, Spot], Awaitable[None]]] = {
            "add": self._add, "rename": self._rename, "id": self._rename_id, "remove": self._remove,
            "copy": self._copy, "paste": self._paste, "up": partial(self._move, -1), "down": partial(self._move, 1),
            "params": self._params, "document": self._as_text,
            "connect": partial(self._link, Linking(screen).connected),
            "disconnect": partial(self._link, Linking(screen).disconnected),
        }  # fmt: skip

    def can(self, verb: str) -> bool:
        """True when `verb` is a change of the graph."""
        return verb in self._verbs

    @on_event
    def _read_opened(self, _event: WorkflowOpened) -> None:
        attempt(self._screen, self.opened(), group="marks", exclusive=True)

    @on_event
    def _read_marks(self, _event: MarksChanged) -> None:
        attempt(self._screen, self.refresh_marks(), group="marks", exclusive=True)

    async def opened(self) -> None:
        """Resets the state when another document, run or version is displayed."""
        if self._document.workflow is not None:
            self._history.opened(self._document.workflow, self._document.stored)
            starred = await self._project.drafts.draft(self._star_key) or ""
            known = {node.id for node in self._document.workflow.nodes}
            self._document.targets = tuple(NodeId(each) for each in starred.split("\n") if each in known)
            await self.refresh_marks()

    @property
    def _star_key(self) -> str:
        return f"targets/{self._document.workflow.id if self._document.workflow else ''}"

    async def refresh_marks(self) -> None:
        """Reads the current outputs and the findings, and shows them beside the nodes."""
        workflow = self._document.workflow
        if workflow is None:
            return
        self._findings = await self._project.workflows.validate(workflow)
        try:
            statuses = await self._project.workflows.statuses(workflow.id, self._view.chapter)
        except FlowCabalError:
            statuses = ()
        if workflow is self._document.workflow:
            marks = node_marks(statuses, self._findings, self._document.targets)
            self._screen.query_one(WorkflowPane).show_marks(marks)

    async def toggle_target(self, node: NodeId) -> None:
        """Sets or removes the star of a node; stored with the workflow, outside the document."""
        top, targets = NodeId(node.split("/")[0]), self._document.targets
        self._document.targets = tuple(each for each in targets if each != top) if top in targets else (*targets, top)
        await self._project.drafts.put_draft(self._star_key, "\n".join(self._document.targets) or None)
        await self.refresh_marks()

    async def do(self, verb: str, node: NodeId | None) -> None:
        """Carries out a change of the graph, if the document may be changed."""
        workflow = self._document.workflow
        if workflow is None:
            self._screen.notify(_("No workflow yet. `w` chooses a template."), markup=False)
            return
        if self._project.info.read_only:
            self._screen.notify(_("The project is open read-only."), markup=False)
            return
        spot = self._nearest(workflow, node)
        if spot is None and verb not in ("add", "paste"):
            self._screen.notify(_(NO_NODE), markup=False)
            return
        await self._verbs[verb](workflow, spot or Spot((), NodeId("")))

    @staticmethod
    def _nearest(workflow: Workflow, path: NodeId | None) -> Spot | None:
        """The node of a path; of a round or branch, the node that it belongs to."""
        while path:
            if (spot := spot_of(workflow, path)) is not None:
                return spot
            path = NodeId(path.rpartition("/")[0])
        return None

    async def change(self, workflow: Workflow, at: NodeId | None = None) -> None:
        """Applies a new value of the document; the cursor moves to `at`, a path of the document."""
        before = self._document.workflow
        if before is not None and not same_content(workflow, before):
            self._history.changed(before)
            await self._show(workflow, at)

    async def _show(self, workflow: Workflow, at: NodeId | None) -> None:
        self._document.edited(workflow)
        self._document.show()
        pane = self._screen.query_one(WorkflowPane)
        if at is not None:
            pane.follow(at)
        if (path := pane.highlighted) is not None:
            self._document.show_prompt(path, newer=True)
            await self._show_node(path)
        await self.refresh_marks()

    @on_request(BlockEditor.Edited, group="edited")
    async def block_edited(self, workflow: Workflow) -> None:
        """Applies a change of a prompt, which its editor already shows."""
        before = self._document.workflow
        if before is None:
            return
        changed = whole_with(before, workflow)
        if not same_content(changed, before):
            self._history.changed(before)
            self._document.edited(changed)
            self._document.show()
            await self.refresh_marks()

    @on_key("document.undo", group="graph")
    @on_key("document.redo", group="graph", redo=True)
    async def undo(self, *, redo: bool = False) -> None:
        """Undoes or redoes the last change."""
        now = self._document.workflow
        if now is None or self._project.info.read_only:
            return
        found = self._history.redo(now) if redo else self._history.undo(now)
        if found is None:
            nothing = _("There is nothing to redo.") if redo else _("There is nothing to undo.")
            self._screen.notify(nothing, markup=False)
            return
        await self._show(found, None)
        self._screen.notify(_("Redone.") if redo else _("Undone."), markup=False)

    async def show_findings(self) -> None:
        """Lists the findings; choosing one goes to its node."""
        if not self._findings:
            self._screen.notify(_("This workflow has no errors."), markup=False)
            return
        rows = tuple((str(n), finding_words(each)) for n, each in enumerate(self._findings))
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Problems"), rows))
        if chosen is not None and (node := self._findings[int(chosen)].node):
            self._screen.query_one(WorkflowPane).follow(NodeId(node))
            await self._choose_node(NodeId(node))

    # The changes

    def _graph(self, workflow: Workflow, spot: Spot) -> Graph:
        return graph_at(workflow, spot.owners)

    async def _put(self, workflow: Workflow, spot: Spot, graph: Graph, at: NodeId | None = None) -> None:
        path = Spot(spot.owners, at if at is not None else spot.node).path
        await self.change(with_graph(workflow, spot.owners, graph), path)

    def _beside(self, spot: Spot) -> Spot:
        """The place of a new node: beside the node, or, for a step of a node, beside that node."""
        return Spot(spot.owners[:-1], spot.owners[-1][0]) if spot.is_step else spot

    def _structural(self, spot: Spot) -> bool:
        """True when the node may be moved, renamed or removed; steps belong to their node."""
        if spot.is_step:
            self._screen.notify(_("This is a step of its node: its prompt and parameters can be edited."), markup=False)
        return not spot.is_step

    async def _add(self, workflow: Workflow, spot: Spot) -> None:
        known = kinds()
        names = [*(name for name in _FIRST_KINDS if name in known), *(n for n in known if n not in _FIRST_KINDS)]
        rows = tuple((name, f"{name:<12} {kind_words(name)}") for name in names)
        kind = await self._screen.app.push_screen_wait(ChooseScreen(_("What kind of node?"), rows))
        if kind is None:
            return
        action = await self._ask_action() if kind == "action" else None
        name = await self._screen.app.push_screen_wait(PromptLine(_("Its name (may be empty)")))
        if name is not None:
            spot = self._beside(spot)
            graph, made = changes.added(self._graph(workflow, spot), kind, name.strip(), spot.node)
            node = graph.node(made)
            if action and node is not None:
                params = {**node.params, "action": action}
                graph = changes.with_node(graph, node.model_copy(update={"params": params}))
            await self._put(workflow, spot, graph, made)

    async def _ask_action(self) -> str | None:
        """The action of a new node; None where the writer leaves it open."""
        from flowcabal_tui.tui.workflows.action_picker import ActionPicker

        page = ActionPicker(self._project.workflows.actions)
        chosen: str | None = await self._screen.app.push_screen_wait(page)
        return chosen

    async def _rename(self, workflow: Workflow, spot: Spot) -> None:
        graph = self._graph(workflow, spot)
        node = graph.node(spot.node)
        if node is None or not self._structural(spot):
            return
        name = await self._screen.app.push_screen_wait(PromptLine(_("Its name"), value=node.name))
        if name is not None and await self._means(node.title, name):
            graph = changes.with_node(graph, node.model_copy(update={"name": name.strip()}))
            await self._put(workflow, spot, graph)

    async def _rename_id(self, workflow: Workflow, spot: Spot) -> None:
        if not self._structural(spot):
            return
        wanted = await self._screen.app.push_screen_wait(
            PromptLine(_("Its id; references to it are updated"), value=spot.node)
        )
        if wanted and wanted.strip() and await self._means(spot.node, wanted):
            graph, made = changes.with_id(self._graph(workflow, spot), spot.node, wanted.strip())
            await self._put(workflow, spot, graph, made)

    async def _means(self, before: str, after: str) -> bool:
        """True when the name changes and the writer confirms it.

        Enter answers no, because prose typed into the pane by mistake ends with Enter.
        """
        if after.strip() == before:
            return False
        title = _("Rename {name}?").format(name=one_line(before, 40))
        question = ConfirmScreen(title, one_line(after.strip(), 200))
        meant: bool = await self._screen.app.push_screen_wait(question)
        return meant

    async def _remove(self, workflow: Workflow, spot: Spot) -> None:
        if not self._structural(spot):
            return
        graph = self._graph(workflow, spot)
        readers = changes.who_reads(graph, spot.node)
        if readers:
            names = _(", ").join(one_line(each.title, 40) for each in readers[:8])
            title = _("Remove {node}?").format(node=spot.node)
            words = _("These refer to it: {names}. Their blocks and edges are removed with it; Ctrl+z undoes this.")
            if not await self._screen.app.push_screen_wait(ConfirmScreen(title, words.format(names=names))):
                return
        place = [each.id for each in graph.nodes].index(spot.node)
        left = changes.removed(graph, spot.node)
        near = left.nodes[min(place, len(left.nodes) - 1)].id if left.nodes else NodeId("")
        await self._put(workflow, spot, left, near)

    async def _copy(self, workflow: Workflow, spot: Spot) -> None:
        node = self._graph(workflow, spot).node(spot.node)
        if node is not None and self._structural(spot):
            self._copied = (node,)
            self._screen.notify(_("Copied {node}; `v` pastes it.").format(node=one_line(node.title)), markup=False)

    async def _paste(self, workflow: Workflow, spot: Spot) -> None:
        if not self._copied:
            self._screen.notify(_("Nothing was copied: `y` copies a node."), markup=False)
            return
        spot = self._beside(spot)
        graph, made = changes.pasted(self._graph(workflow, spot), self._copied, spot.node)
        await self._put(workflow, spot, graph, made)

    async def _move(self, step: int, workflow: Workflow, spot: Spot) -> None:
        if self._structural(spot):
            await self._put(workflow, spot, changes.moved(self._graph(workflow, spot), spot.node, step))

    async def _params(self, workflow: Workflow, spot: Spot) -> None:
        graph = self._graph(workflow, spot)
        node = graph.node(spot.node)
        kind = kind_named(node.kind) if node else None
        if node is None or kind is None:
            return
        if node.kind != "prompt":
            from flowcabal_tui.tui.workflows.params_form import ParamsForm

            values = await self._screen.app.push_screen_wait(ParamsForm(node, kind, self._project.workflows.actions))
            changed = None if values is None else node.model_copy(update={"params": values})
        else:
            try:
                params = PromptParams.model_validate(node.params)
            except ValidationError:
                await self._as_text(workflow, spot)
                return
            form = NodeForm(node.name, params, self._project.info.model_names)
            changed = None
            if (answer := await self._screen.app.push_screen_wait(form)) is not None:
                update = {"name": answer[0], "params": changed_params(node.params, answer[1])}
                changed = node.model_copy(update=update)
        if changed is not None:
            await self._put(workflow, spot, changes.with_node(graph, changed))

    async def _as_text(self, workflow: Workflow, spot: Spot) -> None:
        from flowcabal_tui.nodes.validation import validate
        from flowcabal_tui.tui.workflows.data_editor import DataEditor

        graph = self._graph(workflow, spot)
        node = graph.node(spot.node)
        if node is None:
            return

        def check(value: Any) -> list[str]:
            try:
                made = Node.model_validate(value)
            except ValidationError as error:
                return [f"{'.'.join(map(str, item['loc']))}: {refusal(item)}" for item in error.errors()]
            whole = with_graph(workflow, spot.owners, _replaced(graph, spot.node, made))
            path = Spot(spot.owners, made.id).path
            found = [each for each in validate(whole) if each.node == path or each.node.startswith(f"{path}/")]
            return [finding_words(each) for each in found]

        plain = node.model_dump(mode="json")
        found = await self._screen.app.push_screen_wait(DataEditor(one_line(node.title), plain, check))
        if found is None:
            return
        try:
            made = Node.model_validate(found[0])
        except ValidationError:
            self._screen.notify(_("That is not a node: nothing was changed."), severity="error", markup=False)
            return
        await self._put(workflow, spot, _replaced(graph, spot.node, made), made.id)

    async def _link(
        self, link: Callable[[Workflow, Spot], Awaitable[Graph | None]], workflow: Workflow, spot: Spot
    ) -> None:
        if (graph := await link(workflow, spot)) is not None:
            await self._put(workflow, spot, graph)


def _replaced(graph: Graph, node: NodeId, made: Node) -> Graph:
    return Graph(tuple(made if each.id == node else each for each in graph.nodes), graph.edges)


def kind_words(name: str) -> str:
    """The purpose of a kind of node, on one line."""
    kind = kind_named(name)
    about = (kind.params.__doc__ or "").strip().split("\n")[0] if kind else ""
    return _(NODE_KINDS[name]) if name in NODE_KINDS else one_line(about)


def finding_words(finding: Problem) -> str:
    """A finding on one line, with its place and suggestion."""
    place = ".".join(part for part in (finding.node, finding.field) if part)
    severity = "" if finding.severity == "error" else _("warning: ")
    return f"{place}: {severity}{finding.message}" + (f" ({finding.fix})" if finding.fix else "")
