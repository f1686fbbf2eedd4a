"""What a checker compares a draft with: the sources of each of its angles, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS, meta_title
from flowcabal_tui.agents.context.gather import Book
from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.agents.context.outline import quotable
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.prompt_library import SourceText, fenced_sources
from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.manuscript import PassageHit
from flowcabal_tui.domain.memory import Derived, Entity
from flowcabal_tui.domain.model_calls import TokenCounter
from flowcabal_tui.domain.story import StoryRecord
from flowcabal_tui.domain.workflow import Angle

_CAST: Final = 8
_HELD: Final = 12
_DATED: Final = 8
_RARE_TERMS: Final = 24
_LONGEST: Final = 2 / 3
"""Of an angle's share that one source may take."""
_TIME_WORDS: Final = re.compile(
    r"[一二三四五六七八九十百廿卅两几\d]{1,4}(?:年|月|日|天|夜|岁|更|旬|载|时辰|点钟)|正月|腊月|上元|清明|端午|七夕|中秋|重阳|除夕|元宵|"
    r"春天|夏天|秋天|冬天|春日|夏日|秋日|冬日|昨[日夜天晚]|前[日天年]|去年|今年|明年|次日|翌日|半年|半月|[一-龥]{1,2}年前|"
    r"\b(?:yesterday|tomorrow|morning|evening|night|noon|midnight|spring|summer|autumn|winter|year|month|week|day|hour|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|June|July|August|September|"
    r"October|November|December|Christmas|Easter)s?\b",
    re.IGNORECASE,
)


async def sources_for(
    angles: Sequence[Angle], book: Book, draft: str, counter: TokenCounter, budget: int
) -> list[SourceText]:
    """The sources of these angles without doubles, numbered s1, s2 ...; with their tags within `budget` tokens.

    Each angle has an equal share, which it spends on the most telling first; what it leaves goes to the next.
    """
    cast = named_in(draft, book.entities)[:_CAST]
    kept: dict[tuple[str, int], SourceText] = {}
    for place, angle in enumerate(angles):
        room = budget // (len(angles) - place)
        longest = int(room * _LONGEST)
        for piece in await _GATHER[angle](book, draft, cast):
            if (piece.uri, piece.start) in kept:
                continue
            text = piece.text[: cut(piece.text, room if piece.whole else min(room, longest), counter).end]
            source = replace(piece, id=f"s{len(kept) + 1}", text=text)
            tokens = counter.count(fenced_sources([source]).text)
            if text.strip() and tokens <= room:
                room, budget = room - tokens, budget - tokens
                kept[piece.uri, piece.start] = source
    return list(kept.values())


async def _timeline(book: Book, draft: str, cast: tuple[Entity, ...]) -> list[SourceText]:
    times = tuple(dict.fromkeys(match[0] for match in _TIME_WORDS.finditer(draft)))[:_RARE_TERMS]
    names = [name for entity in cast[:4] for name in entity.names]
    passages = _passages(book, await book.view.search((*times, *names), 24) if times or names else ())
    return [
        *await _planned(book, cast),
        *await _meta(book, "notes"),
        *await _dated(book, cast),
        *_told_in_time(passages),
        *await _overviews(book),
        *passages,
    ]


