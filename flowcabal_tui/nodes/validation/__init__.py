"""All static checks of a workflow, as one list of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.workflow import Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.size import too_large, too_many
from flowcabal_tui.nodes.validation.calls import Library
from flowcabal_tui.nodes.validation.form import form_findings
from flowcabal_tui.nodes.validation.scope import ActionShape
from flowcabal_tui.nodes.validation.walk import Walk

Actions = Mapping[str, ActionShape]


def validate(
    workflow: Workflow, *, actions: Actions | None = None, library: Library | None = None
) -> tuple[Problem, ...]:
    """Findings about a workflow; one without errors can run. Changes nothing, raises nothing.

    `actions` are those of the registry by id, `library` the workflows that can be called, by every reference; None:
    not checked. A node of a body has the path `loop/draft`, with the branch between where a node has several bodies.
    """
    if not workflow.nodes:
        return (Problem(code="NO_NODES", message=_("The workflow has no nodes."), field="nodes"),)
    if (refused := too_large(workflow)) is not None:
        return (refused,)
    return Walk(actions).findings(workflow, library)


def check_document(
    value: Any, *, actions: Actions | None = None, library: Library | None = None
) -> tuple[Problem, ...]:
    """The findings of `validate` for a parsed document; for an invalid form, the findings on the form."""
    nodes = value.get("nodes") if isinstance(value, Mapping) else None
    if isinstance(nodes, (list, tuple)) and (refused := too_many(nodes)) is not None:
        return (refused,)
    try:
        workflow = Workflow.model_validate(value)
    except ValidationError as error:
        return form_findings(value, error)
    return validate(workflow, actions=actions, library=library)


def require_valid(workflow: Workflow) -> None:
    """Raises WorkflowError that lists every error."""
    require_no_errors(workflow, validate(workflow))


def require_no_errors(workflow: Workflow, findings: Iterable[Problem]) -> None:
    """Raises WorkflowError that lists the errors among the findings about a workflow."""
    if errors := [finding for finding in findings if finding.severity == "error"]:
        raise WorkflowError(
            _("The workflow {name} cannot run.").format(name=workflow.name or workflow.id),
            "\n".join(f"[{error.code}] {error.node + ': ' if error.node else ''}{error.message}" for error in errors),
            _("Nothing was run. Correct the workflow and start again."),
        )
