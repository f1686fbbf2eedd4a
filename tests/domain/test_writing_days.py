"""Days, streaks, speed and the end of a book, from the growth of its versions."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.writing_days import Growth, WritingDay, WritingLog, day_of, start_of, writing_days

TODAY = date(2026, 3, 14)
ONE, TWO = ChapterId("one"), ChapterId("two")


def days(**words: int) -> tuple[WritingDay, ...]:
    """`d3=500`: so many words by hand three days ago; `d-1`: tomorrow, by a clock that was wrong."""
    return tuple(WritingDay(TODAY - timedelta(days=int(name[1:])), hand=n, saves=1) for name, n in words.items())


@pytest.mark.parametrize(
    ("at", "begins", "zone", "day"),
    [
        (datetime(2026, 3, 14, 1, tzinfo=UTC), 0, UTC, 14),
        (datetime(2026, 3, 14, 1, tzinfo=UTC), 4, UTC, 13),
        (datetime(2026, 3, 13, 16, 30, tzinfo=UTC), 0, ZoneInfo("Asia/Shanghai"), 14),
        (datetime(2026, 3, 13, 19, 59, tzinfo=UTC), 4, ZoneInfo("Asia/Shanghai"), 13),
        (datetime(2026, 3, 14, 18, 29, tzinfo=UTC), 0, ZoneInfo("Asia/Kolkata"), 14),
    ],
)
def test_a_day_is_the_writers_own(at, begins, zone, day):
    assert day_of(at, begins, zone) == date(2026, 3, day)
    begun = start_of(date(2026, 3, day), begins, zone)
    assert begun <= at < begun + timedelta(days=1)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+00:00"])
def test_a_time_at_the_end_of_the_calendar_has_a_day(at):
    assert day_of(datetime.fromisoformat(at), 4, UTC).year in (1, 9999)


def test_a_day_of_summer_time_begins_at_its_own_hour():
    berlin = ZoneInfo("Europe/Berlin")
    assert start_of(date(2026, 3, 29), 0, berlin).astimezone(UTC) == datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert start_of(date(2026, 3, 30), 0, berlin).astimezone(UTC) == datetime(2026, 3, 29, 22, tzinfo=UTC)


def test_hand_and_model_are_counted_apart_and_what_another_program_wrote_is_by_hand():
    at = datetime(2026, 3, 14, 9, tzinfo=UTC)
    grown = [
        Growth(at, "human", ONE, 100), Growth(at, "outside", ONE, 20), Growth(at, "model", TWO, 800),
        Growth(at + timedelta(days=1), "human", TWO, -30),
    ]  # fmt: skip
    first, second = writing_days(grown, 0, UTC)
    assert first == WritingDay(TODAY, 120, 800, 3, ((ONE, 120), (TWO, 800)))
    assert (second.hand, second.all, second.saves) == (-30, -30, 1)
    assert (first.counted(Goals()), first.counted(Goals(hand_only=True))) == (920, 120)


@pytest.mark.parametrize(
    ("written", "streak", "longest"),
    [
        ({}, 0, 0),
        ({"d0": 5}, 1, 1),
        ({"d2": 5, "d1": 5, "d0": 5}, 3, 3),
        ({"d2": 5, "d1": -5}, 2, 2),
        ({"d9": 5, "d8": 5, "d7": 5, "d2": 5}, 0, 3),
        ({"d9": 5, "d8": 5, "d0": 5}, 1, 2),
        ({"d1": 5, "d0": 5, "d-26000": 5}, 2, 2),
        ({"d1": 5, "d0": 5, "d-1": 5}, 2, 3),
    ],
)
def test_a_streak_ends_when_a_whole_day_is_without_writing(written, streak, longest):
    log = WritingLog(TODAY, days(**written))
    assert (log.streak, log.longest_streak) == (streak, longest)


def test_speed_counts_empty_days_and_not_the_day_that_is_not_over():
    log = WritingLog(TODAY, days(d40=9_000, d7=700, d3=700, d0=5_000))
    assert log.speed(7) == 200
    assert log.speed(30) == round(1_400 / 30)
    assert WritingLog(TODAY, days(d2=300, d0=900)).speed(7) == 150, "a book that was begun two days ago"
    assert WritingLog(TODAY, days(d0=900)).speed(7) == 900, "its first day"
    assert WritingLog(TODAY).speed(7) == 0


def test_the_end_is_expected_at_the_speed_of_the_month_and_the_target_needs_so_much_a_day():
    goals = Goals(book=10_000, until=TODAY + timedelta(days=9))
    log = WritingLog(TODAY, days(d29=2_900, d0=50), goals, length=9_000)
    assert log.speed(30) == 100
    assert log.expected == TODAY + timedelta(days=10)
    assert log.needed == 105, "the 1,000 that are missing and the 50 of today, over ten days"
    past = WritingLog(TODAY, (), Goals(book=10_000, until=TODAY - timedelta(days=1)), length=1)
    assert (past.needed, past.expected) == (0, None)
    done = WritingLog(TODAY, days(d1=5), goals, length=10_000)
    assert (done.needed, done.expected, done.left) == (0, None, 0)
    assert WritingLog(TODAY, days(d29=29), Goals(book=10**9)).expected is None, "in thousands of years"
