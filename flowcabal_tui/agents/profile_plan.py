"""Which profiles a kept chapter may have written anew: few, whatever the length of the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flowcabal_tui.agents.profile_kinds import BOOK, ProfileKind
from flowcabal_tui.domain.memory import Entity, Mention

_LEAST: Final = 3
"""Mentions from which on a chapter tells of someone."""
Due = tuple[ProfileKind, Entity | None]


def cast_of(mentions: Iterable[Mention], entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Of whom a chapter tells: those that it names often enough, most named first."""
    counts = Counter(mention.entity for mention in mentions)
    named = [entity for entity in entities if counts[entity.id] >= _LEAST]
    return tuple(sorted(named, key=lambda entity: (-counts[entity.id], entity.id)))


def due_profiles(
    kinds: Iterable[ProfileKind], cast: Sequence[Entity], made: Mapping[str, int], position: int, most: int
) -> tuple[Due, ...]:
    """At most so many profiles. `cast` are those whom the chapter names, most named first.

    `made` has the position of each profile's newest state up to the chapter. Kinds of every chapter come first; one
    place is left for a kind that is made every few chapters, when its turn has come: the one that has waited longest.
    """
    wanted = [
        (kind, entity)
        for entity in (*cast, None)
        for kind in kinds
        if kind.settings.subject == (BOOK if entity is None else entity.kind)
    ]
    steady = [each for each in wanted if each[0].settings.every == 1]
    waiting = [each for each in wanted if each[0].settings.every > 1 and _is_due(each, made, position)]
    waiting.sort(key=lambda each: made.get(_uri(each), 0))
    first = steady[: max(0, most - bool(waiting))]
    return (*first, *waiting[: most - len(first)])


def _is_due(due: Due, made: Mapping[str, int], position: int) -> bool:
    """Never made, made as of this very chapter, or so long ago as its kind says."""
    last = made.get(_uri(due))
    return last is None or last == position or position - last >= due[0].settings.every


def _uri(due: Due) -> str:
    kind, entity = due
    return kind.uri(entity.id if entity else None)
