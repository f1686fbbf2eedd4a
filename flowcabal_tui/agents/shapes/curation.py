"""The answers of the curator's models, and their conversion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from flowcabal_tui.domain.answer_schema import StructuredAnswer, few, short_text
from flowcabal_tui.domain.run import AngleCheck


class QuotedSentence(BaseModel):
    """A sentence and the words of the chapter that support it."""

    sentence: str = short_text()
    quote: str = short_text()


class Overview(StructuredAnswer):
    """The answer to `curator.l1`."""

    sentences: list[QuotedSentence] = few(12)


class Line(BaseModel):
    """The answer to `curator.l0`."""

    sentence: str = short_text()


class SourcedSentence(BaseModel):
    """A sentence of a profile and the words of a source that support it."""

    sentence: str = short_text()
    source_id: str = short_text(default="")
    quote: str = short_text()


class ProfileAnswer(StructuredAnswer):
    """The answer to `curator.profile`."""

    summary: str = short_text(default="")
    sentences: list[SourcedSentence] = few(16)


class ProfiledSentence(SourcedSentence):
    """A sentence of one of several profiles, by the id that the question gives it."""

    profile: str = short_text()


class ProfileSummary(BaseModel):
    """The summary of one of several profiles."""

    profile: str = short_text()
    summary: str = short_text(default="")


class ProfilesAnswer(StructuredAnswer):
    """The answer to `curator.profiles`: lists without lists in them, so that a bad sentence spoils no profile."""

    lines: list[ProfiledSentence] = few(48)
    summaries: list[ProfileSummary] = few(4, default_factory=list)

    def of(self, profile: str) -> ProfileAnswer:
        """The answer for one profile."""
        summaries = (each.summary for each in self.summaries if each.profile == profile)
        sentences = [
            SourcedSentence.model_validate(each.model_dump()) for each in self.lines if each.profile == profile
        ]
        return ProfileAnswer(summary=next(summaries, ""), sentences=sentences)


class Answered(BaseModel):
    """One question of the 4-D test."""

    passed: bool
    detail: str = short_text(default="")


_UNANSWERED = Answered(passed=False)


class KeepAnswer(StructuredAnswer):
    """The answer to `curator.keep`. A question that `unread` names has no answer."""

    prevents_errors: Answered = _UNANSWERED
    reusable: Answered = _UNANSWERED
    self_contained: Answered = _UNANSWERED
    new: Answered = _UNANSWERED


Dimension = Literal["prevents_errors", "reusable", "self_contained", "new"]
DIMENSIONS: tuple[Dimension, ...] = ("prevents_errors", "reusable", "self_contained", "new")


@dataclass(frozen=True, slots=True)
class DimensionAdvice:
    """One dimension of the 4-D test; `passed` None: not asked, or no answer."""

    dimension: Dimension
    passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class KeepAdvice:
    """Advice on a kept text. The text is stored in any case."""

    checks: tuple[AngleCheck, ...]
    dimensions: tuple[DimensionAdvice, ...]
