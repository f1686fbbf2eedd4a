"""The details of a run."""

from __future__ import annotations

from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.run import RunRequest, RunSummary
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.domain.versions import NodeTrace
from flowcabal_tui.domain.workflow import Workflow


@dataclass(frozen=True, slots=True)
class RunDetails:
    """A run with its request, its document, its nodes in order of first mention, and its cost."""

    summary: RunSummary
    request: RunRequest
    workflow: Workflow
    nodes: tuple[NodeTrace, ...]
    totals: Totals
