"""What `--add` brings into a project: an empty chapter, or a workflow, as a document or an example that came along."""

from __future__ import annotations

import sys
from pathlib import Path

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.documents import conversion_of, note_line, read_document
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.project import Project
from flowcabal_tui.protocol import AddChapter, SaveWorkflow


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
        print(note_line(note), file=sys.stderr)
    await _store(folder, (*conversion.others, conversion.workflow))


async def add_chapter(folder: Path, command: AddChapter) -> None:
    """An empty chapter. Raises BadArgument for one without a title."""
    if not command.title.strip():
        raise BadArgument(_("A chapter needs a title."), _("Nothing was changed."))
    project = await Project.open(folder, knowledge=False)
    try:
        await project.carry_out(command)
    finally:
        await project.close()


async def _store(folder: Path, workflows: tuple[Workflow, ...]) -> None:
    for workflow in workflows:
        require_valid(workflow)
    project = await Project.open(folder, knowledge=False)
    try:
        for workflow in workflows:
            await project.carry_out(SaveWorkflow(workflow))
    finally:
        await project.close()
