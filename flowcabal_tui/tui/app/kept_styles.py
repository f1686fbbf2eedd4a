"""Caches parsed style sheets: a page with widgets of a new kind parses only theirs.

Textual keeps the rules of 64 sources, and asks for all sources in the same order whenever one is added. The workspace
alone has more: every new page, and every preview of a theme, parsed all of them again.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_THEMES: Final = 4
_SOURCES: Final = 1024

Parsed = LRUCache[tuple[Any, ...], list[RuleSet]]
"""The rules by source, which nothing changes once they are parsed."""


@lru_cache(_THEMES)
def _parsed(_variables: frozenset[tuple[str, str]]) -> Parsed:
    """The sources parsed with these variables, which include the colours of a theme."""
    return LRUCache(_SOURCES)


class KeptStyles(Stylesheet):
    """The style sheets of an app; parsed sources are cached for all apps of the process."""

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = _parsed(frozenset(self._variables.items()))

    def set_variables(self, variables: dict[str, str]) -> None:
        """Sets the colours of another theme."""
        self._parse_cache = LRUCache(1)  # Textual empties the one that it finds
        super().set_variables(variables)
        self._parse_cache = _parsed(frozenset(variables.items()))

    def reparse(self) -> None:
        """Parses sources that were not parsed with these variables yet."""
        self.parse()
