"""Collects a streamed call into one answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Final

from flowcabal_tui.domain.errors import ModelError
from flowcabal_tui.domain.model_calls import Answer, Finished, ModelRequest, RetryWait, TextDelta, ThinkingDelta, Usage
from flowcabal_tui.domain.model_ports import ModelPort
from flowcabal_tui.domain.value_class import dataclass

BEFORE_REPEATING: Final[ContextVar[Callable[[Usage | None], Awaitable[None]] | None]] = ContextVar(
    "BEFORE_REPEATING", default=None
)
"""Books the cost of a failed try; if it raises, the try is not repeated."""


WAITS: Final[ContextVar[Callable[[float, str, int], None] | None]] = ContextVar("WAITS", default=None)
"""Receives the seconds, the reason and the number of the try when a call of this task waits; no reason: the wait is
over."""
TEXT_ARRIVES: Final[ContextVar[Callable[[str], None] | None]] = ContextVar("TEXT_ARRIVES", default=None)
"""Receives each piece of text in the answers to the calls of this task, without thoughts and arguments of tools."""
WENT_OUT: Final[ContextVar[Callable[[Mapping[str, Any]], None] | None]] = ContextVar("WENT_OUT", default=None)
"""Receives the body of every request of this task when it is sent, without key and headers."""


def went_out(body: Mapping[str, Any]) -> None:
    """Records that a request is being sent."""
    if (take := WENT_OUT.get()) is not None:
        take(body)


@dataclass(slots=True)
class Arrived:
    """The text of a call that has arrived, including thoughts and arguments of tools; emptied when the answer is
    complete.

    For a call that was cut off, it is the only measure of the cost. `on_piece` may raise to stop the call.
    """

    on_piece: Callable[[str], None] = lambda _piece: None
    pieces: list[str] = field(default_factory=list)

    def add(self, piece: str) -> None:
        """Adds a piece that has arrived."""
        self.pieces.append(piece)
        self.on_piece(piece)


ARRIVED: Final[ContextVar[Arrived | None]] = ContextVar("ARRIVED", default=None)
"""Receives the arriving text of the calls in this task."""


def arrived_of_tool(piece: str) -> None:
    """Adds a piece of a tool's arguments, which no event of the stream contains."""
    if piece and (arrived := ARRIVED.get()) is not None:
        arrived.add(piece)


async def collect(model: ModelPort, request: ModelRequest) -> Answer:
    """Collects a call into an answer. Raises ModelError as the stream does.

    The usage, also an error's, is that of all tries except those that BEFORE_REPEATING took over.
    """
    text: list[str] = []
    thinking: list[str] = []
    spent: list[Usage] = []
    last = Finished("stop", Usage())
    arrived, tell = ARRIVED.get() or Arrived(), WAITS.get() or (lambda _seconds, _reason, _attempt: None)
    waited = False
    try:
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                if waited and not isinstance(event, RetryWait):
                    tell(0.0, "", 0)
                waited = isinstance(event, RetryWait)
                match event:
                    case TextDelta(piece):
                        text.append(piece)
                        if hear := TEXT_ARRIVES.get():
                            hear(piece)
                        arrived.add(piece)
                    case ThinkingDelta(piece):
                        thinking.append(piece)
                        arrived.add(piece)
                    case RetryWait(spent=usage):
                        tell(event.seconds, event.reason, event.attempt)
                        thinking.clear()  # the next try thinks again
                        if take_over := BEFORE_REPEATING.get():
                            await take_over(usage)
                        elif usage:
                            spent.append(usage)
                    case Finished():
                        arrived.pieces.clear()
                        last = event
    except ModelError as error:
        if error.usage:
            spent.append(error.usage)
            arrived.pieces.clear()  # they are counted
        error.usage = total(spent) if spent else None
        raise
    return Answer(
        "".join(text),
        last.finish,
        total([*spent, last.usage]),
        last.model,
        "".join(thinking),
        last.tool_calls,
        last.signature,
        summed=bool(spent),
    )


def total(usages: list[Usage]) -> Usage:
    """The sum of the usages; a count that one of them lacks is unknown."""

    def added(counts: list[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    return Usage(
        added([usage.input_tokens for usage in usages]),
        added([usage.output_tokens for usage in usages]),
        added([usage.cached_tokens for usage in usages]),
        added([usage.written_tokens for usage in usages]),
    )
