"""Tools for the questions about one chapter: the same list for every question, so that providers' prompt caches hit.

A provider compares tools first. With a tool of its own, a question would share nothing with the others, not even the
chapter that all of them send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import BaseModel

from flowcabal_tui.agents.shapes.claims import Claims, Readings
from flowcabal_tui.agents.shapes.curation import ProfilesAnswer
from flowcabal_tui.agents.shapes.story import StoryAnswer
from flowcabal_tui.domain.answer_schema import tool_schema
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import ModelRequest, Tool

_OF_A_CHECK: Final[Mapping[type[BaseModel], str]] = {Claims: "give_findings", Readings: "give_readings"}
_OF_A_READING: Final[Mapping[type[BaseModel], str]] = {StoryAnswer: "give_story", ProfilesAnswer: "give_profiles"}
_NAMES: Final = {**_OF_A_CHECK, **_OF_A_READING}
_TOOLS: Final = {shape: Tool(name, "Gives the answer.", tool_schema(shape)) for shape, name in _NAMES.items()}
_LEAST_WINDOW: Final = 32_000
"""Least tokens of a window to which further tools are sent: in a smaller one they would take space from the sources."""


def with_tools(
    request: ModelRequest, shape: type[BaseModel], endpoint: Endpoint, *, is_checked: bool = True
) -> ModelRequest:
    """Returns the request with the tools of all questions about a chapter and requires the one of `shape`.

    If chapters are not checked by a model, the tools of checks are left out. Returns the request unchanged for other
    shapes, for a small context window, and for the offline model. Tools are sent only to endpoints that answer by tool
    calls.
    """
    is_small = endpoint.context_window is not None and endpoint.context_window < _LEAST_WINDOW
    if shape not in _NAMES or endpoint.provider == "offline" or is_small:
        return request
    tools = tuple(tool for each, tool in _TOOLS.items() if is_checked or each in _OF_A_READING)
    return replace(request, tools=tools, tool_choice=_NAMES[shape])
