"""Finds the sentence of a chapter that most probably rests on given words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flowcabal_tui.agents.checking.evidence.reading import TextReader
from flowcabal_tui.agents.impact.statements import Lost
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity


def nearest_sentences(
    texts: Sequence[str], lost: Sequence[Lost], entities: Sequence[Entity], language: str
) -> tuple[Span, ...]:
    """For each text, the sentence that names most subjects of its lost statement, then shares most words with it; the
    first sentence if none does."""
    reader, index = TextReader(language), NameIndex(entities)
    return tuple(_nearest(text, one.text, one.subjects, index, reader) for text, one in zip(texts, lost, strict=True))


def nearest_pairs(
    texts: Sequence[tuple[str, str, str]], entities: Sequence[Entity], language: str
) -> tuple[tuple[Span, Span], ...]:
    """For each text, the nearest pair of sentences: that of the first text nearest to the given words, and that of
    their source nearest to that one."""
    reader, index = TextReader(language), NameIndex(entities)
    found = []
    for text, given, source in texts:
        span = _nearest(text, given, {hit.entity for hit in index.find(given)}, index, reader)
        words = text[span.start : span.end]
        found.append((span, _nearest(source, words, {hit.entity for hit in index.find(words)}, index, reader)))
    return tuple(found)


def _nearest(text: str, given: str, subjects: Collection[EntityId], index: NameIndex, reader: TextReader) -> Span:
    words, hits = reader.words(given), [hit for hit in index.find(text) if hit.entity in subjects]

    def order(span: Span) -> tuple[int, int, int]:
        named = {hit.entity for hit in hits if span.start <= hit.start < span.end}
        return len(named), len(reader.words_among(text[span.start : span.end], words)), -span.start

    return max(sentences(text), key=order, default=Span(0, len(text)))
