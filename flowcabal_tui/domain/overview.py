"""The book at a glance: its progress, and the state of each chapter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from statistics import median
from typing import Final

from flowcabal_tui.domain.lengths import Counting
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.value_class import dataclass

LENGTH: Final = "length"
"""The input of a run that holds the requested length of its chapter."""
LONGEST_CHAPTER: Final = 50_000
"""The greatest length of a chapter that can be requested, in characters (Chinese) or words."""


def usual_length(lengths: Sequence[int]) -> int:
    """The median of the chapters' lengths, rounded to hundreds; 0 without chapters."""
    return max(100, round(median(lengths) / 100) * 100) if lengths else 0


@dataclass(frozen=True, slots=True)
class Goals:
    """The writer's target lengths, in characters (Chinese) or words; 0: none.

    `counting` is how the writing view counts a text. `until` is the day by which the book should reach its target
    length. A day begins at the hour `day_begins`; with `hand_only`, text of a model does not count towards its goal.
    """

    book: int = 0
    chapter: int = 0
    day: int = 0
    counting: Counting = "plain"
    volume: int = 0
    until: date | None = None
    day_begins: int = 0
    hand_only: bool = False


@dataclass(frozen=True, slots=True)
class ChapterStatus:
    """The state of a chapter: changes of its file outside, and how far the memory (not the server) follows its newest
    text.

    `left` counts steps to do, `failed` has the reasons of failed ones; `is_stale`: a current derived text was made from
    words that the chapter no longer has; `is_unsaved`: it has unsaved text.
    """

    chapter: Chapter
    changed_outside: bool = False
    left: int = 0
    failed: tuple[str, ...] = ()
    is_stale: bool = False
    is_unsaved: bool = False


@dataclass(frozen=True, slots=True)
class BookOverview:
    """All chapters in story order, the goals, and the words written since the day began.

    `today` counts towards the daily goal; negative when more was cut than written. Imports, restores and moves do not
    count.
    """

    chapters: tuple[ChapterStatus, ...]
    goals: Goals = Goals()
    today: int = 0
    day: date | None = None
    """The writing day that `today` counts; None: not counted."""

    @property
    def length(self) -> int:
        return sum(status.chapter.length for status in self.chapters)
