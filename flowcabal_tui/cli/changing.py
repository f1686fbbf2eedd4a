"""Commands for the log of changes of the book: `changes` and `undo`."""

from __future__ import annotations

from argparse import Namespace

from flowcabal_tui.cli.agreeing import memory_settled
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.change_words import change_extent, change_words
from flowcabal_tui.protocol.book import RevertChange


async def changes(arguments: Namespace) -> int:
    """Lists the changes of the book, the newest first."""
    async with await Project.open(arguments.project, read_only=True) as project:
        found = await project.book.changes(arguments.limit)
    if arguments.json:
        say_json([to_plain(change) for change in found])
        return 0
    for change in found:
        state = (_("undone"),) if change.undone else ()
        at = f"{change.at:%Y-%m-%d %H:%M}"
        say_row((change.generation, at, change_words(change, found), change_extent(change), *state))
    return 0


async def undo(arguments: Namespace) -> int:
    """Undoes a change; returns 1 when there is none to undo."""
    async with await opened(arguments, knowledge=False) as project:
        last = await project.book.last_change() if arguments.change is None else None
        generation = last.generation if last is not None else arguments.change
        if generation is None:
            say(_("There is no change of the book to undo."))
            return 1
        await project.carry_out(RevertChange(Generation(generation)))
        listed = await project.book.changes()
        words = next((change_words(each, listed) for each in listed if each.generation == generation), "")
        say(_("Undone: {change}").format(change=words))
        await memory_settled(project, yes=arguments.yes)
    return 0
