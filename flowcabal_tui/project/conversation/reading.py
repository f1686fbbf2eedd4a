"""The project as a conversation reads it; spends and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flowcabal_tui.agents.conversation.ports import SearchPlace, SentChip, Surroundings
from flowcabal_tui.domain.conversation import Chip
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError, Gone, UnknownName
from flowcabal_tui.domain.ids import ChapterId, EntityId, NodeId, RunId
from flowcabal_tui.domain.manuscript import Chapter, Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.run import AngleCheck, RunRequest, SpendLimit
from flowcabal_tui.domain.search import SearchHit, SearchKind
from flowcabal_tui.domain.story import Story
from flowcabal_tui.domain.windows import prompt_room
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.memory.sources import entity_text
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.words import spend_lines, spend_words

CONTEXT_TOKENS: Final = 6_000
"""Most tokens that the Context agent may add to a question."""
_KINDS: Final[Mapping[SearchPlace, tuple[SearchKind, ...]]] = {
    "text": ("text",),
    "names": ("entities",),
    "records": ("story",),
    "meaning": ("similar", "summaries"),
}
_MOST_HITS: Final = 12
_SUMMARY: Final = 1_500
"""Characters of a chapter that are used while it has no summary."""
_MOST_SOURCES: Final = 40
_NODE: Final = NodeId("conversation")


class ProjectBook:
    """Implements the conversation's `BookPort`. Lives on the engine's loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._store = parts, parts.store

    @property
    def language(self) -> str:
        return self._parts.base.language

    async def chapters(self) -> tuple[Chapter, ...]:
        return await self._store.book.chapters()

    async def text(self, chapter: ChapterId) -> str:
        return await self._store.book.text(chapter)

    async def find(self, words: str) -> tuple[ChapterId, Span] | None:
        for found in (await self._parts.memory.search.occurrences(words))[:1]:
            return found.place.chapter, Span(found.place.start, found.place.start + len(words))
        return None

    async def search(self, words: str, place: SearchPlace) -> tuple[SearchHit, ...]:
        return (await self._parts.memory.search.find(words, _KINDS[place], _MOST_HITS)).hits

    async def entities(self) -> tuple[Entity, ...]:
        return await self._store.memory.entities()

    async def story(self) -> Story:
        return await self._parts.story.story()

    async def profile(self, entity: EntityId) -> str:
        known = next((each for each in await self._store.memory.entities() if each.id == entity), None)
        if known is None:
            raise Gone(entity)
        rows = [row for row in await self._parts.memory.profiles.rows() if row.uri.endswith(f"/{entity}")]
        texts = [await self._parts.memory.sources.summary(row.uri) for row in rows]
        return "\n\n".join((entity_text(known).strip(), *filter(None, texts)))

    async def book_profile(self, name: str) -> str:
        for row in await self._parts.memory.profiles.rows():
            if row.uri.startswith("profiles/") and row.uri.endswith("/book") and name in (row.kind, row.kind_title):
                return await self._parts.memory.sources.summary(row.uri)
        return ""

    async def outline(self, chapter: ChapterId) -> str:
        return (await self._store.book.outline()).beats(chapter)

    async def receipt(self, run: str, node: str) -> str:
        if not run:
            newest = await self._store.runs.summaries(1)
            if not newest:
                raise UnknownName(_("There is no run."))
            run = newest[0].id
        view = await self._parts.runs.queries.node(RunId(run), NodeId(node))
        receipt = next((each.receipt for each in reversed(view.attempts) if each.receipt), None)
        if receipt is None:
            return _("No part of the book was sent to {node}.").format(node=node)
        lines = [f"{each.title or each.uri}: {each.tokens} · {each.reason}" for each in receipt.sources]
        dropped = [f"- {each.title or each.uri}: {each.rule}" for each in receipt.dropped]
        return "\n".join((f"{receipt.used}/{receipt.budget}", *lines[:_MOST_SOURCES], *dropped[:_MOST_SOURCES]))

    async def check(self, chapter: ChapterId) -> tuple[AngleCheck, ...]:
        generation = await self._store.memory.generation()
        view, known = await self._store.memory.view(chapter, generation), await self._store.book.chapter(chapter)
        text = await self._store.book.text(chapter)
        return await self._parts.agents.rules.check(view, text, f"manuscript/{chapter}", known.title)

    async def workflows(self) -> tuple[tuple[str, str], ...]:
        return tuple((each.id, each.name) for each in await self._store.workflows.list())

    async def quote_run(self, workflow: str, chapter: ChapterId | None) -> tuple[str, SpendLimit | None]:
        scope = await self._parts.runs.manager.imagined(RunRequest(workflow, chapter))
        quote = await self._parts.runs.quotes.quote(scope)
        return "; ".join(spend_lines(quote)), None if quote.is_free else quote.pause

    async def quote_check(self, chapter: Chapter) -> tuple[str, SpendLimit | None]:
        monitor = self._parts.agents.required_monitor()
        await self._parts.base.models.learn_windows()
        quote = await self._parts.runs.quotes.check([chapter], monitor)
        return "; ".join(spend_lines(quote, asks=False)), None if quote.is_free else quote.limit

    async def quote_build(self, wish: str, workflow: str) -> str:
        price = await self._parts.builds.price(wish, workflow)
        if price is None:
            return ""
        if price.is_free:
            return _("It is free.")
        return _("at most {spend}").format(spend=spend_words(price.most, price.currency))

    async def sent(self, chips: Sequence[Chip]) -> tuple[SentChip, ...]:
        chapters = {each.id: each for each in await self._store.book.chapters()}
        names = {each.id: each.name for each in await self._store.memory.entities()}
        return tuple([await self._sent(chip, chapters, names) for chip in chips])

    async def _sent(self, chip: Chip, chapters: Mapping[ChapterId, Chapter], names: Mapping[EntityId, str]) -> SentChip:
        if chip.kind == "name":
            entity = EntityId(chip.target)
            if entity not in names:
                raise _gone()
            return SentChip(chip, names[entity], await self.profile(entity))
        chapter = chapters.get(ChapterId(chip.target))
        if chapter is None:
            raise _gone()
        title, text = chapter_label(chapter.position, chapter.title, self.language), await self.text(chapter.id)
        if chip.kind == "selection":
            return SentChip(chip, title, chip.text or text[chip.start : chip.end])
        summary = "" if chip.whole else await self._parts.memory.sources.summary(f"manuscript/{chapter.id}")
        return SentChip(chip, title, text if chip.whole else summary or text[:_SUMMARY])

    async def surroundings(self, question: str, chips: Sequence[SentChip]) -> Surroundings:
        parts = self._parts
        if not parts.base.settings.agents.context:
            return Surroundings("", None)
        generation = await self._store.memory.generation()
        counter = await parts.base.models.counter_at(generation, remember=False)
        agent = parts.runs.ports.context_agent(generation, counter, spend=False)
        words = "\n".join((question, *(chip.title for chip in chips)))
        budget = context_tokens(parts.base.models.endpoint("agent"))
        params = PromptParams(prompt=(TextBlock(text=words),), role="agent", context_tokens=budget, outline="all")
        node = Node(id=_NODE, params={"prompt": words})
        workflow = Workflow(id="conversation", nodes=(node,))
        injection = await agent.assemble(workflow, node, params, words, None, generation, ())
        text = "\n".join(filter(None, (injection.system_prefix, injection.user_suffix)))
        return Surroundings(text, injection.receipt)


def context_tokens(endpoint: Endpoint | None) -> int:
    """The budget of the Context agent: at most a third of the model's window that is left for the prompt."""
    if endpoint is None or endpoint.context_window is None:
        return CONTEXT_TOKENS
    return min(CONTEXT_TOKENS, prompt_room(endpoint.context_window, endpoint.max_output) // 3)


def _gone() -> FlowCabalError:
    return UnknownName(
        _("A part of the book attached to the question no longer exists."), "", _("Remove it from the question.")
    )
