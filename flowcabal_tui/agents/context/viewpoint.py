"""The book as one character may know it: secrets of others are removed from everything that is read.

A passage that tells a secret is replaced, character for character, by a mark, so that every offset stays valid; derived
texts lose the sentences that rest on it. The receipt lists the omissions.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from flowcabal_tui.agents.context.candidates import HIDDEN, ContextText
from flowcabal_tui.agents.context.gather import Finder, Found
from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Passage, PassageHit
from flowcabal_tui.domain.memory import Derived, Entity, Evidence, Level
from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.domain.story import Fact, Moment, Promise, Relation, StoryRecord
from flowcabal_tui.domain.text import clean

_SENTENCE: Final = re.compile(r"[^\n。！？!?；;]+[。！？!?；;]?")
_MOST_OF: Final = 2 / 3
_LEAST_ALONE: Final = 2
"""Least number of words with which a secret is revealed by all of its words, without a name of a person."""
_STOPS: Final = "。.！!？?…；; "
Spans = dict[ChapterId, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class Secret:
    """The words of a secret, without names, and the names of the people it concerns."""

    terms: frozenset[str]
    names: tuple[str, ...]

    def is_revealed_by(self, sentence: str) -> bool:
        """True when a sentence has most of the words and a name, or all of the words."""
        folded = sentence.casefold()
        found = sum(term.casefold() in folded for term in self.terms)
        if found < len(self.terms) * _MOST_OF or not found:
            return False
        return any(name in sentence for name in self.names) or (found == len(self.terms) >= _LEAST_ALONE)


def secrets_of(facts: Iterable[Fact], entities: Sequence[Entity], language: str) -> tuple[Secret, ...]:
    """The words of each fact, and those of each sentence that it rests on."""
    names = [name for entity in entities for name in entity.names]
    of = {entity.id: entity.names for entity in entities}
    found = []
    for fact in facts:
        about = tuple(name for entity in fact.about for name in of.get(entity, ()))
        for words in (fact.text, *(each.sentence for each in fact.evidence)):
            if terms := frozenset(search_terms(words, names, language)):
                found.append(Secret(terms, about))
    return tuple(found)


def without_secrets(text: str, secrets: Sequence[Secret]) -> str:
    """The text with every character of a sentence that reveals a secret replaced by the mark."""

    def sentence(match: re.Match[str]) -> str:
        return HIDDEN * len(match[0]) if any(secret.is_revealed_by(match[0]) for secret in secrets) else match[0]

    return _SENTENCE.sub(sentence, text) if secrets else text


@dataclass(frozen=True)
class Viewpoint:
    """The point of view: the entity (None: one unknown to the book, who knows no secret), and the facts hidden from it.

    `relations` rest on a secret, and the notes of the entities `noted` contain one; both are hidden too.
    """

    name: str
    entity: EntityId | None
    hidden: tuple[Fact, ...]
    spans: Spans
    relations: tuple[Relation, ...] = ()
    noted: tuple[Entity, ...] = ()
    secrets: tuple[Secret, ...] = ()
    """The words that reveal the hidden facts in a paraphrase."""

    def hides(self, place: Evidence | Passage) -> bool:
        """True when the span overlaps a passage that reveals a secret."""
        return any(place.start < end and start < place.end for start, end in self.spans.get(place.chapter, ()))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The texts that contain a secret verbatim: its own words, and those that it rests on."""
        texts = [words for fact in self.hidden for words in (fact.text, *(each.sentence for each in fact.evidence))]
        return tuple(dict.fromkeys(words.rstrip(_STOPS) for words in texts if words.rstrip(_STOPS)))

    def tells(self, text: str) -> bool:
        """True when a text contains a secret verbatim."""
        return any(words in text for words in self.words)

    def veil_plan(self, text: str) -> str:
        """The text of the outline with a mark in place of each secret, in any wording."""
        for words in self.words:
            text = text.replace(words, HIDDEN * len(words))
        return without_secrets(text, self.secrets)

    def covers(self, text: str, evidence: Iterable[Evidence]) -> bool:
        """True when a text contains a secret, or rests on one."""
        return self.tells(text) or any(self.hides(each) for each in evidence)


