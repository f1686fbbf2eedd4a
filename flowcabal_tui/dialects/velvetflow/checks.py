"""All errors of a VelvetFlow document, in its terms: nodes, fields and codes of the document itself.

A document is checked once, as the workflow that it becomes and that runs; findings are mapped back to their places in
the document. This module checks only the further rules of VelvetFlow, and the losses of the conversion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.normal import normal
from flowcabal_tui.dialects.velvetflow.reader import ReadDocument, reading
from flowcabal_tui.domain.condition_forms import THRESHOLD_KINDS
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.validation import Actions, validate

MAX_FINDINGS: Final = 500
_SEPARATORS: Final = ("sep", "separator")
_NEEDS_FIELD: Final = ("any_greater_than", "all_less_than", "contains")
_CODES: Final[Mapping[str, str]] = {
    "BAD_ID": "INVALID_SCHEMA",
    "BAD_PARAMS": "SCHEMA_MISMATCH",
    "CYCLE": "DISCONNECTED_GRAPH",
    "DUPLICATE_ID": "INVALID_SCHEMA",
    "MAY_NOT_RUN": "BRANCH_MAY_NOT_RUN",
    "MISSING_ACTION": "MISSING_REQUIRED_PARAM",
    "MISSING_REFERENCE": "SCHEMA_MISMATCH",
    "SKIPPED_JOIN": "BRANCH_MAY_NOT_RUN",
    "UNKNOWN_BRANCH": "INVALID_EDGE",
    "UNKNOWN_NAME": "SCHEMA_MISMATCH",
    "UNKNOWN_NODE": "INVALID_EDGE",
    "UNREACHABLE": "UNREACHABLE_NODE",
}
"""VelvetFlow's codes for our findings."""
_DOUBLED: Final = ("NOT_CARRIED_OVER", "UNKNOWN_PARAM")
"""Warnings with less detail than an error at the same place."""
_ERRORS: Final = ("UNREACHABLE", "SKIPPED_JOIN", "STATE_NOT_WRITTEN")
"""Warnings of ours that are errors here: such a node would never do what the document describes."""


def check(source: str | bytes | Any, actions: Actions | None) -> tuple[Problem, ...]:
    """Findings about a document; `actions` are the known ones by id, None: not checked. Changes nothing.

    Raises DialectError for malformed, too large or too deep text.
    """
    if not isinstance(source, (str, bytes, dict)):
        return (Problem(code="INVALID_SCHEMA", message=_("A workflow is an object with nodes."), field="workflow"),)
    found = reading(source)
    findings = [*found.telling.findings, *_demanded(normal(source)[0], actions), *_ours(found, actions)]
    wrong = {(one.node, one.field) for one in findings if one.severity == "error"}
    distinct = dict.fromkeys(
        one
        for one in findings
        if one.severity == "error" or one.code not in _DOUBLED or (one.node, one.field) not in wrong
    )
    listed = list(islice(distinct, MAX_FINDINGS))
    if len(distinct) > MAX_FINDINGS:
        message = _("There are more; these are the first {n}.").format(n=MAX_FINDINGS)
        listed.append(Problem(code="MORE_FINDINGS", message=message))
    return tuple(listed)


def _ours(found: ReadDocument, actions: Actions | None) -> Iterator[Problem]:
    """Findings in the workflow of the document, at the places of the document."""
    never = {edge.target for edge in found.workflow.edges if edge.never}
    for finding in validate(found.workflow, actions=actions):
        if finding.code in ("EMPTY_PARAM_VALUE", "DOUBLE_EDGE") or (finding.code == "UNREACHABLE" and never):
            continue
        if finding.code == "NO_NODES":
            yield finding.model_copy(update={"severity": "warning", "field": "nodes"})
        elif (placed := found.places.in_document(finding)) is not None:
            yield _in_their_words(finding, placed)


