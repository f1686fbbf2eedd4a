"""`workflows PROJECT --add`: a document in any form, or an example that came along, becomes one of the project's."""

from __future__ import annotations

import sys
from pathlib import Path

from flowcabal_tui.cli.documents import conversion_of, read_document
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.project import Project
from flowcabal_tui.protocol import SaveWorkflow


async def add_workflow(folder: Path, wanted: str) -> None:
    """Stores a new version of each workflow in `wanted`. Raises WorkflowError, and then nothing was stored.

    What could not be carried over from another system is told on standard error.
    """
    name = wanted.replace("-", "_")
    if name in NAMES and not Path(wanted).exists():
        project = await Project.open(folder, knowledge=False)
        try:
            await project.carry_out(SaveWorkflow(example(name, project.info.language)))
        finally:
            await project.close()
        return
    conversion = conversion_of(Path(wanted), read_document(Path(wanted)))
    for note in conversion.notes:
        print(f"{note.level}: {note.place}: {note.message}", file=sys.stderr)
    await _store(folder, (*conversion.others, conversion.workflow))


async def _store(folder: Path, workflows: tuple[Workflow, ...]) -> None:
    for workflow in workflows:
        require_valid(workflow)
    project = await Project.open(folder, knowledge=False)
    try:
        for workflow in workflows:
            await project.carry_out(SaveWorkflow(workflow))
    finally:
        await project.close()
