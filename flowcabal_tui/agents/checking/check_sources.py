"""Notes on the book for each angle of a check, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS, shortened_words
from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.agents.context.outline import quotable
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.prompt_library import SourceText, fenced_sources
from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.manuscript import PassageHit
from flowcabal_tui.domain.memory import Derived, Entity
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import label_of
from flowcabal_tui.domain.run import Angle
from flowcabal_tui.domain.story import StoryRecord

_CAST: Final = 8
_MOST_VALID: Final = 12
_DATED: Final = 8
_RARE_TERMS: Final = 24
_LONGEST: Final = 2 / 3
"""Largest part of an angle's share for one source."""


async def notes_for(
    angles: Sequence[Angle], book: BookInputs, draft: str, counter: TokenCounter, budget: int
) -> list[SourceText]:
    """Notes, records and summaries for these angles without duplicates, numbered s1, s2 ...; within `budget` tokens.

    Each angle has an equal share and spends it on the most relevant first; the unused rest goes to the next. The text
    of the chapters themselves comes from `evidence`.
    """
    cast = named_in(draft, book.entities)[:_CAST]
    wanted = [await _NOTES[each](book, cast) if each in _NOTES else [] for each in angles]
    return _fitting(wanted, counter, budget, book.view.language)


async def nearest_passages(book: BookInputs, text: str, counter: TokenCounter, budget: int) -> list[SourceText]:
    """Passages that name the cast of a text, rare names first, then those that share its words."""
    cast = named_in(text, book.entities)[:_CAST]
    names = [name for entity in cast for name in entity.names]
    terms = search_terms(text, names, book.view.language)[:_RARE_TERMS]
    shared = _passages(book, await book.view.search(terms, 20) if terms else ())
    counts = dict(await book.view.mention_counts())
    rare = sorted(cast, key=lambda each: (counts.get(each.id, 0), each.id))[:3]
    named = [one for entity in rare for one in _passages(book, await book.view.search(entity.names, 5))]
    return _fitting([[*named, *shared]], counter, budget, book.view.language)


def _fitting(
    wanted: Sequence[Sequence[SourceText]], counter: TokenCounter, budget: int, language: str
) -> list[SourceText]:
    """The notes of each list that fit, with an equal share for each list. A shortened one says how much of it this is,
    in the language of the book."""
    kept: dict[tuple[str, int], SourceText] = {}
    for place, pieces in enumerate(wanted):
        space = budget // (len(wanted) - place)
        longest = int(space * _LONGEST)
        for piece in pieces:
            if (piece.uri, piece.start) in kept:
                continue
            most = space if piece.whole else min(space, longest)
            source = _shortened(replace(piece, id=f"s{len(kept) + 1}"), most, space, counter, language)
            tokens = _size(source, counter)
            if source.text.strip() and tokens <= space:
                space, budget = space - tokens, budget - tokens
                kept[piece.uri, piece.start] = source
    return list(kept.values())


def _shortened(source: SourceText, tokens: int, space: int, counter: TokenCounter, language: str) -> SourceText:
    """The source with at most `tokens` of its text, and with words about that if both fit into `space`."""
    of = len(source.text)
    begun = replace(source, text=source.text[: cut(source.text, tokens, counter).end])
    if len(begun.text) == of or _size(begun, counter) > space:
        return begun
    noted = replace(begun, shortened=shortened_words("beginning", len(begun.text), of, language))
    if (over := _size(noted, counter) - space) > 0:
        end = cut(source.text, counter.count(begun.text) - over, counter).end
        noted = replace(source, text=source.text[:end], shortened=shortened_words("beginning", end, of, language))
    return noted


def _size(source: SourceText, counter: TokenCounter) -> int:
    return counter.count(fenced_sources([source]).text)


async def _timeline(book: BookInputs, cast: tuple[Entity, ...]) -> list[SourceText]:
    return [
        *await _planned(book, cast),
        *await _meta(book, "notes"),
        *await _dated(book, cast),
        *await _overviews(book),
    ]


