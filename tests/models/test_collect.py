"""A streamed call as one answer: who waits for it is told why, for how long, and when it goes on."""

from __future__ import annotations

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import (
    Finished,
    Message,
    ModelRequest,
    RetryWait,
    TextDelta,
    Usage,
)
from flowcabal_tui.models.collect import WAITS, collect


class Busy:
    """A model that is busy twice, then answers."""

    endpoint = Endpoint(model="mock")

    async def stream(self, request):
        yield RetryWait(12.0, "Too many requests", 2)
        yield RetryWait(0.0, "Overloaded", 3)
        yield TextDelta("好")
        yield Finished("stop", Usage(1, 1))


async def test_the_waits_of_a_whole_answer_are_told_with_reason_and_seconds_and_that_it_goes_on() -> None:
    told: list[tuple[float, str, int]] = []
    outside = WAITS.set(lambda *wait: told.append(wait))
    try:
        answer = await collect(Busy(), ModelRequest((Message("user", "?"),)))
    finally:
        WAITS.reset(outside)
    assert answer.text == "好"
    assert told == [(12.0, "Too many requests", 2), (0.0, "Overloaded", 3), (0.0, "", 0)]
