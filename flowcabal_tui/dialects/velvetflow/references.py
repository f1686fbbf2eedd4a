"""VelvetFlow's bindings as ours: paths lead through `result_of`, names that nobody knows become inputs of the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flowcabal_tui.dialects.report import ConversionNote
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.bindings import AGG, FROM, RUN_ROOTS, is_binding, json_bindings, whole_path
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import LOOP, RESULT, Path
from flowcabal_tui.locale import _

_TEMPLATE: Final = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)
_FILTER: Final = re.compile(
    r"^(?P<path>[^|]+?)\s*\|\s*(?P<name>length|count|join)\s*(?:\(\s*(?P<sep>'[^']*'|\"[^\"]*\")?\s*\))?$"
)
_JINJA: Final = re.compile(r"\{%|\{#")
_EXPRESSION: Final = re.compile(r"[|()+*/<>=~%]|\s(?:if|else|and|or|not|in|is)\s")
"""What stands in Jinja's expressions and in no path."""
_CONDITION: Final = ("label", "result", "resolved_value", "evaluated_values")


@dataclass(frozen=True)
class Scope:
    """What can be named at one place of a document."""

    types: Mapping[NodeId, str]
    """The type of every node that can be read."""
    exports: Mapping[NodeId, frozenset[str]]
    """For loops in today's form the names of what they take out."""
    names: frozenset[str] = frozenset()
    """A loop's names: loop, item, index, size, the alias."""
    loops: tuple[str, ...] = ()
    """The loops around, the innermost last."""


@dataclass
class References:
    """Rewrites the bindings of a document; keeps notes, and the inputs that it asks for."""

    notes: list[ConversionNote]
    inputs: dict[str, None] = field(default_factory=dict)

    def value(self, value: Any, scope: Scope, place: str) -> Any:
        """A tree of parameters with every binding rewritten."""
        if isinstance(value, str):
            return self.text(value, scope, place)
        if isinstance(value, Mapping):
            if is_binding(value):
                return self.binding(value, scope)
            return {key: self.value(part, scope, f"{place}.{key}") for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part, scope, f"{place}[{n}]") for n, part in enumerate(value)]
        return value

    def binding(self, binding: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
        source = binding.get(FROM)
        if isinstance(source, str):
            return {**binding, FROM: self.path(source, scope)}
        if isinstance(source, list):
            return {**binding, FROM: [self.path(one, scope) if isinstance(one, str) else one for one in source]}
        return dict(binding)

    def source(self, source: Any, scope: Scope, place: str) -> Any:
        """The source of a condition or a loop: in text always a path."""
        if isinstance(source, str):
            text = paths.braced(source.strip())
            return self.text(text, scope, place) if _FILTER.match(paths.unwrap(text)) else self.path(text, scope)
        if isinstance(source, list):
            return [self.source(one, scope, place) if isinstance(one, str) else one for one in source]
        return self.value(source, scope, place)

    def path(self, text: str, scope: Scope) -> str:
        """A path that stands where only a path can; as it is when nobody knows its first name."""
        try:
            path = paths.parse(paths.braced(text))
        except BindingError:
            return text
        return str(_renamed(path, scope) or path)

    def text(self, text: str, scope: Scope, place: str) -> Any:
        """A text with its bindings: whole or inside."""
        text = paths.braced(text)
        if (whole := _json_binding(text)) is not None:
            return self.binding(whole, scope)
        inner = paths.unwrap(text)
        if inner in scope.names and inner != LOOP:
            return "{{" + inner + "}}"
        if inner != text:
            if (filtered := self.filtered(inner, scope)) is not None:
                return filtered
        elif (path := _bare(text, scope)) is not None:
            if paths.parse(path).root in RUN_ROOTS:
                said = _("{text} is a text there; here it is read as a path, and fails if that leads nowhere.")
                self.lost(place, said.format(text=text[:80]))
            return path
        if _JINJA.search(text):
            self.lost(place, _("Jinja blocks are not read; the text stays as it is."))
        return _TEMPLATE.sub(lambda match: self.inserted(match, scope, place), self.embedded(text, scope, place))

    def inserted(self, match: re.Match[str], scope: Scope, place: str) -> str:
        try:
            path = None if _EXPRESSION.search(match[1]) else paths.parse(match[1])
        except BindingError:
            path = None
        if path is None:
            self.lost(place, _("{text} is no path: only paths can be filled in.").format(text=match[0][:80]))
            return match[0]
        known = _renamed(path, scope)
        if known is None:
            known = Path(("input", *path.parts))
            self.inputs[path.root] = None
        return "{{" + str(known) + "}}"

    def filtered(self, inner: str, scope: Scope) -> dict[str, Any] | None:
        """`{{ path | length }}` and `{{ path | join(', ') }}` as bindings."""
        if not (match := _FILTER.match(inner)):
            return None
        source = self.path(match["path"].strip(), scope)
        if match["name"] == "join":
            return {FROM: source, AGG: "join", "separator": (match["sep"] or "''")[1:-1]}
        return {FROM: source, AGG: "count"}

    def embedded(self, text: str, scope: Scope, place: str) -> str:
        """Bindings as JSON inside a text as `{{path}}`, where they make nothing of the value."""
        for start, end, binding in reversed(list(json_bindings(text))):
            source = binding.get(FROM)
            if isinstance(source, str) and binding.get(AGG, "identity") == "identity":
                text = text[:start] + "{{" + source + "}}" + text[end:]
            else:
                self.lost(place, _("A binding inside a text can only insert a value; this one stays as text."))
        return text

    def lost(self, place: str, message: str) -> None:
        self.notes.append(ConversionNote("lost", place, message))


def _json_binding(text: str) -> dict[str, Any] | None:
    if not text.strip().startswith("{") or FROM not in text:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and is_binding(found) else None


def _bare(text: str, scope: Scope) -> str | None:
    """The path that a whole text is, when it begins with a name that is known."""
    try:
        path = whole_path(text, (*scope.names, *scope.loops, *RUN_ROOTS), scope.types)
    except BindingError:
        return None
    return None if path is None else str(_renamed(path, scope) or path)


def _renamed(path: Path, scope: Scope) -> Path | None:
    """The path under our names; None when nobody knows its first name."""
    if path.root in scope.names:
        return path
    if path.root in scope.loops:
        outwards = scope.loops[::-1].index(path.root)
        return Path((LOOP, *("outer",) * outwards, *path.parts[1:]))
    if path.root != RESULT and path.root not in RUN_ROOTS:
        whole = Path((RESULT, *path.parts))
        named = paths.node_of(whole, scope.types)
        return _result(whole, scope) if named and named[0] in scope.types else None
    return _result(path, scope) if path.root == RESULT else path


def _result(path: Path, scope: Scope) -> Path:
    """A path into the output of a node, with the names that ours gives its fields."""
    named = paths.node_of(path, scope.types)
    if named is None:
        return path
    node, used = named
    head, rest = path.parts[:used], path.parts[used:]
    if rest and scope.types.get(node) == "condition" and rest[0] not in _CONDITION:
        return Path((*head, "result", *rest[1:]) if rest[0] == "condition_result" else (*head, "resolved_value", *rest))
    taken = scope.exports.get(node, frozenset())
    if taken and rest and (at := 1 if rest[0] == "exports" else 0) < len(rest) and rest[at] in taken:
        return Path((*head, "aggregates", *rest[at:]))
    return path
