"""The rows of a list of promises, moments or facts: which, in which order, in which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.story import Fact, Moment, Promise, StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.orders import Turn, placed_moments
from flowcabal_tui.tui.story.words import (
    PROMISE_STATES,
    due_words,
    fact_lines,
    moment_lines,
    promise_lines,
    short_period,
    standing,
    standing_words,
    urgency,
)
from flowcabal_tui.tui.widgets.cells import cell_width, crop, padded

RecordList = Literal["promises", "timeline", "facts"]
_TURNS: Final[dict[Turn, str]] = {"": " ", "back": "<", "ahead": ">"}


@dataclass(frozen=True, slots=True)
class Wish:
    """The filter of a list: words; the chapter at which facts hold (None: all); the order."""

    words: str = ""
    position: int | None = None
    as_told: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its start and end are always in view, its middle is cut where there is no room."""

    record: StoryRecord
    start: str
    middle: str
    end: str


def lines(listed: RecordList, cast: Cast, wish: Wish) -> list[Line]:
    """The rows of a listed, in their order."""
    if listed == "promises":
        return _promises(cast, wish)
    return _moments(cast, wish) if listed == "timeline" else _facts(cast, wish)


def about(record: StoryRecord, cast: Cast) -> Iterator[str]:
    """The lines below the list about one record."""
    match record:
        case Promise():
            yield from promise_lines(record, cast)
        case Moment():
            yield from moment_lines(record, cast)
        case Fact():
            yield from fact_lines(record, cast)
    if record.evidence and record.evidence[0].sentence != getattr(record, "text", ""):
        yield f"“{one_line(record.evidence[0].sentence, 400)}” · {cast.chapter(record.evidence[0].chapter)}"


def _promises(cast: Cast, wish: Wish) -> list[Line]:
    found = [each for each in cast.story.promises if cast.fits(wish.words, each.text, each.about)]
    found.sort(key=lambda each: urgency(each, cast))
    states = [standing(each, cast) for each in found]
    widest = max((cell_width(standing_words(each)) for each in states), default=0)
    rows = []
    for promise, state in zip(found, states, strict=True):
        start = f"{PROMISE_STATES[state.state][0]} {padded(standing_words(state), widest)}  "
        silent = _("silent {n}").format(n=state.silent) if state.silent else ""
        parts = (due_words(promise) or _chapter(promise, cast), silent)
        rows.append(Line(promise, start, one_line(promise.text), "".join(f" · {part}" for part in parts if part)))
    return rows


def _chapter(promise: Promise, cast: Cast) -> str:
    return _("chapter {n}").format(n=cast.position(promise.planted))


def _moments(cast: Cast, wish: Wish) -> list[Line]:
    placed = placed_moments(cast.story, cast)
    if wish.as_told:
        placed = tuple(sorted(placed, key=lambda each: each.told))
    rows = []
    for each in placed:
        if cast.fits(wish.words, f"{each.moment.when} {each.moment.text}", each.moment.about):
            when, text = crop(one_line(each.moment.when), 30), one_line(each.moment.text)
            words = _("{when}: {text}").format(when=when, text=text) if when else text
            told = _("chapter {n}").format(n=cast.position(each.moment.chapter))
            start = f"{each.happens:>4} {each.told:>4}{_TURNS[each.turn]} "
            rows.append(Line(each.moment, start, words, f" · {told}{_turned(each.turn)}"))
    return rows


def _turned(turn: Turn) -> str:
    return {"": "", "back": " · " + _("looks back"), "ahead": " · " + _("looks ahead")}[turn]


def _facts(cast: Cast, wish: Wish) -> list[Line]:
    rows = []
    for fact in cast.story.facts:
        held = wish.position is None or cast.holds(fact, wish.position)
        if held and cast.fits(wish.words, f"{fact.attribute} {fact.text}", fact.about):
            names = cast.names(_some(fact.about))
            end = " · ".join(part for part in (names, short_period(fact, cast)) if part)
            sign = "S " if fact.secret else "  "
            rows.append(Line(fact, sign, one_line(fact.text), f" · {end}" if end else ""))
    return rows


def _some(people: Sequence[EntityId]) -> Sequence[EntityId]:
    return people[:2]
