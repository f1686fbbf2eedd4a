"""Finds a quotation in a text, ignoring white space and quotation marks."""

from __future__ import annotations

import html
import unicodedata
from functools import lru_cache
from typing import Final

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import han_count

_QUOTE_MARKS: Final = frozenset("\"'`´‘’‚‛“”„‟′″«»‹›「」『』〝〞＂＇")
_OUTER: Final = "…."
_LEAST_LETTERS: Final = 6
_ALPHABET: Final = 8_192
"""Characters that are remembered: those of a book in both languages, and more."""


@lru_cache(_ALPHABET)
def _folded(char: str) -> str:
    """The character for comparison: "" for white space and quotation marks, half-width otherwise."""
    if char.isspace() or char in _QUOTE_MARKS:
        return ""
    narrow = unicodedata.normalize("NFKC", char)
    return narrow if len(narrow) == 1 else char


class VerbatimText:
    """A text in which quotations are looked up. White space, quotation marks and character width do not count."""

    def __init__(self, text: str) -> None:
        self._text = text
        kept = [(place, folded) for place, char in enumerate(text) if (folded := _folded(char))]
        self._places = [place for place, _ in kept]
        self._folded = "".join(folded for _, folded in kept)

    def find(self, quote: str) -> Span | None:
        """The first place of the quotation, in offsets of the text; None if it does not occur, or is too short."""
        needle = "".join(map(_folded, html.unescape(quote))).strip(_OUTER)
        if not needle or (han_count(needle) < 2 and len(needle) < _LEAST_LETTERS):
            return None
        at = self._folded.find(needle)
        if at < 0:
            return None
        return Span(self._places[at], self._places[at + len(needle) - 1] + 1)

    def words(self, span: Span) -> str:
        """The text of a span, unchanged."""
        return self._text[span.start : span.end]
