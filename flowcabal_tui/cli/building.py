"""`build` and `update`: make a suggested workflow from a request; `decide` accepts it, change by change; `builds`
lists."""

from __future__ import annotations

import difflib
import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flowcabal_tui.cli.agreeing import agreed_to_pay
from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.documents import SUFFIXES, conversion_of, read_document
from flowcabal_tui.cli.opening import opened
from flowcabal_tui.cli.terminal import say, say_json, say_row
from flowcabal_tui.cli.text_files import write_lines
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.build_words import SIGNS, build_price_lines, round_lines, rows_of, sides
from flowcabal_tui.protocol.builds import (
    AcceptBuild,
    AnswerBuild,
    RejectBuild,
    RequestBuild,
    ResumeBuild,
    ReviseBuild,
    UndoBuild,
)

if TYPE_CHECKING:
    from flowcabal_tui.agents.builder.changes import Change
    from flowcabal_tui.project.builder.records import BuildRecord

DONE, FAILED, WAITS = 0, 1, 3
_LONGEST: Final = 100


async def build(arguments: Namespace) -> int:
    """Builds a new workflow from a request; returns 3 when the writer has to decide or answer."""
    command = RequestBuild(arguments.wish, template=arguments.template, **_how(arguments))
    return await _request_build(arguments, command)


async def update(arguments: Namespace) -> int:
    """Like `build`, for an existing workflow."""
    named: dict[str, Any] = {"workflow": arguments.workflow}
    if (file := Path(arguments.workflow)).suffix in SUFFIXES:
        named = {"document": conversion_of(file, read_document(file)).workflow.model_dump(mode="json")}
    command = RequestBuild(arguments.wish, **_how(arguments), **named)
    return await _request_build(arguments, command)


async def builds(arguments: Namespace) -> int:
    """Lists the builds of a project, or shows one of them."""
    async with await opened(arguments, read_only=True, knowledge=False) as project:
        if arguments.build:
            _print_build(await project.builds.build(arguments.build), as_json=arguments.json, rounds=True)
            return DONE
        rows = await project.builds.build_rows()
    for row in rows:
        if arguments.state in (None, row.state) and arguments.json:
            say_json({"type": "build", **asdict(row)})
        elif arguments.state in (None, row.state):
            say_row((row.id, row.state, row.saved or row.workflow or "-", row.wish[:_LONGEST]))
    return DONE


async def decide(arguments: Namespace) -> int:
    """Decides a suggestion, answers its question, or undoes its acceptance."""
    name, answer = arguments.question, arguments.answer
    kind, _colon, rest = answer.partition(":")
    async with await opened(arguments, knowledge=False, uses_models=kind in ("answer", "revise", "resume")) as project:
        match kind:
            case "approve" | "accept":
                saved = await project.carry_out(AcceptBuild(name, _ids(rest)))
                say(_("Saved as {reference}.").format(reference=saved))
            case "reject":
                await project.carry_out(RejectBuild(name, rest))
                say(_("Rejected. The workflow is unchanged."))
            case "revise" | "resume":
                await project.carry_out(ReviseBuild(name, rest) if kind == "revise" else ResumeBuild(name))
                return _print_build(await project.builds.build(name), as_json=False)
            case "undo":
                saved = await project.carry_out(UndoBuild(name))
                gone = _("The new workflow was deleted again.")
                say(_("Saved as {reference}.").format(reference=saved) if saved else gone)
            case "answer":
                await project.carry_out(AnswerBuild(name, rest))
                return _print_build(await project.builds.build(name), as_json=False)
            case _:
                raise BadArgument(
                    _("{answer} is not a valid answer to a suggestion.").format(answer=answer[:60]),
                    _("approve, approve:c1,c2, approve:all, reject:REASON, revise:REASON, answer:TEXT, resume or undo"),
                )
    return DONE


