"""The list of a project's workflows: those that come with the program, ids, and deletion."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from flowcabal_tui.demo import templates
from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import all_nodes
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.protocol.workflows import WorkflowDeleted

_LONGEST: Final = 60


def shipped(language: str) -> tuple[Workflow, ...]:
    """Templates and examples in the language of a book."""
    from flowcabal_tui.examples import NAMES, example  # imports yaml

    return (*templates(language), *(example(name, language) for name in NAMES))


def free_id(wanted: str, taken: Collection[str]) -> str:
    """An unused id without spaces, slashes and @."""
    parts = "".join(" " if sign in "@/\\" or not sign.isprintable() else sign for sign in wanted).lower().split()
    base = "-".join(parts)[:_LONGEST] or "workflow"
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


async def delete_workflow(base: ProjectBase, reference: str) -> None:
    """Deletes a workflow or an older version. Raises UnknownName, or RunError if something needs it."""
    name, _mark, version = reference.partition("@")
    versions = await base.store.workflows.versions(name)
    known = [each.version for each in versions]
    if not known or (version and (not version.isdecimal() or int(version) not in known)):
        raise UnknownName(_("There is no workflow {ref}.").format(ref=reference))
    if version and int(version) == known[0]:
        raise RunError(
            _("The newest version of a workflow cannot be deleted on its own."),
            _("Nothing was deleted."),
            _("Restore an older version first, or delete the workflow."),
        )
    if callers := [each.id for each in await base.store.workflows.list() if _calls(each, name, version)]:
        raise RunError(
            _("{name} is called by {others}.").format(name=reference, others=_(", ").join(callers)),
            _("Nothing was deleted."),
        )
    await base.store.workflows.delete(name, int(version) if version else None)
    base.emit(WorkflowDeleted(reference))


def _calls(workflow: Workflow, name: str, version: str) -> bool:
    """True when another workflow calls this one, or exactly this version."""
    wanted = (f"{name}@{version}",) if version else (name,)
    found: list[Any] = [node.params.get("ref", "") for node in all_nodes(workflow.nodes) if node.kind == "subflow"]
    called = [str(ref) if version else str(ref).partition("@")[0] for ref in found]
    return workflow.id != name and any(each in wanted for each in called)
