"""The agents' model as a conversation uses it: paid once, booked, and heard while it answers."""

from __future__ import annotations

from collections.abc import Callable

from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.model_calls import Answer, ModelRequest
from flowcabal_tui.models.collect import TEXT_ARRIVES


class HeardModel:
    """Implements the conversation's `TalkingModel`. `model` gives the agents' model; it raises ModelError."""

    def __init__(self, model: Callable[[], PaidOnce]) -> None:
        self._model = model

    async def answer(self, request: ModelRequest, heard: Callable[[str], None]) -> Answer:
        before = TEXT_ARRIVES.set(heard)
        try:
            return await self._model().answer(request)
        finally:
            TEXT_ARRIVES.reset(before)
