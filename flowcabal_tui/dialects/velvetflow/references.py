"""Converts VelvetFlow's bindings: one renaming for every place that can hold a path.

Paths lead through `result_of`; a name in braces that the document does not define becomes an input of the run. An
expression that our language lacks is a finding, because it would be sent on as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from flowcabal_tui.dialects.velvetflow import jinja
from flowcabal_tui.dialects.velvetflow.jinja import JinjaError, Piece
from flowcabal_tui.dialects.velvetflow.places import Telling
from flowcabal_tui.domain import paths, renaming
from flowcabal_tui.domain.bindings import AGG, FROM, RUN_ROOTS, is_binding, json_bindings, whole_path
from flowcabal_tui.domain.errors import BindingError, ExpressionError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.paths import LENGTH, LOOP, RESULT, Part, Path
from flowcabal_tui.locale import _

_CONDITION: Final = ("label", "result", "resolved_value", "evaluated_values")
_LENGTHS: Final = ("length", "count")
OWN: Final = ("value", "values", "data")
"""Names that the expression of a condition finds beside all others."""
_QUOTED: Final = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_CHAIN: Final = re.compile(r"""(?<![\w\].])[^\s()\[\]{}<>=!|,+*/%~'"]+""")
"""Names and dots without a break, in which an id may hold a dash."""
TURN: Final = ("item", "index", "size", LOOP)
"""Names that exist only in a loop's body; elsewhere they are neither nodes nor inputs."""


@dataclass(frozen=True)
class NameScope:
    """The names that one place of a document can use."""

    types: Mapping[NodeId, str]
    """The type of every node that can be read."""
    exports: Mapping[NodeId, frozenset[str]]
    """For loops in today's form the names of their exports."""
    names: frozenset[str] = frozenset()
    """A loop's names: loop, item, index, size, the alias."""
    loops: tuple[str, ...] = ()
    """The loops around, the innermost last."""

    def within(self, types: Mapping[NodeId, str], exports: Mapping[NodeId, frozenset[str]]) -> NameScope:
        """The scope extended by the nodes of a body."""
        return replace(self, types={**self.types, **types}, exports={**self.exports, **exports})


@dataclass
class BindingReferences:
    """Rewrites the bindings of a document; collects findings for invalid ones, and the inputs that it needs."""

    telling: Telling
    taken: Collection[str] = frozenset()
    """Ids of nodes and names of loops anywhere in the document: out of sight they are mistakes, no inputs."""
    inputs: dict[str, None] = field(default_factory=dict)

    def value(self, value: Any, scope: NameScope, place: str) -> Any:
        """A tree of parameters with every binding rewritten."""
        if isinstance(value, str):
            return self.text(value, scope, place)
        if isinstance(value, Mapping):
            if is_binding(value):
                return self.binding(value, scope, place)
            return {key: self.value(part, scope, f"{place}.{key}") for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part, scope, f"{place}[{n}]") for n, part in enumerate(value)]
        return value

    def binding(self, binding: Mapping[str, Any], scope: NameScope, place: str) -> dict[str, Any]:
        """A binding in object form; a filter in its source is applied before the aggregate."""
        source = binding.get(FROM)
        if isinstance(source, list):
            made: Any = [self.one_path(one, scope, place) if isinstance(one, str) else one for one in source]
        else:
            made = self.one_path(source, scope, place) if isinstance(source, str) else source
        return {**binding, FROM: made} if FROM in binding else dict(binding)

    def one_path(self, text: str, scope: NameScope, place: str) -> str:
        """A path in a field that can hold only a path."""
        found = self.source(text, scope, place)
        return found if isinstance(found, str) else text

    def source(self, source: Any, scope: NameScope, place: str) -> Any:
        """The source of a condition or a loop; a text is always a path."""
        if isinstance(source, list):
            return [self.source(one, scope, place) if isinstance(one, str) else one for one in source]
        if not isinstance(source, str):
            return self.value(source, scope, place)
        text = paths.braced(source.strip())
        if "{" not in text:
            return self.bare_path(text, scope)
        made = self.text(text, scope, place)
        return paths.unwrap(made) if isinstance(made, str) and "}}" not in made[:-2] else made

    def bare_path(self, text: str, scope: NameScope) -> str:
        """A path under our names; unchanged when its first name is unknown."""
        try:
            path = paths.parse(text)
        except BindingError:
            return text
        return str(_renamed(path, scope) or path)

    def text(self, text: str, scope: NameScope, place: str) -> Any:
        """A text with its bindings, whole or embedded."""
        text = paths.braced(text)
        if (whole := _json_binding(text)) is not None:
            return self.binding(whole, scope, place)
        try:
            found = jinja.pieces(text)
        except JinjaError as error:
            self.telling.wrong(error.code, place, str(error))
            return text
        if len(found) == 1 and found[0].inner:
            return self.whole(found[0].text, scope, place)
        if not any(piece.inner for piece in found):
            return self.plain(text, scope, place)
        return "".join(self.part(piece, scope, place) for piece in found)

    def prompt(self, text: str, scope: NameScope, place: str) -> str:
        """A text for a model, in which only braces are bindings."""
        try:
            found = jinja.pieces(paths.braced(text))
        except JinjaError as error:
            self.telling.wrong(error.code, place, str(error))
            return text
        return "".join(self.part(piece, scope, place) if piece.inner else piece.text for piece in found)

    def plain(self, text: str, scope: NameScope, place: str) -> str:
        """A text without braces: a path as a whole, or with embedded bindings as JSON."""
        if text in scope.names and text != LOOP:
            return "{{" + text + "}}"
        if (path := _bare(text, scope)) is None:
            return self.embedded(text, scope, place)
        if paths.parse(path).root in RUN_ROOTS:
            message = _(
                "In VelvetFlow, {text} is a text; here it is read as a path, and fails if the path does not exist."
            )
            self.telling.wrong("NOT_CARRIED_OVER", place, message.format(text=text[:80]))
        return path

    def part(self, piece: Piece, scope: NameScope, place: str) -> str:
        """A converted part of a text."""
        if not piece.inner:
            return self.embedded(piece.text, scope, place)
        made = self.whole(piece.text, scope, place)
        if isinstance(made, str):
            return made if made.startswith("{{") else "{{" + made + "}}"
        message = _("{text} must be the whole value here, not part of a text.").format(text=piece.text[:80])
        self.telling.wrong("NOT_CARRIED_OVER", place, message)
        return "{{" + piece.text + "}}"

    def whole(self, inner: str, scope: NameScope, place: str) -> Any:
        """The content of braces: a path, or a path with filters that a binding can express."""
        if (path := _path(inner)) is not None:
            return "{{" + str(self.named(path, scope, place)) + "}}"
        found = jinja.filtered(inner)
        source = _path(found.path) if found else None
        if found is None or source is None:
            message = _("{text} is not a path: only paths can be filled in.").format(text=inner[:80])
            self.telling.wrong("NOT_CARRIED_OVER", place, message)
            return "{{" + inner + "}}"
        named = self.named(source, scope, place)
        for number, (name, given) in enumerate(found.filters):
            if name in _LENGTHS and not given:
                named = Path((*named.parts, LENGTH))
            elif name == "first" and not given:
                named = Path((*named.parts, 0))
            elif name == "join" and number == len(found.filters) - 1 and len(given) < 2:
                return {FROM: str(named), AGG: "join", "separator": str(given[0]) if given else ""}
            elif name != "list" or given:
                message = _("The filter {name} is not supported here.").format(name=name)
                self.telling.wrong("NOT_CARRIED_OVER", place, message)
                return "{{" + inner + "}}"
        return "{{" + str(named) + "}}"

    def named(self, path: Path, scope: NameScope, place: str) -> Path:
        """A path in braces under our names; a name that the document does not define becomes an input of the run."""
        known = _renamed(path, scope)
        if known is not None:
            return known
        if path.root in self.taken or path.root in TURN or not path.root:
            return path
        self.inputs[path.root] = None
        message = _("{name} is defined nowhere: it will be an input of the run.").format(name=path.root)
        self.telling.wrong("UNDEFINED_REFERENCE", place, message, severity="warning")
        return Path(("input", *path.parts))

    def expression(self, text: str, scope: NameScope, place: str) -> str:
        """The expression of a condition: Python's as VelvetFlow once evaluated it, or Jinja's between braces."""
        stripped = paths.braced(text.strip())
        inner = stripped
        try:
            if "{{" in stripped or "{%" in stripped:
                found = jinja.pieces(stripped)
                if len(found) != 1 or not found[0].inner:
                    raise JinjaError(_("Write an expression in one pair of braces."))
                inner = found[0].text
            inner = _with_known_ids(inner, scope.types)

            def renamed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
                if parts[0] in OWN and NodeId(str(parts[0])) not in scope.types:
                    return parts
                return self.named(Path(parts), scope, place).parts

            try:
                return renaming.renamed(inner, renamed)
            except ExpressionError:
                return jinja.expression(inner, renamed)
        except JinjaError as error:
            self.telling.wrong(error.code, place, f"{text[:80]}: {error}")
            return inner

    def embedded(self, text: str, scope: NameScope, place: str) -> str:
        """Embedded bindings as JSON in a text, rewritten as `{{path}}` if they do not change the value."""
        for start, end, binding in reversed(list(json_bindings(text))):
            source = binding.get(FROM)
            if isinstance(source, str) and binding.get(AGG, "identity") == "identity":
                text = text[:start] + "{{" + self.one_path(source, scope, place) + "}}" + text[end:]
            else:
                message = _("A binding inside a text can only insert a value; this one stays as text.")
                self.telling.wrong("NOT_CARRIED_OVER", place, message)
        return text