def _in_their_words(ours: Problem, placed: Problem) -> Problem:
    code, field, severity = _CODES.get(ours.code, ours.code), placed.field, placed.severity
    at_edge = "edges[" in field
    if at_edge and (ours.code == "SELF_REFERENCE" or (ours.code == "UNKNOWN_NODE" and not placed.node)):
        code = "INVALID_SCHEMA"
    elif ours.code == "UNKNOWN_NODE" and field.startswith("exports"):
        code = "SCHEMA_MISMATCH"
    if ours.code == "DUPLICATE_ID":
        field = "id"
    elif ours.code == "MISSING_ACTION":
        field = "action_id"
    aggregated = ours.code == "SCHEMA_MISMATCH" and field.startswith("exports.aggregates")
    if ours.code in _ERRORS or aggregated:
        severity = "error"
    return placed.model_copy(update={"code": code, "field": field, "severity": severity})


def _demanded(document: Document, actions: Actions | None) -> Iterator[Problem]:
    """Findings for VelvetFlow's own requirements on nodes, bodies included."""
    waiting = [document.get("nodes")]
    while waiting:
        nodes = waiting.pop(0)
        for node in nodes if isinstance(nodes, list) else ():
            if not isinstance(node, dict) or not isinstance(node.get("id"), str):
                continue
            for finding in _of_node(node, actions):
                yield finding.model_copy(update={"node": node["id"]})
            body = node["params"].get("body_subgraph")
            waiting += [body.get("nodes")] if isinstance(body, dict) else []
            branches = node["params"].get("branches")
            many = branches.values() if isinstance(branches, dict) else branches if isinstance(branches, list) else ()
            waiting += [one.get("nodes") for one in many if isinstance(one, dict)]


def _of_node(node: Document, actions: Actions | None) -> Iterator[Problem]:
    params = node["params"]
    match node.get("type"):
        case "action":
            given = {key: value for key, value in params.items() if key != "exports"}
            yield from _empty(given, "params")
            yield from _given(node, given, actions)
        case "condition":
            yield from _empty({"source": params.get("source")}, "params")
            yield from _condition(params, "")
        case "loop" if isinstance(params.get("condition"), dict) and params.get("loop_kind") == "while":
            yield from _condition(params["condition"], "condition.")


def _given(node: Document, given: Document, actions: Actions | None) -> Iterator[Problem]:
    """Parameters that the action requires and that are blank, and unknown ones."""
    action = actions.get(str(node.get("action_id"))) if actions else None
    if action is None:
        return
    fields, required = action.arg_schema.get("properties"), action.arg_schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(given.get(name), str) and not given[name].strip():
            message = _("The action needs {name}.").format(name=name)
            yield Problem(code="MISSING_REQUIRED_PARAM", message=message, field=str(name))
    if not isinstance(fields, dict) or not fields or action.arg_schema.get("additionalProperties") not in (None, False):
        return
    for key in (one for one in given if one not in fields):
        message = _("The action has no parameter {name}. Its parameters: {names}").format(
            name=key[:60], names=_(", ").join(fields)
        )
        yield Problem(code="UNKNOWN_PARAM", message=message, field=key, fix=nearest(key, tuple(fields)))


def _condition(params: Mapping[str, Any], place: str) -> Iterator[Problem]:
    """A field for the kinds that compare items; numbers where numbers are compared."""
    kind = params.get("kind")
    if kind in _NEEDS_FIELD and "field" not in params:
        message = _("A condition of the kind {kind} needs {name}.").format(kind=kind, name="field")
        yield Problem(code="MISSING_REQUIRED_PARAM", message=message, field=f"{place}field")
    for name in ("min", "max") if kind == "between" else ("threshold",) if kind in THRESHOLD_KINDS else ():
        if params.get(name) is None:
            message = _("{name} must be a number.").format(name=name)
            yield Problem(code="SCHEMA_MISMATCH", message=message, field=place + name)


def _empty(value: Any, place: str) -> Iterator[Problem]:
    """Texts without a letter, anywhere in `value`; a separator may be empty."""
    if isinstance(value, str) and not value.strip():
        message = _("It is empty. Give it a value, or a binding.")
        yield Problem(code="EMPTY_PARAM_VALUE", message=message, field=place)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key not in _SEPARATORS:
                yield from _empty(part, f"{place}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _empty(part, f"{place}[{number}]")
