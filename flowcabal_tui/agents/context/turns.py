"""Orders passages by score, reducing the weight of names that the passages before them mention often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Final

_AGAIN: Final = 0.95
"""Factor on a name's weight for each chosen passage that contains it."""
_FIRST: Final = 8
"""Passages that are chosen before weights change for the first time."""
_LONGER: Final = 2
"""Divisor: each round chooses further passages for this part of those chosen before, so that there are few rounds."""
NameParts = Mapping[int, Mapping[int, float]]
"""For each passage, the share of each name in its score, by the number of the name."""


def by_turns(
    first: Sequence[int], scores: Mapping[int, float], parts: NameParts, weights: Sequence[float], most: int
) -> list[int]:
    """Up to `most` passages: the `first`, then the others, the best first.

    The names have the same share of a score throughout. Within it, a name in n of the chosen passages has 0.95^n of its
    weight, so that the names with fewer passages come up (a submodular gain; Lin and Bilmes 2011). With one name, or
    names that always occur together, the order is that of the scores.
    """
    chosen = dict.fromkeys(first[:most])
    counts = Counter(name for at in chosen for name in parts.get(at, ()))
    of_names = {at: tuple(parts[at].items()) if at in parts else () for at in scores if at not in chosen}
    others = {at: scores[at] - sum(part for _name, part in names) for at, names in of_names.items()}
    while others and len(chosen) < most:
        factors = _factors(counts, weights)
        worth = (
            (round(other + sum(part * factors[name] for name, part in of_names[at]), 9), at)
            for at, other in others.items()
        )
        space = min(most - len(chosen), _FIRST + len(chosen) // _LONGER)
        for _worth, at in nlargest(space, worth):
            chosen[at] = None
            del others[at]
            counts.update(name for name, _part in of_names[at])
    return list(chosen)


def _factors(counts: Counter[int], weights: Sequence[float]) -> list[float]:
    """The remaining factor of each name's weight, normalised so that their sum stays the same."""
    left = [_AGAIN ** counts[name] for name in range(len(weights))]
    total = sum(weight * part for weight, part in zip(weights, left, strict=True))
    return [part * sum(weights) / total if total else 1.0 for part in left]
