"""Texts for runs, quotes and levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from flowcabal_tui.domain.errors import RunError, WorkflowError
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.run import NodeState, Quote, RunSummary
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import all_nodes, dependencies
from flowcabal_tui.nodes.inputs import needs_chapter
from flowcabal_tui.nodes.model_calls import model_calls
from flowcabal_tui.project.words import RUN_STATES, spend_lines
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.rail_graph import state_sign

OVER = ("done", "frozen", "failed", "blocked", "skipped", "cancelled")
"""States of a node that has ended."""
_NAMES = 12
INSTRUCTION = "instruction"
"""The input that holds the writer's instruction for a run, and the draft of it for each chapter."""


def quote_words(quote: Quote, models: str = "") -> str:
    """A quote, one sentence per line; `models` are the paid ones."""
    total = len(quote.would_run) + len(quote.served)
    lines = [_("{n} of {total} nodes would run.").format(n=len(quote.would_run), total=total)]
    if quote.likely.calls or quote.most is None:
        lines += spend_lines(quote, models=models)
    if quote.served:
        lines.append(_("{n} already exist and cost nothing.").format(n=len(quote.served)))
    if quote.frozen:
        lines.append(_("Frozen, so they do not run: {names}").format(names=_names(quote.frozen)))
    if quote.stale:
        lines.append(_("Out of date, so they run again: {names}").format(names=_names(quote.stale)))
    return "\n".join(lines)


def quote_names(quote: Quote, models: str = "") -> str:
    """A quote with the names of the nodes."""
    lines = [quote_words(quote, models)]
    if quote.would_run:
        lines.append(_("Would run: {names}").format(names=_names(quote.would_run)))
    if quote.served:
        lines.append(_("Exist already: {names}").format(names=_names(quote.served)))
    return "\n".join(lines)


def _names(nodes: Collection[NodeId]) -> str:
    shown = _(", ").join(one_line(node, 40) for node in list(nodes)[:_NAMES])
    more = len(nodes) - _NAMES
    return shown if more <= 0 else _("{names} and {n} more").format(names=shown, n=more)


def run_cells(run: RunSummary, position: int | None) -> tuple[str, ...]:
    """A run as cells: sign, state, chapter, time, workflow and its error."""
    chapter = _("chapter {n}").format(n=position) if position is not None else ""
    sign = state_sign(run.state, plain=False)
    return f"{sign} {_(RUN_STATES[run.state])}", chapter, f"{run.started_at:%m-%d %H:%M}", run.workflow, run.error


def level_rows(levels: Sequence[Sequence[NodeId]], titles: Mapping[NodeId, str]) -> tuple[tuple[str, str], ...]:
    """Levels of work as rows, each node with its level."""
    return tuple(
        (str(node), _("level {n}").format(n=number) + f"  {one_line(titles.get(node, node), 60)}")
        for number, level in enumerate(levels, 1)
        for node in level
    )


def next_level(workflow: Workflow, states: Mapping[NodeId, NodeState]) -> tuple[NodeId, ...]:
    """The nodes that begin next in a run that pauses after each level."""
    try:
        needs = dependencies(workflow)
    except WorkflowError:
        return ()
    over = {node for node, state in states.items() if state in OVER}
    return tuple(node.id for node in workflow.nodes if node.id not in over and over.issuperset(needs.get(node.id, ())))


def refuse_without_chapter(workflow: Workflow, chapter: ChapterId | None) -> None:
    """Raises RunError for a run that would fail because it has no chapter."""
    if chapter is None and needs_chapter(workflow):
        raise RunError(
            _("There is no chapter to write yet."),
            _("{name} writes a chapter of the book.").format(name=workflow.name),
            _("Add one first: press `+` in the list of chapters."),
        )


def asks_for_length(workflow: Workflow) -> bool:
    """True when a prompt names the length of the chapter."""
    return "chapter.length" in workflow.model_dump_json()


def asks_for_instruction(workflow: Workflow) -> bool:
    """True when an instruction of the writer can change the output; False if no model writes."""
    writes = any(model_calls(workflow.nodes)) or any(node.kind == "subflow" for node in all_nodes(workflow.nodes))
    return writes or INSTRUCTION in workflow.model_dump_json()
