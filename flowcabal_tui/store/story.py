"""The story as it stands before a chapter: which records hold, and as of which place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final

from flowcabal_tui.domain.codec import from_json
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, Sequel, Story, StoryRecord
from flowcabal_tui.store.connection import Row
from flowcabal_tui.store.records import KINDS, READING, anchor

RECORDS: Final = f"""SELECT kind, body, chapter, source, by FROM record WHERE NOT removed AND kind<>'{READING}'
    AND generation=(SELECT max(generation) FROM record AS other WHERE other.id=record.id AND generation<=?)"""
Texts = Callable[[Collection[ChapterId]], Awaitable[Mapping[ChapterId, str]]]
Record = StoryRecord | Sequel


@dataclass(frozen=True, slots=True)
class Horizon:
    """What can be seen of the book: all places, those before the target that have a text, and the target's."""

    placed: Mapping[ChapterId, Chapter]
    seen: Mapping[ChapterId, Chapter]
    before: int

    def position(self, chapter: ChapterId | None) -> int | None:
        """0 for None (before the book); None for a chapter at or after the target, or out of the book."""
        if chapter is None:
            return 0
        place = self.placed.get(chapter)
        return place.position if place and place.position < self.before else None

    def end(self, chapter: ChapterId | None) -> ChapterId | None:
        """The chapter where something ends; None (it is open) when that is not before the target."""
        return chapter if self.position(chapter) else None

    def place(self, record: Record) -> tuple[int, int, str]:
        """Sorts records by where they begin: chapter, offset of the words that say it, id."""
        return self.position(anchor(record)) or 0, record.evidence[0].start if record.evidence else 0, record.id


@dataclass(frozen=True, slots=True)
class _Read:
    """A record, whose word it is, and the digest of the text from which its first evidence was taken."""

    record: Record
    text: Digest
    by_agent: bool

    @property
    def chapter(self) -> ChapterId | None:
        """The chapter that says it."""
        return self.record.evidence[0].chapter if self.record.evidence else None


async def story_of(rows: Sequence[Row], horizon: Horizon, entities: Set[EntityId], texts: Texts) -> Story:
    """The story from rows of RECORDS. Nothing at or after the target is in it; what ends there is open.

    A record that was read from an older text of its chapter stays while its words are still there. `entities` are
    those that exist: a relation to another one is left out.
    """
    read = [one for one in _parsed(rows, horizon) if horizon.position(anchor(one.record)) is not None]
    moved = {one.chapter for one in read if one.chapter in horizon.seen and _is_moved(one, horizon)}
    said = await texts([chapter for chapter in moved if chapter is not None])
    records = [still for one in read if (still := _still_said(one, horizon, said)) is not None]
    records.sort(key=lambda one: horizon.place(one.record))
    sequels: defaultdict[RecordId, list[Sequel]] = defaultdict(list)
    for one in records:
        if isinstance(one.record, Sequel):
            sequels[one.record.record].append(one.record)
    found = [
        _cut(_continued(one.record, sequels[one.record.id]) if one.by_agent else one.record, horizon)
        for one in records
        if not isinstance(one.record, Sequel)
    ]
    moments = [one for one in found if isinstance(one, Moment)]
    return Story(
        _once(one for one in found if isinstance(one, Relation) and {one.source, one.target} <= entities),
        _superseded([one for one in found if isinstance(one, Fact)], horizon),
        tuple(one for one in found if isinstance(one, Promise)),
        tuple(sorted(moments, key=lambda one: one.order if one.order is not None else horizon.place(one)[0])),
    )


def _parsed(rows: Iterable[Row], horizon: Horizon) -> list[_Read]:
    """The rows of chapters that can be seen; a kind at a time, since that takes a fraction of the time."""
    by_kind: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row[2] or row[2] in horizon.seen:
            by_kind[row[0]].append(row)
    read: list[_Read] = []
    for kind, name in KINDS.items():
        shape: Any = tuple[kind, ...]  # type: ignore[valid-type]  # a type that is known when it runs
        records: tuple[Record, ...] = from_json(shape, f"[{','.join(row[1] for row in by_kind[name])}]")
        read += [_Read(record, row[3], row[4] == "agent") for record, row in zip(records, by_kind[name], strict=True)]
    return read


