"""Searches the whole project, and finds the origin of a chapter's lines."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import asdict

from flowcabal_tui.cli.naming import the_chapter
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.origin import BlamedLine, ParagraphOrigin, Provenance
from flowcabal_tui.domain.search import SEARCH_KINDS, SearchAnswer, SearchHit
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.comparison_words import maker_words
from flowcabal_tui.project.words import AUTHORS, CLASSES, SEARCHED, level_words

_LINE = 60
"""Characters of a line that are shown beside its origin."""


async def search(arguments: Namespace) -> int:
    """Prints the best places of each kind; returns 1 when there are none."""
    async with await Project.open(arguments.project, read_only=True) as project:
        answer = await project.book.search(arguments.query, tuple(arguments.kind) or SEARCH_KINDS, arguments.limit)
    if arguments.json:
        say_json(to_plain(answer), indent=2)
    else:
        _print_answer(answer)
    if not answer.hits:
        say(_("Nothing was found."), file=sys.stderr)
    return 0 if answer.hits else 1


async def actions(arguments: Namespace) -> int:
    """Prints the actions of a project, with `--search` only those that match by words and by meaning; returns 1 when
    none does."""
    async with await Project.open(arguments.project, read_only=True) as project:
        rows = await project.workflows.actions(arguments.search)
    if arguments.json:
        for row in rows:
            say_json({"type": "action", **asdict(row)})
    else:
        for row in rows:
            gate = _("asks before it runs") if row.gated else ""
            say_row((row.id, row.name, clean_line(row.description)[:_LINE], gate))
    if arguments.search and not rows:
        say(_("Nothing was found."), file=sys.stderr)
        return 1
    return 0


def _print_answer(answer: SearchAnswer) -> None:
    for kind, count in answer.counts:
        if count:
            say(_("{kind}: {words}").format(kind=_(SEARCHED[kind]), words=count))
            for hit in answer.hits:
                if hit.kind == kind:
                    say_row(("", str(hit.position or "-"), hit.title, _marked(hit)))


def _marked(hit: SearchHit) -> str:
    """The line with its matches in brackets."""
    line = hit.line
    for span in reversed(hit.spans):
        line = f"{line[: span.start]}[{line[span.start : span.end]}]{line[span.end :]}"
    return line


async def blame(arguments: Namespace) -> int:
    """Prints every line with the version, run and node that introduced it; for one line, all details."""
    async with await Project.open(arguments.project, read_only=True) as project:
        chapter = await the_chapter(project, arguments.chapter)
        if arguments.line:
            provenance = await project.book.provenance(chapter, arguments.line)
            plain = to_plain(provenance)
        else:
            lines = await project.book.blame(chapter)
            plain = [to_plain(line) for line in lines]
    if arguments.json:
        say_json(plain, indent=2)
    elif arguments.line:
        _print_provenance(provenance, chapter)
    else:
        _print_lines(lines, chapter)
    return 0


def _print_lines(lines: tuple[BlamedLine, ...], chapter: ChapterId) -> None:
    for line in lines:
        say_row((str(line.number), *_origin(line.origin, chapter), line.text[:_LINE]))
        if line.candidate is not None:
            say_row(("", _("from a candidate"), maker_words(line.candidate.maker), line.candidate.before[:_LINE]))
        if len(line.spans) > 1:
            _print_spans(line, chapter)


def _print_spans(line: BlamedLine, chapter: ChapterId) -> None:
    """Prints the origin of each part of a line with several origins."""
    for span in line.spans:
        if words := line.text[span.start : span.end].strip():
            say_row(("", *_origin(span.origin, chapter), words[:_LINE], span.origin.instruction))


def _origin(origin: ParagraphOrigin, chapter: ChapterId) -> tuple[str, ...]:
    elsewhere = "" if origin.chapter == chapter else f"{origin.chapter} "
    made = f"{origin.run}/{origin.node}#{origin.attempt}" if origin.run else origin.model or "-"
    return f"{elsewhere}v{origin.version}", f"{origin.at:%Y-%m-%d %H:%M}", _(AUTHORS[origin.author]), made


def _print_provenance(provenance: Provenance, chapter: ChapterId) -> None:
    for origin in provenance.line.origin.chain:
        say_row((*_origin(origin, chapter), origin.text))
    if len(provenance.line.spans) > 1:
        _print_spans(provenance.line, chapter)
    written = provenance.written
    if written is None:
        return
    say(
        _("written by {model}: {workflow}, {node}, attempt {n} of run {run}").format(
            model=written.model, workflow=written.workflow, node=written.title, n=written.attempt, run=written.run
        )
    )
    for source in written.receipt.sources if written.receipt else ():
        place = f"{source.uri}:{source.start}-{source.end}" if source.start >= 0 else source.uri
        words = (_(CLASSES[source.budget_class]), level_words(source), place, source.title, source.reason)
        say_row(("", *words))
