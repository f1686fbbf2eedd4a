"""The story before a chapter: its valid records, and the places of their evidence.

Records are sorted once per generation; a view takes those that begin before its chapter.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from types import GenericAlias
from typing import Any, Final, TypeVar

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.domain.ids import ChapterId, Digest, EntityId, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, Sequel, Story, StoryRecord
from flowcabal_tui.domain.text import span_of_letters
from flowcabal_tui.locale import mark
from flowcabal_tui.store.file.connection import Database, Row
from flowcabal_tui.store.file.reading import read_json, readable
from flowcabal_tui.store.memory.records import KINDS, READING, anchor

log = logging.getLogger(__name__)
_NEWEST: Final = f"""SELECT id, generation, kind, chapter, source, by FROM record
    WHERE NOT removed AND kind<>'{READING}'
    AND generation=(SELECT max(generation) FROM record AS other WHERE other.id=record.id AND generation<=?)"""
_BODIES: Final = """SELECT record.id, record.generation, body FROM json_each(?) AS wanted
    JOIN record ON record.id=wanted.value ->> 0 AND record.generation=wanted.value ->> 1"""
_AT_ONCE: Final = 2_000
"""Records that are parsed in one go: a few milliseconds, so that nothing blocks."""
_MOST_PARSED: Final = 100_000
"""Limit of cached states; beyond it the cache is emptied, since most of them are no longer the newest."""
Texts = Callable[[Collection[ChapterId]], Awaitable[Mapping[ChapterId, str]]]
Record = StoryRecord | Sequel
L = TypeVar("L", Relation, Fact)
Parsed = dict[tuple[RecordId, Generation], Record]
"""States of records by id and the generation that wrote them: they never change."""


@dataclass(frozen=True, slots=True)
class Read:
    """A record as of a generation: its author, and the digest of the text that its first evidence quotes."""

    record: Record
    text: Digest
    by_agent: bool

    @property
    def chapter(self) -> ChapterId | None:
        """The chapter in which a record begins."""
        return self.record.evidence[0].chapter if self.record.evidence else None


@dataclass(frozen=True, slots=True)
class StoryIndex:
    """All records of a generation in the order in which they begin, and the additions of later chapters."""

    chapters: Mapping[ChapterId, Chapter]
    reads: tuple[Read, ...]
    positions: Sequence[int]
    sequels: Mapping[RecordId, Sequence[Sequel]]


@dataclass(frozen=True, slots=True)
class _Horizon:
    """The places of chapters, as far as a target may see."""

    chapters: Mapping[ChapterId, Chapter]
    before: int

    def position(self, chapter: ChapterId | None) -> int | None:
        """0 for None (before the book); None for a chapter at or after the target, or out of the book."""
        if chapter is None:
            return 0
        place = self.chapters.get(chapter)
        return place.position if place and place.position < self.before else None

    def end(self, chapter: ChapterId | None) -> ChapterId | None:
        """The chapter of an end; None (still open) when it is not before the target."""
        return chapter if self.position(chapter) else None

    def ending(self, chapter: ChapterId | None) -> float:
        """The position of an end; infinite while it is open."""
        return self.position(chapter) or math.inf

    def sees(self, evidence: Evidence) -> bool:
        """True when the chapter of the evidence is visible and has a text."""
        place = self.chapters.get(evidence.chapter)
        return place is not None and place.position < self.before and place.digest is not None


async def story_index(
    database: Database, parsed: Parsed, generation: Generation, chapters: Mapping[ChapterId, Chapter], texts: Texts
) -> StoryIndex:
    """Reads the records as of a generation with these places of `chapters`; uses and extends `parsed`.

    A record that was read from an older text of its chapter stays while its words are still there. `texts` gives the
    present texts of chapters.
    """
    rows = [row for row in await database.rows(_NEWEST, (generation,)) if not row[3] or _has_text(chapters, row[3])]
    await _parse([(row[0], row[1], row[2]) for row in rows], database, parsed)
    everywhere = _Horizon(chapters, len(chapters) + 1)
    reads = [
        read
        for identity, written, _kind, _chapter, source, by in rows
        if (record := parsed.get((identity, written)))
        and (read := Read(record, source, by == "agent"))
        and everywhere.position(anchor(read.record)) is not None
    ]
    moved = {read.chapter for read in reads if read.chapter and _is_moved(read, chapters)}
    text_of = await texts(moved)
    found = [still for read in reads if (still := _still_stated(read, chapters, text_of)) is not None]
    found.sort(key=lambda read: _place(read.record, everywhere))
    sequels: defaultdict[RecordId, list[Sequel]] = defaultdict(list)
    for read in found:
        if isinstance(read.record, Sequel):
            sequels[read.record.record].append(read.record)
    records = tuple(read for read in found if not isinstance(read.record, Sequel))
    positions = array("l", (everywhere.position(anchor(read.record)) or 0 for read in records))
    return StoryIndex(chapters, records, positions, sequels)


def story_before(index: StoryIndex, before: int, entities: Set[EntityId]) -> Story:
    """The story before a chapter position: without later records, and with later ends still open.

    `entities` are those that exist: a relation to another one is left out.
    """
    horizon = _Horizon(index.chapters, before)
    found: list[StoryRecord] = []
    for read in islice(index.reads, bisect_left(index.positions, before)):
        if isinstance(read.record, Sequel):
            continue
        more = index.sequels.get(read.record.id, ()) if read.by_agent else ()
        seen = [one for one in more if horizon.position(one.chapter) is not None]
        found.append(_cut(_continued(read.record, seen) if seen else read.record, horizon))
    moments = [one for one in found if isinstance(one, Moment)]
    return Story(
        _once(
            (one for one in found if isinstance(one, Relation) and one.source in entities and one.target in entities),
            horizon,
        ),
        _superseded((one for one in found if isinstance(one, Fact)), horizon),
        tuple(one for one in found if isinstance(one, Promise)),
        tuple(sorted(moments, key=lambda one: one.order if one.order is not None else _place(one, horizon)[0])),
    )


async def _parse(wanted: Sequence[tuple[RecordId, Generation, str]], database: Database, parsed: Parsed) -> None:
    """Parses records that are not cached; many of one kind at a time, which takes a fraction of the time."""
    if len(parsed) > _MOST_PARSED:
        parsed.clear()
    shapes = {name: kind for kind, name in KINDS.items()}
    missing: defaultdict[str, list[tuple[RecordId, Generation]]] = defaultdict(list)
    for identity, written, kind in wanted:
        if (identity, written) not in parsed:
            missing[kind].append((identity, written))
    for kind, keys in missing.items():
        if kind not in shapes:
            log.warning("records of an unknown kind were skipped: %s", len(keys))
            database.skipped.add(mark("records"), keys)
            continue
        for start in range(0, len(keys), _AT_ONCE):
            rows = await database.rows(_BODIES, (json.dumps(keys[start : start + _AT_ONCE]),))
            found = dict(await asyncio.to_thread(_parsed, shapes[kind], rows))
            database.skipped.add(mark("records"), (row for row in rows if _key(row) not in found))
            parsed.update(found)


def _parsed(shape: type[Any], rows: Sequence[Row]) -> Iterable[tuple[tuple[RecordId, Generation], Any]]:
    """The records of these rows; each for itself where one of them is damaged."""
    try:
        many: Any = GenericAlias(tuple, (shape, ...))
        return [*zip(map(_key, rows), read_json(many, f"[{','.join(row[2] for row in rows)}]"), strict=True)]
    except (ProjectDamaged, TypeError, ValueError):
        return readable(lambda row: (_key(row), read_json(shape, row[2])), rows)


def _key(row: Row) -> tuple[RecordId, Generation]:
    return row[0], row[1]


def _has_text(chapters: Mapping[ChapterId, Chapter], chapter: ChapterId) -> bool:
    return chapter in chapters and chapters[chapter].digest is not None


def _place(record: Record, horizon: _Horizon) -> tuple[int, int, str]:
    """The sort key of a record by its beginning: chapter, offset of its quotation, id."""
    return horizon.position(anchor(record)) or 0, record.evidence[0].start if record.evidence else 0, record.id


def _is_moved(read: Read, chapters: Mapping[ChapterId, Chapter]) -> bool:
    """True when its chapter's text has changed since."""
    return read.chapter is not None and _has_text(chapters, read.chapter) and chapters[read.chapter].digest != read.text


