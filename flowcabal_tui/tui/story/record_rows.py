"""The rows of a list of promises, moments or facts: selection, order and text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.domain.story import Moment, Promise, Story, StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.words import (
    PROMISE_STATES,
    PromiseState,
    promise_state,
    promise_state_words,
    short_period,
    urgency,
)
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.roles import Role

Turn = Literal["", "back", "ahead"]
RecordList = Literal["promises", "timeline", "facts"]
RecordRow = tuple[StoryRecord, ColumnRow]
_PROMISE_ROLES: Final[dict[PromiseState, Role]] = {
    "overdue": "failed",
    "due": "waiting",
    "open": "text",
    "paid": "done",
    "dropped": "secondary",
}
_TURNS: Final[dict[Turn, str]] = {"": " ", "back": "<", "ahead": ">"}


@dataclass(frozen=True, slots=True)
class PlacedMoment:
    """A moment with its number in the story's time and its number in the telling, from 1.

    `turn`: the telling goes back there, or ahead; empty if both orders agree.
    """

    moment: Moment
    happens: int
    narrated: int
    turn: Turn = ""


def placed_moments(story: Story, cast: Cast) -> tuple[PlacedMoment, ...]:
    """All moments in the order in which they happen."""
    ids = {each.id: number for number, each in enumerate(story.moments, 1)}
    telling = sorted(story.moments, key=lambda each: _telling(each, cast, ids[each.id]))
    happens = [ids[each.id] for each in telling]
    turns = _turns(happens)
    placed = (
        PlacedMoment(each, ids[each.id], narrated, turns[narrated - 1]) for narrated, each in enumerate(telling, 1)
    )
    return tuple(sorted(placed, key=lambda each: each.happens))


def _telling(moment: Moment, cast: Cast, happens: int) -> tuple[int, int, int]:
    start = moment.evidence[0].start if moment.evidence else 0
    return cast.position(moment.chapter), start, happens


def _turns(happens: Sequence[int]) -> list[Turn]:
    """The places where the text leaves the longest sequence in story order, and the direction of each.

    Of two equal sequences the one with the moment narrated first is the main one: the other looks back.
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


def lines(
    listed: RecordList, cast: Cast, words: str = "", *, position: int | None = None, by_narration: bool = False
) -> list[RecordRow]:
    """The rows of a list that contain the words, in order; facts that hold at a chapter's position (None: all)."""
    if listed == "promises":
        return _promises(cast, words)
    return _moments(cast, words, by_narration) if listed == "timeline" else _facts(cast, words, position)


def _promises(cast: Cast, words: str) -> list[RecordRow]:
    found = [each for each in cast.story.promises if cast.fits(words, each.text, each.about)]
    found.sort(key=lambda each: urgency(each, cast))
    columns = Columns(
        Column(most=1, least=1),
        Column(_("state"), rank=1, least=20),
        Column(_("promise"), fill=True, least=20),
        Column(_("chapter"), rank=2, is_number=True, role="secondary"),
        Column(_("silent"), rank=3, is_number=True, role="secondary"),
    )
    rows: list[RecordRow] = []
    for promise, state in ((each, promise_state(each, cast)) for each in found):
        sign, role = PROMISE_STATES[state.state][0], _PROMISE_ROLES[state.state]
        silent = f"{state.silent}" if state.silent else ""
        row = columns.row(
            Cell(sign, role), Cell(promise_state_words(state), role), one_line(promise.text), _due(promise), silent
        )
        rows.append((promise, row))
    return rows


def _due(promise: Promise) -> str:
    start, end = promise.due_from, promise.due_until
    return f"{start}" if start and start == end else f"{start or ''}-{end or ''}" if start or end else ""


def _moments(cast: Cast, words: str, by_narration: bool) -> list[RecordRow]:
    placed = placed_moments(cast.story, cast)
    if by_narration:
        placed = tuple(sorted(placed, key=lambda each: each.narrated))
    columns = Columns(
        Column(_("happens"), is_number=True),
        Column(_("narrated"), is_number=True, role="secondary"),
        Column(most=1, least=1),
        Column(_("when"), rank=1, least=12, most=30, is_phrase=True, role="secondary"),
        Column(_("what"), fill=True, least=20),
        Column(_("chapter"), rank=2, is_number=True, role="secondary"),
        Column(rank=3, least=12, role="secondary"),
    )
    rows: list[RecordRow] = []
    for each in placed:
        if cast.fits(words, f"{each.moment.when} {each.moment.text}", each.moment.about):
            when, text = one_line(each.moment.when), one_line(each.moment.text)
            turn, at = _TURNS[each.turn], f"{cast.position(each.moment.chapter)}"
            row = columns.row(f"{each.happens}", f"{each.narrated}", turn, when, text, at, _turned(each.turn))
            rows.append((each.moment, row))
    return rows


def _turned(turn: Turn) -> str:
    return {"": "", "back": _("looks back"), "ahead": _("looks ahead")}[turn]


def _facts(cast: Cast, words: str, position: int | None) -> list[RecordRow]:
    columns = Columns(
        Column(most=1, least=1),
        Column(_("fact"), fill=True, least=20),
        Column(_("about whom"), rank=1, least=14, is_phrase=True, role="secondary"),
        Column(_("chapters"), rank=2, least=8, role="secondary"),
    )
    rows: list[RecordRow] = []
    for fact in cast.story.facts:
        applies = position is None or cast.holds(fact, position)
        if applies and cast.fits(words, f"{fact.attribute} {fact.text}", fact.about):
            names = cast.names(fact.about[:2])
            sign = Cell("S" if fact.secret else "", "key")
            rows.append((fact, columns.row(sign, one_line(fact.text), names, short_period(fact, cast))))
    return rows
