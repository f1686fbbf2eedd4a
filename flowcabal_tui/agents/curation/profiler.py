"""Profiles of every kind from passages: statements about a person or the book, with the words that support them.

Every profile comes from the text: a new state starts from the sentences of the book that support the last one, never
from its wording alone. L0 is one line, L1 the sentences; `whole_evidence` reads the L2 from the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.curation.profile_sources import ProfileGoal, evenly, passages, read_of, rested_on
from flowcabal_tui.agents.curation.samples import with_sample
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.profile_kinds import BOOK
from flowcabal_tui.agents.prompt_library import Fenced, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.sentences import says_something, sentences, shortened
from flowcabal_tui.agents.shapes.curation import ProfileAnswer
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.memory import Derived, Evidence, Mention
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.text import clean, digest_of


@dataclass(frozen=True, slots=True)
class ProfileMaterial:
    """The previous profile, the quotable sources, and the digest of the passages."""

    previous: Derived | None
    sources: tuple[SourceText, ...]
    source: Digest
    read: tuple[Mention, ...] = ()
    """The quotations of the reading about a plot thread."""


@dataclass(frozen=True, slots=True)
class ProfileThought:
    """A summary, and the sentences with their evidence. `read` are the chapters that a model read for them."""

    summary: str
    evidence: tuple[Evidence, ...]
    by_model: bool
    read: tuple[ChapterId, ...] = ()

    @classmethod
    def of(cls, answer: ProfileAnswer, sources: Sequence[SourceText]) -> ProfileThought | None:
        """The part of an answer that the sources support; None if there is none."""
        evidence = _supported(answer, sources)
        read = tuple(dict.fromkeys(ChapterId(source.uri.removeprefix("manuscript/")) for source in sources))
        return cls(clean(answer.summary).strip(), evidence, True, read) if evidence else None

    @property
    def text(self) -> str:
        return "\n".join(each.sentence for each in self.evidence)


class Profiler(Agent[ProfileGoal, ProfileMaterial, ProfileThought, tuple[Derived, ...]]):
    """Rewrites one profile at L1 and L0; returns nothing when the book has no passage about it."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator

    async def observe(self, goal: ProfileGoal) -> ProfileMaterial:
        """The relevant passages up to the chapter, and those that the previous state rests on.

        The digest leaves the previous profile out: it follows from passages too, and is replaced by this one.
        """
        previous = await goal.view.derived(goal.uri, "L1")
        if previous is not None and previous.position >= goal.chapter.position and previous.method != "hand":
            previous = await goal.before.derived(goal.uri, "L1") if goal.before else None
        found = await passages(goal, self._curator.counter)
        known = await rested_on(goal.view, previous, found) if previous else []
        chapters, language = await goal.view.chapters(), goal.view.language
        titles = {each.id: chapter_label(each.position, each.title, language) for each in chapters}
        pieces = sorted((*found, *known), key=lambda each: (each.position, each.start))
        sources = tuple(
            SourceText(f"s{at}", f"manuscript/{each.chapter}", titles[each.chapter], each.text, each.start)
            for at, each in enumerate(pieces, start=1)
        )
        task = self._curator.prompts.get("curator.profile").digest if self._curator.asks else "by rule"
        names = [goal.entity.kind, *goal.entity.names] if goal.entity else [BOOK]
        made_by = [task, goal.kind.digest(goal.view.language), *names]
        return ProfileMaterial(
            previous,
            sources,
            digest_of([*made_by, *(part for each in found for part in (each.chapter, each.text))]),
            tuple(await read_of(goal)),
        )

    async def source(self, goal: ProfileGoal) -> Digest:
        """The digest of all inputs: the profile is fresh while its stored state carries it. Calls no model."""
        return (await self.observe(goal)).source

    async def reason(self, goal: ProfileGoal, seen: ProfileMaterial, hints: tuple[str, ...]) -> ProfileThought:
        """Asks the model; unsupported sentences are dropped. Without a model, takes the sentences about the subject."""
        if self._curator.asks and seen.sources:
            language = goal.view.language
            values: dict[str, str | Fenced] = {
                "language": language,
                "limit": str(L0_TOKENS),
                "names": name_lines([goal.entity] if goal.entity else ()),
                "kind": goal.entity.kind if goal.entity else BOOK,
                "name": goal.entity.name if goal.entity else "",
                "wanted": Fenced(goal.kind.prompt(language).strip()),
                "words": ", ".join(goal.kind.words(language)),
                "previous": seen.previous.text if seen.previous else "",
                "sources": fenced_sources(seen.sources),
            }
            answer = await self._curator.ask(
                "curator.profile", values, ProfileAnswer, sample=goal.sample, parts="sources", whole=("summary",)
            )
            if (thought := ProfileThought.of(answer, seen.sources)) is not None:
                return thought
        return ProfileThought("", _extracted(goal, seen.sources, seen.read), False)

    async def act(
        self, goal: ProfileGoal, seen: ProfileMaterial, thought: ProfileThought, last: bool
    ) -> tuple[Derived, ...] | Again:
        """Returns L1 with evidence, and L0 within 50 tokens."""
        return self.states(goal, seen, thought)

    def states(self, goal: ProfileGoal, seen: ProfileMaterial, thought: ProfileThought) -> tuple[Derived, ...]:
        """The states of a thought: L1 with evidence, and L0 within 50 tokens; () without evidence."""
        source = with_sample(seen.source, goal.sample)
        place = goal.chapter.position, goal.view.generation
        return states_of(thought, goal.uri, source, *place, self._curator.counter)


