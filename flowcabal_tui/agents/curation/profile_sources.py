"""The passages that a profile is made from: those that name its subject or contain its kind's words."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from flowcabal_tui.agents.curation.profile_plan import about, quoted
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.profile_kinds import ProfileKind
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.agents.tokens import CountedTokens, cut
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter, Passage, PassagePlace
from flowcabal_tui.domain.memory import Derived, Entity, Evidence, Mention
from flowcabal_tui.domain.story import StoryRecord

T = TypeVar("T")
_FROM_CHAPTER: Final = 0.6
_SPREAD: Final = 12
_MOST_EARLIER: Final = 60
_MOST_TERMS: Final = 40
_AROUND: Final = 400
"""Characters around a quotation within which its sentence is searched for."""
_MOST_CHAPTERS: Final = 400
_A_CHAPTER: Final = 2


@dataclass(frozen=True, slots=True)
class ProfileGoal:
    """The profile to make: its kind, its subject (None: the whole book), and the chapter at whose end it applies.

    `view` must see that chapter, and none after it. `sample` counts the answers requested from the same passages.
    `before` is the view before the chapter: a regenerated state continues the state there.
    """

    kind: ProfileKind
    entity: Entity | None
    view: MemoryView
    chapter: Chapter
    sample: int = 0
    before: MemoryView | None = None

    @property
    def uri(self) -> str:
        return self.kind.uri(self.entity.id if self.entity else None)


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A candidate passage: its number in story order, its place, and whether it contains one of the kind's words."""

    at: int
    place: PassagePlace
    tells: bool


async def passages(goal: ProfileGoal, counter: CountedTokens) -> list[Passage]:
    """The most relevant passages of the chapter and earlier ones, within the kind's tokens, in no order."""
    here, earlier = await _candidates(goal)
    space = goal.kind.settings.tokens
    kept: dict[tuple[int, int], Passage] = {}
    for share, group in ((_FROM_CHAPTER, here), (1.0, earlier)):
        least = int(goal.kind.settings.tokens * (1 - share))
        for place in group:
            if (place.position, place.start) in kept:
                continue
            passage = await _read(goal.view, place)
            tokens = counter.count(passage.text)
            if space - tokens < least:
                if not kept:
                    passage = _shortened(passage, space, counter)
                    kept[passage.position, passage.start] = passage
                break
            space -= tokens
            kept[passage.position, passage.start] = passage
    return list(kept.values())


async def rested_on(view: MemoryView, state: Derived, without: Sequence[Passage]) -> list[Passage]:
    """The current sentences on which a state rests, except those within these passages."""
    positions = {chapter.id: chapter.position for chapter in await view.chapters()}
    found: dict[tuple[int, int], Passage] = {}
    for each in state.evidence:
        if each.chapter not in positions or any(
            one.chapter == each.chapter and one.start <= each.start < one.end for one in without
        ):
            continue
        text = await view.chapter_text(each.chapter)
        base = max(0, each.start - _AROUND)
        for span in sentences(text[base : each.end + _AROUND]):
            start, end = base + span.start, base + span.end
            if start < each.end and each.start < end:
                position = positions[each.chapter]
                found[position, start] = Passage(each.chapter, position, 0, start, end, text[start:end])
    return list(found.values())


async def _candidates(goal: ProfileGoal) -> tuple[list[PassagePlace], list[PassagePlace]]:
    """The places in the chapter and those before it, each in order of preference."""
    if goal.entity is None:
        here, earlier = await _ranked(goal)
        return [each.place for each in here], [each.place for each in earlier[:_MOST_EARLIER]]
    here, earlier = await _named(goal, goal.entity)
    has_words = bool(goal.kind.words(goal.view.language))
    here.sort(key=lambda each: (has_words and not each.tells, each.at))
    if goal.kind.settings.spread:
        return [each.place for each in here], [each.place for each in evenly(_one_a_chapter(earlier), _SPREAD)]
    newest = (*earlier[:1], *reversed(earlier[1:]))
    return [each.place for each in here], [each.place for each in newest[:_MOST_EARLIER]]


async def _named(goal: ProfileGoal, entity: Entity) -> tuple[list[FoundPassage], list[FoundPassage]]:
    """The passages that name the entity, in story order: in the chapter, and before it."""
    postings = await goal.view.postings(goal.kind.words(goal.view.language)[:_MOST_TERMS])
    telling = {at for found in postings.found for at in found}
    mentions = [*await goal.view.mentions(entity.id), *await read_of(goal)]
    numbers = _places_of(sorted(mentions, key=lambda each: (each.position, each.start)), postings.passages)
    return _parted(goal, [FoundPassage(at, postings.passages[at], at in telling) for at in numbers])


