"""Profiles from retrieved mentions: what the text says of someone, as of a chapter, with the words that say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.context.candidates import ENTITY_FOLDERS
from flowcabal_tui.agents.context.tokens import cut
from flowcabal_tui.agents.curation_shapes import ProfileAnswer
from flowcabal_tui.agents.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.prompt_library import Fenced, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.quotes import VerbatimText
from flowcabal_tui.agents.sentences import sentences, shortened
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Chapter, Passage
from flowcabal_tui.domain.memory import Derived, Entity, Evidence, Level
from flowcabal_tui.domain.text import clean, digest_of

_SOURCE_TOKENS: Final = 5_000
_FROM_CHAPTER: Final = 0.6
_SENTENCES: Final = 8


@dataclass(frozen=True, slots=True)
class ProfileGoal:
    """Whose profile is wanted, as of the end of which chapter. `view` must see that chapter."""

    entity: Entity
    view: MemoryView
    chapter: Chapter


@dataclass(frozen=True, slots=True)
class ProfileMaterial:
    """The previous profile, what can be quoted, and the digest of the passages."""

    previous: Derived | None
    sources: tuple[SourceText, ...]
    source: Digest


@dataclass(frozen=True, slots=True)
class ProfileThought:
    """A summary and the sentences with their evidence; `method` tells whose they are."""

    summary: str
    evidence: tuple[Evidence, ...]
    by_model: bool


class Profiler(Agent[ProfileGoal, ProfileMaterial, ProfileThought, tuple[Derived, ...]]):
    """Rewrites one profile at L1 and L0; nothing when the book has no passage about it."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator

    async def observe(self, goal: ProfileGoal) -> ProfileMaterial:
        """The chapter's passages that name the entity, the last ones before and the first; then what the old rests on.

        The digest leaves the previous profile out: it follows from passages too, and is replaced by this one.
        """
        previous = await goal.view.derived(profile_uri(goal.entity), "L1")
        if previous is not None and previous.position >= goal.chapter.position:
            previous = None
        passages = await self._passages(goal)
        inputs = [
            goal.entity.kind,
            *goal.entity.names,
            *(part for each in passages for part in (each.chapter, each.text)),
        ]
        task = self._curator.prompts.get("curator.profile").digest if self._curator.asks else "by rule"
        known = await _old_evidence(goal.view, previous, passages) if previous else []
        chapters = {chapter.id: chapter for chapter in await goal.view.chapters()}
        pieces = sorted((*passages, *known), key=lambda each: (each.position, each.start))
        sources = tuple(
            SourceText(f"s{at}", f"manuscript/{each.chapter}", chapters[each.chapter].title, each.text, each.start)
            for at, each in enumerate(pieces, start=1)
        )
        return ProfileMaterial(previous, sources, digest_of([task, *inputs]))

    async def source(self, goal: ProfileGoal) -> Digest:
        """The digest of all inputs: the profile is fresh while its stored state carries it. Calls no model."""
        return (await self.observe(goal)).source

    async def reason(self, goal: ProfileGoal, seen: ProfileMaterial, hints: tuple[str, ...]) -> ProfileThought:
        """Asks the model; what it cannot show is dropped. By rule: the sentences that name the entity."""
        if self._curator.asks and seen.sources:
            values: dict[str, str | Fenced] = {
                "language": goal.view.language,
                "limit": str(L0_TOKENS),
                "names": name_lines([goal.entity]),
                "kind": goal.entity.kind,
                "name": goal.entity.name,
                "previous": seen.previous.text if seen.previous else "",
                "sources": fenced_sources(seen.sources),
            }
            answer = await self._curator.ask("curator.profile", values, ProfileAnswer)
            if evidence := _supported(answer, seen.sources):
                return ProfileThought(clean(answer.summary).strip(), evidence, True)
        return ProfileThought("", _extracted(goal.entity, seen.sources), False)

    async def act(
        self, goal: ProfileGoal, seen: ProfileMaterial, thought: ProfileThought, last: bool
    ) -> tuple[Derived, ...] | Again:
        """L1 with evidence, and L0 within 50 tokens."""
        if not thought.evidence:
            return ()
        told = "\n".join(each.sentence for each in thought.evidence)
        line = shortened(thought.summary or told, L0_TOKENS, self._curator.counter)

        def derived(level: Level, text: str, evidence: tuple[Evidence, ...]) -> Derived:
            return Derived(
                profile_uri(goal.entity),
                level,
                text,
                seen.source,
                goal.chapter.position,
                goal.view.generation,
                "model" if thought.by_model else "extract",
                evidence,
            )

        return derived("L1", told, thought.evidence), derived("L0", line, ())

    async def _passages(self, goal: ProfileGoal) -> list[Passage]:
        mentions = [each for each in await goal.view.mentions(goal.entity.id) if each.position <= goal.chapter.position]
        room = _SOURCE_TOKENS
        kept: dict[tuple[int, int], Passage] = {}
        here = [each for each in mentions if each.chapter == goal.chapter.id]
        earlier = [each for each in mentions if each.chapter != goal.chapter.id]
        first, newest = earlier[:1], list(reversed(earlier[1:]))
        for share, group in ((_FROM_CHAPTER, here), (1.0, [*first, *newest])):
            least = int(_SOURCE_TOKENS * (1 - share))
            for mention in group:
                passage = await _passage_at(goal.view, mention.chapter, mention.start)
                if passage is None or (passage.position, passage.start) in kept:
                    continue
                tokens = self._curator.counter.count(passage.text)
                if room - tokens < least:
                    if not kept:
                        end = cut(passage.text, room, self._curator.counter).end
                        kept[passage.position, passage.start] = _shorter(passage, end)
                    break
                room -= tokens
                kept[passage.position, passage.start] = passage
        return list(kept.values())


