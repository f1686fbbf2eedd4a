"""Entities and records after the writer's edits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, Relation, StoryRecord
from flowcabal_tui.domain.text import slug
from flowcabal_tui.tui.story.cast import Cast


def new_id(name: str, cast: Cast) -> EntityId:
    """An unused id made of the name."""
    base, taken = slug(name), {each.id for each in cast.entities}
    names = chain((base,), (f"{base}-{number}" for number in count(2)))
    return EntityId(next(each for each in names if each not in taken))


def merged(gone: Entity, kept: Entity) -> Entity:
    """`kept` with the names of both; the name of `gone` becomes an alias."""
    names = tuple(name for name in dict.fromkeys((*kept.aliases, *gone.names)) if name != kept.name)
    waiting = dict.fromkeys((*kept.proposed, *gone.proposed))
    return replace(
        kept,
        aliases=names,
        note="\n".join(note for note in (kept.note, gone.note) if note),
        proposed=tuple(name for name in waiting if name not in (kept.name, *names)),
        rejected=tuple(name for name in kept.rejected if name not in names),
        fields=tuple({**dict(gone.fields), **dict(kept.fields)}.items()),
    )


def moved_records(gone: EntityId, kept: EntityId, cast: Cast) -> Iterator[StoryRecord]:
    """Every record that names `gone`, with `kept` instead; relations between the two are left out."""

    def people(about: tuple[EntityId, ...]) -> tuple[EntityId, ...]:
        return tuple(dict.fromkeys(map(other, about)))

    def other(entity: EntityId) -> EntityId:
        return kept if entity == gone else entity

    def knowers(known: tuple[Knower, ...]) -> tuple[Knower, ...]:
        return tuple(dict.fromkeys(replace(each, entity=other(each.entity)) for each in known))

    story = cast.story
    for record in story.records:
        after: StoryRecord
        match record:
            case Relation():
                after = replace(record, source=other(record.source), target=other(record.target))
                if after.source == after.target:
                    continue
            case Fact():
                after = replace(record, about=people(record.about), known_by=knowers(record.known_by))
            case Promise() | Moment():
                after = replace(record, about=people(record.about))
        if after != record:
            yield after
