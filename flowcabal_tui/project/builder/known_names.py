"""The names that a workflow of a project may use: actions, workflows, models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.registry import ActionRegistry, project_files
from flowcabal_tui.agents.builder.document import all_found, own_params
from flowcabal_tui.agents.builder.working_copy import Known
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.inputs import inputs_of
from flowcabal_tui.project.base import ProjectBase


async def known_names(base: ProjectBase, more: Sequence[str] = ()) -> Known:
    """The registered names, with the actions of `more` files. Raises ActionFileError."""
    workflows = await base.store.workflows.list()
    files = [*project_files(base.folder, base.settings.actions.files), *map(Path, more)]
    library = {name: each for each in workflows for name in (each.id, each.reference)}
    return Known(
        actions={action.action_id: action for action in ActionRegistry.load(files).all()},
        library=library,
        models=_models(base.settings.models.names, workflows),
        flow_inputs={name: inputs_of(each) for name, each in library.items()},
    )


def _models(names: Sequence[str], workflows: Sequence[Workflow]) -> tuple[str, ...]:
    """The models of these names, and those that workflows already use."""
    found = dict.fromkeys(names)
    for workflow in workflows:
        document: Any = workflow.model_dump(mode="json")
        for place in all_found(document):
            if model := own_params(place.node).get("model"):
                found[str(model)] = None
    return tuple(found)
