"""The names that a reading of a chapter adds, and those that wait for the writer, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.curation.story_goal import MAKER, StoryGoal
from flowcabal_tui.agents.names.evidence_zh import is_part_of_a_word
from flowcabal_tui.agents.names.names import NameIndex, entity_id
from flowcabal_tui.agents.sentences import sentence_at
from flowcabal_tui.agents.shapes.story import NamedThing
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.known_names import NameHit
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    Difference,
    NewName,
    Origin,
    Proposal,
    ProposalPlace,
    ProposalState,
    Reason,
    ReasonCode,
)
from flowcabal_tui.domain.text import clean

RULE: Final = Origin("rule", "names")
_LONGEST_NAME: Final = 40
_LEAST_OFTEN: Final = 2
"""Least occurrences of a further name; one with fewer may be chance or a slip, so it waits for the writer."""


def named(goal: StoryGoal, things: Iterable[NamedThing]) -> tuple[tuple[Entity, ...], tuple[Proposal, ...]]:
    """New entities, and known ones with new names, and their proposals. Every new name occurs in the chapter.

    A further name of a known entity waits for the writer if there is a doubt about it (`_doubt`).
    """
    owners = {name: entity.id for entity in goal.known for name in entity.proposed}  # proposed names keep their owner
    owners |= {name: entity.id for entity in goal.known for name in entity.names}
    by_id = {entity.id: entity for entity in goal.known}
    changed: dict[EntityId, Entity] = {}
    proposals: list[Proposal] = []
    for thing in things:
        found = _merged(thing, goal, owners, {**by_id, **changed})
        if found is None or by_id.get(found[0].id) == found[0]:
            continue
        entity = found[0]
        proposals += _proposals(
            goal.chapter, goal.text, entity, found[1], MAKER, is_new=entity.id not in {*by_id, *changed}
        )
        changed[entity.id] = entity
        owners |= {name: entity.id for name in entity.names if name not in owners}
    return tuple(changed.values()), tuple(proposals)


def _merged(
    thing: NamedThing, goal: StoryGoal, owners: Mapping[str, EntityId], known: Mapping[EntityId, Entity]
) -> tuple[Entity, dict[str, ReasonCode]] | None:
    """The thing as a new entity or as a known one with more names, and the reason why each new name waits ("quoted": it
    does not).

    None when it adds no name, or is new and its main name does not occur in the text.
    """
    spelled = dict.fromkeys(clean(each).strip() for each in (thing.name, *thing.aliases))
    names = [name for name in spelled if name and len(name) <= _LONGEST_NAME and "\n" not in name]
    owner = next((owners[name] for name in names if name in owners), None)
    fresh = [name for name in names if name not in owners and NameIndex([_probe(name)]).find(goal.text)]
    if owner is not None:
        entity = known[owner]
        fresh = [name for name in fresh if name not in (*entity.proposed, *entity.rejected)]
        others = [name for each in known.values() if each.id != owner for name in each.names]
        by_hand = any(each.id == owner and each.by == "hand" for each in goal.known)
        doubts = {name: _doubt(name, goal, known.values(), others, by_hand=by_hand) for name in fresh}
        if not fresh:
            return None
        aliases, proposed = _divided(doubts)
        return replace(
            entity, aliases=(*entity.aliases, *aliases), proposed=(*entity.proposed, *proposed), by="agent"
        ), doubts
    if not fresh or fresh[0] != next(iter(spelled)):
        return None
    doubts = {name: _doubt(name, goal, known.values(), (), by_hand=False) for name in fresh[1:]}
    sure, waiting = _divided(doubts)
    found = entity_id(thing.kind, fresh[0])
    return Entity(found, thing.kind, fresh[0], sure, "", "agent", goal.chapter.position, proposed=waiting), doubts


def _divided(doubts: Mapping[str, ReasonCode]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Divides names into those that are certain and those that wait."""
    sure = tuple(name for name, doubt in doubts.items() if doubt == "quoted")
    return sure, tuple(name for name in doubts if name not in sure)


def _doubt(name: str, goal: StoryGoal, known: Iterable[Entity], others: Sequence[str], *, by_hand: bool) -> ReasonCode:
    """The reason why a further name waits; "quoted" if it need not."""
    if by_hand:
        return "own"
    if _could_be_anothers(name, others):
        return "shared"
    hits = _free_hits(name, goal.text, known)
    if len(hits) < _LEAST_OFTEN:
        return "rare"
    spans = [(hit.start, hit.end) for hit in hits]
    return "inside" if is_part_of_a_word(goal.text, spans) else "quoted"


def _free_hits(name: str, text: str, known: Iterable[Entity]) -> list[NameHit]:
    """The places of the name in the chapter outside of longer known names."""
    probe = _probe(name)
    return [hit for hit in NameIndex([replace(probe, by="hand"), *known]).find(text) if hit.entity == probe.id]


def _could_be_anothers(name: str, others: Iterable[str]) -> bool:
    """True when one name contains the other, or they share a word."""
    words = set(name.split())
    return any(name in other or other in name or words & set(other.split()) for other in others)


def _probe(name: str) -> Entity:
    return Entity(EntityId(name), "character", name)


def names_found(chapter: Chapter, text: str, found: Iterable[Entity]) -> tuple[Proposal, ...]:
    """The proposals of entities that a rule found, each with a sentence of the chapter if it occurs there."""
    return tuple(
        each
        for entity in found
        for each in _proposals(chapter, text, entity, dict.fromkeys(entity.proposed, "named"), RULE, is_new=True)
    )


def _proposals(
    chapter: Chapter, text: str, entity: Entity, doubts: Mapping[str, ReasonCode], origin: Origin, *, is_new: bool
) -> Iterator[Proposal]:
    if is_new:
        yield Proposal("entity", *_quoted(chapter, text, entity.name), Difference(entity), Reason(), origin, "applied")
    for name, doubt in doubts.items():
        change = Difference(NewName(entity.id, name))
        state: ProposalState = "applied" if doubt == "quoted" else "waiting"
        yield Proposal("name", *_quoted(chapter, text, name), change, Reason(doubt), origin, state)


def _quoted(chapter: Chapter, text: str, name: str) -> tuple[ProposalPlace, str]:
    """The sentence in which the name occurs first."""
    at = next((hit.start for hit in NameIndex([_probe(name)]).find(text)), text.find(name))
    if at < 0:
        return ProposalPlace(chapter.id), ""
    span = sentence_at(text, at)
    return ProposalPlace(chapter.id, span.start, span.end), text[span.start : span.end]
