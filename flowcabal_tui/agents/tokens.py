"""Counts the tokens of texts once, and cuts a text to a number of tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import NOT_SHORT, digest

if TYPE_CHECKING:
    from flowcabal_tui.domain.model_ports import TokenCounter

_REMEMBERED: Final = 50_000
_SENTENCE: Final = rf"\n+|(?:[。！？!?…]|(?=\.){NOT_SHORT}\.(?=[”’」』\"]*\s))+[”’」』\"]*"
_SENTENCE_END: Final = re.compile(_SENTENCE)
_BOUNDARY: Final = re.compile(rf"{_SENTENCE}|[;；](?=\s)|[，,、][”’」』\"]*(?=.)")
_WHOLE: Final = 0.75
"""Least share of a part that must remain when it is shortened to whole sentences."""


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
    """The longest part of `text` within `tokens` that ends (or begins) at a paragraph or sentence; at a clause where
    that would leave out much.

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
            return _of_sentences(text, span, keep_end=keep_end)
        guess = int(guess * 0.9)
    return Span(0, 0)


def _of_sentences(text: str, span: Span, *, keep_end: bool) -> Span:
    """The span without a cut sentence at its border, unless that is much of it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    whole = [
        Span(end, span.end) if keep_end else Span(span.start, end) for end in ends if span.start <= end <= span.end
    ]
    best = max(whole, key=lambda each: each.end - each.start, default=span)
    return best if best.end - best.start >= _WHOLE * (span.end - span.start) else span
