"""Chooses the profiles to renew for a kept chapter: a few, independent of the length of the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Final

from flowcabal_tui.agents.profile_kinds import BOOK, ProfileKind
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity, Evidence, Mention
from flowcabal_tui.domain.story import Fact, Promise, Relation, StoryRecord

_LEAST: Final = 3
"""The least number of mentions for a chapter to be about someone."""
Due = tuple[ProfileKind, Entity | None]


class ChangedPeople:
    """The people whom chapters changed, by the quotations of the reading's records."""

    def __init__(self, records: Iterable[StoryRecord]) -> None:
        self._records: dict[EntityId, Counter[ChapterId]] = {}
        for record in records:
            chapters = {each.chapter for each in quoted(record)}
            if isinstance(record, Relation | Fact) and record.until:
                chapters.add(record.until)
            for entity in about(record):
                self._records.setdefault(entity, Counter()).update(chapters)

    def by(self, chapters: Collection[ChapterId]) -> Counter[EntityId]:
        """The number of records of these chapters for each entity."""
        found = {entity: sum(of[each] for each in chapters) for entity, of in self._records.items()}
        return Counter({entity: count for entity, count in found.items() if count})

    def newest(self, positions: Mapping[ChapterId, int]) -> dict[EntityId, int]:
        """The position of the last chapter that changed each."""
        return {
            entity: max((positions[each] for each in of if each in positions), default=0)
            for entity, of in self._records.items()
        }


def about(record: StoryRecord) -> tuple[EntityId, ...]:
    """The entities that a record concerns, with those who know a fact."""
    if isinstance(record, Relation):
        return record.source, record.target
    knowers = tuple(each.entity for each in record.known_by) if isinstance(record, Fact) else ()
    return tuple(dict.fromkeys((*record.about, *knowers)))


def quoted(record: StoryRecord) -> tuple[Evidence, ...]:
    """All quotations of a record."""
    if isinstance(record, Promise):
        return *record.evidence, *record.payment
    learned = (each for knower in record.known_by for each in knower.evidence) if isinstance(record, Fact) else ()
    return *record.evidence, *learned


def cast_of(
    mentions: Iterable[Mention],
    entities: Iterable[Entity],
    changed: Mapping[EntityId, int] | None = None,
    owed: Collection[EntityId] = (),
) -> tuple[Entity, ...]:
    """The people whose profiles a chapter makes due: those whom its reading shows as `changed`, most records first.

    Then those who have been `owed` a profile since an earlier chapter. If no model has read the chapter, those whom it
    names often enough, most named first.
    """
    counts, records = Counter(mention.entity for mention in mentions), changed or {}
    known = {entity.id: entity for entity in entities}
    chosen = [each for each in known if (each in records if records else counts[each] >= _LEAST)]
    chosen.sort(key=lambda each: (-records.get(each, 0), -counts[each], each))
    return tuple(known[each] for each in dict.fromkeys((*chosen, *(each for each in owed if each in known))))


def due_profiles(
    kinds: Iterable[ProfileKind], cast: Sequence[Entity], made: Mapping[str, int], position: int, most: int
) -> tuple[Due, ...]:
    """At most `most` profiles to make. `cast` are those whom the chapter names, most named first.

    `made` has the position of each profile's newest state up to the chapter. Kinds made for every chapter come first.
    One place is reserved for a kind that is due only every few chapters: the one that has waited longest, with kinds of
    the book before kinds of entities.
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
    """The number of chapters for which a profile has been due; 0: not yet. One that was never made has just become due.

    A profile as of this very chapter precedes all others, since the text has changed.
    """
    every = due[0].settings.every
    since = position - made.get(_uri(due), position - every)
    return inf if not since else max(0, since - every + 1)


def _uri(due: Due) -> str:
    kind, entity = due
    return kind.uri(entity.id if entity else None)
