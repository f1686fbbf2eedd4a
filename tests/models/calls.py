"""Requests, and streams collected event by event."""

from __future__ import annotations

from contextlib import aclosing

from flowcabal_tui.domain.model_calls import (
    Message,
    ModelEvent,
    ModelRequest,
    TextDelta,
)
from flowcabal_tui.domain.model_ports import ModelPort

REQUEST = ModelRequest((Message("system", "You write."), Message("user", "Go on.")))


async def events_of(model: ModelPort, request: ModelRequest = REQUEST) -> list[ModelEvent]:
    async with aclosing(model.stream(request)) as events:
        return [event async for event in events]


def text_of(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
