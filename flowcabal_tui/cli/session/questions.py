"""The questions of a session to a project: the screen's questions that change nothing and call no model."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, get_type_hints

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, create_model

from flowcabal_tui.domain.outline import BookOutline
from flowcabal_tui.project import Project
from flowcabal_tui.project.proxy import typed_errors
from flowcabal_tui.project.services.book import BookService
from flowcabal_tui.project.services.comparisons import ComparisonService
from flowcabal_tui.project.services.conversations import ConversationService
from flowcabal_tui.project.services.findings import FindingService
from flowcabal_tui.project.services.memory import MemoryService
from flowcabal_tui.project.services.models import ModelService
from flowcabal_tui.project.services.revision import RevisionService
from flowcabal_tui.project.services.runs import RunService
from flowcabal_tui.project.services.story import StoryService
from flowcabal_tui.project.services.workflows import WorkflowService
from flowcabal_tui.protocol.messages import to_message

_SERVICES: Final[dict[str, tuple[type[Any], str]]] = {
    "models": (ModelService, "trust embedding_question"),
    "book": (
        BookService,
        "chapters chapter_text chapter_versions outside_text deleted_chapters kept kept_text overview scenes "
        "occurrences search blame provenance preview_import meta outline references reference_parts search_references "
        "changes",
    ),
    "memory": (
        MemoryService,
        "source profiles profile stale rebuild_plan background background_counts unpaid bootstrap quote_bootstrap",
    ),
    "story": (StoryService, "entities story seen mentions companions proposals proposal"),
    "findings": (FindingService, "findings finding_report quote_check"),
    "revision": (RevisionService, "comments locks passes pass_progress proposed_rewrites proposed_rewrite"),
    "workflows": (
        WorkflowService,
        "workflows workflow workflow_versions validate actions versions texts standing todo",
    ),
    "runs": (
        RunService,
        "runs run_details run_workflow node questions replay version_trace quote preview_context totals",
    ),
    "comparisons": (
        ComparisonService,
        "comparison comparisons find_comparison outcomes quote_candidates quote_sifting quote_seams seam_changes",
    ),
    "conversations": (ConversationService, "conversations conversation turns ask_quote"),
}
"""Each service of `Project` with the questions that a session can ask it."""
_METHODS: Final = {
    "story": "all",
    "workflows": "newest",
    "workflow": "get",
    "runs": "summaries",
    "standing": "statuses",
}
"""Questions whose method has another name."""
_OLD_NAMES: Final = {"where": AliasChoices("where", "wish")}
"""Arguments that are accepted under their old name for one release."""
QUESTIONS: Final[dict[str, str]] = {
    question: service for service, (_kind, questions) in _SERVICES.items() for question in questions.split()
}
"""Questions by name, each with the service that answers it."""


def _method(question: str) -> Any:
    kind, _questions = _SERVICES[QUESTIONS[question]]
    return getattr(kind, _METHODS.get(question, question))


@cache
def arguments_of(question: str) -> type[BaseModel]:
    """The arguments of a question by name, as a model that accepts no others."""
    method = _method(question)
    hints = get_type_hints(method)
    fields: dict[str, Any] = {
        name: (hints[name], Field(_default(parameter), validation_alias=_OLD_NAMES.get(name)))
        for name, parameter in inspect.signature(method).parameters.items()
        if name != "self"
    }
    return create_model(question, __config__=ConfigDict(extra="forbid"), **fields)


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is parameter.empty else parameter.default


@cache
def answer_of(question: str) -> TypeAdapter[Any]:
    """The type of the answer."""
    return TypeAdapter(get_type_hints(_method(question))["return"])


def about(question: str) -> str:
    """The description of the question, in English."""
    return inspect.cleandoc(_method(question).__doc__ or "")


async def ask(project: Project, question: str, given: Mapping[str, Any]) -> Any:
    """Asks the question; returns the answer as a JSON value. Raises FlowCabalError, and pydantic.ValidationError for
    bad arguments."""
    arguments = arguments_of(question).model_validate(given)
    values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
    service = getattr(project, QUESTIONS[question])
    answer = await getattr(service, _METHODS.get(question, question))(**values)
    if question == "replay":
        return [to_message(event) for event in answer]
    if question == "outline":
        return _outline(*answer)
    with typed_errors(f"answer of {question}"):
        return answer_of(question).dump_python(answer, mode="json", warnings="error")


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