async def _request_build(arguments: Namespace, command: RequestBuild) -> int:
    async with await opened(arguments, knowledge=False, uses_models=not command.offline) as project:
        if not command.offline:
            price = await project.builds.build_price(command.wish, command.workflow, command.tools)
            if (
                price is not None
                and not price.is_free
                and not await agreed_to_pay(
                    build_price_lines(price), yes=arguments.yes, advice=_("Give --yes or --offline.")
                )
            ):
                return FAILED
        record = await project.builds.build(await project.carry_out(command))
    if arguments.out and record.status != "asks":
        write_lines(arguments.out, [json.dumps(record.document, ensure_ascii=False, indent=2)])
    return _print_build(record, as_json=arguments.json)


def _print_build(record: BuildRecord, *, as_json: bool, rounds: bool = False) -> int:
    """Prints a build, in words with its rounds if those are wanted; the exit code."""
    if not as_json and rounds:
        for line in round_lines(record):
            say(clean_line(line))
    if as_json:
        for each in record.rounds:
            say_json({"type": "build:round", "build": record.id, **each})
        say_json(_plain(record))
    else:
        for line in _lines(record):
            say(line)
    return WAITS if record.waits else FAILED


def _plain(record: BuildRecord) -> dict[str, Any]:
    changes = [{**asdict(each), "needs": sorted(each.needs)} for each in record.changes]
    values = {key: value for key, value in asdict(record).items() if key not in ("rounds", "base", "marks", "id")}
    return {"type": "build:record", "build": record.id, **values, "changes": changes}


def _lines(record: BuildRecord) -> Iterator[str]:
    """The suggestion in words: what was changed, why, and how to decide."""
    if record.explanation:
        yield clean_line(record.explanation)
    for each in record.assumptions:
        yield _("assumed: {text}").format(text=clean_line(each))
    listed = [] if record.status == "asks" else [each for _what, changes in rows_of(record) for each in changes]
    for change in listed:
        sign = SIGNS[change.kind]
        place = ".".join(filter(None, (change.node, change.field))) or _("the workflow")
        lines = list(_differing(change))
        tick = "x" if change.ticked else " "
        gate = "  " + _("You would no longer be asked at this point.") if change.loses_gate else ""
        words = "" if lines else _value(change)
        yield clean_line(f"[{tick}] {change.id} {sign} {place} {words}"[:_LONGEST].rstrip()) + gate
        yield from lines
    for each in (*record.problems, *record.notes):
        yield _("note: {text}").format(text=clean_line(each))
    if record.stopped:
        yield clean_line(record.stopped)
    for each in record.questions:
        yield clean_line(each)
    if record.tokens:
        yield ngettext("{n} round, {tokens} tokens", "{n} rounds, {tokens} tokens", len(record.rounds)).format(
            n=len(record.rounds), tokens=record.tokens
        )
    if record.status == "asks":
        yield _("Answer: flowcabal-tui decide PROJECT {id} answer:TEXT").format(id=record.id)
    elif record.status == "finished":
        yield _("Decide: flowcabal-tui decide PROJECT {id} approve (what is ticked), approve:c1,c2 or reject").format(
            id=record.id
        )


def _value(change: Change) -> str:
    """The name of a node, the new value of anything else."""
    if change.kind.startswith("node"):
        whole = change.after or change.before
        return str(whole.get("name", "")) if isinstance(whole, dict) else ""
    return json.dumps(change.after, ensure_ascii=False)


def _differing(change: Change) -> Iterator[str]:
    """The removed and the added lines of a prompt; nothing for other values."""
    if not (isinstance(change.before, list) and isinstance(change.after, list)):
        return
    old, new = (side.splitlines() for side in sides(change))
    for line in difflib.ndiff(old, new):
        if line[0] in "+-" and line[2:].strip():
            yield f"      {line[0]} {clean_line(line[2:])[:_LONGEST]}"


def _ids(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in text.split(","))))


def _how(arguments: Namespace) -> dict[str, Any]:
    """The keyword arguments common to both commands."""
    actions = tuple(str(each.resolve()) for each in arguments.actions)
    return {"offline": arguments.offline, "actions": actions, "tools": arguments.tools}