async def look_through(view: MemoryView, name: str) -> Viewpoint:
    """The viewpoint of a character, given by id or by name, as of the chapter of the view."""
    wanted, entities = clean(name).strip(), await view.entities()
    by_id = (entity.id for entity in entities if wanted == entity.id)
    by_name = (entity.id for entity in entities if wanted in entity.names)
    seer = next(by_id, None) or next(by_name, None)
    hidden = tuple(fact for fact in await view.facts() if fact.secret and not _knows(fact, seer))
    secrets = Viewpoint(wanted, seer, hidden, await _spans(view, hidden))
    return replace(
        secrets,
        relations=tuple(each for each in await view.relations() if secrets.covers(each.kind, each.evidence)),
        noted=tuple(entity for entity in entities if secrets.tells(entity.note)),
        secrets=secrets_of(hidden, entities, view.language),
    )


def _knows(fact: Fact, seer: EntityId | None) -> bool:
    return any(knower.entity == seer for knower in fact.known_by)


async def _spans(view: MemoryView, hidden: Sequence[Fact]) -> Spans:
    """The passages that reveal one of the facts, by chapter; only the words where there is no passage."""
    revealing: dict[ChapterId, list[Evidence]] = {}
    for fact in hidden:
        for each in (*fact.evidence, *(each for knower in fact.known_by for each in knower.evidence)):
            revealing.setdefault(each.chapter, []).append(each)
    if not revealing:
        return {}
    places = [place for place in (await view.postings(())).passages if place.chapter in revealing]
    spans: dict[ChapterId, set[tuple[int, int]]] = {
        chapter: {(each.start, each.end) for each in evidence} for chapter, evidence in revealing.items()
    }
    for place in places:
        if any(place.start < each.end and each.start < place.end for each in revealing[place.chapter]):
            spans[place.chapter].add((place.start, place.end))
    return {chapter: tuple(sorted(found)) for chapter, found in spans.items()}


class VeiledView:
    """A MemoryView without the secrets that a character does not know."""

    def __init__(self, view: MemoryView, viewpoint: Viewpoint) -> None:
        self._view, self._viewpoint = view, viewpoint
        self.generation, self.before, self.language = view.generation, view.before, view.language
        self.target = view.target
        self.meta, self.chapters = view.meta, view.chapters
        self.mentions, self.mention_counts = view.mentions, view.mention_counts
        self.mentions_in, self.chapters_with = view.mentions_in, view.chapters_with
        self.postings, self.waived = view.postings, view.waived
        self.named_by_passage, self.passages_naming = view.named_by_passage, view.passages_naming
        self.offsets_of = view.offsets_of

    async def outline(self) -> BookOutline:
        """The outline, which hides secrets in prompts; its text is unchanged."""
        book = await self._view.outline()
        if not self._viewpoint.hidden:
            return book
        return replace(book, outline=replace(book.outline, veil=self._viewpoint.veil_plan))

    async def entities(self) -> tuple[Entity, ...]:
        """The entities, without notes that contain a secret."""
        noted = {entity.id for entity in self._viewpoint.noted}
        return tuple(
            replace(entity, note="") if entity.id in noted else entity for entity in await self._view.entities()
        )

    async def chapter_text(self, chapter: ChapterId) -> str:
        """The text with marks in place of hidden characters."""
        return self._veiled(chapter, 0, await self._view.chapter_text(chapter))

    async def chapter_texts(self, chapters: Sequence[ChapterId]) -> Mapping[ChapterId, str]:
        texts = await self._view.chapter_texts(chapters)
        return {chapter: self._veiled(chapter, 0, text) for chapter, text in texts.items()}

    async def passages(self, chapter: ChapterId) -> tuple[Passage, ...]:
        found = await self._view.passages(chapter)
        return tuple(replace(each, text=self._veiled(each.chapter, each.start, each.text)) for each in found)

    async def search(self, terms: Sequence[str], limit: int) -> tuple[PassageHit, ...]:
        """The hits outside hidden passages."""
        hits = await self._view.search(terms, limit)
        return tuple(hit for hit in hits if not self._viewpoint.hides(hit.passage))

    async def derived(self, uri: str, level: Level) -> Derived | None:
        found = await self._view.derived(uri, level)
        if found is None or level != "L0":
            return self._without_secrets(found)
        return None if self._is_touched(await self._view.derived(uri, "L1")) else self._without_secrets(found)

    async def derived_of(self, uris: Sequence[str], level: Level) -> tuple[Derived, ...]:
        return await self._visible(partial(self._view.derived_of, uris), level)

    async def derived_under(self, prefix: str, level: Level) -> tuple[Derived, ...]:
        return await self._visible(partial(self._view.derived_under, prefix), level)

    async def facts(self) -> tuple[Fact, ...]:
        """The facts that may be known. Of those who know a secret only the character is named."""
        hidden, seer = {fact.id for fact in self._viewpoint.hidden}, self._viewpoint.entity
        return tuple(
            replace(fact, known_by=tuple(knower for knower in fact.known_by if knower.entity == seer))
            for fact in await self._view.facts()
            if fact.id not in hidden
        )

    async def relations(self) -> tuple[Relation, ...]:
        """The relations without those that rest on a secret."""
        hidden = {each.id for each in self._viewpoint.relations}
        return tuple(each for each in await self._view.relations() if each.id not in hidden)

    async def promises(self) -> tuple[Promise, ...]:
        return tuple(
            each for each in await self._view.promises() if not self._viewpoint.covers(each.text, each.evidence)
        )

    async def moments(self) -> tuple[Moment, ...]:
        return tuple(
            each for each in await self._view.moments() if not self._viewpoint.covers(each.text, each.evidence)
        )

    def _is_touched(self, overview: Derived | None) -> bool:
        """True when one of its sentences rests on a secret; the line made from it may then reveal the secret."""
        return overview is not None and any(self._viewpoint.hides(each) for each in overview.evidence)

    async def _visible(
        self, read: Callable[[Level], Awaitable[tuple[Derived, ...]]], level: Level
    ) -> tuple[Derived, ...]:
        """The visible parts of derived texts, without lines made from an overview that rests on a secret."""
        overviews = await read("L1") if level == "L0" and self._viewpoint.spans else ()
        touched = {each.uri for each in overviews if self._is_touched(each)}
        visible = (self._without_secrets(each) for each in await read(level) if each.uri not in touched)
        return tuple(each for each in visible if each is not None)

    def _without_secrets(self, derived: Derived | None) -> Derived | None:
        """The text without sentences that rest on a secret or state it; None when nothing can be shown."""
        if derived is None or not self._viewpoint.hidden:
            return derived
        if not derived.evidence:
            return None if self._viewpoint.tells(derived.text) else derived
        kept = tuple(each for each in derived.evidence if not self._viewpoint.covers(each.sentence, (each,)))
        if len(kept) == len(derived.evidence):
            return derived
        if not kept or derived.text != "\n".join(each.sentence for each in derived.evidence):
            return None
        return replace(derived, text="\n".join(each.sentence for each in kept), evidence=kept)

    def _veiled(self, chapter: ChapterId, at: int, text: str) -> str:
        """`text`, which begins at offset `at` of the chapter, with marks in place of hidden characters."""
        for start, end in self._viewpoint.spans.get(chapter, ()):
            first, last = max(0, start - at), min(len(text), end - at)
            if first < last:
                text = text[:first] + HIDDEN * (last - first) + text[last:]
        for words in self._viewpoint.words:
            if words in text:
                text = text.replace(words, HIDDEN * len(words))
        return text