def _is_moved(read: _Read, horizon: Horizon) -> bool:
    return read.chapter is not None and horizon.seen[read.chapter].digest != read.text


def _still_said(read: _Read, horizon: Horizon, said: Mapping[ChapterId, str]) -> _Read | None:
    """The record with its evidence where it stands in the present text; an agent's goes when it is not there."""
    chapter = read.chapter
    if chapter is None or chapter not in said or not _is_moved(read, horizon):
        return read
    evidence = tuple(
        replace(one, start=at, end=at + len(one.sentence))
        for one in read.record.evidence
        if (at := said[chapter].find(one.sentence)) >= 0 and one.chapter == chapter
    )
    if read.by_agent and not evidence:
        return None
    return replace(read, record=replace(read.record, evidence=evidence))


def _continued(record: StoryRecord, sequels: Sequence[Sequel]) -> StoryRecord:
    """With what later chapters add; the first end counts."""
    end = next((one for one in sequels if one.learned_by is None), None)
    learned = tuple(Knower(one.learned_by, one.chapter, one.evidence) for one in sequels if one.learned_by is not None)
    match record:
        case Fact():
            until = record.until or (end.chapter if end else None)
            return replace(record, until=until, known_by=(*record.known_by, *learned))
        case Relation():
            return replace(record, until=record.until or (end.chapter if end else None))
        case Promise() if end and record.paid is None:
            return replace(record, paid=end.chapter, payment=end.evidence)
    return record


def _cut(record: StoryRecord, horizon: Horizon) -> StoryRecord:
    """Without what is not before the target."""
    seen = _seen(record.evidence, horizon)
    match record:
        case Relation():
            return replace(record, until=horizon.end(record.until), evidence=seen)
        case Fact():
            known = tuple(
                replace(one, evidence=_seen(one.evidence, horizon))
                for one in record.known_by
                if horizon.position(one.since) is not None
            )
            return replace(record, until=horizon.end(record.until), known_by=known, evidence=seen)
        case Promise():
            payment = _seen(record.payment, horizon)
            return replace(record, paid=horizon.end(record.paid), evidence=seen, payment=payment)
        case Moment():
            return replace(record, evidence=seen)


def _seen(evidence: Iterable[Evidence], horizon: Horizon) -> tuple[Evidence, ...]:
    return tuple(one for one in evidence if one.chapter in horizon.seen)


def _once(relations: Iterable[Relation]) -> tuple[Relation, ...]:
    """What a later chapter says again of a relation that holds is evidence of it, and no second one."""
    open_ones: dict[tuple[object, str], int] = {}
    found: list[Relation] = []
    for one in relations:
        ends = (one.source, one.target) if one.directed else frozenset((one.source, one.target))
        at = open_ones.setdefault((ends, one.kind), len(found))
        if at < len(found) and found[at].until is None and one.by == "agent":
            found[at] = replace(found[at], until=one.until, evidence=(*found[at].evidence, *one.evidence))
            continue
        open_ones[ends, one.kind] = len(found)
        found.append(one)
    return tuple(found)


def _superseded(facts: Iterable[Fact], horizon: Horizon) -> tuple[Fact, ...]:
    """A state ends where a later fact tells another one; a secret one does not end what everybody believes.

    Facts come in story order. The same words said again of a state that holds are evidence of it, and no second fact.
    """
    found: list[Fact] = []
    open_ones: defaultdict[tuple[EntityId, str], list[int]] = defaultdict(list)
    for fact in facts:
        holding = open_ones[fact.about[0], fact.attribute] if fact.attribute and fact.about else []
        same = [at for at in holding if (found[at].text, found[at].secret) == (fact.text, fact.secret)]
        if same and fact.by == "agent":
            found[same[0]] = replace(found[same[0]], evidence=(*found[same[0]].evidence, *fact.evidence))
            continue
        for at in [at for at in holding if found[at].secret or not fact.secret]:
            holding.remove(at)
            end = horizon.position(found[at].until) if found[at].until else None
            if end is None or end > (horizon.position(fact.since) or 0):
                found[at] = replace(found[at], until=fact.since)
        holding.append(len(found))
        found.append(fact)
    return tuple(found)
