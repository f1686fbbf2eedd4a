"""What the writer is asked before a run: the inputs that the workflow reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.inputs import missing_inputs
from flowcabal_tui.tui.screens.inputs_form import InputsForm, values_of

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


async def asked_inputs(
    screen: Screen[None], workbench: Workbench, workflow: Workflow, targets: Sequence[NodeId]
) -> tuple[tuple[str, Any], ...] | None:
    """The inputs of a run as the writer gives them; None when the writer would rather not run."""
    names = missing_inputs(workflow, (), targets)
    if not names:
        return ()
    key = f"inputs/{workflow.id}"
    title = _("{name} asks for:").format(name=workflow.name or workflow.id)
    typed = await screen.app.push_screen_wait(InputsForm(title, names, _known(await workbench.draft(key))))
    if typed is None:
        return None
    await workbench.put_draft(key, json.dumps(typed, ensure_ascii=False))
    return tuple(values_of(typed).items())


def _known(draft: str | None) -> dict[str, str]:
    """What was typed before the last run; nothing when it cannot be read."""
    try:
        found = json.loads(draft or "{}")
    except ValueError:
        return {}
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}
