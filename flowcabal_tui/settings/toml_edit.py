"""Changes single values in a TOML text; every other line, with its comment and its place, is unchanged.

Existing values are replaced by tomlkit. Added and removed ones are lines of their own, since tomlkit would put a new
key below the comment that introduces the next table. Each step is parsed again; one with another result than intended
is left to tomlkit, which knows inline tables and dotted keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import tomlkit

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings.file_text import read_toml

Keys = tuple[str, ...]
"""The names that lead to a value, from the outermost table on."""
Change = tuple[Keys, Any]
"""A value, or None to remove the value or the whole table."""
_EMPTY: Final[tuple[object, ...]] = (None, "", (), [], {})


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any], brief: Mapping[str, Any], keys: Keys = ()
) -> Iterator[Change]:
    """The differences between two forms of settings with their defaults; `brief` is `after` without defaults.

    An explicit value stays in the file when it becomes the default again, unless it is empty.
    """
    for name in dict.fromkeys((*before, *after)):
        old, new, shown = before.get(name), after.get(name), brief.get(name)
        if old == new:
            continue
        if isinstance(new, Mapping):
            wanted = new if isinstance(old, Mapping) else shown or {}
            yield from changes(old if isinstance(old, Mapping) else {}, wanted, shown or {}, (*keys, name))
        elif new in _EMPTY and name not in brief:
            yield (*keys, name), None
        else:
            yield (*keys, name), new


def edited(text: str, wanted: Iterable[Change]) -> str:
    """The text with these values. Raises ValueError for a text that is not TOML, or a change that does not fit it."""
    has_crlf = 0 < text.count("\n") == text.count("\r\n")
    text = text.replace("\r\n", "\n") if has_crlf else text
    for keys, value in wanted:
        text = _changed(text, keys, value)
    return text.replace("\n", "\r\n") if has_crlf else text


def _changed(text: str, keys: Keys, value: Any) -> str:
    now = read_toml(text)
    expected = _with(now, keys, value)
    if expected == now:
        return text
    for way in (_by_line, _by_document):
        try:
            found = way(text, keys, value)
            if found is not None and _filled(read_toml(found)) == _filled(expected):
                return found
        except (ValueError, KeyError, TypeError):  # tomlkit's errors are of these kinds
            continue
    raise ValueError(".".join(keys))


def _with(tables: Mapping[str, Any], keys: Keys, value: Any) -> dict[str, Any]:
    """The tables with one value changed."""
    name, *rest = keys
    found = dict(tables)
    if rest:
        inner = found.get(name, {})
        if value is not None or name in found:
            found[name] = _with(inner if isinstance(inner, Mapping) else {}, tuple(rest), value)
    elif value is None:
        found.pop(name, None)
    else:
        found[name] = read_toml(f"x = {_shown(value)}")["x"]
    return found


def _filled(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables without empty ones, which change nothing."""
    inner = {name: _filled(value) if isinstance(value, dict) else value for name, value in tables.items()}
    return {name: value for name, value in inner.items() if value != {}}


def _shown(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Decimal):
        return format(value, "f")
    shown: str = tomlkit.item(list(value) if isinstance(value, tuple) else value).as_string()
    return shown


# Line by line


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines of a table: its head (none: of the root) is at `start`, `end` is behind its last value."""

    keys: Keys
    start: int
    end: int


def _sections(lines: list[str]) -> list[_Section]:
    heads = [(number, keys) for number, line in enumerate(lines) if (keys := _head(line)) is not None]
    found = []
    for (start, keys), (stop, _keys) in zip([(-1, ()), *heads], [*heads, (len(lines), ())], strict=True):
        end = start + 1
        for number in range(start + 1, stop):
            if _is_value(lines[number]):
                end = number + 1
        found.append(_Section(keys, start, end))
    return found


def _is_value(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _head(line: str) -> Keys | None:
    """The table that the line begins; None for any line that is not a table header."""
    if not line.lstrip().startswith("["):
        return None
    try:
        inner: Any = read_toml(line)
    except tomllib.TOMLDecodeError:
        return None
    keys = []
    while isinstance(inner, dict) and inner:
        [(name, inner)] = inner.items()
        keys.append(name)
    return tuple(keys) if inner == {} else None


def _by_line(text: str, keys: Keys, value: Any) -> str | None:
    """The text with one value changed in whole lines; None where that is not possible."""
    lines = text.split("\n")
    sections = _sections(lines)
    if value is None:
        return _without(lines, sections, keys)
    if keys[-1] in _table(read_toml(text), keys[:-1]):
        return None
    line = f"{tomlkit.key(keys[-1]).as_string()} = {_shown(value)}"
    home = next((each for each in sections if each.keys == keys[:-1]), None)
    if home is None:
        return _with_table(lines, sections, keys[:-1], line)
    at = home.end or _below_opening(lines)
    if home.end > home.start + 1:
        before = lines[home.end - 1]
        line = before[: len(before) - len(before.lstrip())] + line
    elif home.start < 0 and at < len(lines) and lines[at].strip():
        line += "\n"
    return "\n".join([*lines[:at], line, *lines[at:]])


def _table(tables: Any, keys: Keys) -> Mapping[str, Any]:
    for name in keys:
        tables = tables.get(name, {}) if isinstance(tables, Mapping) else {}
    return tables if isinstance(tables, Mapping) else {}


def _below_opening(lines: list[str]) -> int:
    """The line below the comment that opens a file, if a blank line follows the comment."""
    count = next((number for number, line in enumerate(lines) if not line.lstrip().startswith("#")), 0)
    return count + 1 if count and not lines[count].strip() else 0


def _with_table(lines: list[str], sections: list[_Section], keys: Keys, line: str) -> str:
    """Inserts a new table after the tables with the same first name, else at the end of the file."""
    family = [each for each in sections if each.keys and each.keys[0] == keys[0]]
    at = family[-1].end if family else len("\n".join(lines).rstrip("\n").split("\n"))
    block = [f"[{'.'.join(tomlkit.key(name).as_string() for name in keys)}]", line]
    before = lines[:at] if "".join(lines[:at]) else []
    after = lines[at:]
    return "\n".join([*before, *([""] if before else []), *block, *(after or [""])])


def _without(lines: list[str], sections: list[_Section], keys: Keys) -> str | None:
    for section in sections:
        for number in range(section.start + 1, section.end) if section.keys == keys[:-1] else ():
            if _value_name(lines[number]) == keys[-1]:
                return "\n".join([*lines[:number], *lines[number + 1 :]])
    gone = [each for each in sections if each.keys[: len(keys)] == keys]
    for section in reversed(gone):
        at = section.start
        del lines[at : section.end]
        if at < len(lines) and not lines[at].strip() and (at == 0 or not lines[at - 1].strip()):
            del lines[at]
    return "\n".join(lines) if gone else None


def _value_name(line: str) -> str | None:
    """The name of the value, if a line holds a complete one."""
    try:
        found = read_toml(line)
    except tomllib.TOMLDecodeError:
        return None
    return next(iter(found), None)


def _by_document(text: str, keys: Keys, value: Any) -> str:
    document = tomlkit.parse(text)
    table: Any = document
    for name in keys[:-1]:
        if name not in table:
            table[name] = tomlkit.table()
        table = table[name]
    if value is None:
        del table[keys[-1]]
    else:
        table[keys[-1]] = tomlkit.value(_shown(value))
    return tomlkit.dumps(document)
