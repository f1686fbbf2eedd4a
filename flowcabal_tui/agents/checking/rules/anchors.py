"""Compares two places of a book by the rare words that both use, weighted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook
from flowcabal_tui.agents.words import word_list

_WORD: Final = re.compile(r"[A-Za-zÀ-ɏ]{3,}")
_HAN_RUN: Final = re.compile(r"[㐀-鿿]{2,}")
_RARITY: Final = 0.7
_ENDINGS: Final = re.compile(r"(?:ing|ed|es|ly|s|e)$")


@dataclass(frozen=True, slots=True)
class Shared:
    """The words that two places share, rarest first, with their weights."""

    weights: Mapping[str, float]

    @property
    def weight(self) -> float:
        """The weight of all words together."""
        return sum(self.weights.values())

    @property
    def words(self) -> tuple[str, ...]:
        """The words, rarest first."""
        return tuple(self.weights)


@cache
def _empty() -> frozenset[str]:
    return word_list("empty.en") | word_list("acts.en")


def terms(text: str, language: str) -> frozenset[str]:
    """The comparable terms of a text: pairs of characters, or stems of words."""
    if language.startswith("zh"):
        return frozenset(run[0][at : at + 2] for run in _HAN_RUN.finditer(text) for at in range(len(run[0]) - 1))
    return frozenset(stem for word in _WORD.findall(text) if (stem := _stem(word)) not in _empty())


def shared(one: frozenset[str], other: frozenset[str], book: EarlierBook, rarity: float = _RARITY) -> Shared:
    """The shared terms; a word of every chapter weighs nothing, one of a single chapter of 100 weighs 4.6.

    Words with a weight below `rarity` do not count.
    """
    weights = sorted(((_weight(term, book), term) for term in one & other), reverse=True)
    kept = [(weight, term) for weight, term in weights if weight > rarity]
    return Shared({term: weight for weight, term in kept})


def _weight(term: str, book: EarlierBook) -> float:
    return math.log(1 / max(book.share_with(term), 1 / (len(book.chapters) + 1)))


def _stem(word: str) -> str:
    low = word if word[0].isupper() else word.lower()
    return _ENDINGS.sub("", low) if len(low) > 5 else low
