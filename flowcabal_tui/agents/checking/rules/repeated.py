"""Rule: sentences that another chapter contains word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import han_count
from flowcabal_tui.locale import _

_LEAST_HAN: Final = 12
_LEAST_WORDS: Final = 8
_EDGE: Final = 2
"""Sentences at both ends of a chapter that may be a formula of the book."""
_REFRAIN: Final = 2
"""A text in more earlier chapters is a refrain."""
_MOST: Final = 5
_LETTERS: Final = re.compile(r"[^\W_]+")


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding for each series of consecutive sentences that is also consecutive in an earlier chapter."""
    mine = dict(_inner(draft))
    places: dict[str, list[tuple[NarratedText, Span]]] = {}
    for chapter in book.chapters:
        theirs = chapter.made(by_words)
        for words in mine.keys() & theirs.keys():
            places.setdefault(words, []).append((chapter, theirs[words]))
    last: tuple[NarratedText, int] | None = None
    found = 0
    for words, span in mine.items():
        where = places.get(words, [])
        if not where or len(where) > _REFRAIN:
            last = None
            continue
        chapter, source = where[-1]
        number = chapter.sentence_number(source.start)
        if last != (chapter, number - 1) and found < _MOST:
            found += 1
            yield RuleFinding(
                "style shift",
                _("An earlier chapter has this sentence word for word."),
                draft.quoted(span.start, span.end),
                chapter.quoted(source.start, source.end),
            )
        last = chapter, number


def by_words(narrated: NarratedText) -> dict[str, Span]:
    """The sentences that may be repeated, by their letters."""
    return dict(_inner(narrated))


def _inner(narrated: NarratedText) -> Iterator[tuple[str, Span]]:
    """Sentences long enough to be distinctive, without those at the ends of the chapter."""
    spans = narrated.sentences
    for span in spans[_EDGE:-_EDGE] if len(spans) > 4 * _EDGE else spans:
        sentence = narrated.text[span.start : span.end]
        words = _LETTERS.findall(sentence.lower())
        if han_count(sentence) >= _LEAST_HAN or len(words) >= _LEAST_WORDS:
            yield "".join(words), span
