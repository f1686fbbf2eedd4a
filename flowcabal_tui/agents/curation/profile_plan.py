"""Which profiles a kept chapter may have written anew: few, whatever the length of the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
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
    place is left for a kind that is made every few chapters, when its turn has come: the one that has waited longest,
    of the book before of entities.
    """
    wanted = [
        (kind, entity)
        for entity in (*cast, None)
        for kind in kinds
        if kind.settings.subject == (BOOK if entity is None else entity.kind)
    ]
    steady = [each for each in wanted if each[0].settings.every == 1]
    waited = {_uri(each): _waited(each, made, position) for each in wanted}
    waiting = [each for each in wanted if each[0].settings.every > 1 and waited[_uri(each)]]
    waiting.sort(key=lambda each: (-waited[_uri(each)], each[1] is not None))
    first = steady[: max(0, most - bool(waiting))]
    return (*first, *waiting[: most - len(first)])


def _waited(due: Due, made: Mapping[str, int], position: int) -> float:
    """For how many chapters a profile has been due; 0: not yet. One that was never made is due just now.

    What was made as of this very chapter comes before all: its text has changed.
    """
    every = due[0].settings.every
    since = position - made.get(_uri(due), position - every)
    return inf if not since else max(0, since - every + 1)


def _uri(due: Due) -> str:
    kind, entity = due
    return kind.uri(entity.id if entity else None)
