"""`candidates`: comparing with hidden origin, choosing, composing, checking, reopening."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from contextlib import redirect_stdout
from typing import Any, Final

from flowcabal_tui.agents.comparing.seams import SeamHunk, with_hunks
from flowcabal_tui.cli.agreeing import agreed_to_spend
from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import chapter_at, the_node, the_workflow
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.running import follow_run
from flowcabal_tui.cli.terminal import say, say_json, say_list, say_row
from flowcabal_tui.cli.text_files import text_from
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.comparison import (
    LETTERS,
    Comparison,
    ComparisonId,
    ComparisonSummary,
    ComparisonTarget,
    OutcomeCount,
    Taken,
    Verdict,
    composed,
    paragraphs_of,
)
from flowcabal_tui.domain.ids import QuestionId, RunId
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.comparison_words import STATES, VERDICTS, maker_words, outcome_words
from flowcabal_tui.protocol.comparisons import (
    DecideComparison,
    SiftCandidates,
    SmoothSeams,
    TakeBackChoice,
    WriteCandidates,
)

DONE, NOTHING = 0, 1
_PLACE: Final = re.compile(r"([A-Pa-p])(\d{0,4})")


async def candidates(arguments: Namespace) -> int:
    """Lists or shows comparisons after applying the options; 1 when there is none, or a price was refused."""
    _require_sense(arguments)
    pays = bool(arguments.more or arguments.seams or (arguments.sift and arguments.model))
    writes = bool(pays or _decides(arguments) or arguments.undo or arguments.sift)
    async with await opened(
        arguments, read_only=not writes, everything=True, knowledge=False, uses_models=pays
    ) as project:
        if arguments.outcomes:
            return _print_outcomes(await project.comparisons.outcomes(), as_json=arguments.json)
        target = await _target(project, arguments)
        if target is None:
            return _print_list(await project.comparisons.comparisons(), as_json=arguments.json)
        return await _carried_out(project, arguments, target)


def _decides(arguments: Namespace) -> bool:
    return bool(arguments.choose or arguments.tie or arguments.none or arguments.take or arguments.compose)


def _require_sense(arguments: Namespace) -> None:
    require_beside("--sift", arguments.sift, model=arguments.model)
    require_beside("--take", bool(arguments.take or arguments.compose), seams=arguments.seams)
    require_beside("--seams", arguments.seams, accept=arguments.accept)
    require_beside("--node", bool(arguments.node), workflow=arguments.workflow, chapter=arguments.chapter)
    require_beside("--workflow", bool(arguments.workflow), node=arguments.node)
    acts = _decides(arguments) or arguments.undo or arguments.more or arguments.sift
    if acts and not (arguments.comparison or arguments.node):
        raise BadArgument(
            _("Name the comparison."),
            "",
            _("`flowcabal-tui candidates PROJECT` lists it; or give --workflow and --node."),
        )


async def _target(project: Project, arguments: Namespace) -> ComparisonTarget | None:
    if arguments.node:
        workflow = await the_workflow(project, arguments.workflow)
        node = the_node(workflow, arguments.node)
        return ComparisonTarget(workflow=workflow.id, node=node, chapter=await chapter_at(project, arguments.chapter))
    if not arguments.comparison:
        return None
    if any(question.id == arguments.comparison for question in await project.runs.questions()):
        return ComparisonTarget(QuestionId(arguments.comparison))
    known = {each.id: each.target for each in await project.comparisons.comparisons()}
    identity = ComparisonId(arguments.comparison)
    return known[identity] if identity in known else await project.comparisons.find_comparison(identity)


async def _carried_out(project: Project, arguments: Namespace, target: ComparisonTarget) -> int:
    code = DONE
    if arguments.more:
        quote = await project.comparisons.quote_candidates(target, arguments.more)
        if not await agreed_to_spend(project, quote, yes=arguments.yes):
            return NOTHING
        run = await project.carry_out(WriteCandidates(target, arguments.more))
        if run:
            return await follow_run(project, RunId(run))
    if arguments.sift:
        if arguments.model and not await agreed_to_spend(
            project, await project.comparisons.quote_sifting(target), yes=arguments.yes
        ):
            return NOTHING
        await project.carry_out(SiftCandidates(target, arguments.model))
    shown = await project.comparisons.comparison(target)
    waiting = next((each for each in await project.runs.questions() if each.id == target.question), None)
    if arguments.undo:
        await project.carry_out(TakeBackChoice(shown.id))
    elif _decides(arguments):
        verdict, taken = _verdict(arguments, shown)
        if arguments.seams:
            smoothed = await _smoothed(project, arguments, shown, verdict.text, taken)
            if smoothed is None:
                return NOTHING
            if not arguments.accept:
                return DONE
            verdict = Verdict("composed", (), smoothed)
        await project.carry_out(DecideComparison(target, verdict, taken))
        if waiting is not None:
            with redirect_stdout(sys.stderr if arguments.json else sys.stdout):
                code = await follow_run(project, waiting.run)
    _print_one(await project.comparisons.comparison(target), as_json=arguments.json)
    return code


async def _smoothed(
    project: Project, arguments: Namespace, shown: Comparison, text: str, taken: tuple[Taken, ...]
) -> str | None:
    """The text with the changes that --accept names; None when the writer would not pay."""
    target = shown.target
    changes = await project.comparisons.seam_changes(target, text, taken)
    if changes is None:
        if not await agreed_to_spend(
            project, await project.comparisons.quote_seams(target, text, taken), yes=arguments.yes
        ):
            return None
        await project.carry_out(SmoothSeams(target, text, taken))
        changes = await project.comparisons.seam_changes(target, text, taken) or ()
    _print_changes(changes, as_json=arguments.json and not arguments.accept)
    if unknown := [number for number in arguments.accept if number > len(changes)]:
        raise BadArgument(
            _("There is no change {n}.").format(n=unknown[0]), "", _("Changes: {n}").format(n=len(changes))
        )
    return with_hunks(text, [changes[number - 1] for number in arguments.accept])


def _verdict(arguments: Namespace, shown: Comparison) -> tuple[Verdict, tuple[Taken, ...]]:
    if arguments.none:
        return Verdict("none"), ()
    if arguments.choose or arguments.tie:
        names = [arguments.choose] if arguments.choose else arguments.tie
        picks = tuple(shown.candidates[_place(shown, name)[0]].digest for name in names)
        return Verdict("chosen" if arguments.choose else "tie", picks), ()
    if arguments.compose:
        return Verdict("composed", (), text_from(arguments.compose)), ()
    taken: list[Taken] = []
    for name in arguments.take:
        place, number = _place(shown, name)
        candidate = shown.candidates[place]
        count = len(paragraphs_of(candidate.text))
        wanted = range(count) if number is None else (number,)
        taken += [Taken(candidate.digest, each) for each in wanted]
    return Verdict("composed", (), composed(shown, taken)), tuple(taken)


def _place(shown: Comparison, name: str) -> tuple[int, int | None]:
    """`B` or `B2`: the place of a candidate, and of its paragraph. Raises BadArgument."""
    found = _PLACE.fullmatch(name)
    place = LETTERS.index(found[1].upper()) if found else len(shown.candidates)
    number = int(found[2]) - 1 if found and found[2] else None
    known = place < len(shown.candidates)
    if not known or (number is not None and not 0 <= number < len(paragraphs_of(shown.candidates[place].text))):
        letters = _(", ").join(LETTERS[: len(shown.candidates)])
        raise BadArgument(
            _("There is no candidate or paragraph {name}.").format(name=clean_line(name)),
            "",
            _("The candidates: {names}; A1 is the first paragraph of A.").format(names=letters),
        )
    return place, number


# the text for the output


def _print_list(rows: tuple[ComparisonSummary, ...], *, as_json: bool) -> int:
    def cells(row: ComparisonSummary) -> tuple[object, ...]:
        words = _(VERDICTS[row.verdict]) if row.verdict else _(STATES[row.state])
        count = _("{n} candidates").format(n=row.candidates)
        return row.id, row.target.question or "-", row.target.chapter or "-", row.title, count, words

    say_list(rows, map(cells, rows), as_json=as_json)
    return DONE if rows else NOTHING


def _print_outcomes(rows: tuple[OutcomeCount, ...], *, as_json: bool) -> int:
    say_list(rows, ((row.prompt[:12] or "-", *outcome_words(row)) for row in rows), as_json=as_json)
    return DONE if rows else NOTHING


def _print_one(shown: Comparison, *, as_json: bool) -> None:
    if as_json:
        say_json(_plain(shown), indent=2)
        return
    say_row((shown.id, shown.title, _(VERDICTS[shown.verdict.kind]) if shown.verdict else _(STATES["open"])))
    for row in shown.rows:
        if row.beat:
            say(f"— {clean_line(row.beat)}")
        for place, cell in enumerate(row.cells):
            texts = paragraphs_of(shown.candidates[place].text)
            for number in cell:
                say(f"{LETTERS[place]}{number + 1}  {texts[number]}")
    for place, each in enumerate(shown.candidates):
        reasons = [mark.reason for mark in each.marks]
        made = [maker_words(each.maker)] if each.maker else []
        if reasons or made:
            say_row((LETTERS[place], *made, *map(clean_line, reasons)))


def _plain(shown: Comparison) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(shown)
    for place, each in enumerate(plain["candidates"]):
        each["letter"], each["paragraphs"] = LETTERS[place], paragraphs_of(shown.candidates[place].text)
    return plain


def _print_changes(changes: tuple[SeamHunk, ...], *, as_json: bool) -> None:
    if as_json:
        say_json([to_plain(each) for each in changes], indent=2)
        return
    for number, each in enumerate(changes, 1):
        say(f"{number}  - {each.before}\n{number}  + {each.after}")
    if not changes:
        say(_("The model would change nothing at the seams."))
