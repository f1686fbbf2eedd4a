"""Creating, copying, renaming and deleting workflows, and restoring older versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.workflows import DeleteWorkflow, SaveWorkflow
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.subscriptions import on_request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.document import WorkflowDocument
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from flowcabal_tui.tui.workflows.workflow_list import WorkflowList

_FIRST_PROMPT: Final = "{{input.instruction}}"


class LibraryController:
    """Manages workflows. `show` shows a workflow by its reference; `build` asks for a request and builds, for the id ""
    a new one."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        document: WorkflowDocument,
        show: Callable[[str], Awaitable[None]],
        build: Callable[[str], Awaitable[None]],
    ) -> None:
        self._screen, self._project, self._document = screen, project, document
        self._show, self._build = show, build
        self._deleted: tuple[Workflow, ...] = ()
        """The versions of the workflow that was deleted last, oldest first."""
        self._verbs: Mapping[str, Callable[[Workflow], Awaitable[None]]] = {
            "duplicate": self._duplicate, "rename": self._rename, "delete": self._delete,
            "versions": self._versions, "update": lambda workflow: self._build(workflow.id),
        }  # fmt: skip

    @on_request(WorkflowList.VerbRequested, group="library", exclusive=True)
    async def do(self, verb: str, reference: str) -> None:
        """Carries out a key of the list."""
        if self._project.info.read_only and verb != "versions":
            self._say(_("The project is open read-only."))
            return
        await self._document.put_away()
        if verb == "new":
            await self._new()
        elif verb == "example":
            await self._example()
        elif verb == "build":
            await self._build("")
        elif verb == "undo":
            await self._undo()
        elif reference:
            await self._verbs[verb](await self._project.workflows.get(reference.partition("@")[0]))

    def _say(self, words: str) -> None:
        self._screen.notify(words, markup=False)

    async def _name(self, title: str, value: str) -> str:
        """The name that the writer types; "" for none."""
        return (await self._screen.app.push_screen_wait(PromptLine(title, value=value)) or "").strip()

    async def _save_as_new(self, workflow: Workflow, name: str) -> None:
        identity = await self._project.workflows.free_name(name)
        fresh = workflow.model_copy(update={"id": identity, "version": 1, "name": name})
        await self._save(fresh)

    async def _save(self, workflow: Workflow) -> None:
        reference = await self._project.carry_out(SaveWorkflow(workflow))
        await self._reload(reference)
        self._say(_("Saved as {name}.").format(name=reference))

    async def _reload(self, reference: str) -> None:
        await self._document.load()
        self._screen.query_one(WorkflowPane).action_leave()
        await self._show(reference)

    async def _new(self) -> None:
        if name := await self._name(_("The name of the new workflow"), ""):
            prompt = [{"kind": "text", "text": _FIRST_PROMPT}]
            node = Node(id=NodeId("draft"), name=_("Draft"), params={"prompt": prompt})
            await self._save_as_new(Workflow(id="new", language=self._project.info.language, nodes=(node,)), name)

    async def _example(self) -> None:
        offered = await self._project.workflows.examples()
        rows = tuple((each.id, (each.name or each.id, one_line(each.description, 120))) for each in offered)
        title = _("Which one should be added to the project?")
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(title, rows))
        found = next((each for each in offered if each.id == chosen), None)
        if found is not None:
            await self._save_as_new(found, found.name or found.id)

    async def _duplicate(self, workflow: Workflow) -> None:
        title = workflow.name or workflow.id
        if name := await self._name(_("The name of the copy"), _("{name} (copy)").format(name=title)):
            await self._save_as_new(workflow, name)

    async def _rename(self, workflow: Workflow) -> None:
        name = await self._name(_("Its name"), workflow.name)
        if name and name != workflow.name:
            await self._save(workflow.model_copy(update={"name": name}))

    async def _delete(self, workflow: Workflow) -> None:
        title = _("Delete {name}?").format(name=one_line(workflow.name or workflow.id, 60))
        words = _("All its versions are deleted. Runs keep the document that they used, and their texts.")
        if await self._screen.app.push_screen_wait(ConfirmScreen(title, words)):
            stored = self._project.workflows
            rows = sorted(await stored.workflow_versions(workflow.id), key=lambda row: row.version)
            self._deleted = tuple([await stored.get(row.reference) for row in rows])
            await self._project.carry_out(DeleteWorkflow(workflow.id))
            await self._document.load()
            if left := self._document.templates:
                await self._show(left[0].reference)
            self._say(_("{name} is deleted. `u` in the list of workflows brings it back.").format(name=workflow.id))

    async def _undo(self) -> None:
        """Stores the workflow that was deleted last, under its versions."""
        if not self._deleted:
            self._say(_("No workflow was deleted since the project was opened."))
            return
        references = [await self._project.carry_out(SaveWorkflow(each, keep_version=True)) for each in self._deleted]
        self._deleted = ()
        await self._reload(references[-1])
        self._say(_("{name} is back.").format(name=references[-1]))

    async def _versions(self, workflow: Workflow) -> None:
        from flowcabal_tui.tui.workflows.workflow_versions import WorkflowVersionsScreen  # at first use

        rows = await self._project.workflows.workflow_versions(workflow.id)
        load = self._project.workflows.get
        page = WorkflowVersionsScreen(workflow.name or workflow.id, rows, load, self._delete_one)
        chosen: Workflow | None = await self._screen.app.push_screen_wait(page)
        if chosen is not None:
            await self._save(chosen)

    async def _delete_one(self, reference: str) -> None:
        await self._project.carry_out(DeleteWorkflow(reference))
