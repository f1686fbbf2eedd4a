"""A model's answer about a chapter, as proposals. Those without a supporting quotation wait for the writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.curation.grounds import Grounds
from flowcabal_tui.agents.curation.story_goal import MAKER, StoryGoal
from flowcabal_tui.agents.shapes.story import (
    MOST_OF_A_KIND,
    SaidFact,
    SaidMoment,
    SaidPromise,
    SaidRelation,
    SaidSequel,
    StoryAnswer,
)
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.proposals import KIND_OF, Change, Difference, Proposal, ProposalPlace, ProposalState, Reason
from flowcabal_tui.domain.story import Fact, Knower, Moment, Promise, RecordId, Relation, Sequel, StoryRecord, wording
from flowcabal_tui.domain.text import clean, digest_of

_LONGEST: Final = 240
NOBODY: Final = EntityId("")
"""The end of a relation that no known name has: it waits until the writer names it."""
Stated = TypeVar("Stated", SaidRelation, SaidFact, SaidPromise, SaidMoment, SaidSequel)
_MOST: Final = 8 * MOST_OF_A_KIND
"""A long chapter may have been read in several parts, each with an answer of its own."""


class StatedRecords:
    """Relations, facts, promises, moments and sequels of one chapter."""

    def __init__(self, goal: StoryGoal, entities: Iterable[Entity], facts: Iterable[Fact]) -> None:
        """`facts` are valid before the chapter; an agent does not end those that the writer wrote."""
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
        self._by_hand = [fact for fact in facts if fact.by == "hand" and fact.until is None and not fact.secret]

    def proposals(self, answer: StoryAnswer, open_records: Mapping[str, StoryRecord]) -> Iterator[Proposal]:
        """All proposals of the answer; those that change `open_records` have their short ids."""
        yield from self._relations(answer)
        yield from self._facts(answer)
        yield from self._promises(answer)
        yield from self._moments(answer)
        yield from self._sequels(answer, open_records)

    def _relations(self, answer: StoryAnswer) -> Iterator[Proposal]:
        for stated, evidence in self._looked_up(answer.relations):
            ends = [self._owner(name) or NOBODY for name in (stated.source, stated.target)]
            kind = _line(stated.kind)
            if not kind or ends[0] == ends[1]:
                continue
            identity = self._id("relation", *ends, kind)
            since = self._chapter.id
            relation = Relation(identity, ends[0], ends[1], kind, stated.directed, since, None, evidence, "agent")
            unknown = [name for name, end in zip((stated.source, stated.target), ends, strict=True) if not end]
            yield self._proposal(relation, evidence, self._relation_reason(stated, evidence, relation, unknown))

    def _relation_reason(
        self, stated: SaidRelation, evidence: tuple[Evidence, ...], relation: Relation, unknown: Sequence[str]
    ) -> Reason:
        if unknown:
            return Reason("unknown", _line(unknown[0]))
        return self._reason(stated.quote, evidence, relation.kind, (relation.source, relation.target), all_named=True)

    def _facts(self, answer: StoryAnswer) -> Iterator[Proposal]:
        """Proposals of facts. A secret without a listed knower is known to its subjects."""
        for stated, evidence in self._looked_up(answer.facts):
            text, about, attribute = _line(stated.text), self._who(stated.about), _line(stated.attribute)
            if not text:
                continue
            knowers = self._who(stated.known_by) or about if stated.secret else ()
            fact = Fact(
                self._id("fact", text),
                text,
                about,
                attribute,
                self._chapter.id,
                None,
                stated.secret,
                tuple(Knower(each, self._chapter.id) for each in knowers),
                evidence,
                "agent",
            )
            ended = self._ended(fact)
            if stated.about and not about:
                reason = Reason("unknown", _line(stated.about[0]))
            elif ended is not None:
                reason = Reason("overrules", ended.text)
            else:
                reason = self._reason(stated.quote, evidence, text, about)
            yield self._proposal(fact, evidence, reason, ended)

    def _ended(self, fact: Fact) -> Fact | None:
        """The writer's state that the fact would end."""
        if not fact.attribute or not fact.about or fact.secret:
            return None
        state = (fact.about[0], fact.attribute)
        same = [each for each in self._by_hand if each.about and (each.about[0], each.attribute) == state]
        return next((each for each in same if each.text != fact.text), None)

    def _promises(self, answer: StoryAnswer) -> Iterator[Proposal]:
        for stated, evidence in self._quoted(answer.promises):
            if text := _line(stated.text):
                identity, about = self._id("promise", text), self._who(stated.about)
                promise = Promise(identity, text, self._chapter.id, about=about, evidence=evidence, by="agent")
                yield self._proposal(promise, evidence, self._length_reason(evidence))

    def _moments(self, answer: StoryAnswer) -> Iterator[Proposal]:
        for stated, evidence in self._quoted(answer.moments):
            if text := _line(stated.text):
                place, about = (self._chapter.id, _line(stated.when), None), self._who(stated.about)
                moment = Moment(self._id("moment", text), text, *place, about, evidence, "agent")
                yield self._proposal(moment, evidence, self._length_reason(evidence))

    def _sequels(self, answer: StoryAnswer, open_records: Mapping[str, StoryRecord]) -> Iterator[Proposal]:
        """Proposals of changes to open records; only facts can be learned, and only by a known name."""
        for stated, evidence in self._quoted(answer.sequels):
            record, learner = open_records.get(stated.open.strip()), self._owner(stated.learned_by)
            if record is None or (stated.learned_by.strip() and not (learner and isinstance(record, Fact))):
                continue
            identity = self._id("sequel", record.id, learner or "")
            sequel = Sequel(identity, record.id, self._chapter.id, learner, evidence)
            says = wording(record)
            reason = Reason("overrules", says) if record.by == "hand" else self._length_reason(evidence)
            yield self._proposal(sequel, evidence, reason, record)

    def _proposal(
        self, after: Change, evidence: tuple[Evidence, ...], reason: Reason, before: StoryRecord | None = None
    ) -> Proposal:
        quoted = evidence[0] if evidence else Evidence("", self._chapter.id, 0, 0)
        place = ProposalPlace(quoted.chapter, quoted.start, quoted.end)
        state: ProposalState = "applied" if reason.grounds == "quoted" else "waiting"
        return Proposal(KIND_OF[type(after)], place, quoted.sentence, Difference(after, before), reason, MAKER, state)

    def _reason(
        self,
        quote: str,
        evidence: tuple[Evidence, ...],
        words: str,
        about: tuple[EntityId, ...],
        *,
        all_named: bool = False,
    ) -> Reason:
        """The reason for applying or holding back.

        Facts and relations enter prompts as true, so their quotations are judged; a record that fails waits for the
        writer.
        """
        if not evidence:
            return Reason("unquoted", _line(quote))
        (one,) = evidence
        span = Span(one.start, one.end)
        return Reason(self._grounds.lack(span, words, about, all_named=all_named) or "quoted")

    def _length_reason(self, evidence: Sequence[Evidence]) -> Reason:
        """The reason for promises, moments and sequels: with a quotation too short for a fact, they wait."""
        is_short = any(self._grounds.is_short(Span(each.start, each.end)) for each in evidence)
        return Reason("short") if is_short else Reason()

    def _looked_up(self, stated: Sequence[Stated]) -> Iterator[tuple[Stated, tuple[Evidence, ...]]]:
        """Each statement with its quotation as evidence if the chapter contains it; otherwise without evidence."""
        for each in stated[:_MOST]:
            span = self._whole.find(each.quote)
            words = self._text[span.start : span.end] if span else ""
            yield each, (Evidence(words, self._chapter.id, span.start, span.end),) if span else ()

    def _quoted(self, stated: Sequence[Stated]) -> Iterator[tuple[Stated, tuple[Evidence, ...]]]:
        """The statements whose quotation occurs in the chapter."""
        return ((each, evidence) for each, evidence in self._looked_up(stated) if evidence)

    def _who(self, names: Iterable[str]) -> tuple[EntityId, ...]:
        """The entities with these names, each once; unknown names are left out."""
        return tuple(dict.fromkeys(each for each in map(self._owner, names) if each is not None))

    def _owner(self, name: str) -> EntityId | None:
        return self._owners.get(clean(name).strip())

    def _id(self, kind: str, *parts: str) -> RecordId:
        """An id that is the same for the same chapter and words, so that a repeated reading creates no duplicates."""
        return RecordId(digest_of([kind, self._chapter.id, *parts])[:16])


def _line(text: str) -> str:
    """One line of at most `_LONGEST` characters."""
    return " ".join(clean(text).split())[:_LONGEST]