def _path(text: str) -> Path | None:
    """The path that a text is as a whole; None for other text, such as an expression."""
    try:
        path = paths.parse(text)
    except BindingError:
        return None
    return None if re.search(r"[|()+*/<>=~%\s,'\"]", _unbracketed(text)) else path


def _unbracketed(text: str) -> str:
    return re.sub(r"""\[\s*(?:"[^"]*"|'[^']*')\s*\]""", "", text.strip())


def _with_known_ids(text: str, known: Collection[str]) -> str:
    """Writes ids that are not identifiers, such as `act-1`, as keys: `result_of["act-1"]`. Quoted text stays."""

    def keyed(match: re.Match[str]) -> str:
        pieces = match[0].removeprefix(f"{RESULT}.").split(".")
        for count in range(len(pieces), 0, -1):
            node = ".".join(pieces[:count])
            number = node.isdigit() and not match[0].startswith(RESULT)
            if node in known and not node.isidentifier() and not number:
                return ".".join((f"{RESULT}[{json.dumps(node, ensure_ascii=False)}]", *pieces[count:]))
        return match[0]

    parts = _QUOTED.split(text)
    return "".join(part if number % 2 else _CHAIN.sub(keyed, part) for number, part in enumerate(parts))


def _json_binding(text: str) -> dict[str, Any] | None:
    if not text.strip().startswith("{") or FROM not in text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and is_binding(found) else None


