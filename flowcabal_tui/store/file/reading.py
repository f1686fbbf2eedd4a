"""Reads stored values. A project's database may be damaged, or come from a stranger."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from flowcabal_tui.domain.codec import from_json, from_plain
from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.store.file.faults import damaged

log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_WRONG: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


def decodes(decode: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """A decoder of a stored row that raises ProjectDamaged if the row has another form than this program writes."""

    @wraps(decode)
    def decode_row(row: R, /, *more: P.args, **named: P.kwargs) -> T:
        try:
            return decode(row, *more, **named)
        except _WRONG as error:
            raise damaged(f"{type(error).__name__}: {error}"[:200]) from error

    return decode_row


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
    """The rows that lists of one store leave out, by the word for what they hold; each counts once."""

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