async def _character_state(book: Book, draft: str, cast: tuple[Entity, ...]) -> list[SourceText]:
    notes = [
        SourceText("", f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", entity.name, entity.note)
        for entity in cast
    ]
    profiles = [await book.view.derived(f"profiles/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", "L1") for entity in cast]
    found: list[SourceText] = []
    for entity in cast:
        near_terms = search_terms(_around(draft, entity.names), entity.names, book.view.language)[:8]
        found += _passages(book, await book.view.search((*entity.names, *near_terms), 10))
    return [
        *notes,
        *await _held(book, cast),
        *found[: 5 * _CAST],
        *_derived(book, profiles),
        *await _meta(book, "notes"),
    ]


async def _world_rules(book: Book, draft: str, cast: tuple[Entity, ...]) -> list[SourceText]:
    places = [entity for entity in cast if entity.kind in ("location", "item", "organisation")]
    notes = [
        SourceText("", f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", entity.name, entity.note)
        for entity in places
    ]
    state = await book.view.derived_under("profiles/world-state/", "L1")
    names = [name for entity in places for name in entity.names]
    passages = _passages(book, await book.view.search(names, 15) if names else ())
    return [*await _meta(book, "world-rules", "notes"), *notes, *_derived(book, state), *passages]


async def _echoes(book: Book, draft: str, cast: tuple[Entity, ...]) -> list[SourceText]:
    names = [name for entity in cast for name in entity.names]
    terms = search_terms(draft, names, book.view.language)[:_RARE_TERMS]
    shared = _passages(book, await book.view.search(terms, 20) if terms else ())
    counts = dict(await book.view.mention_counts())
    rare = sorted(cast, key=lambda each: (counts.get(each.id, 0), each.id))[:3]
    named = [one for entity in rare for one in _passages(book, await book.view.search(entity.names, 5))]
    return [*named, *shared]


_GATHER: Final[dict[Angle, Callable[[Book, str, tuple[Entity, ...]], Coroutine[Any, Any, list[SourceText]]]]] = {
    "timeline": _timeline,
    "character_state": _character_state,
    "world_rules": _world_rules,
    "echoes": _echoes,
}


async def _held(book: Book, cast: tuple[Entity, ...]) -> list[SourceText]:
    """The words that say what holds for the cast, newest facts first, then relations; what has ended is no measure."""
    people = {entity.id for entity in cast}
    facts = [each for each in await book.view.facts() if each.until is None and people & set(each.about)]
    relations = [each for each in await book.view.relations() if each.until is None]
    within = [each for each in relations if each.source in people and each.target in people]
    return _quoted(book, [*reversed(facts[-_HELD:]), *within[-_HELD:]])


async def _dated(book: Book, cast: tuple[Entity, ...]) -> list[SourceText]:
    """The words that say when something happened to the cast, newest first."""
    people = {entity.id for entity in cast}
    moments = [each for each in await book.view.moments() if each.when and people & set(each.about)]
    return _quoted(book, [*reversed(moments[-_DATED:])])


def _quoted(book: Book, records: Iterable[StoryRecord]) -> list[SourceText]:
    said = [evidence for record in records for evidence in record.evidence[-1:]]
    return [
        SourceText("", f"manuscript/{each.chapter}", book.title(each.chapter), each.sentence, each.start)
        for each in said
    ]


async def _meta(book: Book, *names: str) -> list[SourceText]:
    return [
        SourceText("", f"meta/{name}", meta_title(name, book.view.language), text)
        for name, text in await book.view.meta()
        if name in names
    ]


async def _planned(book: Book, cast: tuple[Entity, ...]) -> list[SourceText]:
    """Of the outline what a node of the chapter gets; without a chapter the whole."""
    if book.view.target is None:
        return await _meta(book, "outline")
    names = tuple(name for entity in cast for name in entity.names)
    beats, rest = await quotable(book, book.view.target.id, names)
    return [
        SourceText("", each.uri, each.title, each.text, each.start, whole=each in beats) for each in (*beats, *rest)
    ]


async def _overviews(book: Book) -> list[SourceText]:
    """L1, else L0, of the last chapters, newest first."""
    found = []
    for chapter in reversed(book.chapters[-4:]):
        uri = f"manuscript/{chapter.id}"
        found.append(await book.view.derived(uri, "L1") or await book.view.derived(uri, "L0"))
    return _derived(book, found)


def _derived(book: Book, texts: Iterable[Derived | None]) -> list[SourceText]:
    names = {str(chapter.id): chapter.title for chapter in book.chapters}
    names |= {str(entity.id): entity.name for entity in book.entities}
    found = []
    for each in texts:
        if each is not None:
            title = names.get(each.uri.rsplit("/", 1)[1], each.uri)
            own_words = each.method == "extract" and each.uri.startswith("manuscript/")
            pieces = [(one.sentence, one.start) for one in each.evidence] if own_words else []
            found += [SourceText("", each.uri, title, text, start) for text, start in pieces or [(each.text, 0)]]
    return found


def _passages(book: Book, hits: Iterable[PassageHit]) -> list[SourceText]:
    return [
        SourceText(
            "",
            f"manuscript/{hit.passage.chapter}",
            book.title(hit.passage.chapter),
            hit.passage.text,
            hit.passage.start,
        )
        for hit in hits
    ]


def _told_in_time(passages: Iterable[SourceText]) -> list[SourceText]:
    return [each for each in passages if _TIME_WORDS.search(each.text)]


def _around(draft: str, names: tuple[str, ...], reach: int = 60) -> str:
    """The words of the draft around the names of one entity."""
    pieces = []
    for name in names:
        for match in re.finditer(re.escape(name), draft):
            pieces.append(draft[max(0, match.start() - reach) : match.end() + reach])
    return "\n".join(pieces)
