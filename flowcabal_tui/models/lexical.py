"""Vectors without a model: hashed n-grams, which match equal words, not equal meaning."""

from __future__ import annotations

import asyncio
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from flowcabal_tui.domain.late_pattern import late

SINGLE, PAIR, TRIPLE = 0.35, 1.0, 0.7
"""Weights of one, two and three characters of Chinese, as measured best on passages of fiction."""
WORD, STEM, PHRASE = 1.0, 0.35, 0.5
IN_THREAD: Final = 1500
"""Characters that take about 5 ms: more than that would hold up the loop."""

_RUNS: Final = late(r"[\u3005\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]+|[^\W_\u3005-\u9fff]+")


class LexicalEmbedder:
    """An EmbeddingPort of `dimensions` numbers, the same in every process; vectors have length 1 (0 for no words)."""

    def __init__(self, dimensions: int = 1024) -> None:
        self._dimensions = dimensions

    @property
    def identity(self) -> str:
        return f"lexical-{self._dimensions}-v1"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order."""
        if sum(map(len, texts)) > IN_THREAD:
            return await asyncio.to_thread(self._all, texts)
        return self._all(texts)

    def vector(self, text: str) -> list[float]:
        """Signed hashing (Weinberger et al., 2009) of weighted grams with logarithmic frequency."""
        numbers = [0.0] * self._dimensions
        for (gram, weight), count in Counter(_grams(text.lower())).items():
            code = zlib.crc32(gram.encode("utf-8", "surrogatepass")) * 0x9E3779B1 & 0xFFFFFFFF
            amount = weight * (1 + math.log(count))
            numbers[(code >> 1) % self._dimensions] += amount if code & 1 else -amount
        length = math.sqrt(sum(number * number for number in numbers))
        return [number / length for number in numbers] if length else numbers

    def _all(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.vector(text) for text in texts]


def _grams(text: str) -> Iterator[tuple[str, float]]:
    last = ""
    for run in _RUNS.findall(text):
        if run[0] >= "\u3005":
            yield from ((run[start : start + 1], SINGLE) for start in range(len(run)))
            yield from ((first + second, PAIR) for first, second in pairwise(run))
            yield from ((run[start : start + 3], TRIPLE) for start in range(len(run) - 2))
            last = ""
            continue
        yield run, WORD
        if len(run) > 4:
            yield run[:4] + "*", STEM
        if last:
            yield f"{last} {run}", PHRASE
        last = run
