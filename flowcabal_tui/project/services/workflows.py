"""Workflows: the documents, the actions and workflows that they may call, and the versions of nodes' outputs."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.versions import ActionRow, NodeStatus, NodeVersion, WorkflowVersion
from flowcabal_tui.domain.workflow import Problem, Workflow, workflow_id
from flowcabal_tui.project.commands import Service, passed_on
from flowcabal_tui.project.workflows.library import delete_workflow, free_id, shipped
from flowcabal_tui.protocol.workflows import (
    DeleteWorkflow,
    EditOutput,
    FreezeBlock,
    FreezeNode,
    SaveWorkflow,
    SelectVersion,
    UnfreezeNode,
)


class WorkflowService(Service):
    """Questions and commands about workflows. Lives on the engine's loop."""

    passes_on = (
        passed_on(
            SaveWorkflow,
            lambda parts, command: parts.runs.versions.save(command.workflow, keep_version=command.keep_version),
        ),
        passed_on(DeleteWorkflow, lambda parts, command: delete_workflow(parts.base, command.workflow)),
        passed_on(EditOutput, lambda parts, command: parts.runs.versions.edit(command)),
        passed_on(
            SelectVersion,
            lambda parts, command: parts.runs.versions.select(
                command.workflow, command.node, command.chapter, command.digest
            ),
        ),
        passed_on(FreezeNode, lambda parts, command: parts.runs.versions.freeze(command)),
        passed_on(UnfreezeNode, lambda parts, command: parts.runs.versions.unfreeze(command)),
        passed_on(FreezeBlock, lambda parts, command: parts.runs.versions.freeze_block(command)),
    )

    async def newest(self) -> tuple[Workflow, ...]:
        """The newest version of each workflow, templates first."""
        return await self._store.workflows.list()

    async def get(self, reference: str) -> Workflow:
        """The document of an id (its newest version) or of id@version. Raises Gone."""
        return await self._store.workflows.get(reference)

    async def workflow_versions(self, workflow: str) -> tuple[WorkflowVersion, ...]:
        """The saved documents of a workflow, newest first; `get` opens one by its reference."""
        return await self._store.workflows.versions(workflow_id(workflow))

    async def validate(self, workflow: Workflow) -> tuple[Problem, ...]:
        """Validates a document in this project, with its actions and the workflows that it calls."""
        return await self._parts.runs.actions.findings(workflow)

    async def actions(self, query: str = "") -> tuple[ActionRow, ...]:
        """The actions that the project may use; with a query, only matching ones, best first."""
        return await self._parts.runs.actions.find(query)

    async def versions(self, workflow: str, node: NodeId, chapter: ChapterId | None = None) -> tuple[NodeVersion, ...]:
        """All outputs of a node over all runs for this chapter and all edits, newest first, without their texts.

        `workflow` is an id, with or without a version: all versions of the document count. `node` is a path.
        """
        return await self._parts.runs.versions.of(workflow, node, chapter)

    async def texts(self, versions: Sequence[NodeVersion]) -> tuple[str, ...]:
        """The texts of these versions, in this order and in readable form."""
        return await self._parts.runs.queries.texts(versions)

    async def statuses(self, workflow: str, chapter: ChapterId | None = None) -> tuple[NodeStatus, ...]:
        """Every node of the document with its current output, whether it is frozen, and whether it is out of date."""
        return await self._parts.runs.versions.statuses(workflow, chapter)

    async def todo(
        self, workflow: str, chapter: ChapterId | None = None, targets: Sequence[NodeId] = ()
    ) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes without an output or with one that is out of date, by level; with targets, those that the targets
        need."""
        return await self._parts.runs.versions.todo(workflow, chapter, targets)

    async def examples(self) -> tuple[Workflow, ...]:
        """The workflows that ship with the program in the book's language: templates, then examples."""
        return shipped(self._parts.base.settings.project.language)

    async def free_name(self, wanted: str) -> str:
        """An unused id for a new workflow, derived from the writer's name for it."""
        return free_id(wanted, {each.id for each in await self._store.workflows.list()})
