"""The current workflow: its document, its unsaved edits, and the available templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from textual.screen import Screen

from flowcabal_tui.domain.errors import FlowCabalError, WorkflowError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.tui.editing.places import part_for_editor, spot_of
from flowcabal_tui.tui.shared.diff import UnsavedScreen
from flowcabal_tui.tui.shared.drafts import DraftTexts
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.rows import AT_WORK
from flowcabal_tui.tui.workflows.workflow import WorkflowPane


class Unsaved:
    """One edited document of each workflow, beside its versions."""

    def __init__(self, drafts: DraftTexts) -> None:
        self._drafts = drafts
        self._offered: set[str] = set()

    async def put(self, workflow: Workflow) -> None:
        """Stores the document as it is, valid or not."""
        await self._drafts.put_draft(_key(workflow.id), workflow.model_dump_json())

    async def of(self, workflow: Workflow) -> Workflow | None:
        """The edited document of this version; None when there is none, or a newer version has come since."""
        edited = await self._read(workflow.id)
        return edited if edited is not None and edited.reference == workflow.reference else None

    async def older(self, newest: Workflow) -> Workflow | None:
        """The edited document of an older version, if it differs from the newest; None once it was returned."""
        edited = await self._read(newest.id)
        if edited is None or edited.version >= newest.version or newest.id in self._offered:
            return None
        if _without_version(edited) == _without_version(newest):
            await self.forget(newest.id)
            return None
        self._offered.add(newest.id)
        return edited

    async def _read(self, workflow: str) -> Workflow | None:
        text = await self._drafts.draft(_key(workflow))
        try:
            return None if text is None else Workflow.model_validate_json(text)
        except ValidationError:
            return None

    async def forget(self, workflow: str) -> None:
        """Deletes the edited document, which is a version now."""
        await self._drafts.put_draft(_key(workflow), None)


def as_words(workflow: Workflow) -> str:
    """A document as the comparison of two shows it."""
    return json.dumps(_without_version(workflow), ensure_ascii=False, indent=2)


def _without_version(workflow: Workflow) -> dict[str, Any]:
    return workflow.model_dump(mode="json", exclude={"version"}, exclude_defaults=True)


def _key(workflow: str) -> str:
    return f"workflow/{workflow}"


@dataclass(frozen=True, slots=True)
class WorkflowOpened:
    """Another workflow, version or run is displayed."""


class WorkflowDocument:
    """Shows the document in the workflow pane and the prompt editor, and stores edits.

    `stored` is the version on which resumed edits are based, else None. `node_states` are those of the current run, by
    path. `targets` are the nodes with a star: the targets of a run.
    """

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView) -> None:
        self._screen, self._project, self._view = screen, project, view
        self.workflow: Workflow | None = None
        self.stored: Workflow | None = None
        self.templates: tuple[Workflow, ...] = ()
        self.node_states: dict[NodeId, NodeState] = {}
        self.reported: dict[NodeId, NodeState] = {}
        """States since the run is displayed: the log has no state of work before the first call to a model."""
        self.targets: tuple[NodeId, ...] = ()
        self._unsaved: Workflow | None = None
        self._drafts = Unsaved(project.drafts)

    @property
    def title(self) -> str:
        """The name of the current workflow."""
        return self.workflow.name or self.workflow.id if self.workflow else ""

    def take_states(self, states: Mapping[NodeId, NodeState]) -> None:
        """Takes the states of another run from its log."""
        self.node_states, self.reported = dict(states), {}

    def note_state(self, path: NodeId, state: NodeState) -> None:
        """Records the state of a node of the current run; what contains a node at work is running."""
        self.node_states.pop(path, None)  # the newest is the last
        self.node_states[path] = self.reported[path] = state
        while state in AT_WORK and (path := NodeId(path.rpartition("/")[0])):
            is_node = self.workflow is not None and spot_of(self.workflow, path) is not None
            if is_node and self.node_states.get(path, "pending") in ("pending", "ready"):
                self.node_states[path] = self.reported[path] = "running"

    def at_work_inside(self, path: NodeId) -> NodeId | None:
        """The innermost node inside of another that began last and is at work; None without one."""
        inner = [each for each, state in self.node_states.items() if each.startswith(f"{path}/") and state in AT_WORK]
        return max(inner[::-1], key=lambda each: each.count("/"), default=None)

    async def load(self) -> None:
        """Reads the templates."""
        self.templates = await self._project.workflows.newest()

    def newest(self, workflow: Workflow) -> Workflow:
        """The newest version of a workflow; the workflow itself if no template has its id."""
        return next((item for item in self.templates if item.id == workflow.id), workflow)

    async def open(self, workflow: Workflow) -> Workflow:
        """Shows a workflow, or the unsaved edits of this version; returns the displayed one."""
        edited = await self._drafts.of(workflow) or await self._edited_before(workflow)
        self.stored, self._unsaved = None if edited is None else workflow, edited
        self.workflow = shown = edited or workflow
        self._view.title = self.title
        pane = self._screen.query_one(WorkflowPane)
        pane.show_templates(self.templates, shown.reference)
        pane.show(shown, self.node_states)
        return shown

    async def _edited_before(self, newest: Workflow) -> Workflow | None:
        """Unsaved changes of an older version than the newest, after both were shown and the writer wants them."""
        if newest.reference not in (item.reference for item in self.templates):
            return None
        if (edited := await self._drafts.older(newest)) is None:
            return None
        title = _("{title}: from the newest version to your unsaved text").format(title=newest.name or newest.id)
        answer = await self._screen.app.push_screen_wait(UnsavedScreen(title, as_words(newest), as_words(edited)))
        if answer == "newer":
            await self._drafts.forget(newest.id)
        return edited.model_copy(update={"version": newest.version}) if answer == "mine" else None

    def show_prompt(self, path: NodeId, *, newer: bool = False) -> None:
        """Shows the prompt of a node in its editor; a nested node is shown with those of its graph."""
        spot = spot_of(self.workflow, path) if self.workflow is not None else None
        if spot is not None and self.workflow is not None:
            part = part_for_editor(self.workflow, spot)
            self._screen.query_one(BlockEditor).show(part, spot.node, self._project.info.read_only, newer=newer)

    def show(self) -> None:
        """Shows the document again after a change."""
        if self.workflow is not None:
            self._screen.query_one(WorkflowPane).show(self.workflow, self.node_states)

    def edited(self, workflow: Workflow) -> None:
        """Records a change of the document, which becomes a new version when the writer leaves or runs it."""
        newest = self.newest(workflow)
        if self._unsaved is None and workflow.version < newest.version:
            words = _(
                "This is version {old}, from an earlier run: if you change it, it becomes the newest. "
                "Version {new} stays."
            )
            self._screen.notify(words.format(old=workflow.version, new=newest.version), markup=False)
        self.workflow = self._unsaved = workflow
        self._view.title = self.title
        attempt(self._screen, self._drafts.put(workflow), group="document", exclusive=True)

    async def put_away(self) -> None:
        """Stores the edited document as a version when the writer leaves it, or keeps it as unsaved until it is
        valid."""
        try:
            await self.save()
        except WorkflowError:
            words = _(
                "{name} cannot run yet (`!` in the workflow lists the problems). Your changes are kept until it can."
            )
            self._screen.notify(words.format(name=self.title), markup=False)

    async def save(self) -> None:
        """Stores the edited document, if any, as a new version. Raises WorkflowError when it is invalid."""
        workflow, self._unsaved = self._unsaved, None
        if workflow is None:
            return
        try:
            await self._project.carry_out(SaveWorkflow(workflow))
        except FlowCabalError:
            self._unsaved = workflow
            raise
        await self._drafts.forget(workflow.id)
        self.templates = await self._project.workflows.newest()
        if self._unsaved is None:
            self.workflow = self.newest(workflow)
            self._screen.query_one(WorkflowPane).show_templates(self.templates, self.workflow.reference)
