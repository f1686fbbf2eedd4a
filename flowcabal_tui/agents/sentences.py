"""Splits a text into sentences, and selects its most informative ones by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.text import NOT_SHORT, han_count, unbroken

if TYPE_CHECKING:
    from flowcabal_tui.domain.model_ports import TokenCounter

_CLOSING: Final = r"[”’」』》）)\"']"
_GOES_ON: Final = r"(?=[^\S\n]++(?:[—–-]++[^\S\n]*+)?[a-zà-öø-ÿ])"
"""A lower-case letter follows on the same line, so the direct speech is part of the sentence."""
_STOP: Final = rf"(?=\.){NOT_SHORT}\.[”’\"')]*(?=\s|$)|\n+"
_END: Final = re.compile(rf"[。！？!?…]++(?!{_CLOSING}++{_GOES_ON}){_CLOSING}*+|{_STOP}")
_PIECE_END: Final = re.compile(rf"[。！？!?…]++{_CLOSING}*+|{_STOP}")
"""Where an extract may end, also behind a question or a cry within a sentence: short pieces leave space for others."""
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_FEWEST: Final = (8, 5)
"""Least Chinese characters, or words, of a sentence that is informative by itself, unlike `Nicholas obeyed.`"""
_MOST: Final = 200


def sentences(text: str) -> tuple[Span, ...]:
    """The sentences of `text`, with their closing quotation marks, without the spaces around them."""
    return _between(text, _END)


def _between(text: str, ends: re.Pattern[str]) -> tuple[Span, ...]:
    found = []
    for start, end in pairwise((0, *(match.end() for match in ends.finditer(text)), len(text))):
        piece = text[start:end]
        if words := piece.strip():
            left = 0 if words == piece else len(piece) - len(piece.lstrip())
            found.append(Span(start + left, start + left + len(words)))
    return tuple(found)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Where each line of a text starts, and the line with its end."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield at, line
        at += len(line)


def sentence_at(text: str, place: int) -> Span:
    """The sentence that contains the character at `place`, at most `_MOST` characters of it around the place."""
    whole = next((span for span in sentences(text) if span.start <= place < span.end), Span(place, place + 1))
    start = max(whole.start, place - _MOST // 2)
    return Span(start, min(whole.end, start + _MOST))


def says_something(sentence: str) -> bool:
    """True for a sentence that is worth quoting without those around it."""
    characters = han_count(sentence)
    return characters >= _FEWEST[0] or (not characters and len(_WORD.findall(sentence)) >= _FEWEST[1])


def telling_sentences(text: str, entities: Iterable[Entity], most: int) -> tuple[Span, ...]:
    """Up to `most` sentences in order: from each part of the text the one with most names, and the last one.

    A sentence that contains a question or an exclamation is cut after it; its remainder is no candidate.
    """
    index, pieces = NameIndex(entities), _between(text, _PIECE_END)
    begins = {span.start for span in sentences(text)}
    whole = [span for span in pieces if span.start in begins and _quotes_match(text[span.start : span.end])]
    short = [span for span in whole or pieces if span.end - span.start <= _MOST]
    usable = [span for span in short if says_something(text[span.start : span.end])] or short or whole or list(pieces)
    if len(usable) <= most:
        return tuple(usable)
    chosen = {usable[-1]: None}
    for part in range(most - 1):
        piece = usable[part * (len(usable) - 1) // (most - 1) : (part + 1) * (len(usable) - 1) // (most - 1)]
        scores = [(len({hit.entity for hit in index.find(text[span.start : span.end])}), span) for span in piece]
        if scores:
            chosen[max(scores, key=lambda each: (each[0], -each[1].start))[1]] = None
    return tuple(sorted(chosen, key=lambda span: span.start))


def _quotes_match(piece: str) -> bool:
    return all(piece.count(opening) == piece.count(closing) for opening, closing in ("“”", "「」", "『』"))


def shortened(text: str, tokens: int, counter: TokenCounter) -> str:
    """`text` on one line within `tokens`, cut at the end of a sentence or clause if possible."""
    line = unbroken(text)
    if counter.count(line) <= tokens:
        return line
    ends = [span.end for span in sentences(line) if counter.count(line[: span.end]) <= tokens]
    clause = line[: ends[-1]] if ends else line[: cut(line, tokens, counter).end].rstrip("，,、；; ")
    end = len(line)
    while not clause and end > 0:
        end = end * 9 // 10
        clause = line[:end] if counter.count(line[:end]) <= tokens else ""
    return clause
