"""Runs work of a screen that may fail: the error is displayed, and the app continues."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.value_class import dataclass

P = ParamSpec("P")
S = TypeVar("S", bound=Screen[Any])


@dataclass
class Trouble(Message):
    """Reports a failure, which the app displays."""

    error: Exception


def attempt(
    screen: Screen[Any], work: Coroutine[Any, Any, object], *, group: str = "default", exclusive: bool = False
) -> Worker[None]:
    """Runs `work` as a worker of the screen, once all its widgets exist; its exceptions become `Trouble` and never end
    the app."""

    async def guarded() -> None:
        try:
            await screen._mounted_event.wait()  # Textual has no public way; an event can reach a half composed screen
            await work
        except Exception as error:  # the edge: whatever a worker did not foresee is reported, not fatal
            screen.app.post_message(Trouble(error))

    worker: Worker[None] = screen.run_worker(guarded, group=group, exclusive=exclusive, exit_on_error=False)
    weakref.finalize(worker, work.close)  # a worker that is replaced before its first step never awaits the work
    return worker


async def noticed(screen: Screen[Any], work: Coroutine[Any, Any, object]) -> None:
    """Awaits work that may be refused, and shows the refusal as a notice."""
    try:
        await work
    except FlowCabalError as error:
        screen.notify(str(error), severity="error", markup=False)


def attempted(
    *, group: str = "default", exclusive: bool = False
) -> Callable[[Callable[Concatenate[S, P], Coroutine[Any, Any, None]]], Callable[Concatenate[S, P], None]]:
    """Makes a coroutine method of a screen one that only starts it, as `attempt` does."""

    def starting(method: Callable[Concatenate[S, P], Coroutine[Any, Any, None]]) -> Callable[Concatenate[S, P], None]:
        @wraps(method)
        def start(screen: S, /, *arguments: P.args, **named: P.kwargs) -> None:
            attempt(screen, method(screen, *arguments, **named), group=group, exclusive=exclusive)

        return start

    return starting
