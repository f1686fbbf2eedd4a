"""Proofing without a model, and the scenes of a chapter: listing and editing."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from typing import Any, Final

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.argument_types import path, whole
from flowcabal_tui.cli.naming import chapters_of, the_chapter
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.cli.text_files import text_from
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.proofing import ProofedChapter
from flowcabal_tui.domain.text import clean_line, word_count
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.proof_words import proof_words
from flowcabal_tui.protocol.book import EditScene

_SHOWN: Final = 60
"""Characters of a scene and of its beats in the list."""


async def proof(arguments: Namespace) -> int:
    """Prints the marks of the rules; 1 when there are any."""
    async with await Project.open(arguments.project, read_only=True) as project:
        chosen = await chapters_of(project, arguments.chapter or (None, None))
        found = await project.book.proof(chosen, arguments.rule) if chosen else ()
    marks = sum(len(chapter.marks) for chapter in found)
    if arguments.json:
        for chapter in found:
            say_json(to_plain(chapter))
    else:
        for chapter in found:
            _print(chapter)
        counted = ngettext("{n} place", "{n} places", marks).format(n=marks)
        words = _("{places} in {n} chapters.") if marks else _("Nothing is marked in {n} chapters.")
        say(words.format(places=counted, n=len(found)), file=sys.stderr)
    return 1 if marks else 0


def _print(chapter: ProofedChapter) -> None:
    for mark, (before, after) in zip(chapter.marks, chapter.around, strict=True):
        quoted = clean_line(f"{before}[{mark.words}]{after}")
        say_row((chapter.position, mark.start, proof_words(mark), quoted))


async def scenes(arguments: Namespace) -> int:
    """Edits one scene if requested, then lists the scenes of the chapter."""
    changes = _change(arguments)
    async with await (
        opened(arguments, knowledge=False) if changes else Project.open(arguments.project, read_only=True)
    ) as project:
        chapter = await the_chapter(project, arguments.chapter)
        if changes:
            known = next(each for each in await project.book.chapters() if each.id == chapter)
            number = changes.pop("number", 1)
            await project.carry_out(EditScene(chapter, number, known.version, **changes))
        found = await project.book.scenes(chapter)
    for scene in found:
        if arguments.json:
            say_json(to_plain(scene))
        else:
            opening = clean_line(scene.text[:_SHOWN])
            say_row((scene.number, scene.title, word_count(scene.text), opening, scene.beats[:_SHOWN]))
    return 0


def _change(arguments: Namespace) -> dict[str, Any]:
    """The fields that the arguments change; {} for none."""
    if arguments.move:
        return {"number": arguments.move[0], "to": arguments.move[1]}
    if arguments.join:
        return {"number": arguments.join, "join": True}
    if arguments.at is not None:
        return {"at": arguments.at}
    named = arguments.title or arguments.beats
    if not named:
        return {}
    try:
        number = whole(named[0])
    except argparse.ArgumentTypeError as error:
        raise BadArgument(str(error), _("Nothing was changed.")) from error
    return (
        {"number": number, "title": named[1]}
        if arguments.title
        else {"number": number, "beats": text_from(path(named[1]))}
    )
