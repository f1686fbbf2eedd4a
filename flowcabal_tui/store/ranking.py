"""bm25 over a closed set of passages: what lies outside the set cannot change a score.

score = sum over terms of idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / average)), with
idf = ln(1 + (N - df + 0.5) / (df + 0.5)) (Robertson and Zaragoza 2009, the variant that is never negative).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Passage, PassageHit
from flowcabal_tui.store.tokens import Term

_K1: Final = 1.2
_B: Final = 0.75


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage without its text. `tokens` is its length."""

    id: int
    chapter: ChapterId
    position: int
    index: int
    start: int
    end: int
    tokens: int

    def of(self, text: str) -> Passage:
        """The passage with its piece of the chapter's text."""
        return Passage(self.chapter, self.position, self.index, self.start, self.end, text[self.start : self.end])


def rank(
    passages: Mapping[int, IndexedPassage],
    found: Sequence[tuple[Term, Collection[int]]],
    texts: Mapping[ChapterId, str],
    limit: int,
) -> tuple[PassageHit, ...]:
    """The best `limit` of `passages`, best first, ties in story order.

    `found` holds for each term the passages that may contain it; `texts` the chapters of all those.
    """
    average = sum(passage.tokens for passage in passages.values()) / max(1, len(passages))
    lowered: dict[int, str] = {}
    scores: dict[int, float] = {}
    matched: dict[int, list[str]] = {}
    for term, candidates in found:
        counts: dict[int, int] = {}
        for number in candidates:
            if number not in lowered:
                passage = passages[number]
                lowered[number] = texts[passage.chapter][passage.start : passage.end].lower()
            if count := term.count(lowered[number]):
                counts[number] = count
        idf = math.log(1 + (len(passages) - len(counts) + 0.5) / (len(counts) + 0.5))
        for number, count in counts.items():
            norm = _K1 * (1 - _B + _B * passages[number].tokens / average)
            scores[number] = scores.get(number, 0.0) + idf * count * (_K1 + 1) / (count + norm)
            matched.setdefault(number, []).append(term.text)
    best = sorted(scores, key=lambda number: (-scores[number], passages[number].position, passages[number].index))
    return tuple(
        PassageHit(passages[number].of(texts[passages[number].chapter]), scores[number], tuple(matched[number]))
        for number in best[:limit]
    )
