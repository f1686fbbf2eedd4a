"""What a chapter adds to the story: names, relations, facts, promises and moments, from one question to a model.

Everything rests on a quotation that stands in the chapter; without one it is dropped (DESIGN 4.8). The quotation of a
fact or relation must also bear it out (`grounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.context.intent import named_in, search_terms
from flowcabal_tui.agents.curation.curation_shapes import DIMENSIONS, DimensionAdvice
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.grounds import Grounds
from flowcabal_tui.agents.curation.story_shapes import (
    MOST_OF_A_KIND,
    UNASKED,
    NamedThing,
    SaidFact,
    SaidMoment,
    SaidPromise,
    SaidRelation,
    SaidSequel,
    StoryAnswer,
)
from flowcabal_tui.agents.names.names import NameIndex, entity_id
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.prompt_library import Fenced, name_lines
from flowcabal_tui.domain.ids import Digest, EntityId
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.story import (
    Fact,
    Knower,
    Moment,
    Promise,
    Reading,
    RecordId,
    Relation,
    Sequel,
    StoryRecord,
)
from flowcabal_tui.domain.text import clean, digest, digest_of

TASK: Final = "curator.story"
_NAMES: Final = 40
_OPEN: Final = 16
"""Of each kind."""
_LONGEST: Final = 240
_LONGEST_NAME: Final = 40
_LEAST_STANDS: Final = 2
"""A further name that stands once may be chance or a slip: it waits for the writer's word."""
Said = TypeVar("Said", SaidRelation, SaidFact, SaidPromise, SaidMoment, SaidSequel)


@dataclass(frozen=True, slots=True)
class StoryGoal:
    """A chapter that is to be read: its present text, all entities, and the book before it."""

    chapter: Chapter
    text: str
    known: tuple[Entity, ...]
    before: MemoryView


class StoryReader:
    """Asks the curator's model what a chapter adds to the story."""

    def __init__(self, curator: Curator) -> None:
        """`curator` must have a model to ask."""
        self._curator = curator

    def source(self, chapter: Chapter, text: str) -> Digest:
        """The digest of the text and the question: while it is the same, the chapter need not be read again."""
        return digest_of([TASK, self._curator.prompts.get(TASK).digest, chapter.title, text])

    async def read(self, goal: StoryGoal) -> tuple[tuple[Entity, ...], Reading, tuple[str, ...]]:
        """New entities and known ones with new names, the chapter's records, and the parts that could not be read.

        A reading in part has a source of its own, so that the chapter is asked about again. Raises ModelError,
        SettingsError.

        The question shows what was there before this chapter only, so asking again after the answer was stored is free.
        """
        open_lines = await _open_lines(goal)
        answer = await self._curator.ask(TASK, _question(goal, open_lines), StoryAnswer)
        entities = named(goal, answer.entities)
        by_id = {entity.id: entity for entity in (*goal.known, *entities)}
        said = _Said(goal, by_id.values())
        records: list[StoryRecord] = [*said.relations(answer), *said.facts(answer)]
        records += [*said.promises(answer), *said.moments(answer)]
        sequels = said.sequels(answer, {number: record for number, (_line, record) in open_lines.items()})
        reading = Reading(
            goal.chapter.id,
            goal.chapter.position,
            digest(goal.text),
            digest_of([self.source(goal.chapter, goal.text), *answer.unread])
            if answer.unread
            else self.source(goal.chapter, goal.text),
            tuple({record.id: record for record in records}.values()),
            tuple({sequel.id: sequel for sequel in sequels}.values()),
        )
        return entities, reading, answer.unread

    async def answered(self, goal: StoryGoal) -> StoryAnswer:
        """The answer if the question was paid for, else an empty one; spends nothing."""
        question = _question(goal, await _open_lines(goal))
        return await self._curator.answered(TASK, question, StoryAnswer) or UNASKED


def four_questions(answer: StoryAnswer) -> tuple[DimensionAdvice, ...]:
    """The 4-D test as the answer holds it, open where it says nothing; empty where it leaves out all four."""
    said = {use.question: use for use in answer.keeping}
    if not said.keys() & set(DIMENSIONS):
        return ()
    return tuple(
        DimensionAdvice(each, use.passed, clean(use.detail).strip())
        if (use := said.get(each))
        else DimensionAdvice(each, None, "")
        for each in DIMENSIONS
    )


def _question(goal: StoryGoal, open_lines: Mapping[str, tuple[str, StoryRecord]]) -> dict[str, str | Fenced]:
    return {
        "language": goal.before.language,
        "names": name_lines(_earlier(goal)[:_NAMES]),
        "open": "\n".join(f"{number} {line}" for number, (line, _record) in open_lines.items()),
        "title": goal.chapter.title,
        "chapter": goal.text,
    }


