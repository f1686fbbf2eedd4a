"""Finds words of a prompt that the book uses for one thing: a jade, an inn, a nickname that no index of names knows.

The test is the distribution of its passages: concentrated in few chapters, rare, long absent, and, for a word of
several characters, hardly ever separated. Such a word is looked up on its own, because it would get lost among the
words of a long plan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.manuscript import PassagePlace

RARITY: Final = 1.75
"""The power of a name's and a thing's rarity."""
ABSENCE: Final = 0.7
"""The exponent of the number of chapters since the last occurrence: something a page ago needs no reminder."""
_LONGEST: Final = 6
_LEAST, _MOST = 2, 20
_MOST_PART: Final = 0.01
"""Maximum share of the passages that may contain a thing; `_MOST` of them always may. Less than `_LEAST` may be
chance."""
_LEAST_LIKE: Final = 1.1
_CLUSTERED: Final = 2.0
"""Passages per chapter above which further ones add nothing."""
_THINGS: Final = 8
_FAR_RARER: Final = 5
_HAN: Final = re.compile(r"[\u3007\u4e00-\u9fff]+")
_PASSAGE: Final = 200
"""Approximate characters of a passage."""
_LEAST_COHESION: Final = 0.1


@dataclass(frozen=True, slots=True)
class Thing:
    """A word or string of characters, the passages that contain it (indexes into the postings), and its weight."""

    text: str
    places: tuple[int, ...]
    weight: float


def rarity(having: int, total: int) -> float:
    """A rarity like the inverse document frequency of bm25, but never negative."""
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def strings(runs: Sequence[str], pairs: Mapping[str, frozenset[int]]) -> dict[str, frozenset[int]]:
    """Every string of 2 to 6 characters of the runs with the passages that contain all its `pairs`, if any do."""
    found: dict[str, frozenset[int]] = {}
    for run in runs:
        for start in range(len(run) - 1):
            places: frozenset[int] | None = None
            for end in range(start + 2, min(len(run), start + _LONGEST) + 1):
                pair = pairs.get(run[end - 2 : end], frozenset())
                places = pair if places is None else places & pair
                if not places:
                    break
                found.setdefault(run[start:end], places)
    return found


def across_words(runs: Sequence[str], pairs: Mapping[str, frozenset[int]]) -> frozenset[str]:
    """The pairs of characters that occur in the runs only across a border between two words.

    Such a pair is far rarer in the book than the pairs on both of its sides. `pairs` maps each to the passages that
    contain it.
    """
    across: set[str] = set()
    within: set[str] = set()
    for run in runs:
        counts = [len(pairs.get(pair, ())) for pair in _pairs(run)]
        for at, pair in enumerate(_pairs(run)):
            beside = counts[max(0, at - 1) : at] + counts[at + 1 : at + 2]
            is_across = len(beside) == 2 and counts[at] * _FAR_RARER <= min(beside)
            (across if is_across else within).add(pair)
    return frozenset(across - within)


def cohesion(text: str, having: float, sample: str) -> float:
    """How much more often the characters of a Chinese word occur together than by chance: their mutual information.

    `having` is the text of the passages that contain it, `sample` some text of the book, which gives the frequency of
    its characters. 1 for other words.
    """
    if len(text) < 2 or not _HAN.fullmatch(text):
        return 1.0
    apart = sum(math.log((sample.count(each) + 0.5) / (len(sample) + 1)) for each in text)
    return max(_LEAST_COHESION, (math.log(having / _PASSAGE) - apart) / (len(text) - 1))


def things(
    candidates: Mapping[str, frozenset[int]],
    pairs: Mapping[str, frozenset[int]],
    places: Sequence[PassagePlace],
    before: int,
) -> tuple[Thing, ...]:
    """The things with the highest weights, without parts of each other, for a target at position `before`."""
    found = []
    most = max(_MOST, _MOST_PART * len(places))
    for text, at in candidates.items():
        if not _LEAST <= len(at) <= most:
            continue
        positions = [places[each].position for each in at]
        like = min(_CLUSTERED, len(at) / len(set(positions)))
        if parts := [len(pairs[pair]) for pair in _pairs(text) if pair in pairs]:
            like *= len(at) / min(parts)
        if like >= _LEAST_LIKE:
            absence = max(1, before - max(positions)) ** ABSENCE
            weight = round(rarity(len(at), len(places)) ** RARITY * absence * like, 9)
            found.append(Thing(text, tuple(sorted(at)), weight))
    found.sort(key=lambda each: (-each.weight, -len(each.text), each.text))
    kept: list[Thing] = []
    for thing in found:
        if not any(_overlap(thing.text, other.text) for other in kept):
            kept.append(thing)
        if len(kept) == _THINGS:
            break
    return tuple(kept)


def _pairs(text: str) -> Iterator[str]:
    return (text[at : at + 2] for at in range(len(text) - 1))


def _overlap(one: str, other: str) -> bool:
    """True when one contains the other, or they share all but an end."""
    return one in other or other in one or one[:-1] in other or one[1:] in other
