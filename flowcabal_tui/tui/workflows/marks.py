"""The marks beside the nodes of a workflow: current outputs, findings and stars."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.versions import NodeStatus
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.tui.workflows.rows import NodeMarks


def node_marks(
    standing: Iterable[NodeStatus], findings: Iterable[Problem], targets: Collection[NodeId]
) -> dict[NodeId, NodeMarks]:
    """The marks by path; a finding on an inner node also counts for its container."""
    marks: dict[NodeId, NodeMarks] = {}
    for each in standing:
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