async def read_of(goal: ProfileGoal) -> list[Mention]:
    """The quotations of the reading about a plot thread, which need not name it; () for other kinds."""
    view, entity = goal.view, goal.entity
    if entity is None or entity.kind != "plot-thread":
        return []
    positions = {chapter.id: chapter.position for chapter in await view.chapters()}
    records: tuple[StoryRecord, ...] = (
        *await view.relations(),
        *await view.facts(),
        *await view.promises(),
        *await view.moments(),
    )
    quotes = {each for record in records if entity.id in about(record) for each in quoted(record)}
    return [
        Mention(entity.id, each.chapter, positions[each.chapter], each.start, each.end)
        for each in quotes
        if each.chapter in positions
    ]


async def _ranked(goal: ProfileGoal) -> tuple[list[FoundPassage], list[FoundPassage]]:
    """The passages with the kind's words and the names of its entities: most of them first, then newest.

    A chapter without any contributes its first, middle and last passage.
    """
    wanted = goal.kind.settings.entities
    names = [name for each in await goal.view.entities() if each.kind in wanted for name in each.names]
    postings = await goal.view.postings([*goal.kind.words(goal.view.language), *names][:_MOST_TERMS])
    weights: Counter[int] = Counter(at for found in postings.found for at in found)
    ranked = sorted(weights, key=lambda at: (-weights[at], -at))
    here, earlier = _parted(goal, [FoundPassage(at, postings.passages[at], True) for at in ranked])
    if not here:
        own = [
            FoundPassage(at, place, False)
            for at, place in enumerate(postings.passages)
            if place.chapter == goal.chapter.id
        ]
        here = evenly(own, 3)
    return here, earlier


def _parted(goal: ProfileGoal, found: Sequence[FoundPassage]) -> tuple[list[FoundPassage], list[FoundPassage]]:
    """Divides passages into those of the chapter and those before it."""
    return (
        [each for each in found if each.place.chapter == goal.chapter.id],
        [each for each in found if each.place.position < goal.chapter.position],
    )


async def whole_evidence(goal: ProfileGoal) -> tuple[Evidence, ...]:
    """The L2: up to two sentences about the subject from each chapter, in story order, verbatim.

    If more than `_MOST_CHAPTERS` chapters mention it, takes an even selection of them. Calls no model.
    """
    here, earlier = await (_named(goal, goal.entity) if goal.entity else _ranked(goal))
    places = sorted((*here, *earlier), key=lambda each: each.at)
    forms = goal.entity.names if goal.entity else goal.kind.words(goal.view.language)
    found: list[Evidence] = []
    for chosen in evenly(_one_a_chapter(places), _MOST_CHAPTERS):
        place = chosen.place
        text = (await _read(goal.view, place)).text
        spans = [each for each in sentences(text) if any(form in text[each.start : each.end] for form in forms)]
        found += [
            Evidence(text[each.start : each.end], place.chapter, place.start + each.start, place.start + each.end)
            for each in (spans or sentences(text))[:_A_CHAPTER]
        ]
    return tuple(found)


def evenly(found: Sequence[T], most: int) -> list[T]:
    """Up to `most` of them: the first, the last, and evenly spaced ones between."""
    if len(found) <= most:
        return list(found)
    if most == 1:
        return [found[-1]]
    return [found[at * (len(found) - 1) // (most - 1)] for at in range(most)]


def _one_a_chapter(places: Iterable[FoundPassage]) -> list[FoundPassage]:
    """One place of each chapter, preferably one with the kind's words."""
    chosen: dict[ChapterId, FoundPassage] = {}
    for each in places:
        known = chosen.get(each.place.chapter)
        if known is None or (each.tells and not known.tells):
            chosen[each.place.chapter] = each
    return list(chosen.values())


def _places_of(mentions: Iterable[Mention], passages: Sequence[PassagePlace]) -> list[int]:
    """The numbers of the passages that contain the mentions, which are in story order."""
    starts: dict[ChapterId, list[int]] = {}
    for mention in mentions:
        starts.setdefault(mention.chapter, []).append(mention.start)
    found = []
    for at, place in enumerate(passages):
        own = starts.get(place.chapter, ())
        first = bisect_left(own, place.start)
        if first < len(own) and own[first] < place.end:
            found.append(at)
    return found


async def _read(view: MemoryView, place: PassagePlace) -> Passage:
    text = (await view.chapter_text(place.chapter))[place.start : place.end]
    return Passage(place.chapter, place.position, place.index, place.start, place.end, text)


def _shortened(passage: Passage, tokens: int, counter: CountedTokens) -> Passage:
    length = cut(passage.text, tokens, counter).end
    return replace(passage, end=passage.start + length, text=passage.text[:length])