def _bare(text: str, scope: NameScope) -> str | None:
    """The path that a whole text is, when it begins with a name that is known."""
    try:
        path = whole_path(text, (*scope.names, *scope.loops, *RUN_ROOTS), scope.types)
    except BindingError:
        return None
    return None if path is None else str(_renamed(path, scope) or path)


def _renamed(path: Path, scope: NameScope) -> Path | None:
    """The path under our names; None when its first name is unknown here."""
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


def _result(path: Path, scope: NameScope) -> Path:
    """A path into the output of a node, with the field names of the converted node."""
    named = paths.node_of(path, scope.types)
    if named is None:
        return path
    node, used = named
    head, rest = path.parts[:used], path.parts[used:]
    if scope.types.get(node) == "start":
        return Path(("input", *rest)) if rest else path
    if rest and scope.types.get(node) == "condition" and rest[0] not in _CONDITION:
        return Path((*head, "result", *rest[1:]) if rest[0] == "condition_result" else (*head, "resolved_value", *rest))
    taken = scope.exports.get(node, frozenset())
    if taken and rest == ("exports",):
        return Path((*head, "aggregates"))
    if taken and rest and (at := 1 if rest[0] == "exports" else 0) < len(rest) and rest[at] in taken:
        return Path((*head, "aggregates", *rest[at:]))
    return path
