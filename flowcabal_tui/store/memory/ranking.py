"""bm25 over a closed set of passages: passages outside the set cannot change a score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flowcabal_tui.domain import bm25
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Passage, PassagePlace
from flowcabal_tui.store.rows.tokens import Term


@dataclass(frozen=True, slots=True)
class IndexedPassage(PassagePlace):
    """A passage without its text. `id` is its row, `tokens` its length."""

    id: int
    tokens: int

    def of(self, text: str) -> Passage:
        """The passage with its piece of the chapter's text."""
        return Passage(self.chapter, self.position, self.index, self.start, self.end, text[self.start : self.end])


Counts = dict[int, int]
"""Occurrences of one term by passage id. Permanent, since a passage's text never changes."""


def count(term: Term, wanted: Iterable[IndexedPassage], texts: Mapping[ChapterId, str], counts: Counts) -> None:
    """Adds missing counts to `counts`; `texts` contains the chapters of those passages."""
    for passage in wanted:
        if passage.id not in counts:
            counts[passage.id] = term.count(texts[passage.chapter][passage.start : passage.end].lower())


def rank(
    passages: Mapping[int, IndexedPassage], found: Sequence[tuple[Term, Collection[int], Counts]], limit: int
) -> list[tuple[IndexedPassage, float, tuple[str, ...]]]:
    """The best `limit` of `passages` with score and matching terms, best first, ties in story order.

    `found` has for each term the passages that may contain it, and the counts of at least those.
    """
    average = sum(passage.tokens for passage in passages.values()) / max(1, len(passages))
    scores: dict[int, float] = {}
    matched: dict[int, tuple[str, ...]] = {}
    for term, candidates, counts in found:
        having = [number for number in candidates if counts[number]]
        weight = bm25.idf(len(passages), len(having))
        for number in having:
            norm = bm25.norm(passages[number].tokens, average)
            scores[number] = scores.get(number, 0.0) + bm25.score(weight, counts[number], norm)
            matched[number] = (*matched.get(number, ()), term.text)
    best = sorted(scores, key=lambda number: (-scores[number], passages[number].position, passages[number].index))
    return [(passages[number], scores[number], matched[number]) for number in best[:limit]]
