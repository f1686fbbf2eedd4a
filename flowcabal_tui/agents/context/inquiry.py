"""Inquiry blocks: a question in the writer's prompt, answered from the book before the prompt is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.agents.context.references import ReferenceBooks, named_passages
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.prompt_library import PromptLibrary, SourceText, fenced_sources, name_lines
from flowcabal_tui.agents.tokens import CountedTokens, cut
from flowcabal_tui.domain.context import ContextSource
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _

_PASSAGES: Final = 20


@dataclass(frozen=True, slots=True)
class InquiryAnswer:
    """The text that replaces the question, its sources, and its notes for the receipt."""

    question: str
    text: str
    tokens: int
    sources: tuple[ContextSource, ...]
    pending: str = ""
    note: str = ""


async def answer_inquiry(
    book: BookInputs,
    references: ReferenceBooks | None,
    question: str,
    space: int,
    counter: CountedTokens,
    prompts: PromptLibrary,
    model: PaidOnce | None,
    spend: bool,
) -> InquiryAnswer:
    """Answers with the model from retrieved excerpts, or with the excerpts themselves, within `space` tokens.

    Reference books that the question names are read too.
    """
    passages = await _passages(book, question)
    if references is not None:
        passages += await named_passages(references, question, book.view.language, len(passages) + 1)
    pending = note = text = ""
    if model is not None and passages:
        try:
            text = await _answer(book, question, passages, prompts, model, spend)
            pending = "" if text else _("the answer to: {question}").format(question=question)
        except FlowCabalError as error:
            note = _("An inquiry was answered with excerpts: {why}").format(why=error.title)
    if kept := text[: cut(text, space, counter).end]:
        read = [_source(each, 0, _("read to answer an inquiry")) for each in passages]
        return InquiryAnswer(question, kept, counter.count(kept), tuple(read))
    kept, used = _excerpts(passages, space, counter)
    return InquiryAnswer(question, kept, counter.count(kept) if kept else 0, tuple(used), pending, note)


async def _answer(
    book: BookInputs,
    question: str,
    passages: Sequence[SourceText],
    prompts: PromptLibrary,
    model: PaidOnce,
    spend: bool,
) -> str:
    names = await as_called_here(book.view, named_in(question, book.entities))
    messages = prompts.get("context.inquiry").fill(
        {
            "language": book.view.language,
            "names": name_lines(names),
            "sources": fenced_sources(passages),
            "question": question,
        }
    )
    request = ModelRequest(messages, purpose="context.inquiry")
    found = await (model.answer(request) if spend else model.stored_answer(request))
    return clean(found.text).strip() if found else ""


async def _passages(book: BookInputs, question: str) -> list[SourceText]:
    """The passages that name people of the question and share its words, in story order."""
    cast = named_in(question, book.entities)
    names = [name for entity in cast for name in entity.names]
    terms = (*names, *search_terms(question, names, book.view.language))
    hits = await book.view.search(terms, _PASSAGES) if terms else ()
    ordered = sorted((hit.passage for hit in hits), key=lambda each: (each.position, each.start))
    return [
        SourceText(f"s{at}", f"manuscript/{each.chapter}", book.title(each.chapter), each.text, each.start)
        for at, each in enumerate(ordered, start=1)
    ]


def _excerpts(passages: Sequence[SourceText], space: int, counter: CountedTokens) -> tuple[str, list[ContextSource]]:
    kept = ""
    used: list[ContextSource] = []
    for each in passages:
        longer = f"{kept}\n\n{each.text.strip()}".strip()
        if counter.count(longer) <= space:
            used.append(_source(each, counter.count(each.text), _("an excerpt instead of an inquiry")))
            kept = longer
    return kept, used


def _source(passage: SourceText, tokens: int, reason: str) -> ContextSource:
    end = passage.start + len(passage.text)
    return ContextSource(passage.uri, reason, "L2", tokens, "inquiry", passage.title, passage.start, end)
