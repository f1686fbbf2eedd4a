"""Results of a search over the whole project, and places where words can be replaced."""

from __future__ import annotations

from typing import Literal

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.value_class import dataclass

SearchKind = Literal["chapters", "entities", "text", "story", "profiles", "summaries", "meta", "similar"]
SEARCH_KINDS: tuple[SearchKind, ...] = (
    "chapters",
    "entities",
    "text",
    "story",
    "profiles",
    "summaries",
    "meta",
    "similar",
)
"""In display order. `similar` comes from the knowledge server, by meaning; all others by words."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One place: the characters from `start` up to `end` of `uri` at `level` (-1: all of it).

    `line` is its paragraph, or the part of it around the place; `spans` are the matches within the line. `position` is
    that of the chapter (0: of none).
    """

    kind: SearchKind
    uri: str
    title: str
    line: str
    spans: tuple[Span, ...] = ()
    start: int = -1
    end: int = -1
    level: Level = "L2"
    position: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The best hits of each kind, best first, and the total number of each."""

    query: str
    hits: tuple[SearchHit, ...]
    counts: tuple[tuple[SearchKind, int], ...]


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The place of an occurrence in a version of a chapter, as the offset of its first character."""

    chapter: ChapterId
    version: int
    start: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place with its paragraph; `span` are the matching words in it."""

    place: TextPlace
    position: int
    title: str
    line: str
    span: Span
