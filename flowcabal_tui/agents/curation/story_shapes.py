"""What a model answers when it is asked what a chapter adds to the story (`curator.story`)."""

from __future__ import annotations

from pydantic import BaseModel, Field

from flowcabal_tui.agents.curation.curation_shapes import QuotedSentence
from flowcabal_tui.domain.memory import EntityKind


class NamedThing(BaseModel):
    """A name that the chapter holds."""

    kind: EntityKind = "character"
    name: str
    aliases: list[str] = Field(default_factory=list)
    quote: str = ""


class SaidRelation(BaseModel):
    """How one named thing stands to another."""

    source: str
    kind: str
    target: str
    directed: bool = True
    quote: str = ""


class SaidFact(BaseModel):
    """Something that holds from the chapter on."""

    text: str
    about: list[str] = Field(default_factory=list)
    attribute: str = ""
    secret: bool = False
    known_by: list[str] = Field(default_factory=list)
    quote: str = ""


class SaidPromise(BaseModel):
    """Something planted."""

    text: str
    about: list[str] = Field(default_factory=list)
    quote: str = ""


class SaidMoment(BaseModel):
    """An event and its time."""

    text: str
    about: list[str] = Field(default_factory=list)
    when: str = ""
    quote: str = ""


class SaidSequel(BaseModel):
    """What the chapter does to an open line of the question."""

    open: str
    learned_by: str = ""
    quote: str = ""


class Use(BaseModel):
    """One question of the 4-D test."""

    question: str
    passed: bool
    detail: str = ""


class StoryAnswer(BaseModel):
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
