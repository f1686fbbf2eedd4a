"""Proposals of agents and rules: listing, confirming, correcting, dropping, undoing."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import AsyncIterator
from typing import Any

from pydantic import ValidationError

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.flags import named_values
from flowcabal_tui.cli.naming import chapter_at
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import from_plain, to_plain
from flowcabal_tui.domain.errors import available
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.proposals import (
    LISTED_STATES,
    NewName,
    OutlineEdit,
    Proposal,
    ProposalFilter,
    ProposalId,
    ProposalPage,
    TextEdit,
)
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.story import Sequel, StoryRecord
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.proposal_words import KINDS, changed, origin, proposal_line, reason, state_words
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision


async def proposals(arguments: Namespace) -> int:
    """Prints the rows, one on each line, after applying the options; exit code 1 when none matches."""
    changes = bool(arguments.confirm or arguments.drop or arguments.correct or arguments.undo)
    async with await opened(arguments, read_only=not changes, knowledge=False) as project:
        where = ProposalFilter(
            LISTED_STATES[arguments.state],
            tuple(arguments.kind),
            await chapter_at(project, arguments.chapter),
            arguments.words,
        )
        for command in [each async for each in _commands(arguments, project)]:
            await project.carry_out(command)
        page = await project.story.proposals(where, arguments.offset, arguments.limit)
        names = {entity.id: entity.name for entity in await project.story.entities()}
        positions = {chapter.id: chapter.position for chapter in await project.book.chapters()}
    if arguments.json:
        rows = [_plain(row, names, positions) for row in page.rows]
        say_json({"counts": dict(page.counts), "offset": page.offset, "proposals": rows}, indent=2)
    else:
        _print(page, where, names, positions)
    return 0 if page.rows or changes else 1


def _print(page: ProposalPage, where: ProposalFilter, names: dict[EntityId, str], positions: dict[Any, int]) -> None:
    for row in page.rows:
        place = str(positions.get(row.place.chapter, "")) if row.place else ""
        words = proposal_line(row, lambda entity: names.get(entity, entity))
        cells = (row.id, state_words(row), place, _(KINDS[row.kind]), words, reason(row), quoted(row.quotation))
        say_row(cells)
    left = page.total(where.states) - page.offset - len(page.rows)
    if left > 0:
        say(ngettext("{n} more: --offset", "{n} more: --offset", left).format(n=left))


def _plain(row: Proposal, names: dict[EntityId, str], positions: dict[Any, int]) -> dict[str, Any]:
    def name_of(entity: EntityId) -> str:
        return names.get(entity, entity)

    return {
        **to_plain(row),
        "position": positions.get(row.place.chapter) if row.place else None,
        "words": {
            "kind": _(KINDS[row.kind]),
            "state": state_words(row),
            "says": proposal_line(row, name_of),
            "changes": changed(row, name_of),
            "reason": reason(row),
            "origin": origin(row.origin),
        },
    }


async def _commands(arguments: Namespace, project: Project) -> AsyncIterator[Command]:
    if arguments.undo:
        yield UndoDecision(scope="proposals")
    if arguments.confirm:
        yield DecideProposals(tuple(arguments.confirm), "confirm")
    if arguments.drop:
        yield DecideProposals(tuple(arguments.drop), "drop")
    if bool(arguments.correct) != bool(arguments.set):
        raise BadArgument(
            _("--correct and --set belong together."),
            _("Nothing was changed."),
            _("Write --correct ID --set NAME=TEXT."),
        )
    if arguments.correct:
        identity = ProposalId(arguments.correct)
        row = await project.story.proposal(identity)
        yield CorrectProposal(identity, await _edited(row, named_values(arguments.set), project))


async def _edited(
    row: Proposal, changes: dict[str, Any], project: Project
) -> Entity | StoryRecord | TextEdit | OutlineEdit:
    """The row's record with other values in some fields. Raises BadArgument for one that does not exist or fit."""
    after = row.difference.after
    value: Any = after
    if isinstance(after, NewName):
        value = next((entity for entity in await project.story.entities() if entity.id == after.entity), None)
    elif isinstance(after, Sequel):
        value = row.difference.before
    plain = to_plain(value) if value is not None else {}
    unknown = sorted(changes.keys() - plain.keys() | changes.keys() & {"id", "by"})
    try:
        if unknown:
            raise ValueError(", ".join(unknown))
        edited: Entity | StoryRecord | TextEdit | OutlineEdit = from_plain(type(value), plain | changes)
    except (ValidationError, ValueError) as error:
        raise BadArgument(
            _("This cannot be set: {names}.").format(names=_(", ").join(unknown) or _(", ").join(changes)),
            str(error).splitlines()[0],
            available(sorted(plain.keys() - {"id", "by"})),
        ) from error
    return edited
