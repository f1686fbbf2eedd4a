"""What a model answers when it is asked what a chapter adds to the story (`curator.story`)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, field_validator, model_validator

from flowcabal_tui.agents.curation.curation_shapes import QuotedSentence
from flowcabal_tui.domain.memory import EntityKind


class Said(BaseModel):
    """A part of an answer. A null is as if the key were not there: the rest of the answer was paid for too."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, said: Any) -> Any:
        return {key: value for key, value in said.items() if value is not None} if isinstance(said, dict) else said


class NamedThing(Said):
    """A name that the chapter holds."""

    kind: EntityKind = "character"
    name: str
    aliases: list[str] = Field(default_factory=list)
    quote: str = ""


class SaidRelation(Said):
    """How one named thing stands to another."""

    source: str
    kind: str
    target: str
    directed: bool = True
    quote: str = ""


class SaidFact(Said):
    """Something that holds from the chapter on."""

    text: str
    about: list[str] = Field(default_factory=list)
    attribute: str = ""
    secret: bool = False
    known_by: list[str] = Field(default_factory=list)
    quote: str = ""


class SaidPromise(Said):
    """Something planted."""

    text: str
    about: list[str] = Field(default_factory=list)
    quote: str = ""


class SaidMoment(Said):
    """An event and its time."""

    text: str
    about: list[str] = Field(default_factory=list)
    when: str = ""
    quote: str = ""


class SaidSequel(Said):
    """What the chapter does to an open line of the question."""

    open: str
    learned_by: str = ""
    quote: str = ""


class Use(Said):
    """One question of the 4-D test."""

    question: str
    passed: bool
    detail: str = ""


class StoryAnswer(Said):
    """The whole answer; `sentences` are the chapter's overview, `line` tells it in one, `keeping` is the 4-D test."""

    entities: list[NamedThing] = Field(default_factory=list)
    relations: list[SaidRelation] = Field(default_factory=list)
    facts: list[SaidFact] = Field(default_factory=list)
    promises: list[SaidPromise] = Field(default_factory=list)
    moments: list[SaidMoment] = Field(default_factory=list)
    sequels: list[SaidSequel] = Field(default_factory=list)
    sentences: list[QuotedSentence] = Field(default_factory=list)
    line: str = ""
    keeping: list[Use] = Field(default_factory=list)

    @field_validator("keeping", mode="before")
    @classmethod
    def _answered(cls, said: Any) -> Any:
        """Without the questions that were left open: a `bool | None` would make the schema too hard for some models."""
        return [use for use in said if not _is_open(use)] if isinstance(said, list) else said


def _is_open(use: Any) -> bool:
    return isinstance(use, dict) and use.get("passed") is None
