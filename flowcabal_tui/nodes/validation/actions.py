"""Checks the arguments of an action against its registry: literal values, and the possible values of bindings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.domain import bindings, paths
from flowcabal_tui.domain.bindings import AGG, FROM
from flowcabal_tui.domain.schemas import Schema, follow, options_of, types_of
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.validation.scope import ActionShape, CheckedNode, GraphScope

_MOST_FAULTS: Final = 5
_LONGEST: Final = 300
_TEXT: Final = frozenset(("string",))
_AGGREGATES: Final = {
    "count": frozenset(("integer",)),
    "count_if": frozenset(("integer",)),
    "join": _TEXT,
    "format_join": _TEXT,
}
"""The types that aggregates yield independent of their parameters."""


def check_action(read: CheckedNode, actions: Mapping[str, ActionShape] | None, scope: GraphScope) -> Iterator[Problem]:
    """Unknown and disabled actions; missing, superfluous and mistyped parameters."""
    params: Any = read.params
    if params.output is not None and (fault := _no_schema(params.output)):
        yield Problem(code="SCHEMA_MISMATCH", node=read.path, field="output", message=fault)
    if actions is None or not params.action.strip():
        return
    if read.action is None:
        message = _("There is no action {action}.").format(action=params.action[:200])
        fix = nearest(params.action, tuple(actions))
        yield Problem(code="UNKNOWN_ACTION_ID", node=read.path, field="action", message=message, fix=fix)
        return
    if not read.action.enabled:
        message = _("The action {action} is switched off.").format(action=params.action)
        yield Problem(code="ACTION_DISABLED", node=read.path, field="action", message=message, severity="warning")
    for finding in _given(params.params, read.action.arg_schema, scope):
        yield finding.model_copy(update={"node": read.path})


def _no_schema(schema: Schema) -> str:
    """The reason why an output schema in the document is not a JSON Schema; "" when it is one."""
    import jsonschema.validators

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        return clean(f"{error.json_path}: {error.message}")[:_LONGEST]
    except RecursionError:
        return _("It is nested too deeply.")
    return ""


def _given(given: Mapping[str, Any], schema: Schema, scope: GraphScope) -> Iterator[Problem]:
    fields = schema.get("properties")
    known = fields if isinstance(fields, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, (list, tuple)) else ():
        if name not in given:
            message = _("The action needs {name}.").format(name=name)
            yield Problem(code="MISSING_REQUIRED_PARAM", field=f"params.{name}", message=message)
        elif given[name] == "":
            message = _("{name} is empty.").format(name=name)
            yield Problem(code="EMPTY_PARAM_VALUE", field=f"params.{name}", message=message)
    for name, value in given.items():
        place = f"params.{name}"
        if name in known:
            yield from _fits(value, known[name], schema, scope, place)
        elif (
            known and "patternProperties" not in schema and not isinstance(schema.get("additionalProperties"), Mapping)
        ):
            yield _unknown(name, place, known, schema.get("additionalProperties") is False)


def _unknown(name: str, place: str, known: Collection[str], refused: bool) -> Problem:
    message = _("The action has no parameter {name}. Its parameters: {names}").format(
        name=name[:60], names=_(", ").join(known)
    )
    return Problem(
        code="UNKNOWN_PARAM",
        field=place,
        message=message,
        fix=nearest(name, known),
        severity="error" if refused else "warning",
    )


def _fits(value: Any, schema: Any, top: Schema, scope: GraphScope, place: str) -> Iterator[Problem]:
    """Yields the mismatches of a value and the schema: bindings by the types that they yield, other values as they
    are."""
    if not isinstance(schema, Mapping):
        return
    if (yielded := _yielded(value, scope)) is not None:
        wanted = frozenset().union(*map(types_of, options_of(schema, top)))
        if any(not types_of(option) for option in options_of(schema, top)) or not yielded or yielded & _widened(wanted):
            return
        message = _("It yields {found}, but {wanted} is needed.").format(
            found=_(", ").join(sorted(yielded)), wanted=_(", ").join(sorted(wanted))
        )
        yield Problem(code="SCHEMA_MISMATCH", field=place, message=message)
    elif isinstance(value, Mapping) and _holds_bindings(value):
        fields = schema.get("properties")
        known = fields if isinstance(fields, Mapping) else {}
        for name, part in value.items():
            yield from _fits(part, known.get(name), top, scope, f"{place}.{name}")
    elif isinstance(value, (list, tuple)) and _holds_bindings(value):
        for number, part in enumerate(value):
            yield from _fits(part, schema.get("items"), top, scope, f"{place}[{number}]")
    elif value != "":
        yield from _literal(value, schema, top, place)


def _literal(value: Any, schema: Schema, top: Schema, place: str) -> Iterator[Problem]:
    import jsonschema.validators  # takes 80 ms, which a workflow without actions need not pay
    import referencing
    import referencing.exceptions

    whole = {**schema, **{key: top[key] for key in ("$defs", "definitions") if key in top}}
    kind = jsonschema.validators.validator_for(whole, default=jsonschema.Draft202012Validator)
    try:
        # An empty registry: the default one would fetch remote references.
        for number, error in enumerate(kind(whole, registry=referencing.Registry()).iter_errors(value)):
            if number == _MOST_FAULTS:
                return
            inside = paths.shown(list(error.absolute_path))
            dot = "." if inside and inside[0] != "[" else ""
            message = clean(error.message)[:_LONGEST]
            yield Problem(code="SCHEMA_MISMATCH", field=place + dot + inside, message=message)
    except (referencing.exceptions.Unresolvable, RecursionError):
        return  # the schema is invalid, which loading the registry has reported


def _holds_bindings(value: Any) -> bool:
    return bool(bindings.paths_in(value)) or any(True for _one in bindings.bindings_in(value))


def _yielded(value: Any, scope: GraphScope) -> frozenset[str] | None:
    """The JSON types that a binding can yield, empty when that is open; None when the value is not a binding."""
    if isinstance(value, Mapping) and FROM in value:
        aggregate = str(value.get(AGG, "identity"))
        if aggregate != "identity":
            return _AGGREGATES.get(aggregate, frozenset())
        source = value[FROM]
        if isinstance(source, (list, tuple)):
            return frozenset(("array",))
        return _types_at(source, scope) if isinstance(source, str) else frozenset()
    if not isinstance(value, str):
        return None
    found = bindings.paths_in(value, scope.schemas, roots=scope.roots)
    if not found:
        return None
    whole = len(found) == 1 and paths.unwrap(value.strip()) in (found[0][1], found[0][1].removeprefix("result_of."))
    return _types_at(found[0][1], scope) if whole else _TEXT


def _types_at(path: str, scope: GraphScope) -> frozenset[str]:
    schema = follow(path, scope.schemas, roots=scope.roots)
    if isinstance(schema, Problem):
        return frozenset()
    found = [types_of(option) for option in options_of(schema, schema)]
    return frozenset().union(*found) if all(found) else frozenset()


def _widened(types: frozenset[str]) -> frozenset[str]:
    """The JSON types with integer and number treated as compatible."""
    return types | {"integer", "number"} if types & {"integer", "number"} else types
