"""Paths such as `result_of.plan.scenes[0].title`: parsing, and looking up their values.

A field after a list maps over the list; `length` is the length of a list, a text or an object that has no such field.
`names` is one nested mapping of JSON values: `result_of` (node id to value), `loop`, loop aliases, `state`, `input`,
`chapter`, `project`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _

Part = str | int
RESULT: Final = "result_of"
LOOP: Final = "loop"
LENGTH: Final = "length"
NAMESPACES: Final = (RESULT, "state", "input", "chapter", "project")
"""Names that only contain other names."""
_WRAPPED: Final = late(r"\$?\{\{([^{}]+)\}\}|\$\{([^{}]+)\}")
_DOLLAR: Final = late(r"\$\{\{([^{}]+)\}\}|\$\{([^{}]+)\}")
_QUOTED: Final = late(r"""\[\s*(?:"([^"]*)"|'([^']*)')\s*\]""")
_INDEXED: Final = late(r"\[([0-9]{1,9})\]")
_NAME: Final = late(r"[^.\[\]]+")
_MAX_LENGTH: Final = 1000


@dataclass(frozen=True, slots=True)
class Path:
    """The parts of a path: field names and list indexes (from 0)."""

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return shown(self.parts)

    @property
    def root(self) -> str:
        """The first name; empty when the path starts with an index."""
        return self.parts[0] if isinstance(self.parts[0], str) else ""


