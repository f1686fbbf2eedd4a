"""Lets a model call tools until it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault
from flowcabal_tui.domain.model_calls import Answer, Message, ModelPort, ModelRequest, ToolCall, Usage
from flowcabal_tui.locale import _
from flowcabal_tui.models.cleaning import clean_value
from flowcabal_tui.models.collect import total

ToolFunction = Callable[[dict[str, Any]], Awaitable[str]]
"""Takes the arguments as a JSON object and gives the text for the model.

A FlowCabalError, ValueError, KeyError or TypeError is told to the model; other errors end the loop.
"""


async def run_tools(
    model: ModelPort, request: ModelRequest, tools: Mapping[str, ToolFunction], limit: int = 8
) -> Answer:
    """The final answer after at most `limit` calls of the model, the last of which may call no tool.

    Calls of one turn run side by side; the usage is that of all calls. Raises ModelError.
    """
    usages: list[Usage] = []
    for number in range(1, limit + 1):
        choice = request.tool_choice if number < limit else "none"
        answer = await model.answer(replace(request, tool_choice=choice))
        usages.append(answer.usage)
        if not answer.tool_calls:
            return replace(answer, usage=total(usages), summed=answer.summed or number > 1)
        results = await asyncio.gather(*(_call(call, tools) for call in answer.tool_calls))
        said = Message(
            "assistant", answer.text, answer.tool_calls, thinking=answer.thinking, signature=answer.signature
        )
        request = replace(request, messages=(*request.messages, said, *results))
    raise ModelError(
        ModelFault.PROTOCOL,
        _("{model} goes on calling tools and does not answer").format(model=model.endpoint.model),
        _("It was called {n} times.").format(n=limit),
        _("Run it again, or choose another model."),
    )


async def _call(call: ToolCall, tools: Mapping[str, ToolFunction]) -> Message:
    return Message("tool", await _outcome(call, tools), tool_call_id=call.id)


async def _outcome(call: ToolCall, tools: Mapping[str, ToolFunction]) -> str:
    if call.name not in tools:
        return f"Error: there is no such tool; there are: {', '.join(sorted(tools))}"
    try:
        arguments = clean_value(json.loads(call.arguments))
    except (ValueError, RecursionError) as error:
        return f"Error: the arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return "Error: the arguments are no JSON object"
    try:
        return await tools[call.name](arguments)
    except (FlowCabalError, ValueError, KeyError, TypeError) as error:
        return f"Error: {error}"
