"""Reads a flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import Conversion, ConversionNote, DialectError, Level
from flowcabal_tui.dialects.smarttavern.compile import workflow_of
from flowcabal_tui.dialects.smarttavern.document import TavernFlow, check, shape
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _

_LEVELS: Final[Mapping[str, Level]] = {"UNREACHABLE": "lost", "UNUSED_PARAM": "lost", "UNKNOWN_WORKFLOW": "info"}
"""Findings that the compiler does not report itself."""


def findings(text: str, known: Iterable[Workflow] = ()) -> tuple[Problem, ...]:
    """All errors and warnings of a flow; `known` are the workflows that it may call.

    Raises DialectError only when the text is neither JSON nor YAML.
    """
    document = load(text)
    found = shape(document)
    return check(found, {one.reference for one in known}) if isinstance(found, TavernFlow) else found


def read(text: str, known: Iterable[Workflow | TavernFlow] = ()) -> Conversion:
    """The workflow of a flow; `known` are the workflows that it may call. Raises DialectError that lists every error of
    the document."""
    found = shape(load(text))
    findings = check(found, {one.reference for one in known}) if isinstance(found, TavernFlow) else found
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors or not isinstance(found, TavernFlow):
        raise DialectError(
            _("The flow cannot be read."),
            "\n".join(
                f"[{error.code}] {': '.join(part for part in (error.node, error.field, error.message) if part)}"
                for error in errors
            ),
            _("Correct the document and read it again."),
        )
    workflow, notes = workflow_of(found)
    numbers = {node.id: number for number, node in enumerate(found.nodes)}
    warned = [
        ConversionNote(
            _LEVELS[finding.code], f"nodes[{numbers[finding.node]}].{finding.field}".rstrip("."), finding.message
        )
        for finding in findings
        if finding.code in _LEVELS
    ]
    return Conversion(workflow, (*warned, *notes))
