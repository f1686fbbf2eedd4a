"""`validate`: lists all errors of a workflow, and applies the safe suggestions."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.documents import (
    conversion_of,
    finding_lines,
    findings_in,
    in_project,
    read_document,
    refuse_project,
    registry_of,
)
from flowcabal_tui.cli.flow_folder import is_flow_folder, read_folder
from flowcabal_tui.cli.terminal import json_text, say, say_json
from flowcabal_tui.domain.errors import FlowCabalError, WorkflowError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.fixes import fixed
from flowcabal_tui.nodes.validation import Actions, validate
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.system.files import write_whole


@dataclass(frozen=True, slots=True)
class _Checked:
    """The findings of a check; `workflow` is None if the document cannot become one."""

    findings: tuple[Problem, ...]
    workflow: Workflow | None
    dialect: str
    library: dict[str, Workflow] | None = None


async def validate_command(arguments: Namespace) -> int:
    """Prints findings as numbered lines or JSON; returns 1 if one of them is an error, 2 if there is nothing to
    check."""
    require_beside("--fix", arguments.fix, write=arguments.write)
    if is_flow_folder(arguments.document):
        return _folder(arguments)
    if not arguments.workflow:
        refuse_project(arguments.document)
    actions = registry_of(arguments.actions, arguments.document if arguments.workflow else None)
    checked = await _in_project(arguments, actions) if arguments.workflow else _in_file(arguments, actions)
    left, changed = checked.findings, None
    applied: tuple[Problem, ...] = ()
    if arguments.fix and checked.workflow is not None:
        ours = validate(checked.workflow, actions=actions, library=checked.library)
        changed, applied = fixed(checked.workflow, ours)
        left = validate(changed, actions=actions, library=checked.library) if applied else left
    _print(arguments, checked, left, applied, changed)
    if arguments.write and changed is not None and applied:
        await _write(arguments, checked, changed)
    return 1 if any(finding.severity == "error" for finding in left) else 0


def _folder(arguments: Namespace) -> int:
    """Every document of a folder of flows, each with its findings."""
    if arguments.fix or arguments.print_normalized:
        raise BadArgument(
            _("--fix and --print-normalized work on one document."), "", _("Name one file of the folder.")
        )
    flows = read_folder(arguments.document)
    if arguments.workflow:
        flows.chosen(arguments.workflow)
    actions = registry_of(arguments.actions)
    found = [(file, flows.findings(file, actions)) for file in flows.files]
    errors = any(finding.severity == "error" for _file, findings in found for finding in findings)
    if arguments.json:
        files = [
            {
                "file": str(file.path),
                "dialect": file.document.dialect if file.document else "",
                "findings": [finding.model_dump() for finding in findings],
            }
            for file, findings in found
        ]
        say_json({"valid": not errors, "files": files}, indent=2)
        return int(errors)
    for file, findings in found:
        say(clean(str(file.path)))
        for line in finding_lines(findings) if findings else [_("There are no errors.")]:
            say(f"  {line}")
    return int(errors)


async def _in_project(arguments: Namespace, actions: Actions | None) -> _Checked:
    found = await in_project(arguments.document, arguments.workflow)
    library = dict(found.library)
    return _Checked(validate(found.workflow, actions=actions, library=library), found.workflow, "ours", library)


def _in_file(arguments: Namespace, actions: Actions | None) -> _Checked:
    document = read_document(arguments.document)
    try:
        conversion = conversion_of(arguments.document, document)
    except WorkflowError:
        if not (findings := findings_in(arguments.document, document, actions)):
            raise
        return _Checked(findings, None, document.dialect)
    return _Checked(findings_in(arguments.document, document, actions), conversion.workflow, document.dialect)


def _print(
    arguments: Namespace,
    checked: _Checked,
    left: Sequence[Problem],
    applied: Sequence[Problem],
    changed: Workflow | None,
) -> None:
    shown = changed or checked.workflow
    if arguments.json:
        errors = any(finding.severity == "error" for finding in left)
        report = {
            "valid": not errors,
            "dialect": checked.dialect,
            "findings": [finding.model_dump() for finding in left],
            "fixed": [finding.model_dump() for finding in applied],
        }
        if arguments.print_normalized and shown is not None:
            report["workflow"] = shown.model_dump(mode="json", exclude_unset=True)
        say_json(report, indent=2)
        return
    if applied and changed is not None and checked.workflow is not None:
        say(difference(checked.workflow, changed), end="")
    words = sys.stderr if arguments.print_normalized else sys.stdout
    for line in finding_lines(left):
        say(line, file=words)
    if not left:
        say(_("There are no errors."), file=words)
    if arguments.print_normalized and shown is not None:
        say(document_text(shown), end="")


def document_text(workflow: Workflow) -> str:
    """The document as a JSON file: only the fields that were set, indented by two spaces, with a final line end."""
    return json_text(workflow.model_dump(mode="json", exclude_unset=True), indent=2) + "\n"


def difference(before: Workflow, after: Workflow) -> str:
    """The unified diff of two documents."""
    lines = difflib.unified_diff(
        document_text(before).splitlines(keepends=True),
        document_text(after).splitlines(keepends=True),
        fromfile=before.reference,
        tofile=f"{before.reference} " + _("(corrected)"),
    )
    return clean("".join(lines))


async def _write(arguments: Namespace, checked: _Checked, changed: Workflow) -> None:
    """Writes the workflow into its file, or as a new version into its project. Raises FlowCabalError."""
    path = arguments.document
    if arguments.workflow:
        from flowcabal_tui.project import Project  # a file is written without the store

        async with await Project.open(path, knowledge=False) as project:
            saved = await project.carry_out(SaveWorkflow(changed))
        say(_("Saved {name}.").format(name=saved), file=sys.stderr)
        return
    if checked.dialect != "ours" or path.suffix in (".yaml", ".yml"):
        raise WorkflowError(
            _("The corrected document was not written."),
            _("Only JSON documents of this program are changed in place: others would lose comments and fields."),
            _("Write it to a new file: flowcabal-tui convert FILE --to ours -o NEW.json"),
        )
    try:
        write_whole(path, document_text(changed).encode(), keep_mode=True)
    except OSError as error:
        raise FlowCabalError(_("Cannot write {file}.").format(file=path), os_reason(error)) from error
    say(_("Saved {name}.").format(name=path), file=sys.stderr)
