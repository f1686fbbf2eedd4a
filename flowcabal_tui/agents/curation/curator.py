"""The curator derives overviews, profiles and advice from kept text; every sentence has its evidence.

A derived text carries the digest of its inputs (`l1_source`, `l0_source`): while that is unchanged, the text is fresh.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar

from pydantic import BaseModel

from flowcabal_tui.agents.answer_tools import with_tools
from flowcabal_tui.agents.checking.check_sources import nearest_passages
from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.checking.quotes import VerbatimText
from flowcabal_tui.agents.context.gather import read_book
from flowcabal_tui.agents.context.scene import named_in
from flowcabal_tui.agents.curation.grounds import sums_up
from flowcabal_tui.agents.curation.samples import with_sample
from flowcabal_tui.agents.names.called import as_called_here
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.parts import SHRINKS, is_too_long, joined, questions_of, space_of, tokens_of
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.prompt_library import Fenced, PromptLibrary, fenced_sources, name_lines
from flowcabal_tui.agents.sentences import shortened, telling_sentences
from flowcabal_tui.agents.shapes.curation import (
    DIMENSIONS,
    DimensionAdvice,
    KeepAdvice,
    KeepAnswer,
    Line,
    Overview,
    QuotedSentence,
)
from flowcabal_tui.agents.tokens import CountedTokens
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import FlowCabalError, ModelError, SpendingNotAgreed
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived, Entity, Evidence
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.run import ANGLES, AngleCheck
from flowcabal_tui.domain.text import clean, digest_of
from flowcabal_tui.locale import _

T = TypeVar("T", bound=BaseModel)
L0_TOKENS: Final = 50
_LEAST_SUPPORTED: Final = 3
_EXTRACTED: Final = 6
_NAMES: Final = 40
_ADVISED_ON: Final = 12
"""Sentences of a kept text, from all of its parts, that the 4-D test reads: a longer text is not sent once more."""
_NEAREST_TOKENS: Final = 600


class Curator:
    """Derives texts from kept text. Without a model (None), all are extracted by rule from the text itself."""

    def __init__(
        self,
        model: Callable[[], PaidOnce] | None,
        counter: TokenCounter,
        prompts: PromptLibrary | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        """`monitor` is None if the chapters are not checked by a model."""
        self._model, self._monitor = model, monitor
        self.counter, self.prompts = CountedTokens(counter), prompts or PromptLibrary()

    def l1_source(self, chapter: Chapter, text: str) -> Digest:
        return self._source("curator.l1", chapter.title, text)

    async def l1(
        self,
        chapter: Chapter,
        text: str,
        entities: Sequence[Entity],
        language: str,
        generation: Generation,
        sample: int = 0,
        sentences: Sequence[QuotedSentence] = (),
    ) -> Derived:
        """The overview of a chapter, every sentence with the span that it rests on. Raises ModelError, SettingsError.

        Sentences without a verbatim quotation are dropped; with fewer than three left, the overview is extracted from
        the text. `sample` is the number of the further answer to request. `sentences` come from the reading of the
        chapter; if there are enough, the model is not asked.
        """
        least = max(1, min(_LEAST_SUPPORTED, len(telling_sentences(text, (), _LEAST_SUPPORTED))))
        evidence = _supported(sentences, chapter, text)
        if self._model is not None and len(evidence) < least:
            title = chapter_label(chapter.position, chapter.title, language)
            values = {"language": language, "names": _names(text, entities), "title": title, "chapter": text}
            answer = await self.ask("curator.l1", values, Overview, sample=sample, parts="chapter")
            evidence = _supported(answer.sentences, chapter, text)
        extracted = len(evidence) < least
        if extracted:
            evidence = tuple(
                Evidence(text[span.start : span.end], chapter.id, span.start, span.end)
                for span in telling_sentences(text, entities, _EXTRACTED)
            )
        return Derived(
            f"manuscript/{chapter.id}",
            "L1",
            "\n".join(each.sentence for each in evidence),
            with_sample(self.l1_source(chapter, text), sample),
            chapter.position,
            generation,
            "extract" if extracted else "model",
            evidence,
        )

    def l0_source(self, chapter: Chapter, overview: Derived) -> Digest:
        return self._source("curator.l0", chapter.title, overview.text)

    async def l0(
        self,
        chapter: Chapter,
        overview: Derived,
        entities: Sequence[Entity],
        language: str,
        generation: Generation,
        sentence: str = "",
    ) -> Derived:
        """One line of at most 50 tokens, from the chapter's L1. Raises ModelError, SettingsError.

        `sentence` is the line from the reading of the chapter; if it is given, the model is not asked. A line without a
        name or words of the overview is replaced by one made by rule. `entities` are those whom the chapter names.
        """
        names = {name for entity in entities for name in entity.names}

        def line_of(words: str) -> str:
            found = shortened(clean(words), L0_TOKENS, self.counter)
            return found if sums_up(found, overview.text, names, language) else ""

        line = line_of(sentence)
        if self._model is not None and not clean(sentence).strip():
            values = {
                "language": language,
                "limit": str(L0_TOKENS),
                "names": _names(overview.text, entities),
                "title": chapter_label(chapter.position, chapter.title, language),
                "overview": overview.text,
            }
            line = line_of((await self.ask("curator.l0", values, Line)).sentence)
        made = bool(line)
        line = line or shortened(overview.text, L0_TOKENS, self.counter)
        source = self.l0_source(chapter, overview)
        return Derived(
            f"manuscript/{chapter.id}", "L0", line, source, chapter.position, generation, "model" if made else "extract"
        )

    async def check_kept(
        self,
        chapter: ChapterId | None,
        uri: str,
        title: str,
        text: str,
        view: MemoryView,
        known: Sequence[AngleCheck] = (),
        advice: Sequence[DimensionAdvice] = (),
    ) -> KeepAdvice:
        """Contradictions with earlier kept text, and the 4-D test: advice, never a veto.

        `known` are earlier checks of the same text: their angles are not paid for again. Neither are the four
        questions, if `advice` has their answers from the reading.

        The four questions are those of the reference analysis: does it prevent errors, will it be used again, is it
        clear on its own, is it new. A failing model gives "not checked" and dimensions without an answer.
        """
        checks = tuple(known)
        angles = [angle for angle in ANGLES if angle not in {check.angle for check in known}]
        if self._monitor and angles:
            with contextlib.suppress(ModelError):
                checks += await self._monitor.check_text(text, uri, title, chapter, view.generation, angles)
        try:
            return KeepAdvice(checks, tuple(advice) or await self._dimensions(title, text, view))
        except SpendingNotAgreed:
            raise  # it is asked when the user has answered
        except FlowCabalError as error:
            return KeepAdvice(checks, tuple(DimensionAdvice(each, None, error.title) for each in DIMENSIONS))

    async def _dimensions(self, title: str, text: str, view: MemoryView) -> tuple[DimensionAdvice, ...]:
        if self._model is None:
            return tuple(DimensionAdvice(each, None, _("No model was asked.")) for each in DIMENSIONS)
        book = await read_book(view)
        cast = named_in(text, book.entities)
        excerpt = "\n".join(text[each.start : each.end] for each in telling_sentences(text, cast, _ADVISED_ON))
        sources = await nearest_passages(book, excerpt, self.counter, _NEAREST_TOKENS)
        values: dict[str, str | Fenced] = {
            "language": view.language,
            "names": _names(excerpt, await as_called_here(view, cast)),
            "sources": fenced_sources(sources),
            "title": title,
            "draft": excerpt,
        }
        answer = await self.ask("curator.keep", values, KeepAnswer)
        found = {each: getattr(answer, each) for each in DIMENSIONS if each not in answer.unread}
        return tuple(
            DimensionAdvice(each, advice.passed, clean(advice.detail).strip())
            if (advice := found.get(each))
            else DimensionAdvice(each, None, _("The answer could not be read."))
            for each in DIMENSIONS
        )

    async def ask(
        self,
        task: str,
        values: Mapping[str, str | Fenced],
        shape: type[T],
        *,
        sample: int = 0,
        parts: str = "",
        whole: Collection[str] = (),
    ) -> T:
        """One structured question of a task. Raises ModelError, SettingsError; RuntimeError without a model.

        If it does not fit the model's window, it is asked about parts of the value `parts`, and the answers are joined;
        the fields `whole`, which need the whole text, then have their defaults.
        """
        for shrink in SHRINKS:
            model = self._require_model()
            questions = self._questions(task, values, shape, parts, model.endpoint, shrink)
            try:
                answers = [await model.structured(question, shape, sample) for question in questions]
            except ModelError as error:
                if not (parts and is_too_long(error)) or shrink == SHRINKS[-1]:
                    raise
            else:
                return joined(answers, whole)
        raise AssertionError("unreachable")

    async def answered(
        self,
        task: str,
        values: Mapping[str, str | Fenced],
        shape: type[T],
        *,
        parts: str = "",
        whole: Collection[str] = (),
    ) -> T | None:
        """The stored answer to a question; None if it was not paid for. Raises SettingsError, RuntimeError."""
        model = self._require_model()
        for shrink in SHRINKS:
            questions = self._questions(task, values, shape, parts, model.endpoint, shrink)
            answers = [await model.stored(question, shape) for question in questions]
            if all(answer is not None for answer in answers):
                return joined([answer for answer in answers if answer is not None], whole)
        return None

    def fits(self, task: str, values: Mapping[str, str | Fenced], shape: type[BaseModel]) -> bool:
        """True when the whole question fits the model's window, if known. RuntimeError without a model."""
        endpoint = self._require_model().endpoint
        (question,) = self._questions(task, values, shape, "", endpoint, 1)
        space = space_of(endpoint)
        return space is None or tokens_of(question, shape, self.counter, endpoint) <= space

    def _require_model(self) -> PaidOnce:
        if self._model is None:
            raise RuntimeError("a curator without a model was asked a question")
        return self._model()

    def _questions(
        self,
        task: str,
        values: Mapping[str, str | Fenced],
        shape: type[BaseModel],
        parts: str,
        endpoint: Endpoint,
        shrink: float,
    ) -> list[ModelRequest]:
        """The question as a whole, or in parts (`parts.questions_of`)."""
        prompt = self.prompts.get(task)

        def question(values: Mapping[str, str | Fenced]) -> ModelRequest:
            request = ModelRequest(prompt.fill(values), purpose=task)
            return with_tools(request, shape, endpoint, is_checked=self._monitor is not None)

        return questions_of(question, values, parts, shape, self.counter, endpoint, shrink)

    @property
    def asks(self) -> bool:
        """True when there is a model."""
        return self._model is not None

    def _source(self, task: str, *parts: str) -> Digest:
        return digest_of([task, self.prompts.get(task).digest if self.asks else "by rule", *parts])


def _supported(sentences: Sequence[QuotedSentence], chapter: Chapter, text: str) -> tuple[Evidence, ...]:
    """The sentences whose quotation occurs in the text, each once: small models repeat theirs."""
    if not sentences:
        return ()
    whole = VerbatimText(text)
    found = (
        Evidence(clean(each.sentence).strip(), chapter.id, span.start, span.end)
        for each in sentences
        if each.sentence.strip() and (span := whole.find(each.quote))
    )
    return tuple({each.sentence: each for each in found}.values())


def _names(text: str, entities: Sequence[Entity]) -> str:
    return name_lines(named_in(text, entities)[:_NAMES])
