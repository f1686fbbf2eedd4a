"""bm25 (Robertson and Zaragoza 2009), with the idf that is never negative.

score = sum over terms of idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / average)), with idf = ln(1 + (N - df + 0.5) /
(df + 0.5)).
"""

from __future__ import annotations

import math
from typing import Final

_K1: Final = 1.2
_B: Final = 0.75


def idf(texts: int, having: int) -> float:
    """The weight of a term that `having` of all `texts` contain."""
    return math.log(1 + (texts - having + 0.5) / (having + 0.5))


def norm(length: int, average: float) -> float:
    """The share of a text's length in its scores; `average` is the length of all texts, above 0."""
    return _K1 * (1 - _B + _B * length / average)


def score(weight: float, count: int, length_norm: float) -> float:
    """The score of a text for one term: its idf, its occurrences in the text, the norm of the text."""
    return weight * count * (_K1 + 1) / (count + length_norm)
