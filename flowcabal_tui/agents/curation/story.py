"""Additions of a chapter to the story: names, relations, facts, promises and moments, from one question to a model.

Contexts read only records that a quotation of the chapter supports; the others wait for the writer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.curation.stated_records import StatedRecords
from flowcabal_tui.agents.curation.story_goal import TASK, StoryGoal
from flowcabal_tui.agents.curation.story_names import named
from flowcabal_tui.agents.prompt_library import Fenced, name_lines
from flowcabal_tui.agents.shapes.curation import DIMENSIONS, DimensionAdvice
from flowcabal_tui.agents.shapes.story import UNASKED, StoryAnswer
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.proposals import Proposal
from flowcabal_tui.domain.story import ChapterReading, Sequel, StoryRecord
from flowcabal_tui.domain.text import clean, digest, digest_of

_NAMES: Final = 40
_WHOLE: Final = ("line", "keeping")
"""Fields that need the whole chapter: if it is read in parts, separate questions about them follow."""
_OPEN: Final = 16
"""Maximum number of open lines of each kind."""


@dataclass(frozen=True, slots=True)
class StoryFound:
    """The result of a reading: new entities and known ones with new names, the chapter's records that contexts may
    read, all proposals to the writer (of names, and of records), and the parts that could not be read."""

    entities: tuple[Entity, ...]
    reading: ChapterReading
    names: tuple[Proposal, ...]
    records: tuple[Proposal, ...]
    unread: tuple[str, ...] = ()


class StoryReader:
    """Asks the curator's model for a chapter's additions to the story."""

    def __init__(self, curator: Curator) -> None:
        """`curator` must have a model to ask."""
        self._curator = curator

    def source(self, chapter: Chapter, text: str) -> Digest:
        """The digest of the text and the question: while it is the same, the chapter need not be read again."""
        return digest_of([TASK, self._curator.prompts.get(TASK).digest, chapter.title, text])

    async def read(self, goal: StoryGoal) -> StoryFound:
        """Reads a chapter. A partial reading has a source of its own, so that the chapter is read again.

        The question contains only the state before this chapter, so repeating it after the answer was stored is free.
        Raises ModelError, SettingsError.
        """
        open_lines = await _open_lines(goal)
        answer = await self._curator.ask(TASK, _question(goal, open_lines), StoryAnswer, parts="chapter", whole=_WHOLE)
        entities, names = named(goal, answer.entities)
        by_id = {entity.id: entity for entity in (*goal.known, *entities)}
        raised = StatedRecords(goal, by_id.values(), await goal.before.facts())
        open_records = {number: record for number, (_line, record) in open_lines.items()}
        records = _once(raised.proposals(answer, open_records))
        applied = [each.difference.after for each in records if each.state == "applied"]
        source = self.source(goal.chapter, goal.text)
        reading = ChapterReading(
            goal.chapter.id,
            goal.chapter.position,
            digest(goal.text),
            digest_of([source, *answer.unread]) if answer.unread else source,
            tuple({each.id: each for each in applied if isinstance(each, StoryRecord)}.values()),
            tuple({each.id: each for each in applied if isinstance(each, Sequel)}.values()),
        )
        return StoryFound(entities, reading, names, records, answer.unread)

    async def answered(self, goal: StoryGoal) -> StoryAnswer:
        """The stored answer if the question was paid for, else an empty one; spends nothing."""
        question = _question(goal, await _open_lines(goal))
        return await self._curator.answered(TASK, question, StoryAnswer, parts="chapter", whole=_WHOLE) or UNASKED


def _once(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Each record once, with a supporting quotation if there is one."""
    found: dict[str, Proposal] = {}
    for each in proposals:
        if each.target not in found or found[each.target].state == "waiting":
            found[each.target] = each
    return tuple(found.values())


def four_questions(answer: StoryAnswer) -> tuple[DimensionAdvice, ...]:
    """The 4-D test of the answer, open for a missing dimension; empty if all four are missing."""
    answers = {use.question: use for use in answer.keeping}
    if not answers.keys() & set(DIMENSIONS):
        return ()
    return tuple(
        DimensionAdvice(each, use.passed, clean(use.detail).strip())
        if (use := answers.get(each))
        else DimensionAdvice(each, None, "")
        for each in DIMENSIONS
    )


def _question(goal: StoryGoal, open_lines: Mapping[str, tuple[str, StoryRecord]]) -> dict[str, str | Fenced]:
    return {
        "language": goal.before.language,
        "names": name_lines(_earlier(goal)[:_NAMES]),
        "open": "\n".join(f"{number} {line}" for number, (line, _record) in open_lines.items()),
        "title": chapter_label(goal.chapter.position, goal.chapter.title, goal.before.language),
        "chapter": goal.text,
    }


def _earlier(goal: StoryGoal) -> list[Entity]:
    """Entities in the chapter that were known before it, without an agent's aliases, which may come from it."""
    place = goal.chapter.position
    return [
        entity if entity.by == "hand" else replace(entity, aliases=())
        for entity in named_in(goal.text, goal.known)
        if entity.by == "hand" or (entity.first_position or place) < place
    ]


async def _open_lines(goal: StoryGoal) -> dict[str, tuple[str, StoryRecord]]:
    """Records left open by earlier chapters, by a short id: of each kind those most similar to the chapter."""
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
    """The records that share most words with the chapter, the newest in a tie; in story order."""

    def shared(at: int) -> int:
        return sum(term in goal.text for term in search_terms(lines[at][0], (), goal.before.language))

    near = sorted(range(len(lines)), key=lambda at: (-shared(at), -at))[:_OPEN]
    return [lines[at] for at in sorted(near)]
