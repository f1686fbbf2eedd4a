"""A service of the engine as a caller on any thread or loop sees it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar, cast

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.project.engine import EngineThread

S = TypeVar("S")


def on_engine(service: S, engine: EngineThread) -> S:
    """The same service; its coroutines are awaited on the caller's loop while they run on the engine's.

    They raise FlowCabalError, and Gone for a chapter, run, workflow or version that does not exist. Only coroutine
    methods can be called.
    """
    return cast(S, _Proxy(service, engine))


class _Proxy:
    def __init__(self, service: object, engine: EngineThread) -> None:
        self._service, self._engine = service, engine

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._service, name)

        @wraps(method)
        async def ask(*arguments: Any, **named: Any) -> Any:
            try:
                return await self._engine.call(method(*arguments, **named))
            except Gone:
                raise
            except KeyError as error:
                raise Gone(*error.args[:1]) from error

        setattr(self, name, ask)
        return ask
