"""The data of a person, place or thing that a writer looks up while writing a chapter."""

from __future__ import annotations

from dataclasses import dataclass

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.memory import Entity


@dataclass(frozen=True, slots=True)
class CardPlace:
    """A chapter that names somebody, with the span of the name and the sentence around it."""

    chapter: ChapterId
    position: int
    title: str
    start: int
    end: int
    sentence: str


@dataclass(frozen=True, slots=True)
class CardRelation:
    """A relation that holds in the chapter; `outward`: it leads from the entity of the card (None: it is mutual)."""

    other: EntityId
    name: str
    words: str
    outward: bool | None


@dataclass(frozen=True, slots=True)
class NameCard:
    """Everything about one name, as of a chapter.

    `seen` is the last place before the chapter, `first` the first of the book; None: there is none. `profile` is the
    uri of the profile, `about` its line ("": not made yet).
    """

    entity: Entity
    mentions: int = 0
    seen: CardPlace | None = None
    first: CardPlace | None = None
    relations: tuple[CardRelation, ...] = ()
    profile: str = ""
    about: str = ""
