"""Limits of a node's resolved parameters, so that references to references cannot exhaust the memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.locale import _

MAX_DEPTH: Final = 100
"""Greatest nesting of lists and objects."""
MAX_VALUES: Final = 250_000
"""Greatest number of texts, numbers, lists and objects together."""
MAX_CHARACTERS: Final = 20_000_000
"""Greatest length of all texts together: about seven long novels."""

Kept = TypeVar("Kept")


class TooLarge(BindingError):
    """The resolved references exceed the limits."""


class SizeBudget:
    """The remaining allowance; `take` and `keep` raise TooLarge when it is used up."""

    def __init__(self) -> None:
        self.values, self.characters = MAX_VALUES, MAX_CHARACTERS

    def take(self, value: Any, depth: int) -> None:
        """Counts one value, without its contents."""
        self.values -= 1
        if isinstance(value, str):
            self.characters -= len(value)
        if depth > MAX_DEPTH:
            raise TooLarge("…", _("the value is nested more than {n} levels deep.").format(n=MAX_DEPTH))
        if self.values < 0:
            raise TooLarge("…", _("the result would contain more than {n} values.").format(n=MAX_VALUES))
        if self.characters < 0:
            raise TooLarge("…", _("the result would be longer than {n} characters.").format(n=MAX_CHARACTERS))

    def keep(self, value: Kept) -> Kept:
        """Counts a value with all its contents, a shared part as often as it occurs. Returns it."""
        waiting: list[tuple[Any, int]] = [(value, 0)]
        while waiting:
            part, depth = waiting.pop()
            self.take(part, depth)
            if isinstance(part, Mapping):
                waiting += [(inner, depth + 1) for inner in part.values()]
            elif isinstance(part, (list, tuple)):
                waiting += [(inner, depth + 1) for inner in part]
        return value
