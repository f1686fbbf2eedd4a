"""Prompts as the runner and the agents make them, from the sample novel or a changed one."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import Final

from flowcabal_tui.agents.context.gather import entity_notes
from flowcabal_tui.agents.prompt_library import PromptLibrary, SourceText, fenced_sources, name_lines
from flowcabal_tui.demo import Sample, sample, templates
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.prompt_parts import Item, chapter_label, fenced, fenced_items, labelled
from flowcabal_tui.domain.prompt_text import fill
from flowcabal_tui.domain.run import Attempt, Retry
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import PromptParams, TextBlock, VirtualBlock
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.models.offline import OfflineModel
from flowcabal_tui.runner.retries import retried


def changed(book: Sample, *swaps: tuple[str, str]) -> Sample:
    """The book with words swapped everywhere: chapters, notes, names, wishes."""

    def swap(text: str) -> str:
        for old, new in swaps:
            text = text.replace(old, new)
        return text

    def swap_entity(entity: Entity) -> Entity:
        aliases = tuple(map(swap, entity.aliases))
        return replace(entity, name=swap(entity.name), aliases=aliases, note=swap(entity.note))

    return replace(
        book,
        chapters=tuple(ImportedChapter(swap(c.title), swap(c.text), number=c.number) for c in book.chapters),
        meta=tuple((name, swap(text)) for name, text in book.meta),
        entities=tuple(map(swap_entity, book.entities)),
        instruction=swap(book.instruction),
    )


EXPECTED: Final = {
    "en": {"length": "About 1,200 words, the goal of a chapter.", "style": "Told in the third person."},
    "zh": {"length": "约 1200 字（每章的目标）。", "style": "沿用前文的第三人称叙述。"},
}


@dataclass(frozen=True)
class Case:
    """Asks the offline model what a run would ask it."""

    book: Sample
    model: OfflineModel

    @classmethod
    def of(cls, language: str, *swaps: tuple[str, str]) -> Case:
        return cls(changed(sample(language), *swaps), OfflineModel(pace=0))

    def node_request(self, node: str, outputs: dict[str, str]) -> ModelRequest:
        """The request of a node of the chapter template, with the Context agent's injection."""
        book, language = self.book, self.book.language
        params = PromptParams.model_validate(templates(book.language)[0].node(NodeId(node)).params)
        values = {
            "project": {"name": book.title},
            "chapter": {"label": chapter_label(7, book.next_title, language), **EXPECTED[language]},
            "input": {"instruction": book.instruction},
        }
        parts = []
        for block in params.prompt:
            assert isinstance(block, TextBlock | VirtualBlock)
            is_text = isinstance(block, TextBlock)
            text = fill(block.text, values, lambda _node: None) if is_text else outputs[block.node]
            parts.append(labelled(block.part, text, language))
        meta = "\n".join(fenced(name, text, language) for name, text in book.meta if name != "outline")
        outline = read_outline(dict(book.meta)["outline"])
        own = next(part for part in outline.parts if book.next_title in part.title)
        beats = fenced_items("beats", [Item(own.title, outline.beats(own))], language)
        notes = "\n".join(f"- {candidate.text}" for candidate in entity_notes(book.entities, {}, language))
        last = book.chapters[-1]
        pages = fenced_items("last-pages", [Item(chapter_label(6, last.title, language), last.text[-1200:])], language)
        told = f"{fenced('cast', notes, language)}\n{pages}\n{beats}"
        system = ""
        for block in params.system:
            assert isinstance(block, TextBlock)
            system += labelled(block.part, fill(block.text, values, lambda _node: None), language)
        return ModelRequest((Message("system", f"{meta}\n{system}"), Message("user", f"{told}\n\n{''.join(parts)}")))

    async def node(self, node: str, outputs: dict[str, str] | None = None, feedback: str = "") -> str:
        """The text of a node; with feedback that of its second attempt."""
        request = self.node_request(node, outputs or {})
        first = (await self.model.answer(request)).text
        if not feedback:
            return first
        return (await self.model.answer(again(request, first, feedback))).text

    async def draft(self) -> str:
        return await self.node("draft", {"plan": await self.node("plan")})

    def sources(self, chapters: Sequence[ImportedChapter] | None = None) -> tuple[SourceText, ...]:
        """The chapters, the notes on entities and the rules of the world, in story order."""
        told = self.book.chapters if chapters is None else chapters
        return (
            *(SourceText(f"c{n}", f"manuscript/{n}", c.title, c.text) for n, c in enumerate(told, start=1)),
            *(SourceText(f"e{n}", f"entities/{n}", e.name, e.note) for n, e in enumerate(self.book.entities)),
            SourceText("w", "meta/world-rules", "world-rules", dict(self.book.meta)["world-rules"]),
        )

    def agent_request(self, task: str, **values: str) -> ModelRequest:
        """The request of an agent's task; `sources` are those of the book unless given as fenced text."""
        given = {
            "language": self.book.language,
            "names": html.escape(name_lines(self.book.entities)),
            "subtypes": "",
            "statements": "",
            "sources": fenced_sources(self.sources()).text,
            "title": "",
            "limit": "50",
            "previous": "",
            "open": "",
            "wanted": "",
            "words": "",
            **values,
        }
        prompt = PromptLibrary().get(task)
        return ModelRequest(
            tuple(
                Message(role, Template(part.template).substitute(given))
                for role, part in (("system", prompt.system), ("user", prompt.user))
            ),
            purpose=task,
        )


def again(request: ModelRequest, text: str, feedback: str) -> ModelRequest:
    """The request of a second attempt."""
    return retried(request, Retry(Attempt(1, text, digest=digest(text)), feedback))
