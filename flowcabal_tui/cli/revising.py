"""`revise`: has the model rewrite a chapter or some of its paragraphs; the writer decides each paragraph."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from flowcabal_tui.cli.agreeing import agreed_to_spend
from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import the_chapter
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.proposals import Proposal, ProposalId
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite, RewriteId
from flowcabal_tui.domain.text import clean_line, line_spans
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import DropRewrite, RevertChange, RewriteProposed, RewriteSelection, TakeRewrite

DONE, NONE, MODEL_FAILED = 0, 1, 4
_SHOWN: Final = 400
_MOST: Final = 1_000
"""The most findings of a chapter that one request corrects."""


async def revise(arguments: Namespace) -> int:
    """Requests a rewrite, decides one, or lists waiting ones; returns 1 when there is none or nobody agreed."""
    asks = arguments.instruction is not None or arguments.findings is not None
    require_beside("--instruction", asks, paragraphs=arguments.paragraphs, yes=arguments.yes)
    require_beside("--take", arguments.take is not None, only=arguments.only)
    if asks:
        return await _ask(arguments)
    decides = arguments.take or arguments.drop or arguments.undo
    async with await opened(arguments, read_only=not decides, knowledge=False) as project:
        if decides:
            await _decide(project, arguments)
            return DONE
        rows = await project.revision.proposed_rewrites()
        await _print(project, rows, as_json=arguments.json)
    return DONE if rows else NONE


async def _ask(arguments: Namespace) -> int:
    if arguments.chapter is None:
        raise BadArgument(_("Which chapter?"), _("Nothing was sent."), _("Name it with --chapter N."))
    async with await opened(arguments, uses_models=True, knowledge=False) as project:
        command = await _command(project, arguments, await the_chapter(project, arguments.chapter))
        quote = await project.revision.quote_rewrite(command)
        if not await agreed_to_spend(project, quote, "user", yes=arguments.yes):
            return NONE
        try:
            await project.carry_out(command)
        except ModelError:
            if not [event for event in project.take() if isinstance(event, RewriteProposed)]:
                raise
            await _print(project, (await project.revision.proposed_rewrites())[-1:], as_json=arguments.json)
            raise
        await _print(project, (await project.revision.proposed_rewrites())[-1:], as_json=arguments.json)
    return DONE


async def _command(project: Project, arguments: Namespace, chapter: ChapterId) -> RewriteSelection:
    text = await project.book.chapter_text(chapter)
    start, end = _span(text, arguments.paragraphs)
    findings: tuple[ProposalId, ...] = ()
    if arguments.findings is not None:
        where = FindingFilter(chapters=(chapter,), folded=True)
        rows = [row.proposal for row in (await project.findings.findings(where, 0, _MOST)).rows]
        findings = tuple(row.id for row in rows if _is_wanted(row, arguments.findings, start, end))
        if not findings:
            raise BadArgument(_("No such finding is open there."), _("Nothing was sent."))
    return RewriteSelection(chapter, start, end, text[start:end], arguments.instruction or "", findings)


def _is_wanted(row: Proposal, ids: list[str], start: int, end: int) -> bool:
    """True when the finding is one of these (empty: any) and within the passage."""
    place = row.place
    return (not ids or row.id in ids) and place is not None and start <= place.start and place.end <= end


def _span(text: str, paragraphs: tuple[int | None, int | None] | None) -> tuple[int, int]:
    """The span of these paragraphs, counted from 1 without blank lines (None: of all). Raises BadArgument."""
    spans = [(start, start + len(text[start:end].rstrip())) for start, end in line_spans(text)]
    first, last = paragraphs or (None, None)
    if not spans or max(first or 1, last or 1) > len(spans):
        raise BadArgument(_("The chapter has {n} paragraphs.").format(n=len(spans)), _("Nothing was sent."))
    return spans[(first or 1) - 1][0], spans[(last or len(spans)) - 1][1]


async def _decide(project: Project, arguments: Namespace) -> None:
    if arguments.undo:
        await project.carry_out(RevertChange(Generation(arguments.undo)))
    if arguments.drop:
        await project.carry_out(DropRewrite(RewriteId(arguments.drop)))
    if arguments.take:
        changes = tuple(number - 1 for number in arguments.only) if arguments.only else None
        made = await project.carry_out(TakeRewrite(RewriteId(arguments.take), changes))
        say(_("Accepted. To undo it: flowcabal-tui revise {project} --undo {n}").format(
            project=arguments.project, n=made
        ))  # fmt: skip


async def _print(project: Project, rows: tuple[ProposedRewrite, ...], *, as_json: bool) -> None:
    positions = {chapter.id: chapter.position for chapter in await project.book.chapters()}
    if as_json:
        rewrites = [to_plain(row) | {"position": positions[row.chapter], "changes": _changes(row)} for row in rows]
        say_json({"rewrites": rewrites}, indent=2)
        return
    for row in rows:
        say_row((row.id, positions[row.chapter], clean_line(row.model) or _("by rule"), clean_line(row.instruction)))
        for number, change in enumerate(row.changes, 1):
            before = clean_line(row.before[change.start : change.end])[:_SHOWN]
            say_row((f"  {number}", f"- {before}"))
            say_row(("", f"+ {clean_line(change.after)[:_SHOWN]}"))


def _changes(row: ProposedRewrite) -> list[dict[str, Any]]:
    """The changes with the words that they replace."""
    return [to_plain(each) | {"before": row.before[each.start : each.end]} for each in row.changes]