def _earlier(goal: StoryGoal) -> list[Entity]:
    """Those named in the chapter that were known before it. An agent's aliases may be answers of this very chapter."""
    place = goal.chapter.position
    return [
        entity if entity.by == "hand" else replace(entity, aliases=())
        for entity in named_in(goal.text, goal.known)
        if entity.by == "hand" or (entity.first_position or place) < place
    ]


async def _open_lines(goal: StoryGoal) -> dict[str, tuple[str, StoryRecord]]:
    """What the earlier chapters left open, by a short id: of each kind what the chapter's words are nearest to."""
    cast = {entity.id: entity.name for entity in _earlier(goal)}
    view, lines = goal.before, list[tuple[str, str, StoryRecord]]()
    for relation in await view.relations():
        if relation.until is None and relation.source in cast and relation.target in cast:
            line = f"relation: {cast[relation.source]} | {relation.kind} | {cast[relation.target]}"
            lines.append(("r", line, relation))
    for fact in await view.facts():
        concerned = {*fact.about, *(knower.entity for knower in fact.known_by)}
        if fact.until is None and (fact.secret or fact.attribute) and cast.keys() & concerned:
            lines.append(("f", f"{'secret' if fact.secret else 'fact'}: {fact.text}", fact))
    for promise in await view.promises():
        if promise.paid is None and not promise.dropped:
            lines.append(("p", f"promise: {promise.text}", promise))
    return {
        f"{kind}{number}": (line, record)
        for kind in "rfp"
        for number, (line, record) in enumerate(_nearest([each[1:] for each in lines if each[0] == kind], goal), 1)
    }


def _nearest(lines: Sequence[tuple[str, StoryRecord]], goal: StoryGoal) -> list[tuple[str, StoryRecord]]:
    """Those that share most words with the chapter, the newest where they tie; in story order."""

    def shared(at: int) -> int:
        return sum(term in goal.text for term in search_terms(lines[at][0], (), goal.before.language))

    near = sorted(range(len(lines)), key=lambda at: (-shared(at), -at))[:_OPEN]
    return [lines[at] for at in sorted(near)]


def named(goal: StoryGoal, things: Iterable[NamedThing]) -> tuple[Entity, ...]:
    """New entities, and known ones with new names, whose every new name stands in the chapter.

    What a hand has set gets proposals only; so does everybody when a name could be another's too.
    """
    owners = {name: entity.id for entity in goal.known for name in entity.proposed}  # it is not made another's
    owners |= {name: entity.id for entity in goal.known for name in entity.names}
    by_id = {entity.id: entity for entity in goal.known}
    changed: dict[EntityId, Entity] = {}
    for thing in things:
        entity = _merged(thing, goal, owners, {**by_id, **changed})
        if entity is not None and by_id.get(entity.id) != entity:
            changed[entity.id] = entity
            owners |= {name: entity.id for name in entity.names if name not in owners}
    return tuple(changed.values())


def _merged(
    thing: NamedThing, goal: StoryGoal, owners: Mapping[str, EntityId], known: Mapping[EntityId, Entity]
) -> Entity | None:
    """The proposal as a new entity or as a known one with more names; None when nothing of it stands in the text."""
    said = dict.fromkeys(clean(each).strip() for each in (thing.name, *thing.aliases))
    names = [name for name in said if name and len(name) <= _LONGEST_NAME and "\n" not in name]
    owner = next((owners[name] for name in names if name in owners), None)
    fresh = [name for name in names if name not in owners and NameIndex([_probe(name)]).find(goal.text)]
    if owner is not None:
        entity = known[owner]
        fresh = [name for name in fresh if name not in (*entity.proposed, *entity.rejected)]
        others = [name for each in known.values() if each.id != owner for name in each.names]
        by_hand = any(each.id == owner and each.by == "hand" for each in goal.known)
        doubtful = [
            name
            for name in fresh
            if by_hand or _could_be_anothers(name, others) or not _stands_often(name, goal.text, known.values())
        ]
        certain = [name for name in fresh if name not in doubtful]
        aliases, proposed = (*entity.aliases, *certain), (*entity.proposed, *doubtful)
        return replace(entity, aliases=aliases, proposed=proposed, by="agent") if fresh else None
    if not fresh or fresh[0] != next(iter(said)):
        return None
    place, found = goal.chapter.position, entity_id(thing.kind, fresh[0])
    sure = tuple(name for name in fresh[1:] if _stands_often(name, goal.text, known.values()))
    waiting = tuple(name for name in fresh[1:] if name not in sure)
    return Entity(found, thing.kind, fresh[0], sure, "", "agent", place, proposed=waiting)


def _stands_often(name: str, text: str, known: Iterable[Entity]) -> bool:
    """Does it stand more than once in the chapter, apart from longer known names that hold it?"""
    probe = _probe(name)
    hits = NameIndex([replace(probe, by="hand"), *known]).find(text)
    return sum(hit.entity == probe.id for hit in hits) >= _LEAST_STANDS


