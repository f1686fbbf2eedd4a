"""`impact`: the places that depend on a change of the book: listing, applying at once, undoing."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from flowcabal_tui.cli.agreeing import agreed_to_spend, memory_settled
from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import the_chapter
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.impact import BookChange, ChapterChanged, ChapterMoved, FactChanged, Impact, ImpactRow, Rename
from flowcabal_tui.domain.story import RecordId
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.impact_words import answer, directness, impact_words, marked, proposed, unread_words
from flowcabal_tui.protocol.story import ApplyImpact, AskPatches, UndoDecision

FOUND, NOTHING = 0, 1
_BEFORE = 60
"""Characters of a passage before its difference."""


async def impact(arguments: Namespace) -> int:
    """Prints the places, one per line, the most direct first; returns 1 when nothing depends on the change."""
    if arguments.undo:
        return await _undo(arguments)
    asks, applied = arguments.patch is not None, None
    require_beside("--apply", arguments.apply, holds=arguments.holds, again=arguments.again)
    require_beside("--patch", asks, yes=arguments.yes)
    if asks and arguments.apply:
        raise BadArgument(
            _("--patch and --apply do not go together."),
            _("Nothing was sent."),
            _("Review the patches first, then apply them with --take."),
        )
    async with await opened(
        arguments, read_only=not (arguments.apply or asks), uses_models=asks, knowledge=False
    ) as project:
        change = await _change(arguments, project)
        if asks and not await _patched(project, change, arguments):
            return NOTHING
        found = await project.story.impact(change)
        if arguments.apply and (found.rows or arguments.again):
            applied = await _apply(project, found, arguments)
    if arguments.json:
        listed = (*found.rows, *found.settled) if arguments.settled else found.rows
        rows = [_plain(row) for row in listed[: arguments.limit]]
        values = {"same": found.is_same, "total": len(found.rows), "chapters": found.chapters, "rows": rows}
        say_json({**values, "settled": len(found.settled), "applied": applied}, indent=2)
    else:
        _print(found, arguments)
    return FOUND if found.rows else NOTHING


async def _patched(project: Project, change: BookChange, arguments: Namespace) -> bool:
    """Asks the model after its price was agreed to; False when it was not."""
    found = await project.story.impact(change)
    _require_known(found.rows, arguments.patch)
    quote = await project.story.quote_patches(change, tuple(arguments.patch))
    if not await agreed_to_spend(project, quote, "user", yes=arguments.yes):
        return False
    unread = int(await project.carry_out(AskPatches(change, tuple(arguments.patch))) or 0)
    if unread:
        say(unread_words(unread), file=sys.stderr)
    return True


async def _apply(project: Project, found: Impact, arguments: Namespace) -> str | None:
    _require_known(found.rows, (*arguments.leave, *arguments.take, *arguments.holds))
    _require_known(found.settled, arguments.again)
    ids = (tuple(each) for each in (arguments.leave, arguments.take, arguments.holds, arguments.again))
    applied = await project.carry_out(ApplyImpact(found.change, found.digest, *ids))
    await memory_settled(project, yes=arguments.yes)
    return applied


async def _undo(arguments: Namespace) -> int:
    async with await opened(arguments, knowledge=False) as project:
        await project.carry_out(UndoDecision(scope="impact"))
        await memory_settled(project, yes=arguments.yes)
    if arguments.json:
        say_json({"undone": True}, indent=2)
    else:
        say(_("The last decision was undone."))
    return FOUND


async def _change(arguments: Namespace, project: Project) -> BookChange:
    """The change that the options describe. Raises BadArgument or UnknownName."""
    require_beside("--name", bool(arguments.name), alias=arguments.alias or None)
    require_beside("--chapter", bool(arguments.chapter), since=arguments.since)
    if bool(arguments.name or arguments.fact) != bool(arguments.to):
        raise BadArgument(
            _("--name and --fact need --to, and --to needs one of them."),
            _("Nothing was changed."),
            _("Write --name OLD --to NEW, or --fact ID --to TEXT."),
        )
    if arguments.name:
        if clean_line(arguments.name) == clean_line(arguments.to):
            raise BadArgument(
                _("A rename needs an old and another new name."), _("Nothing was changed."), _("Write both names.")
            )
        pairs = [tuple(pair.split("=", 1)) for pair in arguments.alias]
        if any(len(pair) != 2 for pair in pairs):
            raise BadArgument(_("An alias is written OLD=NEW."), _("Nothing was changed."))
        return Rename(arguments.name, arguments.to, tuple((old, new) for old, new in pairs))
    if arguments.fact:
        return FactChanged(RecordId(arguments.fact), arguments.to)
    if arguments.move:
        number, place = arguments.move
        return ChapterMoved(await the_chapter(project, number), place)
    return ChapterChanged(await the_chapter(project, arguments.chapter), arguments.since or 0)


def _require_known(rows: Sequence[ImpactRow], ids: Sequence[str]) -> None:
    known = {row.proposal.id for row in rows}
    if unknown := [each for each in ids if each not in known]:
        raise BadArgument(
            _("No place has this id: {ids}.").format(ids=_(", ").join(unknown)),
            _("Nothing was changed."),
            _("List the places without --apply."),
        )


def _print(found: Impact, arguments: Namespace) -> None:
    listed = (*found.rows, *found.settled) if arguments.settled else found.rows
    for row in listed[: arguments.limit]:
        sign = "[=]" if row.word else "[x]" if row.chosen else "[ ]"
        why = proposed(row) if row.answer == "decide" else ""
        say_row((sign, row.proposal.id, row.position or "-", directness(row), answer(row), marked(row, _BEFORE), why))
    left = len(listed) - arguments.limit
    if left > 0:
        say(ngettext("{n} more: --limit", "{n} more: --limit", left).format(n=left))
    say(impact_words(found))
    if arguments.apply and (found.rows or arguments.again):
        say(_("Applied. `impact PROJECT --undo` undoes all of it."))


def _plain(row: ImpactRow) -> dict[str, Any]:
    return {
        **to_plain(row),
        "answer": row.answer,
        "words": {"directness": directness(row), "answer": answer(row), "proposed": proposed(row)},
    }
