"""Who may come into a chapter though its prompt does not name them: rare ones who were there a few chapters ago."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.context.things import rarity
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity

_LATELY: Final = 10
"""Chapters that are looked at; the nearer one is, the more it counts."""
_RARITY: Final = 1.5
_MOST: Final = 64


@dataclass(frozen=True, slots=True)
class Expected:
    """Somebody who may come, and how much that counts."""

    name: str
    forms: tuple[str, ...]
    weight: float


async def circle(
    view: MemoryView, chapters: Sequence[Chapter], entities: Sequence[Entity], named: Collection[str]
) -> tuple[Expected, ...]:
    """Those of the last `chapters` with none of the forms that are `named`, the likeliest first."""
    lately = Counter[EntityId]()
    for distance, chapter in enumerate(reversed(chapters[-_LATELY:]), start=1):
        for entity, count in Counter(each.entity for each in await view.mentions_in(chapter.id)).items():
            lately[entity] += count**0.5 / distance
    found = []
    for each in entities:
        if each.id in lately and not any(form in named for form in each.names):
            rare = rarity(len(await view.chapters_with(each.id)), len(chapters))
            found.append(Expected(each.name, each.names, round(lately[each.id] * rare**_RARITY, 9)))
    return tuple(sorted(found, key=lambda each: (-each.weight, each.name))[:_MOST])
