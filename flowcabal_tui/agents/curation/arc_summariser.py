"""Summaries of arcs and of the whole work, made from the sentences of the book that support the lower summaries.

No summary is made from the wording of another: the sources are those sentences as they currently appear in the
chapters, and every sentence of an arc carries the span of a chapter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.curation.curator import L0_TOKENS, Curator
from flowcabal_tui.agents.curation.profile_sources import rested_on
from flowcabal_tui.agents.curation.profiler import ProfileThought, states_of
from flowcabal_tui.agents.curation.samples import with_sample
from flowcabal_tui.agents.loop import Again, Agent
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.prompt_library import Fenced, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.shapes.curation import ProfileAnswer
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.manuscript import Passage
from flowcabal_tui.domain.memory import Derived, Evidence
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.text import digest_of

_SOURCE_TOKENS: Final = 2_200
_TAG_TOKENS: Final = 11
"""Tokens of the tags around the sentences of a chapter."""
_SENTENCES: Final = 10
_NAMES: Final = 40


@dataclass(frozen=True, slots=True)
class ArcGoal:
    """The arc to summarise, the uris of its L1 sources (chapters or arcs), and the position of its last chapter.

    `title` is the volume's, if there is one. `view` sees the chapters up to that position. `sample` counts the answers
    requested from the same sentences. `earlier` is the state of the arc's beginning; its supporting sentences replace
    those of its chapters.
    """

    uri: str
    title: str
    below: tuple[str, ...]
    view: MemoryView
    position: int
    sample: int = 0
    earlier: Derived | None = None


@dataclass(frozen=True, slots=True)
class ArcMaterial:
    """The sentences of the book, and the digest of all of them."""

    sources: tuple[SourceText, ...]
    source: Digest


class ArcSummariser(Agent[ArcGoal, ArcMaterial, ProfileThought, tuple[Derived, ...]]):
    """Summarises one arc, or the work, at L1 and L0; returns nothing when a lower summary is missing."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator

    async def observe(self, goal: ArcGoal) -> ArcMaterial:
        """Selects sentences of each summary below, as many as fit, so that none is left out; those of one chapter are
        pieces of one source.
        """
        groups: list[list[Passage]] = []
        for uri in goal.below:
            state = await goal.view.derived(uri, "L1")
            if state is None:
                return ArcMaterial((), Digest(""))
            groups.append(await rested_on(goal.view, state, ()))
        chapters, language = await goal.view.chapters(), goal.view.language
        titles = {each.id: chapter_label(each.position, each.title, language) for each in chapters}
        kept = await self._kept(goal, groups)
        chosen = sorted(kept, key=lambda each: (each.position, each.start))
        ids = {each: f"s{at}" for at, each in enumerate(dict.fromkeys(each.chapter for each in chosen), start=1)}
        sources = tuple(
            SourceText(ids[each.chapter], f"manuscript/{each.chapter}", titles[each.chapter], each.text, each.start)
            for each in chosen
        )
        task = self._curator.prompts.get("curator.arc").digest if self._curator.asks else "by rule"
        texts = [part for group in groups for each in group for part in (each.chapter, each.text)]
        return ArcMaterial(sources, digest_of([task, goal.title, *texts]))

    async def source(self, goal: ArcGoal) -> Digest:
        """The digest of all inputs; "" when a lower summary is missing. Calls no model."""
        return (await self.observe(goal)).source

    async def reason(self, goal: ArcGoal, seen: ArcMaterial, hints: tuple[str, ...]) -> ProfileThought:
        """Asks the model; drops unsupported sentences. Without a model, picks those of all parts with most names."""
        if self._curator.asks and seen.sources:
            text = "\n".join(source.text for source in seen.sources)
            cast = named_in(text, await goal.view.entities())
            values: dict[str, str | Fenced] = {
                "language": goal.view.language,
                "limit": str(L0_TOKENS),
                "names": name_lines(await as_called_here(goal.view, cast[:_NAMES])),
                "title": goal.title,
                "sources": fenced_sources(seen.sources),
            }
            answer = await self._curator.ask(
                "curator.arc", values, ProfileAnswer, sample=goal.sample, parts="sources", whole=("summary",)
            )
            if (thought := ProfileThought.of(answer, seen.sources)) is not None:
                return thought
        return _extracted(seen.sources, NameIndex(await goal.view.entities()))

    async def act(
        self, goal: ArcGoal, seen: ArcMaterial, thought: ProfileThought, last: bool
    ) -> tuple[Derived, ...] | Again:
        """Returns L1 with evidence, and L0 within 50 tokens."""
        return self.states(goal, seen.source, thought)

    def states(self, goal: ArcGoal, source: Digest, thought: ProfileThought) -> tuple[Derived, ...]:
        """The states of a thought: L1 with evidence, and L0 within 50 tokens; () without evidence."""
        source = with_sample(source, goal.sample)
        return states_of(thought, goal.uri, source, goal.position, goal.view.generation, self._curator.counter)

    async def _kept(self, goal: ArcGoal, groups: Sequence[Sequence[Passage]]) -> list[Passage]:
        if goal.earlier is None:
            return self._within(groups, _SOURCE_TOKENS)
        after = [[each for each in group if each.position > goal.earlier.position] for group in groups]
        return [*await rested_on(goal.view, goal.earlier, ()), *self._within(after, _SOURCE_TOKENS // 2)]

    def _within(self, groups: Sequence[Sequence[Passage]], space: int) -> list[Passage]:
        """Passages within the tokens, tags counted: the first of each group, then the second of each, and so on."""
        kept: dict[tuple[int, int], Passage] = {}
        headed: set[ChapterId] = set()
        for row in zip_longest(*groups):
            for passage in row:
                if passage is None or (passage.position, passage.start) in kept:
                    continue
                space -= self._curator.counter.count(passage.text) + _TAG_TOKENS * (passage.chapter not in headed)
                headed.add(passage.chapter)
                if space < 0:
                    return list(kept.values())
                kept[passage.position, passage.start] = passage
        return list(kept.values())


def _extracted(sources: Sequence[SourceText], names: NameIndex) -> ProfileThought:
    """The sentence with most names from each tenth of the sentences; the line is the one of these with most names."""
    named = {source: len({hit.entity for hit in names.find(source.text)}) for source in sources}
    step = max(1, -(-len(sources) // _SENTENCES))
    parts = [sources[at : at + step] for at in range(0, len(sources), step)]
    chosen = [max(part, key=lambda source: named[source]) for part in parts]
    line = max(chosen, key=lambda source: named[source]).text if chosen else ""
    return ProfileThought(line, tuple(map(_quoted, chosen)), False)


def _quoted(source: SourceText) -> Evidence:
    chapter = ChapterId(source.uri.removeprefix("manuscript/"))
    return Evidence(source.text, chapter, source.start, source.start + len(source.text))
