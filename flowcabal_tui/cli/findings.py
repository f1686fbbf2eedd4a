"""`findings` and `check`: findings of checks, the writer's decisions, and checks of chapters on demand."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from flowcabal_tui.cli.agreeing import agreed_to_spend
from flowcabal_tui.cli.answers import BadArgument, named, require_beside
from flowcabal_tui.cli.flags import named_values
from flowcabal_tui.cli.naming import chapters_of
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_rows
from flowcabal_tui.domain.codec import from_plain, to_plain
from flowcabal_tui.domain.errors import available
from flowcabal_tui.domain.findings import CheckReport, FindingFilter, FindingPage, FindingRow
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import Finding, ProposalId, ProposalState
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.story import Fact
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project import Project
from flowcabal_tui.project.finding_words import (
    check_titles,
    compared_words,
    finding_title,
    rate_words,
    report_words,
    sureness,
)
from flowcabal_tui.project.proposal_words import state_words
from flowcabal_tui.project.story.findings import fact_of
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.findings import ChangeFromHere, CheckChapters, DecideFindings, SwitchRule
from flowcabal_tui.protocol.story import UndoDecision

DONE, FOUND, MODEL_FAILED = 0, 1, 4
_STATES: Final[dict[str, tuple[ProposalState, ...]]] = {
    "new": ("waiting",),
    "later": ("later",),
    "decided": ("intended", "changed", "useless"),
    "resolved": ("resolved",),
    "all": (),
}
_MOST: Final = 10_000
"""Findings that `check` prints."""


async def findings(arguments: Namespace) -> int:
    """Prints the findings, one on each line, after applying the options; exit code 1 when none matches."""
    require_beside("--intended", bool(arguments.intended), reason=arguments.reason)
    require_beside("--changed", bool(arguments.changed), set=arguments.set)
    words = list(_words(arguments))
    checks = tuple(named(each, check_titles(), _("There is no check {name}.")) for each in arguments.check)
    async with await opened(arguments, read_only=not (words or arguments.changed), knowledge=False) as project:
        chapters = await chapters_of(project, arguments.chapter)
        for command in words:
            await project.carry_out(command)
        if arguments.changed:
            await project.carry_out(await _changed(arguments, project))
        where = FindingFilter(
            *(_STATES[arguments.state], checks, chapters, arguments.words),
            arguments.unfold or arguments.state != "new",
            arguments.newest,
            notes=True,
        )
        page = await project.findings.findings(where, arguments.offset, arguments.limit)
        await _print(project, page, as_json=arguments.json)
    return DONE if page.rows or words or arguments.changed else FOUND


async def check(arguments: Namespace) -> int:
    """Checks kept chapters and prints their open findings; exit code 1 when there are any."""
    first, last = arguments.chapter or (None, None)
    async with await opened(arguments, uses_models=arguments.model, knowledge=False) as project:
        chapters = await chapters_of(project, arguments.chapter)
        if arguments.model:
            quote = await project.findings.quote_check(first, last)
            if not await agreed_to_spend(project, quote, "agent", yes=arguments.yes):
                return FOUND
        await project.carry_out(CheckChapters(first, last, arguments.model))
        where = FindingFilter(chapters=chapters, folded=True)
        page = await project.findings.findings(where, 0, _MOST)
        report = await _print(project, page, as_json=arguments.json)
    wanted = set(chapters)
    failed = arguments.model and any(not wanted or chapter in wanted for chapter, _check in report.not_checked)
    return MODEL_FAILED if failed else FOUND if page.rows else DONE


def _words(arguments: Namespace) -> Iterator[Command]:
    if arguments.undo:
        yield UndoDecision(scope="findings")
    if arguments.intended:
        yield DecideFindings(tuple(arguments.intended), "intended", arguments.reason or "")
    if arguments.not_useful:
        yield DecideFindings(tuple(arguments.not_useful), "useless")
    if arguments.later:
        yield DecideFindings(tuple(arguments.later), "later")
    if arguments.again:
        yield DecideFindings(tuple(arguments.again), "waiting")
    if arguments.rule_off:
        yield SwitchRule(arguments.rule_off)
    if arguments.rule_on:
        yield SwitchRule(arguments.rule_on, on=True)


async def _changed(arguments: Namespace, project: Project) -> ChangeFromHere:
    """The fact as stated in the chapter, with the given values in some fields."""
    identity, changes = ProposalId(arguments.changed), named_values(arguments.set)
    row = await project.findings.finding(identity)
    if not changes or not isinstance(row.difference.after, Finding) or row.place is None:
        return ChangeFromHere(identity)
    plain = to_plain(fact_of(row))
    allowed = sorted(plain.keys() - {"id", "by", "evidence"})
    try:
        if unknown := sorted(changes.keys() - set(allowed)):
            raise ValueError(", ".join(unknown))
        return ChangeFromHere(identity, from_plain(Fact, plain | changes))
    except (ValidationError, ValueError) as error:
        raise BadArgument(
            _("This cannot be set: {names}.").format(names=_(", ").join(changes)),
            str(error).splitlines()[0],
            available(allowed),
        ) from error


async def _print(project: Project, page: FindingPage, *, as_json: bool) -> CheckReport:
    report = await project.findings.finding_report()
    positions = {chapter.id: chapter.position for chapter in await project.book.chapters()}
    if as_json:
        rows = [_plain(row, positions) for row in page.rows]
        values = {"counts": dict(page.counts), "offset": page.offset, "total": page.total, "folded": page.folded}
        say_json({**values, "findings": rows, "report": to_plain(report)}, indent=2)
        return report
    say_rows(_cells(row, positions) for row in page.rows)
    left = page.total - page.offset - len(page.rows)
    if left > 0:
        say(ngettext("{n} more: --offset", "{n} more: --offset", left).format(n=left))
    if page.folded:
        say(ngettext("{n} folded: --unfold", "{n} folded: --unfold", page.folded).format(n=page.folded))
    for rate in report.rates:
        if rate.useless:
            say(rate_words(rate))
    say(report_words(report))
    if compared := compared_words(report):
        say(compared)
    return report


def _cells(row: FindingRow, positions: dict[ChapterId, int]) -> tuple[object, ...]:
    proposal, finding = row.proposal, row.proposal.finding
    place = positions.get(proposal.place.chapter, "") if proposal.place else ""
    there = positions.get(finding.against, finding.source.title) if finding.against else finding.source.title
    source = quoted(finding.source.text) if finding.source.text else ""
    cells = (finding_title(proposal), sureness(proposal), state_words(proposal), quoted(proposal.quotation))
    return (proposal.id, place, *cells, there, source, clean_line(finding.explanation))


def _plain(row: FindingRow, positions: dict[ChapterId, int]) -> dict[str, Any]:
    proposal, finding = row.proposal, row.proposal.difference.after
    against = finding.against if isinstance(finding, Finding) else None
    return {
        **to_plain(row),
        "position": positions.get(proposal.place.chapter) if proposal.place else None,
        "against": positions.get(against) if against else None,
        "words": {"check": finding_title(proposal), "state": state_words(proposal)},
    }
