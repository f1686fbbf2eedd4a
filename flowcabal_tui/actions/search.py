"""Finds actions by words and by meaning.

score = 0.6 * text + 0.4 * vector, each min-max normalised over all actions that are searched. text is bm25 over English
words and pairs of Chinese characters; vector is the cosine.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.domain import bm25
from flowcabal_tui.domain.model_ports import EmbeddingPort

_TEXT_SHARE: Final = 0.6
_VECTOR_SHARE: Final = 0.4
_CJK: Final = "\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_RUNS: Final = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """An action found by a search. Scores are between 0 and 1; `vector` is 0 without an embedder."""

    action: Action
    score: float
    text: float
    vector: float


class ActionSearch:
    """Searches `actions` (`ActionRegistry.for_role` gives those that a role may use)."""

    def __init__(self, actions: Sequence[Action], embedder: EmbeddingPort | None = None) -> None:
        self._actions, self._embedder = tuple(actions), embedder
        self._counts = [Counter(_terms(_description(action), single=True)) for action in self._actions]

    async def search(self, query: str, top_k: int = 5) -> list[Hit]:
        """The best `top_k`, best first, ties by action id; without an embedder, only actions that share a word.

        Raises ModelError when the embedder fails.
        """
        if not query.strip() or not self._actions or top_k < 1:
            return []
        words = self._bm25(query)
        text = _normalised(words)
        if self._embedder is None:
            hits = [
                Hit(action, share, share, 0.0)
                for action, word, share in zip(self._actions, words, text, strict=True)
                if word > 0
            ]
        else:
            hits = [
                Hit(action, _TEXT_SHARE * word + _VECTOR_SHARE * meaning, word, meaning)
                for action, word, meaning in zip(
                    self._actions, text, _normalised(await self._cosines(self._embedder, query)), strict=True
                )
            ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.action.action_id))[:top_k]

    def _bm25(self, query: str) -> list[float]:
        lengths = [counts.total() for counts in self._counts]
        average = sum(lengths) / len(lengths) or 1
        scores = [0.0] * len(self._actions)
        for term in dict.fromkeys(_terms(query, single=False)):
            having = [number for number, counts in enumerate(self._counts) if counts[term]]
            weight = bm25.idf(len(scores), len(having))
            for number in having:
                norm = bm25.norm(lengths[number], average)
                scores[number] += bm25.score(weight, self._counts[number][term], norm)
        return scores

    async def _cosines(self, embedder: EmbeddingPort, query: str) -> list[float]:
        sought, *vectors = await embedder.embed([query, *map(_description, self._actions)])
        return [_cosine(sought, vector) for vector in vectors]


def _description(action: Action) -> str:
    """The text of an action that the search uses."""
    return "\n".join((action.name, action.description, action.domain, " ".join(action.tags), action.action_id))


def _terms(text: str, *, single: bool) -> Iterator[str]:
    """Words without a plural's s, and pairs of Chinese characters; single characters where asked, or where one is
    alone, so that a query of one character finds something."""
    for run in _RUNS.findall(unicodedata.normalize("NFKC", text).casefold()):
        if run[0] < "\u3005":
            yield run[:-1] if len(run) > 3 and run.endswith("s") and not run.endswith("ss") else run
            continue
        yield from (first + second for first, second in pairwise(run))
        if single or len(run) == 1:
            yield from run


def _normalised(scores: Sequence[float]) -> list[float]:
    """Min-max; equal scores all become 1, or 0 when there is nothing in them."""
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0 if high > 0 else 0.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