async def _character_state(book: BookInputs, cast: tuple[Entity, ...]) -> list[SourceText]:
    profiles = [await book.view.derived(f"profiles/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", "L1") for entity in cast]
    return [
        *_entity_notes(cast),
        *await _valid_statements(book, cast),
        *_derived(book, profiles),
        *await _meta(book, "notes"),
    ]


async def _world_rules(book: BookInputs, cast: tuple[Entity, ...]) -> list[SourceText]:
    places = [entity for entity in cast if entity.kind in ("location", "item", "organisation")]
    state = await book.view.derived_under("profiles/world-state/", "L1")
    return [*await _meta(book, "world-rules", "notes"), *_entity_notes(places), *_derived(book, state)]


_NOTES: Final[dict[Angle, Callable[[BookInputs, tuple[Entity, ...]], Coroutine[Any, Any, list[SourceText]]]]] = {
    "timeline": _timeline,
    "character_state": _character_state,
    "world_rules": _world_rules,
}
"""Echoes have no notes: only passages of the chapters show them."""


def _entity_notes(entities: Iterable[Entity]) -> list[SourceText]:
    return [
        SourceText("", f"entities/{ENTITY_FOLDERS[entity.kind]}/{entity.id}", entity.name, entity.note)
        for entity in entities
    ]


async def _valid_statements(book: BookInputs, cast: tuple[Entity, ...]) -> list[SourceText]:
    """Statements valid for the cast, newest facts first, then relations; those that have ended are left out."""
    people = {entity.id for entity in cast}
    facts = [each for each in await book.view.facts() if each.until is None and people & set(each.about)]
    relations = [each for each in await book.view.relations() if each.until is None]
    within = [each for each in relations if each.source in people and each.target in people]
    return _quoted(book, [*reversed(facts[-_MOST_VALID:]), *within[-_MOST_VALID:]])


async def _dated(book: BookInputs, cast: tuple[Entity, ...]) -> list[SourceText]:
    """Statements about when something happened to the cast, newest first."""
    people = {entity.id for entity in cast}
    moments = [each for each in await book.view.moments() if each.when and people & set(each.about)]
    return _quoted(book, [*reversed(moments[-_DATED:])])


def _quoted(book: BookInputs, records: Iterable[StoryRecord]) -> list[SourceText]:
    return [
        SourceText("", f"manuscript/{each.chapter}", book.title(each.chapter), each.sentence, each.start)
        for record in records
        for each in record.evidence[-1:]
    ]


async def _meta(book: BookInputs, *names: str) -> list[SourceText]:
    return [
        SourceText("", f"meta/{name}", label_of(name, book.view.language), text)
        for name, text in await book.view.meta()
        if name in names
    ]


async def _planned(book: BookInputs, cast: tuple[Entity, ...]) -> list[SourceText]:
    """The part of the outline that a node of the chapter gets; without a chapter, the whole."""
    if book.view.target is None:
        return await _meta(book, "outline")
    names = tuple(name for entity in cast for name in entity.names)
    beats, rest = await quotable(book, book.view.target.id, names)
    return [
        SourceText("", each.uri, each.title, each.text, each.start, whole=each in beats) for each in (*beats, *rest)
    ]


async def _overviews(book: BookInputs) -> list[SourceText]:
    """L1, else L0, of the last chapters, newest first."""
    found = []
    for chapter in reversed(book.chapters[-4:]):
        uri = f"manuscript/{chapter.id}"
        found.append(await book.view.derived(uri, "L1") or await book.view.derived(uri, "L0"))
    return _derived(book, found)


def _derived(book: BookInputs, texts: Iterable[Derived | None]) -> list[SourceText]:
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


def _passages(book: BookInputs, hits: Iterable[PassageHit]) -> list[SourceText]:
    return [
        SourceText("", f"manuscript/{each.chapter}", book.title(each.chapter), each.text, each.start)
        for each in (hit.passage for hit in hits)
    ]
