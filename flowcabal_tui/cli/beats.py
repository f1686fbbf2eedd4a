"""`outline --progress`: the names of the beats found in the text of a chapter, or the number of beats of each chapter;
with `--model` the advice of the agents' model on the beats of a chapter."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from flowcabal_tui.cli.agreeing import agreed_to_spend
from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import chapter_at
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say_json, say_row
from flowcabal_tui.domain.beats import Beat, ChapterBeats
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.beat_words import STATES, advice_words, beat_words, part_words
from flowcabal_tui.protocol.book import CheckBeats


async def progress(arguments: Namespace) -> int:
    """Prints a line for each beat of a chapter, or for each chapter with beats; returns 1 if there are none."""
    given = {"--write": arguments.write, "--assign": arguments.assign, "--part": arguments.part,
             "--volume": arguments.volume, "--whole": arguments.whole or None}  # fmt: skip
    for flag, value in given.items():
        if value is not None:
            raise BadArgument(_("{flag} cannot be used with --progress.").format(flag=flag), _("Nothing was changed."))
    asks = arguments.model
    require_beside("--progress --chapter", arguments.chapter is not None, model=asks)
    async with await opened(arguments, read_only=not asks, knowledge=False, uses_models=asks) as project:
        chapter = await chapter_at(project, arguments.chapter)
        if asks and chapter is not None and not await _check_beats(project, chapter, yes=arguments.yes):
            return 1
        found = [await project.book.beats(chapter)] if chapter is not None else await _all(project)
        positions = {each.id: (each.position, each.title) for each in await project.book.chapters()}
    if arguments.json:
        say_json({"chapters": [_plain(each, positions[each.chapter][0]) for each in found]}, indent=2)
    elif chapter is not None:
        _print(found[0])
    else:
        for each in found:
            position, title = positions[each.chapter]
            done = _("{found} of {named}").format(found=each.found, named=each.named)
            say_row((position, clean_line(title), done, len(each.beats)))
    return 0 if any(each.beats for each in found) else 1


async def _check_beats(project: Project, chapter: ChapterId, *, yes: bool) -> bool:
    """Has the agents' model check the beats; False when the writer refuses the price."""
    quote = await project.book.quote_beats(chapter)
    if quote is None:
        return True
    if not await agreed_to_spend(project, quote, "agent", yes=yes):
        return False
    await project.carry_out(CheckBeats(chapter))
    return True


async def _all(project: Project) -> list[ChapterBeats]:
    """The beats of every chapter that has any, compared with its text."""
    found = [await project.book.beats(each.id) for each in await project.book.chapters()]
    return [each for each in found if each.beats]


def _print(found: ChapterBeats) -> None:
    """Prints a line for each beat: its planned scene, its state, its text and its names."""
    for part in found.parts:
        for beat in part.beats:
            row = (part_words(part), _(STATES[beat.state]), beat.text, beat_words(beat, part, found.scenes))
            advice = advice_words(beat.advice)
            say_row((*row, _("model: {words}").format(words=advice)) if advice else row)


def _plain(found: ChapterBeats, position: int) -> dict[str, Any]:
    return {
        "chapter": position,
        "volume": found.volume,
        "shared": found.shared,
        "scenes": found.scenes,
        "parts": [
            {
                "part": part.part,
                "title": part.title,
                "number": part.number,
                "scene": part.scene,
                "beats": [_beat(beat) for beat in part.beats],
            }
            for part in found.parts
        ],
    }


def _beat(beat: Beat) -> dict[str, Any]:
    return {
        "text": beat.text,
        "state": beat.state,
        "scene": beat.scene,
        "place": _span(beat.place),
        "model": {
            "verdict": beat.advice.verdict,
            "place": _span(beat.advice.place),
            "out_of_date": beat.advice.is_stale,
        }
        if beat.advice is not None
        else None,
        "names": [
            {
                "name": name.name,
                "entity": name.entity,
                "count": name.count,
                "places": [_span(place) for place in name.places],
            }
            for name in beat.names
        ],
    }


def _span(place: Span | None) -> list[int] | None:
    return None if place is None else [place.start, place.end]
