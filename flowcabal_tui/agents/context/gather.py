"""Collects the candidates of each class: structure before similarity, names separately from the plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Protocol

from flowcabal_tui.agents.context import drill
from flowcabal_tui.agents.context.arcs import arc_candidates
from flowcabal_tui.agents.context.borders import excerpt
from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS, UNRANKED, ContextText
from flowcabal_tui.agents.context.circle import circle
from flowcabal_tui.agents.context.intent import SceneReading
from flowcabal_tui.agents.context.quoted import levels, marked, summaries_of, tells
from flowcabal_tui.agents.context.relevance import HasSpace, Relevance, Weighed, weigh
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.tokens import CountedTokens, cut
from flowcabal_tui.domain.context import BudgetClass
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Chapter, Passage, Span
from flowcabal_tui.domain.memory import Entity, Level, MetaName
from flowcabal_tui.domain.prompt_parts import label_of
from flowcabal_tui.locale import _

_NEAR_CHAPTERS: Final = 3
_PAIRED: Final = 4
_META: Final[tuple[MetaName, ...]] = ("style-guide", "world-rules", "notes")
_LEVELS: Final[tuple[Level, Level]] = ("L1", "L0")
_RECIPROCAL: Final = 20
_MOST_FOUND: Final = 320
_OVERVIEWS: Final = 12
_MOST_LINES: Final = 120
"""More lines than the share of the summaries can hold."""


@dataclass(frozen=True, slots=True)
class Found:
    """A text that the knowledge server found by meaning. `uri` is project-relative.

    `start`/`end` are character offsets in a chapter (-1: not of a chapter's text); `position` is the last chapter
    position that the text covers (0: none).
    """

    uri: str
    title: str
    text: str
    score: float
    level: Level = "L2"
    position: int = 0
    start: int = -1
    end: int = -1


class Finder(Protocol):
    """Semantic search by a knowledge server. Raises KnowledgeError when none is available."""

    async def find(self, query: str, before: int, limit: int) -> Sequence[Found]:
        """The nearest texts that cover no chapter at position `before` or later."""


@dataclass(frozen=True, slots=True)
class BookInputs:
    """The inputs of all classes: the view, the written chapters before the target, the entities."""

    view: MemoryView
    chapters: tuple[Chapter, ...]
    entities: tuple[Entity, ...]
    titles: Mapping[ChapterId, str]

    @property
    def names(self) -> Iterator[str]:
        """All names of the book's entities."""
        return (name for entity in self.entities for name in entity.names)

    @property
    def places(self) -> Mapping[ChapterId, int]:
        """The positions of the chapters."""
        return {chapter.id: chapter.position for chapter in self.chapters}

    def title(self, chapter: ChapterId) -> str:
        return self.titles.get(chapter, chapter)


async def read_book(view: MemoryView) -> BookInputs:
    """Reads the inputs of all classes once."""
    chapters = tuple(chapter for chapter in await view.chapters() if chapter.version)
    titles = {chapter.id: chapter.title for chapter in chapters}
    return BookInputs(view, chapters, await view.entities(), titles)


async def meta(book: BookInputs) -> list[ContextText]:
    """The notes on the book: the rules for its words and its world first, then the other notes, which may be long."""
    texts = dict(await book.view.meta())
    return [
        ContextText(
            f"meta/{name}",
            label_of(name, book.view.language),
            _("always included"),
            "L2",
            "meta",
            text,
            cuttable=True,
            of=len(text),
        )
        for name in _META
        if (text := texts.get(name))
    ]


def entity_notes(entities: Iterable[Entity], reasons: Mapping[EntityId, str], language: str) -> list[ContextText]:
    """A line for each person, and for other entities with another name or a note; with the `reasons` for each."""
    return [
        ContextText(
            f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}",
            "",
            reasons.get(entity.id, ""),
            "L2",
            "entities",
            _line_of(entity, language.startswith("zh")),
            line=True,
            label=entity.name,
        )
        for entity in entities
        if entity.note or entity.aliases or entity.kind == "character"
    ]


def _line_of(entity: Entity, chinese: bool) -> str:
    """`Nora Vale (also Nora, Miss Vale): A bookkeeper.`"""
    called, colon, comma = ("（又称{}）", "：", "、") if chinese else (" (also {})", ": ", ", ")
    name = entity.name + (called.format(comma.join(entity.aliases)) if entity.aliases else "")
    return name + (colon + entity.note if entity.note else "")


async def near(book: BookInputs, counter: CountedTokens, share: int) -> list[ContextText]:
    """The end of the previous chapter, and earlier ones at L1, or their last lines if they have no L1."""
    candidates: list[ContextText] = []
    newest_first = book.chapters[: -_NEAR_CHAPTERS - 1 : -1]
    uris = [f"manuscript/{chapter.id}" for chapter in newest_first]
    overviews, lines = [{each.uri: each for each in await book.view.derived_of(uris, level)} for level in _LEVELS]
    for distance, chapter in enumerate(newest_first, start=1):
        uri = f"manuscript/{chapter.id}"
        arc_candidates = levels(
            uri,
            chapter.title,
            _how_far(_("what happened"), distance),
            "near",
            [each for each in (lines.get(uri), overviews.get(uri)) if each and tells(each, book.names)],
            book.places,
            book.view.language,
            chapter.position,
        )
        is_whole = False
        if distance == 1 or not arc_candidates:
            ending = await _ending(book, chapter, distance, counter, int(share * (0.6 if distance == 1 else 0.18)))
            candidates += [ending] if ending.text else []
            is_whole = distance == 1 and not ending.start
        candidates += [] if is_whole else arc_candidates
    return candidates


