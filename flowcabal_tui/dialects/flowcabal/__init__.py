"""FlowCabal's own documents, from its first design to its current application: reading as workflows, and writing."""

from __future__ import annotations

from flowcabal_tui.dialects.flowcabal.dependencies import DependencyProblem, dependency_problem
from flowcabal_tui.dialects.flowcabal.documents import FORMS, Form
from flowcabal_tui.dialects.flowcabal.reading import findings, read
from flowcabal_tui.dialects.flowcabal.writing import write

__all__ = ["FORMS", "DependencyProblem", "Form", "dependency_problem", "findings", "read", "write"]
