"""Everything that can be reached from some values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reached(start: Iterable[T], onward: Callable[[T], Iterable[T]]) -> set[T]:
    """The values of `start`, and those that following `onward` reaches from them."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        fresh = set(onward(waiting.pop())) - seen
        seen |= fresh
        waiting += fresh
    return seen
