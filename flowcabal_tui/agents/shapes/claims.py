"""The answers of a checker's model."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from flowcabal_tui.domain.answer_schema import StructuredAnswer, few, short_text


def plain_word(word: Any) -> Any:
    """Normalises a model's word to an identifier: `Somebody else` becomes `somebody_else`."""
    return re.sub(r"\W+", "_", word.strip().lower()).strip("_") if isinstance(word, str) else word


def _id(**how: Any) -> Any:
    """The id of something that a question shows; longer ids are accepted too."""
    return Field(**how, json_schema_extra={"maxLength": 12})


Verdict = Annotated[
    Literal["contradiction", "changed", "somebody_else", "speech_or_belief", "compatible", "unsure"],
    BeforeValidator(plain_word),
]
"""The relation of a statement of a draft to a passage of the book; only the first and the last raise a doubt."""


class PairVerdict(BaseModel):
    """The relation of one statement to one passage."""

    statement: str = _id()
    passage: str = _id(default="")
    verdict: Verdict


class Claim(BaseModel):
    """A contradiction between the draft and a note, as the model gives it."""

    angle: str = short_text(default="")
    subtype: str = short_text(default="")
    draft_quote: str = short_text()
    source_id: str = short_text(default="")
    source_quote: str = short_text()
    explanation: str = short_text(default="")
    confidence: float = Field(0.5, ge=0, le=1)


class Claims(StructuredAnswer):
    """The answer of a checker. A statement in neither of the first two lists was not judged."""

    verdicts: list[PairVerdict] = few(400)
    compatible: list[Annotated[str, _id()]] = few(400)
    findings: list[Claim] = few(12)


class Reading(BaseModel):
    """The verdict on one doubt: a reading in which both texts are true, with the words that support it, or none."""

    doubt: str = _id()
    verdict: Verdict
    reading_quote: str = short_text(default="")
    subtype: str = short_text(default="")
    draft_quote: str = short_text(default="")
    source_quote: str = short_text(default="")
    explanation: str = short_text(default="")
    question: str = short_text(default="")
    confidence: float = Field(0.5, ge=0, le=1)


class Readings(StructuredAnswer):
    """The answer to the defence."""

    readings: list[Reading] = few(100)