def _still_stated(read: Read, chapters: Mapping[ChapterId, Chapter], text_of: Mapping[ChapterId, str]) -> Read | None:
    """The record with its evidence at the present places; None for an agent's record whose words are gone."""
    chapter = read.chapter
    if chapter is None or not _is_moved(read, chapters):
        return read
    quoted = (one for one in read.record.evidence if one.chapter == chapter)
    evidence = tuple(found for one in quoted if (found := _quoted(one, text_of[chapter])) is not None)
    if read.by_agent and not evidence:
        return None
    return replace(read, record=replace(read.record, evidence=evidence))


def _quoted(evidence: Evidence, text: str) -> Evidence | None:
    """The quotation at its place in the text, with the punctuation that it has there."""
    at = text.find(evidence.sentence)
    span = (at, at + len(evidence.sentence)) if at >= 0 else span_of_letters(text, evidence.sentence)
    return None if span is None else replace(evidence, sentence=text[slice(*span)], start=span[0], end=span[1])


def _continued(record: StoryRecord, sequels: Sequence[Sequel]) -> StoryRecord:
    """The record with the additions of later chapters; the first end counts."""
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


def _cut(record: StoryRecord, horizon: _Horizon) -> StoryRecord:
    """The record without anything that is not before the target."""
    if not all(map(horizon.sees, record.evidence)):
        record = replace(record, evidence=_seen(record.evidence, horizon))
    match record:
        case Relation() if record.until:
            return replace(record, until=horizon.end(record.until))
        case Fact() if record.until or record.known_by:
            known = tuple(
                replace(one, evidence=_seen(one.evidence, horizon)) if one.evidence else one
                for one in record.known_by
                if horizon.position(one.since) is not None
            )
            until = horizon.end(record.until)
            same = until == record.until and known == record.known_by
            return record if same else replace(record, until=until, known_by=known)
        case Promise() if record.paid or record.payment:
            paid = horizon.end(record.paid)
            return replace(record, paid=paid, payment=_seen(record.payment, horizon))
    return record


