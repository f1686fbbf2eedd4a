"""Handles a document of any form: its dialect, its workflow, the findings of its own rules, and its conversion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import ValidationError

from flowcabal_tui.dialects.reading import load
from flowcabal_tui.dialects.report import Conversion, ConversionNote, DialectError
from flowcabal_tui.domain.sizes import MAX_VALUES
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.validation import Actions, check_document, validate
from flowcabal_tui.nodes.validation.form import form_findings

Dialect = Literal["ours", "velvetflow", "smarttavern", "flowcabal"]
DIALECTS: Final[tuple[Dialect, ...]] = ("ours", "velvetflow", "smarttavern", "flowcabal")
_SMARTTAVERN: Final = frozenset(
    ("Sequence", "If", "Subflow", "Map", "Filter", "Merge", "Split", "Code", "LLMChat", "ReadState", "WriteState")
) | {"IncrementCounter"}
_FLOWCABAL: Final = frozenset(("systemPrompt", "userPrompt", "apiConfig", "api_config", "position", "label"))
_OURS: Final = frozenset(("kind", "params"))


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document; `value` is cleaned of control characters."""

    text: str
    value: Any
    dialect: Dialect


def recognised(text: str) -> Document:
    """The document with its dialect. Raises DialectError when it cannot be read, is too large, or has no known
    dialect."""
    if (count := text.count("{")) > MAX_VALUES:  # counted before it is parsed and takes memory
        raise DialectError(
            _("The document is too large."),
            _("It holds about {n} objects; at most {most} are read.").format(n=count, most=MAX_VALUES),
            _("Repeat nodes with a loop, or split the workflow."),
        )
    value = load(text)
    dialect = dialect_of(value)
    if dialect is None:
        raise DialectError(
            _("This is not a workflow."),
            _("It has no list of nodes that is recognised here.")
            if isinstance(value, Mapping)
            else _("It is not an object."),
            _("Workflows of FlowCabal TUI, VelvetFlow, SmartTavern and FlowCabal can be read, in JSON or YAML."),
        )
    return Document(text, value, dialect)


def dialect_of(value: Any) -> Dialect | None:
    """The dialect of a document; None when it is not a workflow."""
    nodes = value.get("nodes") if isinstance(value, Mapping) else None
    if isinstance(nodes, Mapping):
        return "flowcabal"
    if not isinstance(nodes, list):
        return None
    if "workflow_name" in value:
        return "velvetflow"
    entries = [node for node in nodes if isinstance(node, Mapping)]
    if (nodes and not entries) or "target_nodes" in value:
        return "flowcabal"
    fields = frozenset(str(field) for node in entries for field in node)
    if "type" in fields and "kind" not in fields:
        types = {str(node.get("type")) for node in entries}
        return "smarttavern" if "entry" in value or types & _SMARTTAVERN else "velvetflow"
    if fields & _FLOWCABAL and not fields & _OURS:
        return "flowcabal"
    return "ours" if "id" in value or fields & _OURS else "flowcabal" if not nodes and "name" in value else "ours"


def converted(document: Document) -> Conversion:
    """The workflow of a document. Raises DialectError with the reason."""
    match document.dialect:
        case "velvetflow":
            from flowcabal_tui.dialects import velvetflow

            return velvetflow.read(document.value)
        case "smarttavern":
            from flowcabal_tui.dialects import smarttavern

            return smarttavern.read(document.text)
        case "flowcabal":
            from flowcabal_tui.dialects import flowcabal

            return flowcabal.read(document.value)
        case _:
            return _ours(document.value)


def findings_of(
    document: Document, actions: Actions | None = None, *, library: Mapping[str, Workflow] | None = None
) -> tuple[Problem, ...]:
    """All errors of a document by the rules of its own dialect, in its terms; if there are none, by this program's
    rules. `library` holds the workflows that it may call, by every reference; None: not checked. Raises DialectError
    when a document of another system cannot be read at all."""
    if document.dialect == "ours":
        return check_document(_with_labels(document.value)[0], actions=actions, library=library)
    if document.dialect == "velvetflow":
        from flowcabal_tui.dialects import velvetflow

        return velvetflow.check(document.value, actions)
    found = _of_dialect(document, library or {})
    if any(finding.severity == "error" for finding in found):
        return found
    conversion = converted(document)
    others = {name: one for one in conversion.others for name in (one.id, one.reference)} | dict(library or {})
    return (*found, *validate(conversion.workflow, actions=actions, library=others or None))


def _of_dialect(document: Document, library: Mapping[str, Workflow]) -> tuple[Problem, ...]:
    if document.dialect == "smarttavern":
        from flowcabal_tui.dialects import smarttavern

        return smarttavern.findings(document.text, library.values())
    if document.dialect == "flowcabal":
        from flowcabal_tui.dialects import flowcabal

        return flowcabal.findings(document.value)
    return ()


def written(workflow: Workflow, to: Dialect, form: str = "") -> tuple[Any, tuple[ConversionNote, ...]]:
    """A workflow as a document of that dialect, with notes on what it cannot represent; `form` is one of FlowCabal's
    forms.

    Raises DialectError when the dialect cannot represent it.
    """
    match to:
        case "velvetflow":
            from flowcabal_tui.dialects import velvetflow

            return velvetflow.write(workflow)
        case "smarttavern":
            from flowcabal_tui.dialects import smarttavern

            return smarttavern.write(workflow)
        case "flowcabal":
            from flowcabal_tui.dialects import flowcabal

            return flowcabal.write(workflow, next((one for one in flowcabal.FORMS if one == form), "template"))
        case _:
            return workflow.model_dump(mode="json", exclude_unset=True), ()


def _ours(value: Any) -> Conversion:
    value, notes = _with_labels(value)
    try:
        return Conversion(Workflow.model_validate(value), notes)
    except ValidationError as error:
        found = form_findings(value, error)
        lines = (f"{finding.node} {finding.field}: {finding.message}".strip() for finding in found[:20])
        raise DialectError(_("This does not have the format of a workflow."), "\n".join(lines)) from error


def _with_labels(value: Any) -> tuple[Any, tuple[ConversionNote, ...]]:
    """The conditions of edges as texts: YAML reads `condition: true` as a truth value."""
    edges = value.get("edges") if isinstance(value, Mapping) else None
    if not isinstance(edges, list):
        return value, ()
    notes: list[ConversionNote] = []
    made: list[Any] = []
    for number, edge in enumerate(edges):
        if isinstance(edge, Mapping) and isinstance(label := edge.get("condition"), bool):
            edge = {**edge, "condition": str(label).lower()}
            message = _("The branch {label} is a text.").format(label=edge["condition"])
            notes.append(ConversionNote("changed", f"edges[{number}].condition", message))
        made.append(edge)
    return {**value, "edges": made}, tuple(notes)
