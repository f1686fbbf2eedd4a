"""Story records in the form for search by meaning: a line for each record, by the chapter where it begins, so that no
line contains anything from later in the story.

Its end, payment or later knowers are not in a line. Secrets have none: only those who know them may read them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, Story, StoryRecord
from flowcabal_tui.store.memory.records import anchor
from flowcabal_tui.store.memory.view import View

ROOT: Final = "story"
KINDS: Final = ("relations", "facts", "promises", "moments")
"""The roots of the uris of records."""
BEFORE: Final = "before"
"""The place of records from before the book."""


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A record in words; `uri` is that of its source, `start` and `end` are offsets in the text of its place."""

    uri: str
    words: str
    start: int
    end: int
    record: StoryRecord

    @property
    def holds(self) -> bool:
        """True when the record is open in the view from which it was read."""
        match self.record:
            case Relation(until=until) | Fact(until=until):
                return until is None
            case Promise(paid=paid, dropped=dropped):
                return paid is None and not dropped
        return True


@dataclass(frozen=True, slots=True)
class PlaceRecords:
    """The records of one place, ordered by their words; `head` are the names that they are about."""

    head: str
    text: str
    lines: tuple[RecordLine, ...]


def subject(chapter: ChapterId | None) -> str:
    """The knowledge server's name for the records that begin in a chapter (None: before the book)."""
    return f"{ROOT}/{chapter or BEFORE}"


async def visible_records(view: View, subjects: Collection[str] | None = None) -> dict[str, PlaceRecords]:
    """The story records that the view sees (of these subjects, or all), by subject."""
    names = {entity.id: entity.name for entity in await view.entities()}
    places: dict[str, list[tuple[int, str, StoryRecord]]] = {}
    for kind, record in _records(await view.story(), names):
        place = anchor(record)
        if subjects is not None and subject(place) not in subjects:
            continue
        start = min((each.start for each in record.evidence if each.chapter == place), default=0)
        places.setdefault(subject(place), []).append((start, f"{kind}/{record.id}", record))
    return {place: _place_records(sorted(found, key=lambda each: each[:2]), names) for place, found in places.items()}


def _records(story: Story, names: Mapping[EntityId, str]) -> list[tuple[str, StoryRecord]]:
    """A relation to somebody who was not named yet is left out."""
    between_named = (each for each in story.relations if each.source in names and each.target in names)
    open_facts = (fact for fact in story.facts if not fact.secret)
    return [
        *(("relations", each) for each in between_named),
        *(("facts", each) for each in open_facts),
        *(("promises", each) for each in story.promises),
        *(("moments", each) for each in story.moments),
    ]


def _place_records(records: list[tuple[int, str, StoryRecord]], names: Mapping[EntityId, str]) -> PlaceRecords:
    text, lines, concerned = "", list[RecordLine](), dict[str, None]()
    for _start, uri, record in records:
        words = " ".join(_words(record, names).split())
        lines.append(RecordLine(uri, words, len(text), len(text) + len(words), record))
        text += f"{words}\n"
        concerned |= {names[each]: None for each in _about(record) if each in names}
    return PlaceRecords(" · ".join(concerned), text, tuple(lines))


def _words(record: StoryRecord, names: Mapping[EntityId, str]) -> str:
    match record:
        case Relation():
            arrow = "→" if record.directed else "↔"
            return f"{names[record.source]} {arrow} {names[record.target]}: {record.kind}"
        case Moment(when=when) if when:
            return f"{when}: {record.text}"
    return record.text


def _about(record: StoryRecord) -> tuple[EntityId, ...]:
    return (record.source, record.target) if isinstance(record, Relation) else record.about
