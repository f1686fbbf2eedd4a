"""References in the parameters of any node, and their resolution.

Three forms: an object `{"__from__": path, "__agg__": ...}`; a text that is nothing but a path (`result_of.plan.text`,
`loop.item`, or another known root and a field); `{{path}}` inside a text. `{{plan.text}}` reads the node `plan` unless
another name is `plan`. A reference that cannot be resolved is an error that lists the available names; inserted text is
never parsed for bindings again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.aggregate_checks import problems, read
from flowcabal_tui.domain.aggregates import Identity, aggregate
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.formats import text_of
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.paths import LOOP, RESULT, Path
from flowcabal_tui.domain.schemas import check_path
from flowcabal_tui.domain.sizes import SizeBudget
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _

__all__ = ["ROOTS", "RUN_ROOTS", "check_path", "check_shape", "paths_in", "references", "resolve"]
FROM: Final = "__from__"
AGG: Final = "__agg__"
RUN_ROOTS: Final = ("state", "input", "chapter", "project")
ROOTS: Final = (*RUN_ROOTS, "item", "index", "size")
_TEMPLATE: Final = late(r"(\$?)\{\{([^{}]+)\}\}|(\$)\{([^{}]+)\}")
_BARE: Final = late(r"[^\s{}，。；：！？、…“”‘’「」《》（）]+")
_MAX_EMBEDDING: Final = 100_000
_MAX_TRIES: Final = 200
"""At most this many places of a text are parsed as JSON, which bounds the cost of a hostile text."""
_OBJECT: Final = late(r'\{\s*"')
_DECODER: Final = json.JSONDecoder()


def resolve(value: Any, names: Mapping[str, Any]) -> Any:
    """A tree of parameters with every binding replaced by its value, which keeps its type where the binding is all of a
    text.

    Parts of `names` are shared, not copied. Raises BindingError for a reference that cannot be resolved, and when the
    result would be larger or deeper than `sizes` allows.
    """
    return _Resolver(names).value(value, 0)


class _Resolver:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names, self.budget = names, SizeBudget()
        results = names.get(RESULT)
        self.nodes: Collection[str] = results.keys() if isinstance(results, Mapping) else ()

    def value(self, value: Any, depth: int) -> Any:
        self.budget.take(value, depth)
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, Mapping):
            if is_binding(value):
                return self.binding(value)
            return {key: self.value(part, depth + 1) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(part, depth + 1) for part in value]
        return value

    def binding(self, binding: Mapping[str, Any]) -> Any:
        source = binding.get(FROM)
        spec = read({key: part for key, part in binding.items() if key != FROM})
        if isinstance(source, str):
            found = self.look_up(source)
        elif isinstance(source, (list, tuple)) and source and all(isinstance(path, str) for path in source):
            found = [self.look_up(path) for path in source]
        else:
            raise BindingError(FROM, _("it must be a path or a list of paths."))
        return found if isinstance(spec, Identity) else self.budget.keep(aggregate(spec, found))

    def look_up(self, path: str | Path) -> Any:
        return self.budget.keep(paths.look_up(path, self.names))

    def string(self, text: str) -> Any:
        if (path := whole_path(text, self.names, self.nodes)) is not None:
            return self.look_up(path)
        return self.text(text)

    def text(self, text: str) -> str:
        if "{" not in text:
            return text
        return _TEMPLATE.sub(self.inserted, text)

    def inserted(self, match: re.Match[str]) -> str:
        path = _template_path(match, self.names, self.nodes)
        if path is None:
            return match[0]
        found = paths.look_up(path, self.names)
        return self.budget.keep(found if isinstance(found, str) else text_of(self.budget.keep(found)))


def is_binding(value: Any) -> bool:
    """True for the object form of a binding, complete or not."""
    return isinstance(value, Mapping) and (FROM in value or AGG in value)


def as_binding(source: Any) -> Any:
    """The source of a list; a text without braces is a whole path."""
    return {FROM: source} if isinstance(source, str) and "{" not in source else source


def json_bindings(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The bindings written as JSON inside a text, each with its start and its end."""
    if FROM not in text or len(text) > _MAX_EMBEDDING:
        return
    end, tries = 0, _MAX_TRIES
    while tries and (opening := _OBJECT.search(text, end)):
        start, tries = opening.start(), tries - 1
        try:
            found, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
            continue
        if isinstance(found, dict) and FROM in found:
            yield start, end, found


def whole_path(text: str, roots: Collection[str], nodes: Collection[str]) -> Path | None:
    """The path when all of `text` is one; None for other text. `{{path}}` always is one, or raises BindingError."""
    if match := _TEMPLATE.fullmatch(text):
        return _template_path(match, roots, nodes)
    if not _BARE.fullmatch(text) or not text.startswith((f"{RESULT}.", f"{RESULT}[", f"{LOOP}.", *roots)):
        return None
    try:
        path = paths.parse(text)
    except BindingError:
        if text.startswith((f"{RESULT}.", f"{LOOP}.")):
            raise
        return None
    return path if len(path.parts) > 1 and path.root in (RESULT, LOOP, *roots) else None


