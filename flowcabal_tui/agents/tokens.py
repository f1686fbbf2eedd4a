"""Counts the tokens of texts once, and cuts a text to a number of tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import digest

if TYPE_CHECKING:
    from flowcabal_tui.domain.model_ports import TokenCounter

_REMEMBERED: Final = 50_000
_BOUNDARY: Final = re.compile(r"\n+|[。！？!?…]+[”’」』\"]*|[.;；](?=\s)|[，,、](?=.)")


class CountedTokens:
    """A token counter that caches the count of each text."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[Digest, int] = {}

    def count(self, text: str) -> int:
        key = digest(text)
        if (known := self._known.get(key)) is not None:
            return known
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        counted = self._known[key] = self._counter.count(text)
        return counted


def cut(text: str, tokens: int, counter: TokenCounter, *, keep_end: bool = False) -> Span:
    """The longest part of `text` within `tokens` that ends (or begins) at a paragraph, sentence or clause.

    Its beginning, or with `keep_end` its end. Empty when not even a clause fits.
    """
    whole = counter.count(text)
    if whole <= tokens:
        return Span(0, len(text))
    places = [match.end() for match in _BOUNDARY.finditer(text)]
    guess = int(len(text) * tokens / max(1, whole))
    while guess > 0:
        limit = len(text) - guess if keep_end else guess
        fitting = [place for place in places if (place >= limit if keep_end else place <= limit)]
        if not fitting:
            break
        span = Span(fitting[0], len(text)) if keep_end else Span(0, fitting[-1])
        if counter.count(text[span.start : span.end]) <= tokens:
            return span
        guess = int(guess * 0.9)
    return Span(0, 0)