def shown(parts: Sequence[Part]) -> str:
    """Formats `parts` as a path that `parse` reads back."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _NAME.fullmatch(part) and part == part.strip():
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]' if '"' not in part else f"['{part}']"
    return text


def unwrap(text: str) -> str:
    """The path inside `{{p}}`, `${p}` or `${{p}}`; other text as it is."""
    match = _WRAPPED.fullmatch(text)
    return (match[1] or match[2]).strip() or text if match else text


def braced(text: str) -> str:
    """`text` with every `${p}` and `${{p}}` written as `{{p}}`."""
    return _DOLLAR.sub(lambda match: "{{" + (match[1] or match[2]).strip() + "}}", text)


def parse(path: str) -> Path:
    """The parts of a dotted path with `[n]` and `["key"]`, without wrappers.

    Raises BindingError with the position (from 1) of the syntax error.
    """
    text = unwrap(path.strip())
    if not text:
        raise BindingError(path, _("the path is empty."))
    if len(text) > _MAX_LENGTH:
        raise BindingError(path[:80] + "…", _("the path is longer than {n} characters.").format(n=_MAX_LENGTH))
    parts: list[Part] = []
    at, wants_name = 0, True
    while at < len(text):
        if text[at] == "[":
            part, at = _bracket(text, at)
        elif text[at] == "." and not wants_name:
            at, wants_name = at + 1, True
            continue
        elif wants_name and (match := _NAME.match(text, at)):
            part, at = match[0], match.end()
        elif wants_name:
            raise _unreadable(text, at, _("a name is missing"))
        else:
            raise _unreadable(text, at, _("a dot or a bracket is missing"))
        if text[at - 1] == "]" and wants_name and parts:
            raise _unreadable(text, at - 1, _("a name is missing before the bracket"))
        parts.append(part)
        wants_name = False
    if wants_name:
        raise _unreadable(text, len(text), _("a name is missing"))
    return Path(tuple(parts))


def _bracket(text: str, at: int) -> tuple[Part, int]:
    if match := _INDEXED.match(text, at):
        return int(match[1]), match.end()
    if match := _QUOTED.match(text, at):
        return match[1] if match[1] is not None else match[2], match.end()
    if "]" not in text[at:]:
        raise _unreadable(text, at, _("the bracket is not closed"))
    raise _unreadable(text, at, _('brackets take a whole number from 0, or a name in quotes: ["name"]'))


def _unreadable(text: str, at: int, reason: str) -> BindingError:
    return BindingError(text, _("position {n}: {reason}.").format(n=at + 1, reason=reason))


def node_of(path: Path, known: Collection[str] = ()) -> tuple[NodeId, int] | None:
    """The node whose result the path reads, and the number of parts of its name; None for other paths.

    An id of `known` may contain dots: `result_of.act.one.text` reads the node `act.one` when there is no `act`.
    """
    if path.root != RESULT or len(path.parts) < 2 or not isinstance(path.parts[1], str):
        return None
    joined = path.parts[1]
    if joined in known:
        return NodeId(joined), 2
    for count, part in enumerate(path.parts[2:], 3):
        if not isinstance(part, str):
            break
        joined += f".{part}"
        if joined in known:
            return NodeId(joined), count
    return NodeId(path.parts[1]), 2


def look_up(path: str | Path, names: Mapping[str, Any]) -> Any:
    """The value of `path`. Raises BindingError with the names available at the step that fails."""
    read = path if isinstance(path, Path) else parse(path)
    results = names.get(RESULT)
    if isinstance(results, Mapping) and (node := node_of(read, results)):
        value, done = _step(results, node[0], read, 1), node[1]
        rest = completed(value, read.parts[done:], read)
        read = Path((*read.parts[:done], *rest))
    else:
        value, done = names, 0
    for index in range(done, len(read.parts)):
        value = _step(value, read.parts[index], read, index)
    return value


def has_length(path: Path, index: int) -> bool:
    """True when the part at `index` can mean the length of the value before it.

    A namespace (all nodes, inputs or keys) has no length.
    """
    return index > 1 or (index == 1 and path.root not in NAMESPACES)


def step(value: Any, part: Part) -> Any:
    """Returns a field or an item of a value, as a path reads it. Raises BindingError with the available names."""
    path = Path((shown(()), part))
    for each in completed(value, (part,), path):
        value = _step(value, each, path, 1)
    return value


def completed(value: Any, rest: tuple[Part, ...], path: Path) -> tuple[Part, ...]:
    """Completes the `rest` of a path into the output of a loop with the omitted `items` or `aggregates`.

    `exports` may precede them. An output with `iterations` is that of a loop. Raises BindingError when both contain the
    field.
    """
    if not rest or not isinstance(value, Mapping) or "iterations" not in value:
        return rest
    if rest[0] == "exports":
        return rest if len(rest) > 1 and _has(value.get("exports"), rest[1]) else rest[1:]
    if rest[0] in value:
        return rest
    items, aggregates = value.get("items"), value.get("aggregates")
    choices = [
        *(["items"] if isinstance(items, list) and any(_has(item, rest[0]) for item in items) else []),
        *(["aggregates"] if _has(aggregates, rest[0]) else []),
    ]
    if len(choices) > 1:
        raise ambiguous(path, rest[0])
    return (*choices, *rest)


def ambiguous(path: Path, field: Part) -> BindingError:
    """The error for a field that is in both the items and the aggregates of a loop."""
    return BindingError(str(path), _("it is ambiguous."), (shown(("items", field)), shown(("aggregates", field))))


def _has(value: Any, key: Part) -> bool:
    return isinstance(value, Mapping) and key in value


def _step(value: Any, part: Part, path: Path, index: int) -> Any:
    where = shown(path.parts[:index]) or _("the names")
    if isinstance(part, int):
        if not isinstance(value, list):
            raise BindingError(str(path), _("{where} is not a list but {kind}.").format(where=where, kind=kind(value)))
        if part >= len(value):
            raise BindingError(
                str(path), _("{where} has {n} items, counted from [0].").format(where=where, n=len(value))
            )
        return value[part]
    if part == LENGTH and not _has(value, part) and isinstance(value, (str, Mapping)) and has_length(path, index):
        return len(value)
    if isinstance(value, Mapping):
        if part not in value:
            meant = [shown((RESULT, part))] if index == 0 and _has(value.get(RESULT), part) else []
            raise BindingError(str(path), _missing(where, part, index), meant + [str(key) for key in value])
        return value[part]
    if isinstance(value, list):
        return _over(value, part, path, where)
    raise BindingError(str(path), _("{where} is {kind} and has no fields.").format(where=where, kind=kind(value)))


def _missing(where: str, part: str, index: int) -> str:
    if index == 0:
        return _("nothing here is named {name}.").format(name=part)
    if where == RESULT:
        return _("the node {name} has no result here.").format(name=part)
    return _("{where} has no field {name}.").format(where=where, name=part)


def _over(items: list[Any], part: str, path: Path, where: str) -> Any:
    found = [item[part] for item in items if _has(item, part)]
    if found:
        return found
    if part == LENGTH:
        return len(items)
    if not items:
        raise BindingError(str(path), _("the list {where} is empty.").format(where=where))
    fields: dict[str, None] = {str(key): None for item in items if isinstance(item, Mapping) for key in item}
    raise BindingError(
        str(path), _("no item of the list {where} has a field {name}.").format(where=where, name=part), fields
    )


def kind(value: Any) -> str:
    """The type of a JSON value, in the user's words."""
    if value is None:
        return _("nothing")
    if isinstance(value, bool):
        return _("true or false")
    if isinstance(value, (int, float)):
        return _("a number")
    if isinstance(value, str):
        return _("a text")
    return _("a list") if isinstance(value, list) else _("an object")
