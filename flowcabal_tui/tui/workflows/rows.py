"""The rows of the workflow: the title of a node, and the marks beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from rich.text import Text
from textual.content import Content

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.domain.versions import NodeStatus, StaleKind
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.tui.shared.words import STATES, one_line
from flowcabal_tui.tui.widgets.cells import cell_width, crop, padded
from flowcabal_tui.tui.widgets.column_rows import Cell, Column, ColumnRow, Columns
from flowcabal_tui.tui.widgets.rail_graph import STATE_ROLES, state_sign
from flowcabal_tui.tui.widgets.roles import role_sign, role_style

if TYPE_CHECKING:
    from flowcabal_tui.domain.workflow import Problem, Workflow


@dataclass(frozen=True, slots=True)
class NodeMarks:
    """The marks of a node beside its state in the run."""

    has_output: bool = False
    frozen: bool = False
    chosen: bool = False
    """A person selected or wrote the current output."""
    stale: StaleKind | None = None
    target: bool = False
    errors: int = 0
    warnings: int = 0
    message: str = ""
    """The first finding."""


AT_WORK: Final = ("running", "retrying", "waiting")
NO_MARKS: Final = NodeMarks()
NO_NODE: Final = mark("There is no node here: `+` adds one.")
_NAMED_BY_SIGN: Final = ("pending", "done")
"""States whose sign says enough: a word in every row says nothing."""
_TEMPLATES: Final = (
    Column(most=1, least=1),
    Column(least=12, fill=True),
    Column(rank=1, least=14, role="secondary"),
    Column(rank=2, least=16, is_phrase=True, role="secondary"),
)
ShownState = NodeState | Literal["stale", "round"]
"""A round or branch has no state of its own."""


def node_marks(
    statuses: Iterable[NodeStatus], findings: Iterable[Problem], targets: Collection[NodeId]
) -> dict[NodeId, NodeMarks]:
    """The marks by path; a finding on an inner node also counts for its container."""
    marks: dict[NodeId, NodeMarks] = {}
    for each in statuses:
        output = each.output
        marks[each.node] = NodeMarks(
            has_output=output is not None,
            frozen=output is not None and output.frozen,
            chosen=output is not None and output.chosen,
            stale=each.stale.kind if each.stale else None,
        )
    for node in targets:
        marks[node] = replace(marks.get(node, NodeMarks()), target=True)
    for finding in findings:
        path = NodeId(finding.node)
        while path:
            known = marks.get(path, NodeMarks())
            marks[path] = replace(
                known,
                errors=known.errors + (finding.severity == "error"),
                warnings=known.warnings + (finding.severity == "warning"),
                message=known.message or finding.message,
            )
            path = NodeId(path.rpartition("/")[0])
    return marks


def row_state(state: NodeState | None, marks: NodeMarks, *, in_run: bool) -> ShownState:
    """The displayed state: that of the run; if it is done, or no run is displayed, that of the output."""
    if state not in (None, "pending", "done", "frozen") or (in_run and state in (None, "pending")):
        return state or "pending"
    if marks.stale:
        return "stale"
    if marks.frozen:
        return "frozen"
    return "done" if marks.has_output and not in_run else state or "pending"


def mark_words(marks: NodeMarks, state: ShownState) -> str:
    """The marks in words, each with its sign, except those already shown by the state."""
    parts = [_("★ target")] if marks.target else []
    if marks.errors:
        parts.append("! " + ngettext("{n} error", "{n} errors", marks.errors).format(n=marks.errors))
    elif marks.warnings:
        parts.append("! " + ngettext("{n} warning", "{n} warnings", marks.warnings).format(n=marks.warnings))
    parts += [_("out of date upstream")] if marks.stale == "propagated" else []
    parts += [_("frozen")] if marks.frozen and state != "frozen" else []
    parts += [_("chosen by you")] if marks.chosen else []
    return "  ".join(parts)


def row_label(title: str, state: ShownState, marks: NodeMarks, *, plain: bool) -> Text:
    """Sign, title, state word and marks."""
    look = role_style(STATE_ROLES.get(state, "text"))
    label = Text.assemble((f"{state_sign(state, plain)} ", look), no_wrap=True)
    label.append(title, style="bold" if state in ("running", "waiting", "failed") else "")
    if state != "round" and state not in _NAMED_BY_SIGN:
        label.append(f" {_(STATES[state])}", style=look)
    words = mark_words(marks, state)
    if words:
        marked = role_style("failed" if marks.errors else "secondary")
        label.append(f" {words if not plain else words.replace('★', '*')}", style=marked)
    return label


def title_line(workflow: Workflow, width: int) -> Content:
    """The name, with id and version at the right; the name is cut if there is too little space."""
    left = max(8, width - cell_width(workflow.reference) - 2)
    title = padded(crop(one_line(workflow.name or workflow.id), left), left)
    return Content.assemble((title, f"bold {role_style('text')}"), f"  {workflow.reference}")


def about_lines(workflow: Workflow) -> Iterator[str]:
    """The purpose of a workflow, and its steps in order."""
    if workflow.description:
        yield one_line(workflow.description)
    yield from (f"  {one_line(node.title, 80)}" for node in workflow.nodes)


def template_rows(workflows: Sequence[Workflow], current: str) -> Iterator[tuple[str, ColumnRow]]:
    """Workflows to choose from, with their references; `current` is the reference of the one in use."""
    columns = Columns(*_TEMPLATES)
    for workflow in workflows:
        is_current = workflow.reference == current
        sign = Cell(role_sign("focus") if is_current else "", "focus")
        name = Cell(one_line(workflow.name or workflow.id), is_bold=is_current)
        yield workflow.reference, columns.row(sign, name, workflow.reference, one_line(workflow.description))
