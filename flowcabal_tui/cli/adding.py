"""`--add`: adds an empty chapter, or a workflow from a document or an example, to a project."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.documents import (
    conversion_of,
    findings_in,
    note_line,
    read_document,
    registry_of,
    require_no_errors_in,
)
from flowcabal_tui.cli.flow_folder import is_flow_folder, read_folder
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say
from flowcabal_tui.cli.trusting import print_brought
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import NAMES, example
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import Actions, require_valid
from flowcabal_tui.project.trust.trust_items import workflow_items
from flowcabal_tui.protocol.book import AddChapter
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.project_file import load_project


async def add_workflow(arguments: Namespace, wanted: str) -> None:
    """Stores the workflows of a document, a folder or an example, and lists their parts that send, spend or run.

    Raises WorkflowError, and then nothing was stored. Parts that could not be converted from another system are listed
    on standard error.
    """
    name = wanted.replace("-", "_")
    if name in NAMES and not Path(wanted).exists():
        async with await opened(arguments, knowledge=False) as project:
            await project.carry_out(SaveWorkflow(example(name, project.info.language)))
        return
    await _store(arguments, _brought(Path(wanted), registry_of((), arguments.project)))


async def stored_document(arguments: Namespace, path: Path) -> str:
    """Stores the workflow of a document like `add_workflow`, and returns its reference. Raises WorkflowError."""
    return (await _store(arguments, _brought(path, registry_of((), arguments.project))))[-1]


def _brought(path: Path, actions: Actions | None) -> tuple[Workflow, ...]:
    """The workflows in a document or a folder of documents, all of them sound. Raises WorkflowError."""
    if is_flow_folder(path):
        flows = read_folder(path)
        for file in flows.files:
            require_no_errors_in(file.path, flows.findings(file, actions))
        conversions = [file.conversion for file in flows.files if file.conversion is not None]
    else:
        document = read_document(path)
        conversions = [conversion_of(path, document)]
        require_no_errors_in(path, findings_in(path, document, actions))
    for conversion in conversions:
        for note in conversion.notes:
            say(note_line(note), file=sys.stderr)
    brought = (one for conversion in conversions for one in (*conversion.others, conversion.workflow))
    return tuple({one.reference: one for one in brought}.values())


async def add_chapter(arguments: Namespace, command: AddChapter) -> None:
    """Adds an empty chapter. Raises BadArgument without a title."""
    if not command.title.strip():
        raise BadArgument(_("A chapter needs a title."), _("Nothing was changed."))
    async with await opened(arguments, knowledge=False) as project:
        await project.carry_out(command)


async def _store(arguments: Namespace, workflows: tuple[Workflow, ...]) -> list[str]:
    """Stores each workflow under its own `id@version` and returns their references.

    Prints a note if another document has that reference already. Raises WorkflowError.
    """
    stored = []
    for workflow in workflows:
        require_valid(workflow)
    commands = load_project(arguments.project).actions.commands
    print_brought(item for workflow in workflows for item in workflow_items(workflow, commands))
    async with await opened(arguments, knowledge=False) as project:
        for workflow in workflows:
            saved = await project.carry_out(SaveWorkflow(workflow, keep_version=True))
            stored.append(saved)
            if saved != workflow.reference:
                message = _("{ref} already names another document here; this one was stored as {saved}.")
                say(message.format(ref=workflow.reference, saved=saved), file=sys.stderr)
    return stored
