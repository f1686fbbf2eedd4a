"""Finds words in texts, best paragraphs first. Pure, and fast enough to run at every key.

All texts are scanned, so a text is found as soon as it is kept, by a single Chinese character or a whole sentence. A
Latin word matches at the beginning of a word. Letter case and the form of quotation marks are ignored.

The score is bm25 over paragraphs. Those that contain the whole query come first, then those with all of its words;
those with half of them only count when there are none of these. Chinese that does not occur verbatim is split into
pairs of characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice, takewhile
from typing import Final

from flowcabal_tui.domain import bm25
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.search import SearchHit, SearchKind
from flowcabal_tui.domain.text import lowered

_QUOTES: Final = str.maketrans("‘’“”", "''\"\"")
_FIRST_HAN: Final = "\u2e80"
_GRAMS: Final = re.compile(r"[^\W\u2e80-\U0010ffff]+|(?=([\u2e80-\U0010ffff]{2}))")
_BEFORE, _LINE = 80, 320
"""Characters of a long paragraph that are given before the first place, and in all."""
_MOST_PLACES: Final = 200
"""Maximum places of a paragraph that are compared to find the one with the most words around it."""


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A text to search, and the values for its hits."""

    kind: SearchKind
    uri: str
    title: str
    text: str
    level: Level = "L2"
    position: int = 0
    cited: Span | None = None
    """The span of `uri` to open, when the text itself is not there."""


class Page:
    """A prepared document: folded letters, and the starts of its paragraphs."""

    def __init__(self, document: SearchedText) -> None:
        self.document = document
        self.folded = fold(document.text)
        self.starts = [0, *(place + 1 for place in _find(self.folded, "\n"))]

    def paragraph(self, number: int) -> tuple[int, int]:
        """The start and end of a paragraph, without its line end."""
        following = self.starts[number + 1 : number + 2]
        return self.starts[number], following[0] - 1 if following else len(self.folded)


def fold(text: str) -> str:
    """The text with equivalent letters made equal, every character at its place."""
    return lowered(text).translate(_QUOTES)


def _find(text: str, words: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + len(words))


def _is_latin(character: str) -> bool:
    return character.isalnum() and character < _FIRST_HAN


def places(folded: str, words: str, *, whole: bool = False) -> Iterator[int]:
    """The places of the words, except in the middle of a Latin word; with `whole` they must also end at the end of a
    word."""
    starts_word, ends_word = _is_latin(words[0]), whole and _is_latin(words[-1])
    for at in _find(folded, words):
        end = at + len(words)
        amid = starts_word and at > 0 and _is_latin(folded[at - 1])
        if not amid and not (ends_word and end < len(folded) and _is_latin(folded[end])):
            yield at


_Paragraph = tuple[int, int]
"""The number of the page and of the paragraph in it."""


def best(pages: Sequence[Page], query: str, limit: int) -> tuple[tuple[SearchHit, ...], int]:
    """The best `limit` hits, and the number of matching paragraphs; in a tie the first page comes first."""
    phrase = " ".join(fold(query).split())
    if not phrase:
        return (), 0
    words = list(dict.fromkeys(phrase.split()))
    found = {term: _by_paragraph(pages, term) for term in dict.fromkeys((phrase, *words))}
    if not any(found.values()):
        words = list(dict.fromkeys(gram[1] or gram[0] for gram in _GRAMS.finditer(phrase)))
        found |= {word: _by_paragraph(pages, word) for word in words}
    word_counts = {place: sum(place in found[word] for word in words) for word in words for place in found[word]}
    least = len(words) if len(words) in word_counts.values() else (len(words) + 1) // 2
    wanted = [place for place, number in word_counts.items() if number >= least]
    scores = _scores(pages, wanted, tuple(found.values()))
    chosen = nsmallest(limit, wanted, key=lambda at: (at not in found[phrase], -word_counts[at], -scores[at], at))
    hits = []
    for place in chosen:
        page, terms = pages[place[0]], [phrase] if place in found[phrase] else words
        hits.append(_hit(page, place[1], _spans(page, place[1], terms), scores[place]))
    return tuple(hits), len(wanted)


_Counts = dict[_Paragraph, int]
"""The number of occurrences of a term in each paragraph that has it."""


def _by_paragraph(pages: Sequence[Page], term: str) -> _Counts:
    found: _Counts = {}
    for number, page in enumerate(pages):
        if _is_latin(term[0]):
            for at in places(page.folded, term):
                paragraph = (number, bisect_right(page.starts, at) - 1)
                found[paragraph] = found.get(paragraph, 0) + 1
            continue
        at = page.folded.find(term)
        while at >= 0:  # one step a paragraph, however often a common character occurs in it
            paragraph = (number, bisect_right(page.starts, at) - 1)
            _start, end = page.paragraph(paragraph[1])
            found[paragraph] = page.folded.count(term, at, end)
            at = page.folded.find(term, end)
    return found


def _scores(pages: Sequence[Page], wanted: Sequence[_Paragraph], found: Sequence[_Counts]) -> dict[_Paragraph, float]:
    count = sum(len(page.starts) for page in pages)
    average = sum(len(page.folded) for page in pages) / max(1, count) or 1.0
    weights = [bm25.idf(count, len(places)) for places in found]
    scores: dict[_Paragraph, float] = {}
    for place in wanted:
        start, end = pages[place[0]].paragraph(place[1])
        norm = bm25.norm(end - start, average)
        scores[place] = sum(
            bm25.score(weight, tf, norm)
            for weight, counts in zip(weights, found, strict=True)
            if (tf := counts.get(place, 0))
        )
    return scores


def _spans(page: Page, paragraph: int, terms: Sequence[str]) -> list[Span]:
    """The places of the terms in a paragraph."""
    start, end = page.paragraph(paragraph)
    words = page.folded[start:end]
    found = (Span(start + at, start + at + len(term)) for term in terms for at in places(words, term))
    return sorted(found, key=lambda span: span.start)


def around(text: str, start: int, end: int, first: int) -> tuple[str, int]:
    """The part of the paragraph from `start` to `end` around the character `first`, and its start, never inside a Latin
    word."""
    begin = start if end - start <= _LINE else min(max(start, first - _BEFORE), end - _LINE)
    while start < begin < first and _is_latin(text[begin - 1]) and _is_latin(text[begin]):
        begin += 1
    return text[begin : min(end, begin + _LINE)], begin


def _closest(folded: str, spans: Sequence[Span]) -> Span:
    """The span from which most different words are in view; the first in a tie."""

    def words_behind(number: int) -> int:
        end = spans[number].start + _LINE - _BEFORE
        near = takewhile(lambda span: span.end <= end, islice(spans, number, None))
        return len({folded[span.start : span.end] for span in near})

    return spans[max(range(min(len(spans), _MOST_PLACES)), key=words_behind)]


def _hit(page: Page, paragraph: int, spans: Sequence[Span], score: float) -> SearchHit:
    known, (start, end) = page.document, page.paragraph(paragraph)
    first = _closest(page.folded, spans)
    line, begin = around(known.text, start, end, first.start)
    shown = tuple(
        Span(span.start - begin, span.end - begin)
        for span in spans
        if begin <= span.start and span.end <= begin + len(line)
    )
    opened = known.cited or first
    return SearchHit(
        kind=known.kind,
        uri=known.uri,
        title=known.title,
        line=line,
        spans=shown,
        start=opened.start,
        end=opened.end,
        level=known.level,
        position=known.position,
        score=round(score, 4),
    )
