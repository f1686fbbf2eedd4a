"""Asks the agents' model which beats of the outline a chapter brings: quoted, requested once, kept as places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.curation.beat_reader import (
    BeatAnswers,
    BeatQuestion,
    PlannedChapter,
    beat_advice,
    beat_questions,
)
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.agents.parts import SHRINKS, is_too_long
from flowcabal_tui.domain.beats import Beat, BeatAdvice, ChapterBeats, PartBeats
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import ModelError, ModelFault, RunError
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.domain.text import digest, digest_of
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.runs.tally import Tally

_ANSWER: Final = 45
"""Tokens of the usual answer about one beat."""


@dataclass(frozen=True, slots=True)
class StoredAdvice:
    """The advice on a chapter, by beat. It holds places and digests, no words of the book.

    `model` is the digest of the endpoint; `asked` counts the requests about the same text and beats.
    """

    text: Digest
    beats: Digest
    model: Digest
    asked: int
    advice: Mapping[str, BeatAdvice]

    @property
    def is_complete(self) -> bool:
        """True when every beat was checked."""
        return all(each.verdict != "not checked" for each in self.advice.values())


class BeatReading:
    """Checks beats by a model. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store, self._models = base, base.store, base.models

    async def shown(self, found: ChapterBeats, text: str | None) -> ChapterBeats:
        """The beats with the advice on them; `text` is unsaved, None: the newest version. Spends nothing."""
        stored = await self._stored(found.chapter)
        if stored is None:
            return found
        if text is None:
            text = await self._store.book.text(found.chapter)
        is_stale = stored.text != digest(text) or stored.beats != _digest(found)
        parts = tuple(
            replace(part, beats=tuple(replace(beat, advice=stored.advice.get(_key(words))) for beat, words in rows))
            for part, rows in _rows(found)
        )
        if is_stale:
            parts = tuple(replace(part, beats=tuple(map(_stale, part.beats))) for part in parts)
        return replace(found, parts=parts)

    async def quote(self, found: ChapterBeats) -> Quote | None:
        """The price of the question; None if it was answered for this text and these beats.

        Raises RunError if there is nothing to compare, ModelError without a model, SettingsError.
        """
        chapter, stored = await self._chapter(found), await self._stored(found.chapter)
        model, counter, tally = self._models.agent(), self._models.counter, Tally()
        earlier = self._earlier_requests(found, chapter, stored, model)
        if earlier and stored and stored.is_complete:
            return None
        for each in beat_questions(self._base.prompts, chapter, counter, model.endpoint):
            if await model.stored(each.request, BeatAnswers, earlier) is None:
                tokens = _ANSWER * len(each.beats)
                tally.structured("checks", model.endpoint, counter, each.request, BeatAnswers, tokens)
        return tally.quote()

    async def check(self, found: ChapterBeats) -> None:
        """Asks the model, and keeps its advice. Raises RunError, ModelError, SettingsError, BudgetExceeded."""
        chapter, stored = await self._chapter(found), await self._stored(found.chapter)
        model = self._models.agent()
        earlier = self._earlier_requests(found, chapter, stored, model)
        if earlier and stored and stored.is_complete:
            return
        advice = beat_advice(chapter, await self._answers(model, chapter, earlier))
        kept = StoredAdvice(
            digest(chapter.text),
            _digest(found),
            digest_of(model.endpoint.identity),
            earlier + 1,
            {_key(words): each for words, each in zip(chapter.beats, advice, strict=True)},
        )
        await self._store.values.put(_value(found.chapter), to_plain(kept))

    async def _answers(
        self, model: PaidOnce, chapter: PlannedChapter, sample: int
    ) -> Sequence[tuple[BeatQuestion, BeatAnswers | None]]:
        for shrink in SHRINKS:
            questions = beat_questions(self._base.prompts, chapter, self._models.counter, model.endpoint, shrink)
            try:
                return [(each, await _answer(model, each, sample)) for each in questions]
            except ModelError as error:
                if not is_too_long(error) or shrink == SHRINKS[-1]:
                    raise
                model = self._models.agent()  # with the window that the error has named
        raise AssertionError("unreachable")

    def _earlier_requests(
        self, found: ChapterBeats, chapter: PlannedChapter, stored: StoredAdvice | None, model: PaidOnce
    ) -> int:
        """The number of earlier requests to this model about this text and these beats."""
        about = digest(chapter.text), _digest(found), digest_of(model.endpoint.identity)
        return stored.asked if stored and (stored.text, stored.beats, stored.model) == about else 0

    async def _chapter(self, found: ChapterBeats) -> PlannedChapter:
        row, text = await self._store.book.chapter(found.chapter), await self._store.book.text(found.chapter)
        if not found.beats or not text.strip():
            missing = _("The outline has no beats for this chapter.") if not found.beats else _("The chapter is empty.")
            raise RunError(missing, _("Nothing was sent."))
        beats = tuple(words for _part, rows in _rows(found) for _beat, words in rows)
        title = chapter_label(row.position, row.title, self._base.language)
        return PlannedChapter(title, self._base.language, text, beats, await self._store.memory.names())

    async def _stored(self, chapter: ChapterId) -> StoredAdvice | None:
        return await self._store.values.learned(_value(chapter), StoredAdvice)


async def _answer(model: PaidOnce, question: BeatQuestion, sample: int) -> BeatAnswers | None:
    """The answer; None if it cannot be read."""
    try:
        return await model.structured(question.request, BeatAnswers, sample)
    except ModelError as error:
        if error.fault is not ModelFault.SCHEMA:
            raise
        return None


def _rows(found: ChapterBeats) -> Iterator[tuple[PartBeats, list[tuple[Beat, str]]]]:
    """Each part with its beats, and the words of each beat with the title of its scene."""
    for part in found.parts:
        yield part, [(beat, f"{part.title}: {beat.text}" if part.title else beat.text) for beat in part.beats]


def _stale(beat: Beat) -> Beat:
    return replace(beat, advice=replace(beat.advice, place=None, is_stale=True)) if beat.advice else beat


def _key(words: str) -> str:
    return digest(words)[:16]


def _digest(found: ChapterBeats) -> Digest:
    return digest_of([words for _part, rows in _rows(found) for _beat, words in rows])


def _value(chapter: ChapterId) -> str:
    return f"beats/{chapter}"