def _seen(evidence: Iterable[Evidence], horizon: _Horizon) -> tuple[Evidence, ...]:
    return tuple(filter(horizon.sees, evidence))


def _once(relations: Iterable[Relation], horizon: _Horizon) -> tuple[Relation, ...]:
    """Merges relations that later chapters repeat before they end: a repetition becomes evidence.

    Relations come in story order. The first end counts, also that of a repetition, so the result does not depend on
    whether the end is visible.
    """
    newest: dict[tuple[object, str], int] = {}
    found: list[Relation] = []
    for one in relations:
        ends = (one.source, one.target) if one.directed else frozenset((one.source, one.target))
        at = newest.setdefault((ends, one.kind), len(found))
        begins = horizon.position(one.since) or 0
        if at < len(found) and one.by == "agent" and horizon.ending(found[at].until) > begins:
            until = _earlier_end(found[at], one, horizon)
            found[at] = replace(found[at], until=until, evidence=(*found[at].evidence, *one.evidence))
            continue
        newest[ends, one.kind] = len(found)
        found.append(one)
    return tuple(found)


def _earlier_end(one: L, again: L, horizon: _Horizon) -> ChapterId | None:
    """The earlier end of a repeated record; only the writer ends a record by hand."""
    return one.until if one.by == "hand" else min(one.until, again.until, key=horizon.ending)


def _superseded(facts: Iterable[Fact], horizon: _Horizon) -> tuple[Fact, ...]:
    """Ends a state where a later fact gives another one; a secret fact does not end a public one.

    A fact by an agent never ends one by hand: while that holds, an agent's other state is left out. Facts come in story
    order. A repetition of a state that holds is evidence of it instead of a second fact.
    """
    found: list[Fact] = []
    open_ones: defaultdict[tuple[EntityId, str], list[int]] = defaultdict(list)
    for fact in facts:
        holding = open_ones[fact.about[0], fact.attribute] if fact.attribute and fact.about else []
        begins = horizon.position(fact.since) or 0
        same = [at for at in holding if (found[at].text, found[at].secret) == (fact.text, fact.secret)]
        if same and fact.by == "agent" and horizon.ending(found[same[0]].until) > begins:
            until = _earlier_end(found[same[0]], fact, horizon)
            found[same[0]] = replace(found[same[0]], until=until, evidence=(*found[same[0]].evidence, *fact.evidence))
            continue
        ended = [at for at in holding if found[at].secret or not fact.secret]
        if fact.by == "agent":
            by_hand = [at for at in ended if found[at].by == "hand" and horizon.ending(found[at].until) > begins]
            if any(not found[at].secret for at in by_hand):
                continue
            ended = [at for at in ended if at not in by_hand]
        for at in ended:
            holding.remove(at)
            if horizon.ending(found[at].until) > begins:
                found[at] = replace(found[at], until=fact.since)
        holding.append(len(found))
        found.append(fact)
    return tuple(found)
