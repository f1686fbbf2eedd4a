"""`context`: the context of a node at a chapter, without spending, and its difference from another receipt.

It also sets the people, place, time and kind of the chapter's scene.
"""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.naming import chapter_at, the_node, the_run, the_workflow
from flowcabal_tui.cli.terminal import say, say_json, say_rows
from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.context import BUDGET_CLASSES, NO_SCENE, BudgetClass, ContextSource, Receipt, Scene
from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project
from flowcabal_tui.project.words import (
    CLASSES,
    LEVELS,
    SCENE_FIELDS,
    SCENE_ORIGINS,
    counting_words,
    level_words,
    scene_words,
)
from flowcabal_tui.protocol.book import SetScene

_BETWEEN_NAMES: Final = re.compile(r"[,;，、；]")


@dataclass(frozen=True, slots=True)
class ReceiptDifference:
    """The differences of two receipts: new and missing sources, changed levels (before, now), tokens by class."""

    new: tuple[ContextSource, ...]
    gone: tuple[ContextSource, ...]
    levels: tuple[tuple[Level, ContextSource], ...]
    classes: tuple[tuple[BudgetClass, int, int], ...]


async def context(arguments: Namespace) -> int:
    """Prints the receipt that a node would get, or with `--against` its difference from that of another chapter
    or run."""
    given = _scene_given(arguments)
    async with await Project.open(arguments.project, read_only=given is None) as project:
        if given is not None:
            await project.carry_out(SetScene(await _required(project, arguments.chapter), given, (*arguments.by_rule,)))
        workflow = await the_workflow(project, arguments.workflow)
        node = the_node(workflow, arguments.node) if arguments.node else _first_node(workflow)
        receipt = await _preview(project, arguments, node, arguments.chapter)
        other = None
        if arguments.against is not None and arguments.against.isdecimal():
            other = await _preview(project, arguments, node, int(arguments.against))
        elif arguments.against is not None:
            other = await _of_run(project, await the_run(project, arguments.against), node)
    found = difference(other, receipt) if other else None
    if arguments.json:
        plain = to_plain(receipt) if found is None else {"receipt": to_plain(receipt), "difference": to_plain(found)}
        say_json(plain, indent=2)
    elif found is not None:
        _print_difference(found)
    else:
        print_receipt(receipt)
    return 0


def _scene_given(arguments: Namespace) -> Scene | None:
    """The scene values given as arguments; None without any."""
    who = None if arguments.who is None else tuple(_BETWEEN_NAMES.split(arguments.who))
    scene = Scene(who, arguments.where, arguments.when, arguments.kind)
    return None if scene == NO_SCENE and not arguments.by_rule else scene


async def _required(project: Project, number: int | None) -> ChapterId:
    """The chapter whose scene is set. Raises BadArgument."""
    if (chapter := await chapter_at(project, number)) is None:
        raise BadArgument(_("Which chapter does the scene belong to?"), "", _("Name it with --chapter."))
    return chapter


async def _preview(project: Project, arguments: Namespace, node: NodeId, chapter: int | None) -> Receipt:
    inputs = (("instruction", arguments.instruction),)
    request = RunRequest(arguments.workflow, await chapter_at(project, chapter), inputs)
    return await project.runs.preview_context(request, node)


def _first_node(workflow: Workflow) -> NodeId:
    """The first node of the workflow that writes with a model. Raises RunError."""
    nodes = [node.id for node in workflow.nodes if node.kind == "prompt"]
    if not nodes:
        raise RunError(_("No step of {workflow} receives a context.").format(workflow=workflow.id))
    return nodes[0]


async def _of_run(project: Project, run: RunId, node: NodeId) -> Receipt:
    """The receipt of the node's newest attempt in a run. Raises RunError if the node received no context."""
    receipts = [attempt.receipt for attempt in (await project.runs.node(run, node)).attempts if attempt.receipt]
    if not receipts:
        raise RunError(_("{node} received no context in that run.").format(node=node))
    return receipts[-1]


def difference(before: Receipt, now: Receipt) -> ReceiptDifference:
    """The difference between two receipts; sources are equal if they are the same part of the same text."""
    old, new = ({(source.uri, source.start): source for source in each.sources} for each in (before, now))
    used = [{use.budget_class: use.used for use in each.classes} for each in (before, now)]
    return ReceiptDifference(
        tuple(source for place, source in new.items() if place not in old),
        tuple(source for place, source in old.items() if place not in new),
        tuple((old[at].level, new[at]) for at in new if at in old and old[at].level != new[at].level),
        tuple(
            (name, used[0].get(name, 0), used[1].get(name, 0))
            for name in BUDGET_CLASSES
            if used[0].get(name, 0) != used[1].get(name, 0)
        ),
    )


def print_receipt(receipt: Receipt) -> None:
    """Prints sources with level, tokens and reason; then the omitted ones with the reason."""
    say(_("{used} of {budget} tokens").format(used=receipt.used, budget=receipt.budget))
    say(counting_words(receipt.counted_by))
    words = scene_words(receipt.intent)
    say_rows((_(SCENE_FIELDS[at]), words[at], _(SCENE_ORIGINS[receipt.intent.origin(at)])) for at in SCENE_FIELDS)
    say_rows((*_row(source), source.reason) for source in receipt.sources)
    say_rows(
        (_("left out"), _(CLASSES[item.budget_class]), item.tokens, item.title or item.uri, item.rule)
        for item in receipt.dropped
    )
    say_rows((_("not written yet"), item) for item in receipt.pending)
    say_rows((_("note"), note) for note in receipt.notes)


def _print_difference(found: ReceiptDifference) -> None:
    """Lines that begin with + (new), - (gone) or ~ (another level), then the tokens of the classes that changed."""
    say_rows(("+", *_row(source), source.reason) for source in found.new)
    say_rows(("-", *_row(source), source.reason) for source in found.gone)
    say_rows(("~", *_row(source), f"{_(LEVELS[was])} > {_(LEVELS[source.level])}") for was, source in found.levels)
    say_rows((_(CLASSES[name]), f"{before} > {now}") for name, before, now in found.classes)
    if found == ReceiptDifference((), (), (), ()):
        say(_("The two receipts are the same."))


def _row(source: ContextSource) -> tuple[object, ...]:
    return _(CLASSES[source.budget_class]), level_words(source), source.tokens, source.title or source.uri
