"""`words`: words written by day, by the writer and by a model, compared with the goals."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import available
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.writing_days import SPANS, WritingLog
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import SetGoals

_GOALS: Final[TypeAdapter[Goals]] = TypeAdapter(Goals)


async def words(arguments: Namespace) -> int:
    """Sets goals if requested, then prints the days."""
    async with await (
        opened(arguments, knowledge=False) if arguments.goal else Project.open(arguments.project, read_only=True)
    ) as project:
        if arguments.goal:
            goals = (await project.book.writing_log()).goals
            await project.carry_out(SetGoals(_changed(goals, arguments.goal)))
        log = await project.book.writing_log()
    if arguments.json:
        say_json(_plain(log, arguments.days), indent=2)
        return 0
    for day in log.days[-arguments.days :]:
        say_row((day.day, day.all, _("by hand {n}").format(n=day.hand), _("by a model {n}").format(n=day.model)))
    for line in _lines(log):
        say(line)
    return 0


def _changed(goals: Goals, given: Sequence[str]) -> Goals:
    """The goals with NAME=VALUE, an empty value for none. Raises BadArgument."""
    fields: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name not in asdict(goals):
            raise BadArgument(_("{name} is not a goal.").format(name=each), "", available(asdict(goals)))
        fields[name] = value.strip() or getattr(Goals(), name)
    try:
        return _GOALS.validate_python(asdict(goals) | fields)
    except ValidationError as error:
        wrong = ", ".join(str(each["loc"][0]) for each in error.errors())
        raise BadArgument(_("These goals cannot be set: {names}.").format(names=wrong)) from error


def _plain(log: WritingLog, days: int) -> dict[str, Any]:
    speeds = {str(span): log.speed(span) for span in SPANS}
    return {
        **to_plain(replace(log, days=log.days[-days:])),
        "streak": log.streak,
        "longest_streak": log.longest_streak,
        "speed": speeds,
        "needed": log.needed,
        "expected": log.expected.isoformat() if log.expected else None,
    }


def _lines(log: WritingLog) -> Iterator[str]:
    goals, today = log.goals, log.day(log.today).counted(log.goals)
    yield _("today: {n} of {goal}").format(n=today, goal=goals.day) if goals.day else _("today: {n}").format(n=today)
    yield (
        _("the book: {n} of {goal}").format(n=log.length, goal=goals.book)
        if goals.book
        else _("the book: {n}").format(n=log.length)
    )
    yield ngettext("{n} day in a row", "{n} days in a row", log.streak).format(n=log.streak)
    speeds = [log.speed(span) for span in SPANS]
    words = _("daily average: {week} over {days} days, {month} over {more}")
    yield words.format(week=speeds[0], days=SPANS[0], month=speeds[1], more=SPANS[1])
    if log.needed:
        yield _("{n} a day are needed until {day}").format(n=log.needed, day=goals.until)
    if log.expected:
        yield _("expected end: {day}").format(day=log.expected)