def _template_path(match: re.Match[str], roots: Collection[str], nodes: Collection[str]) -> Path | None:
    """The path of a `{{path}}` or `${path}`; None for a dollar form with an unknown root (a price, a shell line)."""
    dollar, inner = match[1] or match[3], match[2] or match[4]
    if not inner.strip():
        return None
    try:
        path = paths.parse(inner)
    except BindingError:
        if dollar:
            return None
        raise
    if path.root in (RESULT, LOOP, *roots):
        return path
    if (named := paths.node_of(Path((RESULT, *path.parts)), nodes)) and named[0] in nodes:
        return Path((RESULT, *path.parts))
    return None if dollar else path


def paths_in(
    value: Any, known: Collection[NodeId] = (), *, roots: Collection[str] = ROOTS, location: str = ""
) -> tuple[tuple[str, str], ...]:
    """Every path in a tree of parameters with the field that holds it, in order, for static checks.

    Paths are as written, without wrappers; `{{node.field}}` of a known node becomes `result_of.node.field`.
    """
    return tuple((place, str(path)) for place, path in _paths(value, location, (LOOP, *roots), known))


def references(value: Any, known: Collection[NodeId] = (), *, roots: Collection[str] = ROOTS) -> tuple[NodeId, ...]:
    """The nodes whose results a tree of parameters reads, in order, without duplicates.

    Nodes after `result_of` are listed whether known or not; `known` is for `{{node.field}}` and for ids with dots.
    """
    found: dict[NodeId, None] = {}
    for _place, path in _paths(value, "", (LOOP, *roots), known):
        if isinstance(path, Path) and (named := paths.node_of(path, known)):
            found[named[0]] = None
    return tuple(found)


def _paths(
    value: Any, location: str, roots: Collection[str], known: Collection[NodeId]
) -> Iterator[tuple[str, Path | str]]:
    for place, part in _leaves(value, location):
        if isinstance(part, str):
            yield from ((place, path) for path in _paths_of_text(part, roots, known))
            continue
        yield from ((place, path) for path in _sources(part))


def _leaves(value: Any, location: str) -> Iterator[tuple[str, Any]]:
    """The texts and the bindings of a tree with their places. Raises BindingError for trees too large for `resolve`."""
    budget = SizeBudget()
    waiting: list[tuple[str, Any, int]] = [(location, value, 0)]
    while waiting:
        place, part, depth = waiting.pop()
        budget.take(part, depth)
        if isinstance(part, str) or is_binding(part):
            yield place, part
        elif isinstance(part, Mapping):
            inner = [(f"{place}.{key}" if place else str(key), one, depth + 1) for key, one in part.items()]
            waiting += reversed(inner)
        elif isinstance(part, (list, tuple)):
            waiting += reversed([(f"{place}[{n}]", one, depth + 1) for n, one in enumerate(part)])


def _sources(binding: Mapping[str, Any]) -> Iterator[Path | str]:
    source = binding.get(FROM)
    for path in source if isinstance(source, (list, tuple)) else [source]:
        if isinstance(path, str):
            yield _readable(path)


def _readable(source: str) -> Path | str:
    try:
        return paths.parse(source)
    except BindingError:
        return source


def _paths_of_text(text: str, roots: Collection[str], known: Collection[NodeId]) -> Iterator[Path | str]:
    try:
        if (path := whole_path(text, roots, known)) is not None:
            yield path
            return
    except BindingError:
        yield paths.unwrap(text)
        return
    for _start, _end, binding in json_bindings(text):
        yield from _sources(binding)
    for match in _TEMPLATE.finditer(text):
        try:
            inserted = _template_path(match, roots, known)
        except BindingError:
            yield match[2].strip()
            continue
        if inserted is not None:
            yield inserted


def bindings_in(value: Any, *, location: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every binding in object form, or as JSON in a text, with the field that holds it."""
    for place, part in _leaves(value, location):
        if isinstance(part, str):
            yield from ((place, binding) for _start, _end, binding in json_bindings(part))
        else:
            yield place, part


def check_shape(value: Any, *, location: str = "") -> tuple[Problem, ...]:
    """All errors in the form of the bindings in a tree of parameters; module `schemas` checks their paths."""
    found = (finding for place, binding in bindings_in(value, location=location) for finding in _shape(binding, place))
    return tuple(found)


def _shape(binding: Mapping[str, Any], place: str) -> Iterator[Problem]:
    source = binding.get(FROM)
    message = ""
    if FROM not in binding:
        message = _("__from__ is missing.")
    elif isinstance(source, (list, tuple)):
        if not source:
            message = _("__from__ is an empty list.")
        elif not all(isinstance(path, str) for path in source):
            message = _("Every entry of __from__ must be a path.")
    elif not isinstance(source, str):
        message = _("__from__ must be a path or a list of paths.")
    if message:
        yield Problem(code="SCHEMA_MISMATCH", message=message, field=place)
    for problem in problems({key: part for key, part in binding.items() if key != FROM}):
        yield Problem(
            code="SCHEMA_MISMATCH" if problem.severity == "error" else "UNKNOWN_PARAM",
            message=f"{problem.place}: {problem.message}",
            field=place,
            severity=problem.severity,
            fix=problem.fix,
        )