class VeiledFinder:
    """A Finder whose results contain no secret."""

    def __init__(self, finder: Finder, view: VeiledView, viewpoint: Viewpoint) -> None:
        self._finder, self._view, self._viewpoint = finder, view, viewpoint

    async def find(self, query: str, before: int, limit: int) -> Sequence[Found]:
        """Parts of chapters without secrets; summaries only as far as the view shows them. Raises KnowledgeError."""
        found = await self._finder.find(query, before, limit)
        return [hit for hit in found if not self._viewpoint.tells(hit.text) and await self._is_open(hit)]

    async def _is_open(self, hit: Found) -> bool:
        chapter = ChapterId(hit.uri.removeprefix("manuscript/").split("/")[0])
        if hit.level == "L2" and hit.uri.startswith("manuscript/"):
            end = hit.end if hit.start >= 0 else hit.start + 2**31
            return not self._viewpoint.hides(Evidence("", chapter, max(0, hit.start), end))
        root, _slash, record = hit.uri.partition("/")
        view = self._view
        story: dict[str, Callable[[], Awaitable[Sequence[StoryRecord]]]] = {
            "relations": view.relations,
            "facts": view.facts,
            "promises": view.promises,
            "moments": view.moments,
        }
        if (records := story.get(root)) is not None:
            return any(each.id == record for each in await records())
        shown = await self._view.derived(hit.uri, hit.level)
        return shown is not None and shown.text.strip() == hit.text.strip()


def left_out(candidates: Iterable[ContextText]) -> tuple[list[ContextText], list[ContextText]]:
    """The candidates that still have text after hiding, and those with hidden parts."""
    kept, hidden = list[ContextText](), list[ContextText]()
    for each in candidates:
        if HIDDEN in each.text:
            hidden.append(each)
        if each.text.replace(HIDDEN, "").strip():
            kept.append(each)
    return kept, hidden
