"""A streamed call as one answer."""

from __future__ import annotations

from contextlib import aclosing

from flowcabal_tui.domain.model_calls import (
    Answer,
    Finished,
    ModelPort,
    ModelRequest,
    RetryWait,
    TextDelta,
    ThinkingDelta,
    Usage,
)


async def collect(model: ModelPort, request: ModelRequest) -> Answer:
    """Raises ModelError as the stream does."""
    text: list[str] = []
    thinking: list[str] = []
    last = Finished("stop", Usage())
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            match event:
                case TextDelta(piece):
                    text.append(piece)
                case ThinkingDelta(piece):
                    thinking.append(piece)
                case RetryWait():
                    thinking.clear()  # the next try thinks anew
                case Finished():
                    last = event
    return Answer(
        "".join(text), last.finish, last.usage, last.model, "".join(thinking), last.tool_calls, last.signature
    )


def total(usages: list[Usage]) -> Usage:
    """The sum of several calls; what one of them did not say stays unknown."""

    def added(counts: list[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    return Usage(
        added([usage.input_tokens for usage in usages]),
        added([usage.output_tokens for usage in usages]),
        added([usage.cached_tokens for usage in usages]),
    )
