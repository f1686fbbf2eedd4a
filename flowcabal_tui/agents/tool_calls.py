"""Tool calls of a model: their schemas, their arguments, and their results."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from flowcabal_tui.domain.answer_schema import shape_schema
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.model_calls import Tool, ToolCall
from flowcabal_tui.domain.refusals import refusal

MOST_TEXT: Final = 4_000
MOST_ARGUMENTS: Final = 100_000
"""Characters of the arguments of one call; longer ones are refused unread."""
_OMITTED: Final = ("title", "default", "additionalProperties")
_FENCE: Final = re.compile(r"\A\s*```\w{0,10}\s*(.*?)\s*```\s*\Z", re.DOTALL)
_COMMA: Final = re.compile(r",(\s*[}\]])")
_MOST_WRONG: Final = 8


class Arguments(BaseModel):
    """The arguments of a tool; unknown ones are refused. The docstring is what the model reads of the tool."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def as_sent_back(call: ToolCall) -> ToolCall:
    """The call as it is sent back to the model, without arguments that are too long: they would be paid for again."""
    return call if len(call.arguments) <= MOST_ARGUMENTS else replace(call, arguments="{}")


def tool_of(name: str, shape: type[BaseModel]) -> Tool:
    """A tool with the schema of its arguments."""
    return Tool(name, " ".join((shape.__doc__ or "").split()), _schema(shape))


def _schema(shape: type[BaseModel]) -> dict[str, Any]:
    schema = shape_schema(shape)
    schema.pop("description", None)
    schema.get("properties", {}).pop("edit", None)
    plain: dict[str, Any] = _without_titles(schema)
    return plain


def _without_titles(value: Any) -> Any:
    """The schema without parts that repeat names and descriptions, since it is paid for in every round."""
    if isinstance(value, dict):
        return {
            key: _without_titles(each) for key, each in value.items() if key not in _OMITTED or isinstance(each, dict)
        }
    return [_without_titles(each) for each in value] if isinstance(value, list) else value


def read_arguments(text: str) -> dict[str, Any]:
    """A JSON object, without a code fence and trailing commas. Raises ValueError or RecursionError."""
    fenced = _FENCE.match(text)
    inner = fenced[1] if fenced else text
    try:
        value = json.loads(inner or "{}")
    except ValueError:
        value = json.loads(_COMMA.sub(r"\1", inner))
    if not isinstance(value, dict):
        raise ValueError("it is no object")
    return value


def wrong_arguments(shape: type[BaseModel], error: ValidationError) -> str:
    """The errors in the arguments, and the names of the existing fields."""
    lines = [f"{'.'.join(map(str, each['loc']))}: {refusal(each)}" for each in error.errors()[:_MOST_WRONG]]
    allowed = ", ".join(field for field in shape.model_fields if field != "edit")
    return "Refused:\n" + "\n".join(lines) + f"\nFields: {allowed}."


def refused_with(error: FlowCabalError) -> str:
    """The message of a refusal, for the model."""
    return f"Refused: {error}"[:MOST_TEXT]
