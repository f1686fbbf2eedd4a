"""People likely to appear in a chapter though its prompt does not name them: those who often appear with its cast."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.context.things import rarity
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity

_SURE: Final = 3
"""Number of common passages from which chance is ruled out."""
_LATELY: Final = 0.25
"""Exponent of the number of chapters since a person was named."""
_RECENT: Final = 10
"""People named in this many last chapters may appear, even without a connection to the cast."""
_ALONE: Final = 0.05
"""The weight of such a recent mention; a co-occurrence at chance level has about 0.7."""
_MOST: Final = 64


@dataclass(frozen=True, slots=True)
class ExpectedPerson:
    """A person who may appear, with a weight."""

    name: str
    forms: tuple[str, ...]
    weight: float


async def circle(
    view: MemoryView, chapters: Sequence[Chapter], entities: Sequence[Entity], named: Collection[str]
) -> tuple[ExpectedPerson, ...]:
    """The people with none of the `named` forms, the likeliest first.

    Likely are those who appear with the named ones in more passages than chance predicts (pointwise mutual information;
    Church and Hanks 1990), are rare, and appeared lately; far less, those who only appeared lately.
    """
    present = frozenset(each.id for each in entities if any(form in named for form in each.names))
    bound = _bound(await view.named_by_passage(), present)
    back = {chapter.id: distance for distance, chapter in enumerate(reversed(chapters), start=1)}
    found = []
    for each in entities:
        if each.id in present or not (places := await view.chapters_with(each.id)):
            continue
        distance = back[places[-1]]
        likely = bound.get(each.id, 0.0) + (_ALONE if distance <= _RECENT else 0.0)
        weight = round(likely * rarity(len(places), len(chapters)) * distance**-_LATELY, 9)
        if weight > 0:
            found.append(ExpectedPerson(each.name, each.names, weight))
    return tuple(sorted(found, key=lambda each: (-each.weight, each.name))[:_MOST])


def _bound(passages: Sequence[frozenset[EntityId]], present: frozenset[EntityId]) -> dict[EntityId, float]:
    """For everybody else, a score of how closely they are connected with those who are `present`."""
    counts = Counter[EntityId]()
    together: defaultdict[EntityId, Counter[EntityId]] = defaultdict(Counter)
    for here in passages:
        counts.update(here)
        if with_them := present & here:
            for other in here - present:
                together[other].update(with_them)
    return {
        other: sum(
            math.log(1 + often * len(passages) / (counts[other] * counts[one])) * min(1.0, often / _SURE)
            for one, often in sorted(met.items())
        )
        for other, met in together.items()
    }