def states_of(
    thought: ProfileThought, uri: str, source: Digest, position: int, generation: Generation, counter: TokenCounter
) -> tuple[Derived, ...]:
    """The states of a thought: L1 with its evidence, and L0 within 50 tokens; () without evidence."""
    if not thought.evidence:
        return ()
    line = shortened(thought.summary or thought.text, L0_TOKENS, counter)
    method: Literal["model", "extract"] = "model" if thought.by_model else "extract"
    return (
        Derived(uri, "L1", thought.text, source, position, generation, method, thought.evidence, rests=thought.read),
        Derived(uri, "L0", line, source, position, generation, method, rests=thought.read),
    )


def _supported(answer: ProfileAnswer, sources: Sequence[SourceText]) -> tuple[Evidence, ...]:
    """The sentences whose quotation occurs in a source, each once, with its place in the chapter."""
    texts = [(source, VerbatimText(source.text)) for source in sources]
    found = []
    for claim in answer.sentences:
        for source, text in sorted(texts, key=lambda each: each[0].id != claim.source_id):
            if claim.sentence.strip() and (span := text.find(claim.quote)):
                chapter = ChapterId(source.uri.removeprefix("manuscript/"))
                sentence = clean(claim.sentence).strip()
                found.append(Evidence(sentence, chapter, source.start + span.start, source.start + span.end))
                break
    return tuple({each.sentence: each for each in found}.values())


def _extracted(goal: ProfileGoal, sources: Sequence[SourceText], read: Sequence[Mention]) -> tuple[Evidence, ...]:
    """Sentences that name the entity or were `read` about it, those with the kind's words first, in story order.

    Takes the newest ones, or for a spread kind some of the whole story.
    """
    names = goal.entity.names if goal.entity else ()
    words = goal.kind.words(goal.view.language)
    found: list[Evidence] = []
    telling: list[Evidence] = []
    for source in sources:
        for span in sentences(source.text):
            text = source.text[span.start : span.end]
            chapter = ChapterId(source.uri.removeprefix("manuscript/"))
            start, end = source.start + span.start, source.start + span.end
            is_read = any(each.chapter == chapter and each.start < end and start < each.end for each in read)
            if names and not is_read and not any(name in text for name in names):
                continue
            found.append(Evidence(text, chapter, source.start + span.start, source.start + span.end))
            if any(word in text for word in words):
                telling.append(found[-1])
    most = goal.kind.settings.sentences
    best = [each for each in telling or found if says_something(each.sentence)] or telling or found
    return tuple(evenly(best, most) if goal.kind.settings.spread else best[-most:])