async def _ending(book: BookInputs, chapter: Chapter, distance: int, counter: CountedTokens, space: int) -> ContextText:
    """The last `space` tokens of a chapter; those of the previous one may be extended later."""
    text = await book.view.chapter_text(chapter.id)
    span = cut(text, space, counter, keep_end=True)
    whole = ContextText(
        f"manuscript/{chapter.id}",
        chapter.title,
        _how_far(_("how it ends"), distance),
        "L2",
        "near",
        text,
        position=chapter.position,
        start=0,
        end=len(text),
        of=len(text),
    )
    if not span.start:
        return whole
    larger = whole if distance == 1 else None
    return replace(whole, text=text[span.start :], start=span.start, cut="end", larger=larger)


def _how_far(what: str, distance: int) -> str:
    if distance == 1:
        return _("the previous chapter: {what}").format(what=what)
    return _("{n} chapters back: {what}").format(n=distance, what=what)


async def last_meetings(book: BookInputs, reading: SceneReading, relevant: Relevance) -> list[ContextText]:
    """For every two of the cast the newest passage that names both, and the newest before the near past."""
    ranks = {(each.place.chapter, each.place.start): rank for rank, each in enumerate(relevant.passages)}
    cast = [entity for entity in reading.cast if entity.kind == "character"][:_PAIRED]
    near = frozenset(chapter.id for chapter in book.chapters[-_NEAR_CHAPTERS:])
    named_in = {entity.id: await book.view.chapters_with(entity.id) for entity in cast}
    found: list[ContextText] = []
    for one, other in combinations(cast, 2):
        others = frozenset(named_in[other.id])
        shared = [chapter for chapter in reversed(named_in[one.id]) if chapter in others]
        for chapters in (shared, [chapter for chapter in shared if chapter not in near]):
            if (passage := await _newest_with_both(book, (one.id, other.id), chapters)) is not None:
                reason = _("the last time {one} and {other} meet").format(one=one.name, other=other.name)
                rank = ranks.get((passage.chapter, passage.start), UNRANKED)
                whole = _of_passage(book, passage, reason, "last_meeting", rank)
                found.append(_excerpt_of(whole, await book.view.chapter_text(passage.chapter), (one, other)))
    return found


async def _newest_with_both(
    book: BookInputs, pair: tuple[EntityId, EntityId], newest_first: Iterable[ChapterId]
) -> Passage | None:
    for chapter in newest_first:
        mentions = await book.view.mentions_in(chapter)
        starts = [[each.start for each in mentions if each.entity == entity] for entity in pair]
        for passage in reversed(await book.view.passages(chapter)):
            if all(any(passage.start <= at < passage.end for at in each) for each in starts):
                return passage
    return None


async def relevance(book: BookInputs, reading: SceneReading, has_space: HasSpace = bool) -> Relevance:
    """Ranks the earlier chapters by the prompt's names and words, and adds people likely to appear."""
    forms = [form for each in reading.names for form in each.forms]
    expected = await circle(book.view, book.chapters, book.entities, frozenset(forms))
    postings = await book.view.postings([*forms, *reading.words, *(form for each in expected for form in each.forms)])
    weighed = await asyncio.to_thread(weigh, reading, postings, book.view.before, expected)
    opened = await _opened(book, reading, weighed)
    texts = await book.view.chapter_texts(weighed.shortlist(_MOST_FOUND, opened))
    return await asyncio.to_thread(weighed.relevance, texts, _MOST_FOUND, opened, has_space)


async def _opened(book: BookInputs, reading: SceneReading, weighed: Weighed) -> tuple[drill.Opened, ...]:
    """Chapters chosen by their L0 or L1, except the leading ones and those included as the near past."""
    if not reading.names and not reading.words:
        return ()
    taken = [*weighed.leading, *(chapter.id for chapter in book.chapters[-_NEAR_CHAPTERS:])]
    chapters = {f"manuscript/{each}" for each in drill.looked_at(book.chapters, weighed.chapters, taken)}
    overviews, lines = [await book.view.derived_of(sorted(chapters), level) for level in _LEVELS]
    places = {f"manuscript/{each.id}": each.position for each in book.chapters if f"manuscript/{each.id}" in chapters}
    summaries = drill.summaries_of(lines, overviews, places)
    return await asyncio.to_thread(drill.opened, summaries, reading, book.view.before)


