"""Reads one flow, or several that call each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import Conversion, ConversionNote, DialectError, Level
from flowcabal_tui.dialects.smarttavern.compile import workflow_of
from flowcabal_tui.dialects.smarttavern.document import TavernFlow, check, shape
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.calls import check_calls

_LEVELS: Final[Mapping[str, Level]] = {"UNREACHABLE": "lost", "UNUSED_PARAM": "lost", "UNKNOWN_WORKFLOW": "info"}
"""Findings that the compiler does not report itself."""


def findings(text: str, known: Iterable[Workflow] = ()) -> tuple[Problem, ...]:
    """All errors and warnings of a flow; `known` are the workflows that it may call.

    Raises DialectError only when the text is neither JSON nor YAML.
    """
    document = load(text)
    found = shape(document)
    return check(found, {one.reference for one in known}) if isinstance(found, TavernFlow) else found


def read(text: str, known: Iterable[Workflow] = ()) -> Conversion:
    """The workflow of a flow. Raises DialectError that lists every error of the document."""
    return _converted(load(text), [one.reference for one in known])


def read_library(texts: Mapping[str, str]) -> tuple[Mapping[str, Conversion], Mapping[str, DialectError]]:
    """Flows by the name of their file, and errors of files that cannot be read; flows may call each other.

    Each conversion contains the flows that it calls. A reference is unique: a second file with it is an error.
    """
    documents: dict[str, Any] = {}
    errors: dict[str, DialectError] = {}
    conversions: dict[str, Conversion] = {}
    read_so_far: dict[str, Workflow] = {}
    for name, text in texts.items():
        try:
            documents[name] = load(text)
        except DialectError as error:
            errors[name] = error
    references = _references(documents)
    for name, document in documents.items():
        try:
            conversion = _converted(document, references)
            if conversion.workflow.reference in read_so_far:
                title = _("The flow {ref} is defined in two files.").format(ref=conversion.workflow.reference)
                raise DialectError(title, name, _("Give one of them another version."))
        except DialectError as error:
            errors[name] = error
        else:
            conversions[name] = conversion
            read_so_far[conversion.workflow.reference] = conversion.workflow
    return {name: _with_others(one, read_so_far) for name, one in conversions.items()}, errors


def _references(documents: Mapping[str, Any]) -> set[str]:
    flows = (shape(document) for document in documents.values())
    return {flow.reference for flow in flows if isinstance(flow, TavernFlow)}


def _converted(document: Any, known: Iterable[str]) -> Conversion:
    found = shape(document)
    findings = check(found, set(known)) if isinstance(found, TavernFlow) else found
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


def _with_others(conversion: Conversion, known: Mapping[str, Workflow]) -> Conversion:
    workflow = conversion.workflow
    reached, waiting = {workflow.reference: workflow}, [workflow]
    while waiting:
        for node in waiting.pop().nodes:
            called = known.get(node.params["ref"]) if node.kind == "subflow" else None
            if called and called.reference not in reached:
                reached[called.reference] = called
                waiting.append(called)
    endless = [
        ConversionNote("lost", finding.node, finding.message)
        for finding in check_calls(workflow, reached)
        if finding.code == "ENDLESS_CALLS"
    ]
    others = tuple(one for one in reached.values() if one is not workflow)
    return Conversion(workflow, (*conversion.notes, *endless), others)
