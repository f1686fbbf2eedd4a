"""The tools of the questions about one chapter: the same for all, so that providers' caches of prompts hit.

Tools come first in what a provider compares. With a tool of its own each question would share nothing with the others,
not even the chapter that all of them send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import BaseModel

from flowcabal_tui.agents.shapes.claims import Claims, Readings
from flowcabal_tui.agents.shapes.curation import ProfilesAnswer
from flowcabal_tui.agents.shapes.story import StoryAnswer
from flowcabal_tui.domain.model_calls import Endpoint, ModelRequest, Tool

_NAMES: Final[Mapping[type[BaseModel], str]] = {
    Claims: "give_findings",
    Readings: "give_readings",
    StoryAnswer: "give_story",
    ProfilesAnswer: "give_profiles",
}
_TOOLS: Final = tuple(Tool(name, "Gives the answer.", shape.model_json_schema()) for shape, name in _NAMES.items())
_LEAST_WINDOW: Final = 32_000
"""Tokens of a window in which tools that a question does not need take no room from its sources."""


def with_tools(request: ModelRequest, shape: type[BaseModel], endpoint: Endpoint) -> ModelRequest:
    """The request with the tools of all questions about a chapter; it names the one of `shape`.

    As it is for other shapes, and for a small window. Tools go out only where answers are asked for by tools.
    """
    is_small = endpoint.context_window is not None and endpoint.context_window < _LEAST_WINDOW
    if shape not in _NAMES or endpoint.provider == "offline" or is_small:
        return request
    return replace(request, tools=_TOOLS, tool_choice=_NAMES[shape])
