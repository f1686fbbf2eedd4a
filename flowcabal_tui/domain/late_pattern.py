"""Patterns that are compiled when they are first used: compiling takes 0.1 to 4 ms each, and few are used at once."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any


class LatePattern:
    """A pattern with the methods of a compiled one; each method is looked up once."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._given = pattern, flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself."""
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        """Looks up a method of the compiled pattern on first access. Raises AttributeError if a pattern has no such
        method."""
        if name.startswith("_"):  # of Python, as copying asks for
            raise AttributeError(name)
        found = getattr(self.compiled, name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    late = re.compile
else:
    late = LatePattern
