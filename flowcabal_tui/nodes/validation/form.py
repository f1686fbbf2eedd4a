"""Documents without the form of a workflow: their errors, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.domain.workflow import Edge, Node, Problem, Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.nearest import nearest
from flowcabal_tui.nodes.validation.params import place_of

_MOST: Final = 200
_MODELS: Final[Mapping[tuple[int, str], type[BaseModel]]] = {(3, "nodes"): Node, (3, "edges"): Edge}


def form_findings(value: Any, error: ValidationError) -> tuple[Problem, ...]:
    """The errors in the form of a document, with the field, and the node if it can be identified."""
    wrong = error.errors(include_url=False, include_input=False)[:_MOST]
    return tuple(dict.fromkeys(_finding(value, one) for one in wrong))


def _finding(value: Any, error: ErrorDetails) -> Problem:
    loc, kind, message = error["loc"], error["type"], refusal(error)
    raw, inside, name = value, loc, ""
    if len(loc) > 2 and loc[0] == "nodes" and isinstance(loc[1], int):
        raw, inside = value["nodes"][loc[1]], loc[2:]
        given = raw.get("id") if isinstance(raw, Mapping) else None
        name = given if isinstance(given, str) else ""
        raw, inside = (raw, inside) if name else (value, loc)
    fix = ""
    if kind == "extra_forbidden":
        model = Workflow if len(loc) == 1 else _MODELS.get((len(loc), str(loc[0])))
        fix = nearest(str(loc[-1]), tuple(model.model_fields)) if model else ""
        message = _("{name} has no meaning here.").format(name=loc[-1])
    elif kind == "string_pattern_mismatch":
        message = _("It must not be empty or contain spaces, slashes or @.")
    elif kind == "missing":
        message = _("{name} is missing.").format(name=loc[-1])
    return Problem(code="INVALID_SCHEMA", node=name, field=place_of(raw, inside), message=message, fix=fix)
