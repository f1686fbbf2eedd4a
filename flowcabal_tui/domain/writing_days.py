"""Words by day: the amounts written by hand and by a model, writing streaks, and the expected day of completion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from math import ceil
from typing import Final

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Author
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.value_class import dataclass

SPANS: Final = (7, 30)
"""Days over which the writing speed is averaged; the longer span predicts the date of completion."""
_FARTHEST: Final = 36_525
"""Days from today, about a hundred years: no later date of completion is predicted."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of a chapter's text by one version, in characters (Chinese) or words; negative after cuts."""

    at: datetime
    author: Author
    chapter: ChapterId
    length: int


@dataclass(frozen=True, slots=True)
class WritingDay:
    """The words written in a day, as growth, so cuts reduce it. `chapters` gives the sum of both authors by chapter."""

    day: date
    hand: int = 0
    model: int = 0
    saves: int = 0
    chapters: tuple[tuple[ChapterId, int], ...] = ()

    @property
    def all(self) -> int:
        return self.hand + self.model

    def counted(self, goals: Goals) -> int:
        """The words that count towards the goal of a day."""
        return self.hand if goals.hand_only else self.all


@dataclass(frozen=True, slots=True)
class WritingLog:
    """The days with changes of the text, oldest first, and the writer's goals.

    `length` is that of the book, `volumes` are its volumes with theirs.
    """

    today: date
    days: tuple[WritingDay, ...] = ()
    goals: Goals = Goals()
    length: int = 0
    volumes: tuple[tuple[str, int], ...] = ()

    def day(self, day: date) -> WritingDay:
        """The words of a day; an empty day, if there are none."""
        return next((each for each in self.days if each.day == day), WritingDay(day))

    @property
    def streak(self) -> int:
        """Days in a row with writing up to today, or to yesterday as long as today has none."""
        rows = _rows([each for each in self.days if each.day <= self.today])  # a later day comes from a wrong clock
        return rows[-1][1] if rows and rows[-1][0] >= self.today - timedelta(days=1) else 0

    @property
    def longest_streak(self) -> int:
        """The most days in a row with writing."""
        return max((length for _last, length in _rows(self.days)), default=0)

    def speed(self, span: int) -> int:
        """Words per day on average over the last `span` days before today, counting empty days.

        For a book that was begun later, the span starts at its own first day; on that day, today counts.
        """
        if not self.days:
            return 0
        first = max(self.days[0].day, self.today - timedelta(days=span))
        last = self.today if first == self.today else self.today - timedelta(days=1)
        written = sum(each.counted(self.goals) for each in self.days if first <= each.day <= last)
        return round(written / ((last - first).days + 1))

    @property
    def left(self) -> int:
        """The number of words below the goal for the whole book; 0 without that goal."""
        return max(0, self.goals.book - self.length) if self.goals.book else 0

    @property
    def needed(self) -> int:
        """The words needed on each day up to the target date, today included; 0 without one, or when it has passed."""
        if self.goals.until is None or self.goals.until < self.today:
            return 0
        before_today = self.left + max(0, self.day(self.today).counted(self.goals))
        return ceil(before_today / ((self.goals.until - self.today).days + 1)) if self.left else 0

    @property
    def expected(self) -> date | None:
        """The day on which the target length is reached at the speed of the last 30 days; None if it cannot be
        estimated."""
        speed = self.speed(SPANS[-1])
        if not self.left or speed <= 0 or (days := ceil(self.left / speed)) > _FARTHEST:
            return None
        return self.today + timedelta(days=days)


def day_of(at: datetime, begins: int, zone: tzinfo | None = None) -> date:
    """The writer's day of a moment: it begins at the hour `begins` where the writer is (`zone`; None: this machine)."""
    try:
        return (at.astimezone(zone).replace(tzinfo=None) - timedelta(hours=begins)).date()
    except OverflowError:  # either end of the calendar, as in a hostile project
        return at.date()


def start_of(day: date, begins: int, zone: tzinfo | None = None) -> datetime:
    """The moment at which a writer's day begins."""
    local = datetime.combine(day, time(begins))
    return local.replace(tzinfo=zone) if zone else local.astimezone()


def writing_days(grown: Iterable[Growth], begins: int, zone: tzinfo | None = None) -> tuple[WritingDay, ...]:
    """The days of versions, oldest first."""
    hand: defaultdict[date, int] = defaultdict(int)
    model: defaultdict[date, int] = defaultdict(int)
    saves: defaultdict[date, int] = defaultdict(int)
    chapters: defaultdict[date, defaultdict[ChapterId, int]] = defaultdict(lambda: defaultdict(int))
    for each in grown:
        day = day_of(each.at, begins, zone)
        (model if each.author == "model" else hand)[day] += each.length
        saves[day] += 1
        chapters[day][each.chapter] += each.length
    return tuple(
        WritingDay(day, hand[day], model[day], saves[day], tuple(chapters[day].items())) for day in sorted(saves)
    )


def _rows(days: Sequence[WritingDay]) -> list[tuple[date, int]]:
    """Rows of days without a gap: the last day of each and how many it has."""
    rows: list[tuple[date, int]] = []
    for each in days:
        follows = bool(rows) and each.day - rows[-1][0] == timedelta(days=1)
        rows.append((each.day, rows.pop()[1] + 1 if follows else 1))
    return rows
