"""What a session can ask of a project: the questions of the screen that change nothing and call no model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.project import Project
from flowcabal_tui.project.views import Workbench
from flowcabal_tui.protocol import to_message

QUESTIONS: Final = (
    *("trust", "embedding_question", "totals", "background", "background_counts", "bootstrap", "quote_bootstrap"),
    *("chapters", "chapter_text", "chapter_versions", "outside_text", "deleted_chapters", "kept", "kept_text"),
    *("overview", "scenes", "occurrences", "search", "source", "blame", "provenance", "preview_import"),
    *("meta", "outline", "entities", "story", "seen", "mentions", "companions", "proposals", "proposal"),
    *("profiles", "profile", "stale", "rebuild_plan", "references", "reference_parts", "search_references"),
    *("workflows", "workflow", "workflow_versions", "validate", "actions"),
    *("runs", "run_details", "run_workflow", "node", "questions", "replay", "versions", "texts", "version_trace"),
    *("standing", "todo", "quote", "preview_context"),
)
"""Names of methods of `Project`."""


@cache
def arguments_of(question: str) -> type[BaseModel]:
    """The arguments of a question by name, as a model that takes no others."""
    asked = getattr(Project, question)
    hints = get_type_hints(asked)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(asked).parameters.items()
        if name != "self"
    }
    return create_model(question, __config__=ConfigDict(extra="forbid"), **fields)


@cache
def answer_of(question: str) -> TypeAdapter[Any]:
    """The type of the answer."""
    return TypeAdapter(get_type_hints(getattr(Project, question))["return"])


def about(question: str) -> str:
    """What the question is, in English."""
    words = getattr(Workbench, question, None).__doc__ or getattr(Project, question).__doc__ or ""
    return inspect.cleandoc(words)


async def asked(project: Project, question: str, given: Mapping[str, Any]) -> Any:
    """The answer as a JSON value. Raises FlowCabalError, and pydantic.ValidationError for bad arguments."""
    arguments = arguments_of(question).model_validate(given)
    values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
    answer = await getattr(project, question)(**values)
    if question == "replay":
        return [to_message(event) for event in answer]
    if question == "outline":
        return _outline(*answer)
    return answer_of(question).dump_python(answer, mode="json")


def _outline(book: BookOutline, version: int) -> dict[str, Any]:
    """The whole text, its version, and each part with the chapters that it belongs to."""
    parts = [
        {
            "kind": each.part.kind,
            "title": each.part.title,
            "nth": each.part.nth,
            "chapters": list(each.chapters),
            "text": book.outline.body(each.part),
        }
        for each in book.placed
    ]
    return {"version": version, "text": book.text, "parts": parts}
