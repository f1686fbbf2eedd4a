"""The two orders of a story: that of its own time, and that of its telling."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flowcabal_tui.domain.story import Moment, Story
from flowcabal_tui.tui.story.cast import Cast

Turn = Literal["", "back", "ahead"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A moment with its number in the story's time and its number in the telling, from 1.

    `turn`: the telling looks back there, or ahead; empty where both orders go the same way.
    """

    moment: Moment
    happens: int
    narrated: int
    turn: Turn = ""


def placed_moments(story: Story, cast: Cast) -> tuple[Placed, ...]:
    """All moments, as they happen."""
    ids = {each.id: number for number, each in enumerate(story.moments, 1)}
    telling = sorted(story.moments, key=lambda each: _telling(each, cast, ids[each.id]))
    happens = [ids[each.id] for each in telling]
    turns = _turns(happens)
    placed = (Placed(each, ids[each.id], narrated, turns[narrated - 1]) for narrated, each in enumerate(telling, 1))
    return tuple(sorted(placed, key=lambda each: each.happens))


def _telling(moment: Moment, cast: Cast, happens: int) -> tuple[int, int, int]:
    start = moment.evidence[0].start if moment.evidence else 0
    return cast.position(moment.chapter), start, happens


def _turns(happens: Sequence[int]) -> list[Turn]:
    """Where the telling leaves the longest line that runs with the story's time, and to which side.

    Of two such lines the one that keeps to what was narrated first is followed: the other looks back.
    """
    ends: list[int] = []
    rows_of_length: list[list[int]] = []
    for row, number in enumerate(happens):
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
        if at == len(rows_of_length):
            rows_of_length.append([])
        rows_of_length[at].append(row)
    line: list[int] = []
    for rows in reversed(rows_of_length):
        after = line[-1] if line else len(happens)
        limit = happens[after] if line else len(happens) + 1
        line.append(next(row for row in rows if row < after and happens[row] < limit))
    turns: list[Turn] = []
    reached = 0
    for row, number in enumerate(happens):
        if line and row == line[-1]:
            reached = happens[line.pop()]
            turns.append("")
        else:
            turns.append("back" if number < reached else "ahead")
    return turns