def profile_uri(entity: Entity) -> str:
    """`profiles/<kind>/<entity>`."""
    return f"profiles/{ENTITY_FOLDERS[entity.kind]}/{entity.id}"


async def _passage_at(view: MemoryView, chapter: ChapterId, place: int) -> Passage | None:
    return next((each for each in await view.passages(chapter) if each.start <= place < each.end), None)


async def _old_evidence(view: MemoryView, previous: Derived, passages: Sequence[Passage]) -> list[Passage]:
    """The sentences that the previous profile rests on, as they stand today, where no passage holds them already."""
    positions = {chapter.id: chapter.position for chapter in await view.chapters()}
    found: dict[tuple[int, int], Passage] = {}
    for each in previous.evidence:
        if each.chapter not in positions or any(
            one.chapter == each.chapter and one.start <= each.start < one.end for one in passages
        ):
            continue
        text = await view.chapter_text(each.chapter)
        for span in sentences(text):
            if span.start < each.end and each.start < span.end:
                position = positions[each.chapter]
                words = text[span.start : span.end]
                found[position, span.start] = Passage(each.chapter, position, 0, span.start, span.end, words)
    return list(found.values())


def _shorter(passage: Passage, length: int) -> Passage:
    return Passage(
        passage.chapter, passage.position, passage.index, passage.start, passage.start + length, passage.text[:length]
    )


def _supported(answer: ProfileAnswer, sources: Sequence[SourceText]) -> tuple[Evidence, ...]:
    texts = {source.id: (source, VerbatimText(source.text)) for source in sources}
    found = []
    for said in answer.sentences:
        named = [texts[said.source_id]] if said.source_id in texts else []
        for source, text in (*named, *texts.values()):
            if said.sentence.strip() and (span := text.find(said.quote)):
                chapter = ChapterId(source.uri.removeprefix("manuscript/"))
                sentence = clean(said.sentence).strip()
                found.append(Evidence(sentence, chapter, source.start + span.start, source.start + span.end))
                break
    return tuple(found)


def _extracted(entity: Entity, sources: Sequence[SourceText]) -> tuple[Evidence, ...]:
    """The newest sentences that name the entity, in story order."""
    found = [
        Evidence(
            source.text[span.start : span.end],
            ChapterId(source.uri.removeprefix("manuscript/")),
            source.start + span.start,
            source.start + span.end,
        )
        for source in sources
        for span in sentences(source.text)
        if any(name in source.text[span.start : span.end] for name in entity.names)
    ]
    return tuple(found[-_SENTENCES:])
