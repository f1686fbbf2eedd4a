"""Actions, functions and other workflows of a project, for runs; everything is read on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final

from flowcabal_tui.domain.errors import FlowCabalError, Gone, RunError, WorkflowError, available
from flowcabal_tui.domain.model_ports import EmbeddingPort
from flowcabal_tui.domain.versions import ActionRow
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.nodes.graph import all_nodes
from flowcabal_tui.nodes.validation import require_no_errors, validate
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.workflows.library import shipped

if TYPE_CHECKING:
    from flowcabal_tui.actions.executor import ActionExecutor
    from flowcabal_tui.actions.registry import Action, ActionRegistry
    from flowcabal_tui.actions.search import Hit

FOUND: Final = 20
"""Most actions that a search returns."""


class ProjectActions:
    """Implements the runner's `ActionsPort`. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, embedder: Callable[[], EmbeddingPort]) -> None:
        self._folder, self._store, self._language = base.folder, base.store, base.language
        self._settings, self._trust, self._embedder = base.settings.actions, base.trust, embedder

    @cached_property
    def registry(self) -> ActionRegistry:
        """The registry of actions. Raises ActionFileError with all errors in the files."""
        from flowcabal_tui.actions.registry import ActionRegistry, project_files  # a book is opened sooner without it

        return ActionRegistry.load(project_files(self._folder, self._settings.files))

    def gated(self, action: str) -> bool:
        """True when a person must permit the action; False for one that the role may not use, which is refused
        later."""
        found = self.registry.get(action)
        return found.requires_approval and found.enabled and found.allows(self._settings.role)

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        return await self._executor.run(action, params, role=self._settings.role, approved=approved)

    @cached_property
    def _executor(self) -> ActionExecutor:
        return self._made(self.registry, self._trust.require_action)

    def _made(self, registry: ActionRegistry, confirmed: Callable[[Action], None]) -> ActionExecutor:
        from flowcabal_tui.actions.executor import ActionExecutor

        return ActionExecutor(
            registry,
            self._settings.commands,
            folder=self._folder,
            timeout=self._settings.timeout,
            confirmed=confirmed,
        )

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """A function of a plug-in, or a command of the allow-list, which gets the item as JSON on standard input."""
        from flowcabal_tui.actions.registry import Action, ActionRegistry

        self._trust.require_function(function)
        given: dict[str, str] = {"command": function} if function in self._settings.commands else {"function": function}
        declared = Action.model_validate(
            {"action_id": function, "description": "", "arg_schema": {"type": "object"}, **given}
        )
        registry = ActionRegistry([declared])
        if "function" in given and registry.function(function) is None:
            raise self._no_function(function)
        result = await self._made(registry, lambda _action: None).run(function, item, role="", approved=True)
        if not isinstance(result, Mapping):
            raise RunError(
                _("The function {name} did not return an object.").format(name=function), _("None of it was used.")
            )
        return result

    def _no_function(self, name: str) -> FlowCabalError:
        from flowcabal_tui.actions.registry import PLUGINS

        names = sorted({*self._settings.commands, *(entry.name for entry in entry_points(group=PLUGINS))})
        return RunError(
            _("The function {name} may not be called here.").format(name=name),
            _("Allowed: {names}").format(names=_(", ").join(names) or _("none")),
            _("Install a plug-in that offers it, or name a command under [actions] commands in flowcabal.toml."),
        )

    async def workflow(self, reference: str) -> Workflow:
        """The workflow of a reference. Raises WorkflowError if there is none, ProjectNotConfirmed."""
        workflow = await self._found(reference)
        self._trust.require_workflow(workflow)
        return workflow

    async def _found(self, reference: str) -> Workflow:
        """One of the project's, else a template. Raises WorkflowError."""
        try:
            return await self._store.workflows.get(reference)
        except Gone:
            pass
        own = shipped(self._language)
        for template in own:
            if reference in (template.id, template.reference):
                return template
        known = dict.fromkeys(one.reference for one in (*await self._store.workflows.list(), *own))
        raise WorkflowError(_("There is no workflow {ref}.").format(ref=reference), available(known))

    async def findings(self, workflow: Workflow) -> tuple[Problem, ...]:
        """The findings for a workflow in this project, with its actions and the workflows that it calls."""
        nodes = tuple(all_nodes(workflow.nodes))
        actions: dict[str, Action] | None = None
        if any(node.kind == "action" for node in nodes):
            try:
                actions = {action.action_id: action for action in self.registry.all()}
            except FlowCabalError as error:
                return (Problem(code="BAD_ACTIONS", message=sentences(error.title, error.detail)), *validate(workflow))
        calls = any(node.kind == "subflow" for node in nodes)
        return validate(workflow, actions=actions, library=await self._library(workflow) if calls else None)

    async def require_confirmed(self, workflow: Workflow) -> None:
        """Checks a workflow before a run. Raises ProjectNotConfirmed."""
        await self._trust.require_run(workflow)
        if named := {node.params.get("action") for node in all_nodes(workflow.nodes) if node.kind == "action"}:
            for action in self.registry.all():
                if action.action_id in named:
                    self._trust.require_action(action)

    async def require_valid(self, workflow: Workflow) -> None:
        """Raises WorkflowError that lists every error."""
        require_no_errors(workflow, await self.findings(workflow))

    async def _library(self, workflow: Workflow) -> dict[str, Workflow]:
        """The workflows of the project, and in any version those that this one can come to call, by every reference."""
        known = {name: one for one in await self._store.workflows.list() for name in (one.id, one.reference)}
        waiting, seen = [workflow], set[str]()
        while waiting:
            for node in all_nodes(waiting.pop().nodes):
                reference = str(node.params.get("ref", "")) if node.kind == "subflow" else ""
                if not reference or reference in seen:
                    continue
                seen.add(reference)
                try:
                    called = await self._found(reference)
                except WorkflowError:  # it is reported as a finding
                    continue
                known[reference] = known[called.reference] = called
                waiting.append(called)
        return known

    async def find(self, query: str) -> tuple[ActionRow, ...]:
        """The actions that the role may use; with a query, the matching ones, best first. Raises ActionFileError.

        If the embedder fails, they are found by their words.
        """
        allowed = self.registry.for_role(self._settings.role)
        if not query.strip():
            return tuple(map(_row, allowed))
        return tuple(_row(hit.action, hit.score) for hit in await self._hits(allowed, query, FOUND))

    async def records(self, actions: Mapping[str, Any], query: str, most: int) -> list[dict[str, Any]]:
        """The given actions that the role may use and that match, best first, as their registry declares them.

        If the embedder fails, they are found by their words.
        """
        from flowcabal_tui.actions.registry import ActionRegistry

        allowed = ActionRegistry(actions.values()).for_role(self._settings.role)
        return [hit.action.model_dump(mode="json") for hit in await self._hits(allowed, query, most)]

    async def _hits(self, allowed: Sequence[Action], query: str, most: int) -> Sequence[Hit]:
        from flowcabal_tui.actions.search import ActionSearch

        try:
            return await ActionSearch(allowed, self._embedder()).search(query, most)
        except FlowCabalError:
            return await ActionSearch(allowed).search(query, most)


def _row(action: Action, score: float = 0.0) -> ActionRow:
    return ActionRow(
        id=action.action_id,
        name=action.title,
        domain=action.domain,
        description=action.description,
        parameters=dict(action.arg_schema),
        gated=action.requires_approval,
        score=score,
    )
