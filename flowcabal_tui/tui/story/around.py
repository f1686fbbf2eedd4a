"""The neighbours of an entity: those with a relation at a chapter first, then those named together with it most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.story import Relation
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.widgets.ego_layout import EgoNeighbour

Companion = tuple[EntityId, int, ChapterId]
"""A person named in the same passages: the number of passages, and the last chapter."""


def relations_between(relations: Iterable[Relation], one: EntityId, other: EntityId) -> tuple[Relation, ...]:
    """The relations of two, in either direction."""
    return tuple(each for each in relations if {each.source, each.target} == {one, other})


def neighbours(
    cast: Cast, centre: EntityId, companions: Sequence[Companion], position: int
) -> tuple[EgoNeighbour, ...]:
    """The neighbours as of a chapter: those with a relation, then companions who have none, most frequent first."""
    held = [each for each in cast.story.relations if cast.holds(each, position)]
    own = [each for each in held if centre in (each.source, each.target)]
    related = dict.fromkeys(_other(each, centre) for each in own)
    rows = [_related(cast, centre, other, relations_between(own, centre, other)) for other in related]
    rest = [each for each in companions if each[0] not in related and cast.entity(each[0]) is not None]
    return (*rows, *(_together(cast, *each) for each in rest))


def _other(relation: Relation, centre: EntityId) -> EntityId:
    return relation.target if relation.source == centre else relation.source


def _related(cast: Cast, centre: EntityId, other: EntityId, relations: Sequence[Relation]) -> EgoNeighbour:
    directed = [each for each in relations if each.directed]
    return EgoNeighbour(
        other,
        cast.name(other),
        " / ".join(dict.fromkeys(one_line(each.kind, 60) for each in relations)),
        outward=any(each.source == centre for each in directed),
        inward=any(each.target == centre for each in directed),
    )


def _together(cast: Cast, other: EntityId, passages: int, last: ChapterId) -> EgoNeighbour:
    words = _("{n}×, last in {chapter}").format(n=passages, chapter=cast.position(last))
    return EgoNeighbour(other, cast.name(other), words, loose=True)