def _could_be_anothers(name: str, others: Iterable[str]) -> bool:
    """Does it hold another's name, is it held by one, or do they share a word?"""
    words = set(name.split())
    return any(name in other or other in name or words & set(other.split()) for other in others)


def _probe(name: str) -> Entity:
    return Entity(EntityId(name), "character", name)


class _Said:
    """Turns what a model said of a chapter into records, and drops what the chapter does not say."""

    def __init__(self, goal: StoryGoal, entities: Iterable[Entity]) -> None:
        self._chapter, self._whole = goal.chapter, VerbatimText(goal.text)
        self._text = goal.text
        self._owners: dict[str, EntityId] = {}
        known = tuple(entities)
        self._grounds = Grounds(
            goal.text, (replace(each, aliases=(*each.aliases, *each.proposed)) for each in known), goal.before.language
        )
        for entity in known:
            for name in (*entity.names, *entity.proposed):
                self._owners.setdefault(name, entity.id)

    def relations(self, answer: StoryAnswer) -> list[Relation]:
        """Those between two known names."""
        found = []
        for said, evidence in self._quoted(answer.relations):
            ends, kind = self._who((said.source, said.target)), _line(said.kind)
            if len(ends) == 2 and kind and self._borne_out(evidence, kind, ends, all_named=True):
                identity = self._id("relation", *ends, kind)
                found.append(
                    Relation(identity, ends[0], ends[1], kind, said.directed, self._chapter.id, None, evidence, "agent")
                )
        return found

    def facts(self, answer: StoryAnswer) -> list[Fact]:
        """A secret that nobody is said to know is known to those whom it is about."""
        found = []
        for said, evidence in self._quoted(answer.facts):
            text, about, attribute = _line(said.text), self._who(said.about), _line(said.attribute)
            known = self._who(said.known_by) or about if said.secret else ()
            unknown = bool(said.about) and not about
            if text and not unknown and self._borne_out(evidence, text, about):
                found.append(
                    Fact(
                        self._id("fact", text),
                        text,
                        about,
                        attribute,
                        self._chapter.id,
                        None,
                        said.secret,
                        tuple(Knower(each, self._chapter.id) for each in known),
                        evidence,
                        "agent",
                    )
                )
        return found

    def _borne_out(
        self, evidence: tuple[Evidence, ...], words: str, about: tuple[EntityId, ...], *, all_named: bool = False
    ) -> bool:
        """Facts and relations enter prompts as true, so their quotations are judged; what fails is not stored."""
        return all(
            self._grounds.bear_out(Span(each.start, each.end), words, about, all_named=all_named) for each in evidence
        )

    def promises(self, answer: StoryAnswer) -> list[Promise]:
        return [
            Promise(
                self._id("promise", text),
                text,
                self._chapter.id,
                about=self._who(said.about),
                evidence=evidence,
                by="agent",
            )
            for said, evidence in self._quoted(answer.promises)
            if (text := _line(said.text))
        ]

    def moments(self, answer: StoryAnswer) -> list[Moment]:
        return [
            Moment(
                self._id("moment", text),
                text,
                self._chapter.id,
                _line(said.when),
                None,
                self._who(said.about),
                evidence,
                "agent",
            )
            for said, evidence in self._quoted(answer.moments)
            if (text := _line(said.text))
        ]

    def sequels(self, answer: StoryAnswer, open_records: Mapping[str, StoryRecord]) -> list[Sequel]:
        """What the chapter does to open records; only facts are learned, and only by a known name."""
        found = []
        for said, evidence in self._quoted(answer.sequels):
            record, who = open_records.get(said.open.strip()), self._who((said.learned_by,))
            if record is None or (said.learned_by.strip() and not (who and isinstance(record, Fact))):
                continue
            learner = who[0] if who else None
            identity = self._id("sequel", record.id, learner or "")
            found.append(Sequel(identity, record.id, self._chapter.id, learner, evidence))
        return found

    def _quoted(self, said: Sequence[Said]) -> list[tuple[Said, tuple[Evidence, ...]]]:
        """Those whose quotation stands in the chapter, with its place."""
        spans = ((each, self._whole.find(each.quote)) for each in said[:MOST_OF_A_KIND])
        return [
            (each, (Evidence(self._text[span.start : span.end], self._chapter.id, span.start, span.end),))
            for each, span in spans
            if span is not None
        ]

    def _who(self, names: Iterable[str]) -> tuple[EntityId, ...]:
        """The entities that are called so, each once; unknown names are left out."""
        found = (self._owners.get(clean(name).strip()) for name in names)
        return tuple(dict.fromkeys(each for each in found if each is not None))

    def _id(self, kind: str, *parts: str) -> RecordId:
        """The same for the same chapter and words, so that reading it again doubles nothing."""
        return RecordId(digest_of([kind, self._chapter.id, *parts])[:16])


def _line(text: str) -> str:
    """One line of at most `_LONGEST` characters."""
    return " ".join(clean(text).split())[:_LONGEST]
