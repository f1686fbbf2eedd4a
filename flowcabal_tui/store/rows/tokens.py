"""Tokens for the word index: Chinese as overlapping pairs of characters, other text as words.

The last character of a run is a token too, so that every character begins exactly one token: a query for one character
is a query for a prefix, and a name of any length is a phrase of pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_GRAM: Final = r"\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_LETTER: Final = rf"[^\W_{_GRAM}]"
_PIECE: Final = re.compile(rf"([{_GRAM}]+)|{_LETTER}+")


def tokens(text: str) -> list[str]:
    """The tokens of a text, in order; their number is its length in characters (Chinese) and words."""
    found: list[str] = []
    for piece in _PIECE.finditer(text.lower()):
        run = piece[0]
        if piece[1]:
            found += [run[at : at + 2] for at in range(len(run))]
        else:
            found.append(run)
    return found


@dataclass(frozen=True, slots=True)
class Term:
    """A search term: a name, a word, a phrase."""

    text: str
    match: str
    """The FTS5 query that finds every passage that may contain the term."""
    counted: str | re.Pattern[str]
    """The string or pattern to count in lower-case text."""

    def count(self, lowered: str) -> int:
        """The number of occurrences in a lower-case text."""
        return lowered.count(self.counted) if isinstance(self.counted, str) else len(self.counted.findall(lowered))


def match(text: str) -> str | None:
    """The FTS5 query that finds every passage that may contain the text; None for a text without letters and digits."""
    pieces = list(_PIECE.finditer(text.lower()))
    if not pieces:
        return None
    phrase, last = tokens(text), pieces[-1]
    if last[1] and len(last[0]) > 1:
        phrase.pop()  # the run may continue in the text
    return f'"{" ".join(phrase)}"' + (" *" if last[1] and len(last[0]) == 1 else "")


def term(text: str) -> Term | None:
    """The term for a query's text; None for a text without letters and digits."""
    wanted, pieces = match(text), list(_PIECE.finditer(text.lower()))
    if wanted is None:
        return None
    last = pieces[-1]
    return Term(text, wanted, last[0] if last[1] and len(pieces) == 1 else _pattern(pieces))


def _pattern(pieces: Sequence[re.Match[str]]) -> re.Pattern[str]:
    """A pattern of the pieces in order, with any characters between them that are neither letters nor digits."""
    body = re.escape(pieces[0][0])
    for before, piece in pairwise(pieces):
        body += (r"[\W_]*" if before[1] or piece[1] else r"[\W_]+") + re.escape(piece[0])
    start = "" if pieces[0][1] else rf"(?<!{_LETTER})"
    end = "" if pieces[-1][1] else rf"(?!{_LETTER})"
    return re.compile(start + body + end)
