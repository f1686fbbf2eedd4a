"""Reads stored values. A project's database may be damaged, or come from a stranger."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from functools import cache, wraps
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Any,
    Concatenate,
    Final,
    Literal,
    NewType,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from flowcabal_tui.domain.codec import from_json, from_plain
from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.store.file.faults import damaged

log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_SIMPLE: Final = (str, int, bool, float, datetime, Decimal, NoneType)
_WRONG: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, ArithmeticError)


def decodes(decode: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """A decoder of a stored row that raises ProjectDamaged if the row has another form than this program writes.

    SQLite stores any type in any column, so the fields of a decoded value are compared with their annotations.
    """

    @wraps(decode)
    def decode_row(row: R, /, *more: P.args, **named: P.kwargs) -> T:
        try:
            value = decode(row, *more, **named)
            shape: Any = type(value)
            if (form := _form_of(shape)) is not None:
                form.require(value)
            return value
        except _WRONG as error:
            raise damaged(f"{type(error).__name__}: {error}"[:200]) from error

    return decode_row


class _Form:
    """The types of the fields of a class that hold numbers, texts, times or one of some words."""

    def __init__(self, kinds: dict[str, tuple[type, ...]], choices: dict[str, tuple[object, ...]]) -> None:
        self._names, self._kinds, self._choices = tuple(kinds), tuple(kinds.values()), tuple(choices.items())
        self._values = attrgetter(*kinds, "__class__")
        self._known: set[tuple[type, ...]] = set()
        """Types that were found right before: most rows of a table have the same."""

    def require(self, value: object) -> None:
        """Raises TypeError for a value with a field of another type, ValueError for another word."""
        found = self._values(value)
        types = tuple(map(type, found))
        if types not in self._known:
            for name, one, kinds in zip(self._names, found, self._kinds, strict=False):
                if not isinstance(one, kinds):
                    raise TypeError(f"{name}: {one!r}")
            self._known.add(types)
        for name, choices in self._choices:
            if (word := getattr(value, name)) not in choices:
                raise ValueError(f"{name}: {word!r}")


@cache
def _form_of(shape: type) -> _Form | None:
    try:
        hints = get_type_hints(shape) if hasattr(shape, "__dataclass_fields__") else {}
    except NameError:  # a type that is imported for annotations alone
        return None
    kinds: dict[str, tuple[type, ...]] = {}
    choices: dict[str, tuple[object, ...]] = {}
    for name, hint in hints.items():
        parts = [_plain(part) for part in (get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,))]
        words = [choice for part in parts if get_origin(part) is Literal for choice in get_args(part)]
        types = {type(word) for word in words} | {part for part in parts if part in _SIMPLE}
        if not types or not all(part in _SIMPLE or get_origin(part) is Literal for part in parts):
            continue
        kinds[name] = tuple(types | ({int} if float in types else set()))
        if words and str not in parts:
            choices[name] = (*words, None) if NoneType in parts else tuple(words)
    return _Form(kinds, choices) if kinds else None


def _plain(hint: Any) -> Any:
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    return hint


def readable(
    decode: Callable[[R], T], rows: Iterable[R], skip: Callable[[R], object] = lambda _row: None
) -> tuple[T, ...]:
    """The values of the rows that can be read. The log names the others, which stay as they are; `skip` gets them."""
    found = []
    for row in rows:
        try:
            found.append(decode(row))
        except ProjectDamaged as error:
            log.warning("a row was skipped: %s", error.detail)
            skip(row)
    return tuple(found)


class SkippedRows:
    """The unreadable rows that the lists of one store leave out, by the word for their kind; each counts once."""

    def __init__(self) -> None:
        self._rows: dict[str, set[object]] = {}
        self.on_first: Callable[[str, int], None] = lambda _what, _count: None
        """Gets each word once, with the number of its rows in the list that met the first of them."""

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows by word."""
        return {what: len(rows) for what, rows in self._rows.items()}

    def readable(self, what: str, decode: Callable[[R], T], rows: Iterable[R]) -> tuple[T, ...]:
        """See `readable`. `what` is a word for all the rows, such as "comments"."""
        skipped: list[R] = []
        found = readable(decode, rows, skipped.append)
        self.add(what, skipped)
        return found

    def add(self, what: str, rows: Iterable[object]) -> None:
        """Counts rows that were left out."""
        if skipped := {hash(row) for row in rows}:
            is_first = what not in self._rows
            self._rows.setdefault(what, set()).update(skipped)
            if is_first:
                self.on_first(what, len(skipped))


@decodes
def _from_json(text: str | bytes, kind: type[T]) -> T:
    return from_json(kind, text)


@decodes
def _from_plain(value: Any, kind: type[T]) -> T:
    return from_plain(kind, value)


def read_json(kind: type[T], text: str | bytes) -> T:
    """The value of type `kind` that a column holds as JSON. Raises ProjectDamaged."""
    return _from_json(text, kind)


def read_plain(kind: type[T], value: Any) -> T:
    """The value of type `kind` in a part of such JSON. Raises ProjectDamaged."""
    return _from_plain(value, kind)
