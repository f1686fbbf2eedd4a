"""Embeds texts that are longer than an embedding model accepts: cuts them at sentences and joins the vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.models.tokens import TokenEstimator

LEAST_TOKENS: Final = 32
"""No model takes less: an error at this length has another cause."""
_MARGIN: Final = 0.8
"""Of the limit that a server names: its tokens are counted by an estimate here."""
_SENTENCE: Final = re.compile(r".*?(?:[。！？!?…\n]|\.(?=\s)|$)[”’\"'』」）)]*", re.DOTALL)
_LIMIT: Final = re.compile(r"(?:max|limit|size|length|n_ctx)\D{0,40}?(\d{2,6})", re.IGNORECASE)


class InputLimit:
    """The longest text that an embedding model accepts, in tokens, as learned from its errors."""

    def __init__(self, model: str) -> None:
        self._counter = TokenEstimator(model)
        self.tokens: int | None = None

    def learn(self, error: ModelError, texts: Sequence[str]) -> bool:
        """True when the texts can be sent again in smaller pieces."""
        if error.fault is not ModelFault.CONTEXT_LENGTH:
            return False
        longest = max(map(self._counter.count, texts), default=0)
        named = [int(int(number) * _MARGIN) for number in _LIMIT.findall(str(error))]
        fitting = [number for number in named if LEAST_TOKENS <= number < longest]
        limit = min(fitting, default=longest // 2)
        if limit < LEAST_TOKENS:
            return False
        self.tokens = limit
        return True

    def pieces(self, text: str) -> list[str]:
        """The text, or its parts of whole sentences; only a sentence that is too long by itself is cut inside."""
        limit = self.tokens
        if limit is None or self._counter.count(text) <= limit:
            return [text]
        found, held = list[str](), ""
        for sentence in filter(None, _SENTENCE.findall(text)):
            for part in self._within(sentence, limit):
                if held and self._counter.count(held + part) > limit:
                    found.append(held)
                    held = ""
                held += part
        return [each for each in (*found, held) if each.strip()] or [text]

    def _within(self, sentence: str, limit: int) -> list[str]:
        count = self._counter.count(sentence)
        if count <= limit:
            return [sentence]
        size = max(1, len(sentence) * limit // count)
        return [sentence[start : start + size] for start in range(0, len(sentence), size)]


def joined(vectors: Sequence[Sequence[float]], weights: Sequence[int]) -> list[float]:
    """One vector of length 1 for a text in pieces: their mean, each piece with its weight."""
    if len(vectors) == 1:
        return list(vectors[0])
    mean = [sum(n * w for n, w in zip(column, weights, strict=True)) for column in zip(*vectors, strict=True)]
    length = math.sqrt(sum(number * number for number in mean)) or 1.0
    return [number / length for number in mean]
