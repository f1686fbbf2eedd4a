"""The graphs of a workflow before and after a build, in two columns, with signs at the differences."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.graph import dependencies, order
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.rail_graph import RailGraph, RailNode

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.records import BuildRecord

_STATES: Final = {"+": "done", "~": "stale", "-": "failed", " ": "pending"}


class BuildGraphs(Horizontal):
    """Shows the writer's workflow, and the one with the accepted changes."""

    DEFAULT_CSS = """
    BuildGraphs > Vertical { width: 1fr; }
    BuildGraphs Static { height: 1; padding: 0 1; color: $text-muted; }
    BuildGraphs RailGraph { height: 1fr; }
    """

    _shown_record: BuildRecord | None = None

    def compose(self) -> ComposeResult:
        """Yields two graphs under their names."""
        plain = is_plain(self.app)
        for name, words in (("before", _("Before")), ("after", _("After"))):
            with Vertical():
                yield Static(words, markup=False)
                yield RailGraph(plain=plain, id=name)

    def on_mount(self) -> None:
        """Draws the record set before the graphs existed."""
        self._draw()

    def show(self, record: BuildRecord) -> None:
        """Draws the two graphs of a build."""
        self._shown_record = record
        if self.is_mounted and self.query(RailGraph):
            self._draw()

    def _draw(self) -> None:
        record = self._shown_record
        if record is None:
            return
        taken, _fallen = record.taken
        touched = {each.node.split("/")[0] for each in record.changes if each.id in taken and each.node}
        before, after = _workflow(record.base), _workflow(record.after)
        old, new = ({node.id for node in each.nodes} if each else set() for each in (before, after))
        self.query_one("#before", RailGraph).set_graph(_rails(before, "-", old - new, touched))
        self.query_one("#after", RailGraph).set_graph(_rails(after, "+", new - old, touched))


def _workflow(document: Any) -> Workflow | None:
    try:
        return None if document is None else Workflow.model_validate(document)
    except ValidationError:
        return None


def _rails(workflow: Workflow | None, sign: str, only: Collection[str], touched: Collection[str]) -> Iterator[RailNode]:
    if workflow is None:
        return
    needs = dependencies(workflow)
    try:
        rows = order(needs)
    except WorkflowError:
        rows = tuple(node.id for node in workflow.nodes)
    titles = {node.id: node.title for node in workflow.nodes}
    for node in rows:
        if node in titles:
            mark = sign if node in only else "~" if node in touched else " "
            yield RailNode(node, f"{mark} {one_line(titles[node])}", _STATES[mark], tuple(needs.get(node, ())))
