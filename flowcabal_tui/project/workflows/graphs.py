"""Prepares saved documents to run, once each, since a saved document never changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.plan import Plan, PlannedNode, plan

KEPT: Final = 8
"""Number of documents whose plans are cached."""


class Graphs:
    """The plans of documents by their references, limited to the most recently used."""

    def __init__(self) -> None:
        self._steps: dict[str, Mapping[NodeId, PlannedNode]] = {}

    def of(self, saved: Workflow, durations: Mapping[NodeId, float] | None = None) -> Plan:
        """The plan of a document exactly as saved. Raises WorkflowError."""
        steps = self._steps.pop(saved.reference, None) or plan(saved.nodes, saved.edges).steps
        self._steps[saved.reference] = steps
        if len(self._steps) > KEPT:
            del self._steps[next(iter(self._steps))]
        return Plan(steps, durations or {})
