"""Workflow documents given to commands: a file in any form, or a workflow of a project."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.actions.registry import ActionRegistry, project_files
from flowcabal_tui.cli.naming import the_workflow
from flowcabal_tui.dialects.detect import Document, converted, findings_of, recognised
from flowcabal_tui.dialects.reading import MAX_JSON
from flowcabal_tui.dialects.report import Conversion, ConversionNote, DialectError
from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import Actions
from flowcabal_tui.settings.paths import PROJECT_FILE
from flowcabal_tui.settings.project_file import load_project

SUFFIXES: Final = (".json", ".yaml", ".yml")
"""File endings of documents."""
_MOST_BYTES = 3 * MAX_JSON
_MARKS: Final = {"changed": "~", "lost": "!", "info": "·"}


@dataclass(frozen=True, slots=True)
class InProject:
    """A workflow of a project, with all workflows that it may call, by every reference."""

    workflow: Workflow
    library: Mapping[str, Workflow]


def read_document(path: Path) -> Document:
    """The document in a file. Raises WorkflowError that names the file, and line and column if known."""
    try:
        if (size := path.stat().st_size) > _MOST_BYTES:
            raise WorkflowError(
                _("{file} is too large.").format(file=path),
                _("{n} bytes; at most {most} are read.").format(n=size, most=_MOST_BYTES),
                _("Nothing was read. Split the workflow; keep long texts in the book."),
            )
        return recognised(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WorkflowError(_("Cannot read {file}.").format(file=path), os_reason(error)) from error
    except UnicodeDecodeError as error:
        title, advice = _("Cannot read {file}.").format(file=path), _("Save it as UTF-8 and try again.")
        raise WorkflowError(title, _("Its text is not UTF-8."), advice) from error
    except DialectError as error:
        raise _named(path, error) from error


def conversion_of(path: Path, document: Document) -> Conversion:
    """The workflow of a document. Raises WorkflowError that names the file."""
    try:
        return converted(document)
    except DialectError as error:
        raise _named(path, error) from error


def findings_in(path: Path, document: Document, actions: Actions | None) -> tuple[Problem, ...]:
    """All errors in a document. Raises WorkflowError that names the file when it cannot be read at all."""
    try:
        return findings_of(document, actions)
    except DialectError as error:
        raise _named(path, error) from error


def require_no_errors_in(path: Path, findings: Iterable[Problem]) -> None:
    """Raises WorkflowError with the errors of `validate` for an invalid document."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise WorkflowError(
            _("{place}: {problem}").format(place=path, problem=_("The workflow cannot run.")),
            "\n".join(finding_lines(errors)),
            _("Nothing was changed. Correct the document and try again; `validate` shows all problems."),
        )


def finding_lines(findings: Iterable[Problem]) -> Iterable[str]:
    """Findings as `1. [CODE] (node=…, field=…) message`, with the suggestion below."""
    for number, finding in enumerate(findings, 1):
        place = ", ".join(
            f"{name}={value}" for name, value in (("node", finding.node), ("field", finding.field)) if value
        )
        message = finding.message
        if finding.severity == "warning":
            message = _("{key}: {problem}").format(key=_("warning"), problem=message)
        parts = (f"{number}. [{finding.code}]", f"({place})" if place else "", message)
        yield _line(" ".join(part for part in parts if part))
        if finding.fix:
            yield _line("   " + _("suggestion: {fix}").format(fix=finding.fix))


def _line(text: str) -> str:
    return clean(text).replace("\n", " ")


def note_line(note: ConversionNote) -> str:
    """A note on one line: `~` converted differently, `!` lost, `·` a remark; then the place and the message."""
    text = _("{place}: {problem}").format(place=note.place, problem=note.message) if note.place else note.message
    return clean(f"{_MARKS[note.level]} {text}").replace("\n", " ")


def _named(path: Path, error: DialectError) -> WorkflowError:
    return WorkflowError(_("{place}: {problem}").format(place=path, problem=error.title), error.detail, error.advice)


async def in_project(folder: Path, reference: str) -> InProject:
    """A workflow of a project by id or `id@version`. Raises FlowCabalError."""
    from flowcabal_tui.project import Project  # a file is read without the store

    async with await Project.open(folder, read_only=True) as project:
        workflow, others = await the_workflow(project, reference), await project.workflows.newest()
    return InProject(workflow, {name: one for one in others for name in (one.id, one.reference)})


async def named_workflow(arguments: Namespace) -> Workflow:
    """The workflow named by the arguments. Raises FlowCabalError."""
    if arguments.workflow:
        return (await in_project(arguments.document, arguments.workflow)).workflow
    refuse_project(arguments.document)
    return conversion_of(arguments.document, read_document(arguments.document)).workflow


def refuse_project(path: Path) -> None:
    """Raises WorkflowError for the folder of a project, whose workflow was not named."""
    if (path / PROJECT_FILE).exists():
        raise WorkflowError(_("Which workflow of the project?"), "", _("Put its id after the project's folder."))


def registry_of(files: Sequence[Path], project: Path | None = None) -> Actions | None:
    """The actions of registry files, and of a project's own; None when there are none. Raises FlowCabalError."""
    paths = list(files)
    if project is not None:
        paths += project_files(project, load_project(project).actions.files)
    return {action.action_id: action for action in ActionRegistry.load(paths).all()} if paths else None
