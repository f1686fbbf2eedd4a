"""Everything wrong with a VelvetFlow document, in its terms: nodes, fields and codes of the document as it stands."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow import graph_checks, loop_checks
from flowcabal_tui.dialects.velvetflow.document import Document
from flowcabal_tui.dialects.velvetflow.normal import normal
from flowcabal_tui.dialects.velvetflow.reader import TYPES
from flowcabal_tui.dialects.velvetflow.schemas import (
    Action,
    Names,
    Registry,
    inside_loop,
    names_of,
    path_of,
    well_formed,
)
from flowcabal_tui.dialects.velvetflow.value_checks import check_bindings, check_empty, check_type
from flowcabal_tui.domain import conditions
from flowcabal_tui.domain.condition_forms import THRESHOLD_KINDS, Condition
from flowcabal_tui.domain.schemas import follow_field, item_types
from flowcabal_tui.domain.workflow import Finding
from flowcabal_tui.locale import _

MAX_FINDINGS: Final = 500
_NUMBERS: Final = frozenset(("number", "integer"))


def check(source: str | bytes | Any, registry: Registry) -> tuple[Finding, ...]:
    """Findings in the document's order; `registry` holds the known actions by id. Changes nothing.

    Raises DialectError for what is no document: malformed, too large, too deep.
    """
    if not isinstance(source, (str, bytes, dict)):
        return (_invalid("workflow", _("A workflow is an object with nodes.")),)
    document, _notes = normal(source)
    if not isinstance(document["nodes"], list):
        return (_invalid("nodes", _("nodes must be a list.")),)
    found = list(islice(_graph(document, Names({}), registry, ""), MAX_FINDINGS + 1))
    if len(found) > MAX_FINDINGS:
        said = _("There are more; these are the first {n}.").format(n=MAX_FINDINGS)
        found[MAX_FINDINGS:] = [Finding(code="MORE_FINDINGS", message=said)]
    return tuple(dict.fromkeys(found))


def _graph(graph: Document, around: Names, registry: Registry, place: str) -> Iterator[Finding]:
    """Findings of a workflow, or of a body that stands at `place`."""
    nodes = graph["nodes"]
    for number, node in enumerate(nodes):
        if not isinstance(node, dict):
            yield _invalid(f"{place}nodes[{number}]", _("A node must be an object."))
        elif not isinstance(node.get("id"), str) or not node["id"]:
            yield _invalid(f"{place}nodes[{number}].id", _("The id of a node must be a text."))
    known = well_formed(nodes)
    for name, count in Counter(node["id"] for node in known).items():
        if count > 1:
            yield _invalid("id", _("{n} nodes have this id.").format(n=count)).model_copy(update={"node": name})
    names = names_of(nodes, registry, around)
    for node in known:
        for finding in _node(node, names, registry):
            yield finding if finding.node else finding.model_copy(update={"node": node["id"]})
    yield from graph_checks.check(known, graph.get("edges") or [], place, inside=bool(place))


def _node(node: Document, names: Names, registry: Registry) -> Iterator[Finding]:
    kind, params = node.get("type"), node["params"]
    if kind not in TYPES or (kind == "switch" and "cases" not in node):
        yield _invalid("type", _("It must be one of: {names}").format(names=", ".join(TYPES)))
        return
    if kind != "condition":
        for name in ("true_to_node", "false_to_node"):
            if node.get(name) is not None:
                yield _invalid(name, _("Only conditions have branches."))
    if kind != "loop" and "exports" in params:
        yield _invalid("exports", _("Only loops export."))
    match kind:
        case "action":
            yield from _action(node, names, registry)
        case "condition":
            yield from _condition(params, names)
        case "loop":
            yield from _loop(node, names, registry)
        case "parallel" if not params.get("branches"):
            said = _("It has no branches: it only parts ways.")
            yield Finding(code="MISSING_REQUIRED_PARAM", message=said, field="branches", severity="warning")
        case "reasoning" | "data" | "switch":
            yield from check_bindings(params, names, "params")


def _action(node: Document, names: Names, registry: Registry) -> Iterator[Finding]:
    params = {key: value for key, value in node["params"].items() if key != "exports"}
    if not isinstance(node.get("out_params_schema"), (dict, type(None))):
        yield _invalid("out_params_schema", _("It must be an object."))
    yield from check_empty(params, "params")
    action_id = node.get("action_id")
    if not isinstance(action_id, str) or not action_id:
        said = _("No action is named.")
        yield Finding(code="MISSING_REQUIRED_PARAM", message=said, field="action_id")
    elif action_id not in registry:
        close = "".join(difflib.get_close_matches(action_id, registry, 1))
        said = _("There is no action {id} in the registry.").format(id=action_id)
        yield Finding(code="UNKNOWN_ACTION_ID", message=said, field="action_id", fix=close)
    else:
        yield from _against(params, registry[action_id], names)
    for key, value in params.items():
        yield from check_bindings(value, names, key)


def _against(params: Document, action: Action, names: Names) -> Iterator[Finding]:
    """The parameters of an action against its schema."""
    schema = action.arg_schema
    fields, required = schema.get("properties"), schema.get("required")
    fields = fields if isinstance(fields, dict) else {}
    for name in required if isinstance(required, list) else ():
        value = params.get(name)
        if name not in params or (isinstance(value, str) and not value.strip()):
            said = _("The action needs {name}.").format(name=name)
            yield Finding(code="MISSING_REQUIRED_PARAM", message=said, field=str(name))
    for key, value in params.items():
        if isinstance(fields.get(key), dict):
            yield from check_type(value, fields[key], names, key)
        elif key not in fields and fields and schema.get("additionalProperties") in (None, False):
            close = "".join(difflib.get_close_matches(key, fields, 1))
            said = _("The action knows no {name}. It knows: {names}").format(name=key, names=", ".join(fields))
            yield Finding(code="UNKNOWN_PARAM", message=said, field=key, fix=close)


def _condition(params: Document, names: Names) -> Iterator[Finding]:
    for key in (one for one in params if one not in (*Condition.model_fields, "exports")):
        said = _("{name} means nothing in a condition.").format(name=key)
        yield Finding(code="UNKNOWN_PARAM", message=said, field=key)
    yield from check_empty({"source": params.get("source")}, "params")
    yield from conditions.check_shape(params, dialect="velvetflow")
    found: list[Finding] = []
    for place, path in conditions.paths_in(params):
        found += check_bindings({"__from__": path}, names, place)
    yield from found
    field, path = params.get("field"), path_of(params.get("source"))
    if isinstance(params.get("source"), (int, float)) and field:
        yield Finding(code="SCHEMA_MISMATCH", message=_("The source is a value without fields."), field="field")
    if not found and path and isinstance(field, str) and field and field != "length":
        yield from _field(field, path, str(params.get("kind")), names)


def _field(field: str, path: str, kind: str, names: Names) -> Iterator[Finding]:
    """The field that a condition compares, of the source or of its items."""
    schema = names.of(path)
    if not schema:
        return
    found = follow_field(schema, field, path=path, field="field")
    if isinstance(found, Finding):
        yield found
        return
    types = item_types(found)
    if kind in (*THRESHOLD_KINDS, "between") and types and not types & _NUMBERS:
        said = _("{name} is {types}, which cannot be compared with a number.")
        message = said.format(name=field, types=" / ".join(sorted(types)))
        yield Finding(code="SCHEMA_MISMATCH", message=message, field="field")


def _loop(node: Document, names: Names, registry: Registry) -> Iterator[Finding]:
    body = loop_checks.body_of(node)
    within = inside_loop(node, names)
    yield from loop_checks.check(node, names, names_of(body.get("nodes"), registry, within))
    if isinstance(body.get("nodes"), list):
        yield from _graph(body, within, registry, "body_subgraph.")


def _invalid(field: str, message: str) -> Finding:
    return Finding(code="INVALID_SCHEMA", message=message, field=field)
