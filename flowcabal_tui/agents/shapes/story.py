"""The answer of a model to the question about a chapter's additions to the story (`curator.story`)."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field, field_validator, model_validator

from flowcabal_tui.agents.shapes.curation import QuotedSentence
from flowcabal_tui.domain.answer_schema import StructuredAnswer, few, short_text
from flowcabal_tui.domain.memory import EntityKind

MOST_OF_A_KIND: Final = 16
"""Items of each kind that are taken from one chapter."""


LONGEST_NAME: Final = 80
"""Characters; a server that keeps the schema ends a name there that a model repeats without end."""


def _name(**how: Any) -> Any:
    """A name, whose schema limits it to a short text."""
    return Field(**how, json_schema_extra={"maxLength": LONGEST_NAME})


def _names() -> Any:
    """Names, whose schema asks for few and short ones."""
    items: dict[str, Any] = {"type": "string", "maxLength": LONGEST_NAME}
    return Field(default_factory=list, json_schema_extra={"maxItems": MOST_OF_A_KIND, "items": items})


class AnswerPart(BaseModel):
    """A part of an answer. A null counts as a missing key."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        return {key: value for key, value in given.items() if value is not None} if isinstance(given, dict) else given


class NamedThing(AnswerPart):
    """A name in the chapter."""

    kind: EntityKind = "character"
    name: str = _name()
    aliases: list[str] = _names()
    quote: str = short_text(default="")


class SaidRelation(AnswerPart):
    """The relation between two named things."""

    source: str = _name()
    kind: str = _name()
    target: str = _name()
    directed: bool = True
    quote: str = short_text(default="")


class SaidFact(AnswerPart):
    """A fact that is true from the chapter on."""

    text: str = short_text()
    about: list[str] = _names()
    attribute: str = _name(default="")
    secret: bool = False
    known_by: list[str] = _names()
    quote: str = short_text(default="")


class SaidPromise(AnswerPart):
    """A promise that the chapter plants."""

    text: str = short_text()
    about: list[str] = _names()
    quote: str = short_text(default="")


class SaidMoment(AnswerPart):
    """An event and its time."""

    text: str = short_text()
    about: list[str] = _names()
    when: str = _name(default="")
    quote: str = short_text(default="")


class SaidSequel(AnswerPart):
    """The continuation in the chapter of an open line of the question."""

    open: str = _name()
    learned_by: str = _name(default="")
    quote: str = short_text(default="")


class Use(AnswerPart):
    """One question of the 4-D test."""

    question: str = _name()
    passed: bool
    detail: str = short_text(default="")


class StoryAnswer(AnswerPart, StructuredAnswer):
    """The whole answer; `sentences` are the overview of the chapter, `line` its summary, `keeping` the 4-D test.

    Each of the last three is asked for separately when it is missing.
    """

    entities: list[NamedThing] = few(MOST_OF_A_KIND)
    relations: list[SaidRelation] = few(MOST_OF_A_KIND)
    facts: list[SaidFact] = few(MOST_OF_A_KIND)
    promises: list[SaidPromise] = few(MOST_OF_A_KIND)
    moments: list[SaidMoment] = few(MOST_OF_A_KIND)
    sequels: list[SaidSequel] = few(MOST_OF_A_KIND)
    sentences: list[QuotedSentence] = few(12, default_factory=list)
    line: str = short_text(default="")
    keeping: list[Use] = few(4, default_factory=list)

    @field_validator("keeping", mode="before")
    @classmethod
    def _answered(cls, given: Any) -> Any:
        """The input without unanswered questions: a `bool | None` would make the schema too hard for some models."""
        return [use for use in given if not _is_open(use)] if isinstance(given, list) else given


def _is_open(use: Any) -> bool:
    return isinstance(use, dict) and use.get("passed") is None


UNASKED: Final = StoryAnswer(entities=[], relations=[], facts=[], promises=[], moments=[], sequels=[])
"""The value where the question was not asked."""
