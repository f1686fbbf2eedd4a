"""Checking the values of parameters: bindings and what they lead to, empty texts, and types against a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow.schemas import Names
from flowcabal_tui.domain import binding_checks, bindings, paths
from flowcabal_tui.domain.bindings import AGG, FROM
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.schemas import ANYTHING, Schema, options_of, types_of
from flowcabal_tui.domain.workflow import Finding
from flowcabal_tui.locale import _

_MADE: Final = {"count": "integer", "count_if": "integer", "join": "string", "format_join": "string"}
"""The type of what an aggregate gives."""
_SEPARATORS: Final = ("sep", "separator")


def check_bindings(value: Any, names: Names, place: str) -> Iterator[Finding]:
    """What is wrong with the bindings in `value`; names in texts that nobody knows become inputs of the run."""
    value = braced(value)
    asked = dict.fromkeys(_unknown(value, names))
    for name in asked:
        said = _("{name} is defined nowhere: it will be an input of the run.").format(name=name)
        yield Finding(code="UNDEFINED_REFERENCE", message=said, field=place, severity="warning")
    roots = {**names.roots, **dict.fromkeys(asked)}
    yield from binding_checks.check(value, names.nodes, roots=roots, location=place)


def braced(value: Any) -> Any:
    """`value` with every `${p}` and `${{p}}` in its texts as `{{p}}`."""
    if isinstance(value, str):
        return paths.braced(value)
    if isinstance(value, Mapping):
        return {key: braced(part) for key, part in value.items()}
    return [braced(part) for part in value] if isinstance(value, list) else value


def _unknown(value: Any, names: Names) -> Iterator[str]:
    """The first names in `{{...}}` of texts that nobody knows."""
    if isinstance(value, str) and "{{" in value:
        for _place, path in bindings.paths_in(value, names.nodes, roots=tuple(names.roots)):
            try:
                root = paths.parse(path).root
            except BindingError:
                continue
            if root not in (paths.RESULT, *names.roots):
                yield root
    elif isinstance(value, Mapping) and not bindings.is_binding(value):
        for part in value.values():
            yield from _unknown(part, names)
    elif isinstance(value, list):
        for part in value:
            yield from _unknown(part, names)


def check_empty(value: Any, place: str) -> Iterator[Finding]:
    """Texts without a letter, anywhere in `value`; a separator may be empty."""
    if isinstance(value, str) and not value.strip():
        said = _("It is empty. Give it a value, or a binding.")
        yield Finding(code="EMPTY_PARAM_VALUE", message=said, field=place)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key not in _SEPARATORS:
                yield from check_empty(part, f"{place}.{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from check_empty(part, f"{place}[{number}]")


def check_type(value: Any, schema: Schema, names: Names, place: str) -> Iterator[Finding]:
    """Whether a value, or what a binding in its place yields, is of a type that `schema` allows."""
    options = options_of(schema, schema)
    allowed = frozenset(one for option in options for one in types_of(option))
    if not allowed or any(not types_of(option) for option in options):
        return
    given = type_of_value(value, names)
    if given and not any(_fits(one, allowed) for one in given):
        said = _("It must be {wanted}, and is {given}.")
        message = said.format(wanted=" / ".join(sorted(allowed)), given=" / ".join(sorted(given)))
        yield Finding(code="SCHEMA_MISMATCH", message=message, field=place)
        return
    if bindings.is_binding(value):
        return
    yield from _check_choice(value, options, place)
    inner = next((option for option in options if {"object", "array"} & types_of(option)), ANYTHING)
    yield from _check_inside(value, inner, names, place)


def _check_inside(value: Any, schema: Schema, names: Names, place: str) -> Iterator[Finding]:
    fields, items = schema.get("properties"), schema.get("items")
    if isinstance(value, Mapping) and isinstance(fields, Mapping):
        for key, part in value.items():
            if isinstance(fields.get(key), Mapping):
                yield from check_type(part, fields[key], names, f"{place}.{key}")
    if isinstance(value, list) and isinstance(items, Mapping):
        for number, part in enumerate(value):
            yield from check_type(part, items, names, f"{place}[{number}]")


def _check_choice(value: Any, options: list[Schema], place: str) -> Iterator[Finding]:
    """Whether a text that stands in the document is one of those that are allowed."""
    listed = [option.get("enum") for option in options]
    choices = [one for many in listed if isinstance(many, list) for one in many]
    if (
        isinstance(value, str)
        and "{" not in value
        and value not in choices
        and all(isinstance(m, list) for m in listed)
    ):
        said = _("It must be one of: {names}").format(names=", ".join(map(str, choices[:20])))
        yield Finding(code="SCHEMA_MISMATCH", message=said, field=place)


def type_of_value(value: Any, names: Names) -> frozenset[str]:
    """The JSON types that a value has, or that a binding may give; empty when that is open."""
    if bindings.is_binding(value):
        return _type_of_binding(value, names)
    if isinstance(value, str):
        return _type_of_text(value, names)
    if isinstance(value, bool):
        return frozenset(("boolean",))
    if isinstance(value, (int, float)):
        whole = isinstance(value, int) or value.is_integer()
        return frozenset(("integer" if whole else "number",))
    if value is None:
        return frozenset(("null",))
    return frozenset(("array" if isinstance(value, list) else "object",))


def _type_of_text(text: str, names: Names) -> frozenset[str]:
    try:
        path = bindings.whole_path(paths.braced(text), tuple(names.roots), names.nodes)
    except BindingError:
        return frozenset()
    if path is None:
        inner = paths.unwrap(paths.braced(text))
        return types_at(inner, names) if inner in names.roots else frozenset(("string",))
    return types_at(str(path), names)


def types_at(path: str, names: Names) -> frozenset[str]:
    """The JSON types of what a path leads to; empty when that is open."""
    schema = names.of(path)
    options = options_of(schema, schema)
    if any(not types_of(option) for option in options):
        return frozenset()
    return frozenset(one for option in options for one in types_of(option))


def _type_of_binding(binding: Mapping[str, Any], names: Names) -> frozenset[str]:
    made, source = str(binding.get(AGG, "identity")), binding.get(FROM)
    if made in _MADE:
        return frozenset((_MADE[made],))
    if made == "filter_map":
        return frozenset(("string",))
    if made == "pipeline":
        steps = binding.get("steps")
        last = steps[-1] if isinstance(steps, list) and steps and isinstance(steps[-1], Mapping) else {}
        return frozenset(("string",)) if last.get("op") == "format_join" else frozenset()
    if isinstance(source, list):
        return frozenset(("array",))
    return types_at(source, names) if isinstance(source, str) and made == "identity" else frozenset()


def _fits(given: str, allowed: frozenset[str]) -> bool:
    return given in allowed or (given == "integer" and "number" in allowed)