async def far(book: BookInputs, relevant: Relevance) -> list[ContextText]:
    """Excerpts of passages by their relevance."""
    found = []
    texts = await book.view.chapter_texts(tuple(dict.fromkeys(each.place.chapter for each in relevant.passages)))
    for rank, each in enumerate(relevant.passages):
        place, span = each.place, each.span
        start, end = min(place.start, span.start), max(place.end, span.end)
        text = texts[place.chapter]
        passage = Passage(place.chapter, place.position, place.index, start, end, text[start:end])
        if each.opened is not None:
            reason = drill.reason(each.opened)
        elif each.found_by:
            reason = _("found by {terms}").format(terms=_(", ").join(each.found_by))
        else:
            reason = _("about {names}, seen a few chapters ago").format(names=_(", ").join(each.expected))
        whole = replace(_of_passage(book, passage, reason, "far", rank), source_length=len(text))
        found.append(_cut_out(whole, span))
    return found


async def summaries(book: BookInputs, relevant: Relevance) -> list[ContextText]:
    """The most relevant chapters at L1, arcs, and a line for each of the others, newest and relevant ones first."""
    arcs = await arc_candidates(book.view, book.chapters, relevant.chapters)
    ranks = {chapter: rank for rank, chapter in enumerate(relevant.chapters)}
    newest_first = list(reversed(book.chapters))
    ranked = sorted(
        enumerate(newest_first),
        key=lambda each: (
            -1 / (_RECIPROCAL + each[0]) - 1 / (_RECIPROCAL + ranks.get(each[1].id, len(newest_first))),
            each[0],
        ),
    )
    mattering = relevant.chapters[:_OVERVIEWS]
    of_line = [each for _age, each in ranked if arcs.chapters is None or each.id in arcs.chapters][:_MOST_LINES]
    larger, lines = [
        {each.uri: each for each in await book.view.derived_of([f"manuscript/{at}" for at in chapters], level)}
        for chapters, level in zip((mattering, [each.id for each in of_line]), _LEVELS, strict=True)
    ]
    names, matters, so_far = tuple(book.names), _("an earlier chapter that matters here"), _("the book so far")
    wanted = [(larger.get(f"manuscript/{chapter}"), matters) for chapter in mattering]
    wanted += [(lines.get(f"manuscript/{chapter.id}"), so_far) for chapter in of_line]
    heading, found = summaries_of(
        (
            (state, book.title(ChapterId(state.uri.removeprefix("manuscript/"))), reason)
            for state, reason in wanted
            if state is not None and tells(state, names)
        ),
        book.view.language,
    )
    overviews = sum(each.level == "L1" for each in found)
    return [*heading, *found[:overviews], *arcs.first, *found[overviews:], *arcs.last]


async def knowledge(
    book: BookInputs, finder: Finder, query: str, relevant: Relevance, limit: int = 36
) -> list[ContextText]:
    """The results of the knowledge server; none of the target chapter or later. Raises KnowledgeError.

    A passage that was also found by words keeps its rank there; the others follow. Texts by rule are marked as quoted.
    """
    ranks = {(each.place.chapter, each.place.start): rank for rank, each in enumerate(relevant.passages)}
    hits = [
        hit
        for hit in sorted(
            await finder.find(query, book.view.before, limit), key=lambda each: (-each.score, each.uri, each.start)
        )
        if hit.position < book.view.before and hit.text.strip()
    ]
    states = {
        (each.uri, each.level): each
        for level in _LEVELS
        for each in await book.view.derived_of([hit.uri for hit in hits if hit.level == level], level)
    }
    found = []
    for hit in hits:
        candidate = ContextText(
            hit.uri,
            hit.title,
            _("near in meaning ({score})").format(score=f"{hit.score:.2f}"),
            hit.level,
            "knowledge",
            hit.text,
            position=hit.position,
            start=hit.start,
            end=hit.end,
            rank=ranks.get((ChapterId(hit.uri.removeprefix("manuscript/")), hit.start), UNRANKED),
        )
        state = states.get((hit.uri, hit.level))
        found.append(marked(candidate, state, book.places, book.view.language) if state else candidate)
    return found


def _excerpt_of(whole: ContextText, chapter: str, pair: Iterable[Entity]) -> ContextText:
    """The excerpt of a passage about two people."""
    names = tuple(name for entity in pair for name in entity.names)
    span = excerpt(chapter, whole.start, whole.end, [(1.0, names)])
    return _cut_out(whole, Span(max(whole.start, span.start), min(whole.end, span.end)))


def _cut_out(whole: ContextText, span: Span) -> ContextText:
    """The part of a passage at `span`, which may be extended to the whole."""
    if (span.start, span.end) == (whole.start, whole.end):
        return whole
    text = whole.text[span.start - whole.start : span.end - whole.start]
    return replace(whole, text=text, start=span.start, end=span.end, larger=whole)


def _of_passage(book: BookInputs, passage: Passage, reason: str, budget_class: BudgetClass, rank: int) -> ContextText:
    return ContextText(
        f"manuscript/{passage.chapter}",
        book.title(passage.chapter),
        reason,
        "L2",
        budget_class,
        passage.text,
        position=passage.position,
        start=passage.start,
        end=passage.end,
        rank=rank,
    )
