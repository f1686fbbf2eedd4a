"""A proxy for a service of the engine, for callers on any thread or loop."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, cast

from flowcabal_tui.domain.errors import FlowCabalError, ProjectError
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.engine import EngineThread

_LONGEST: Final = 200
"""Characters of the reason of an error."""
log = logging.getLogger(__name__)
S = TypeVar("S")


def on_engine(make: Callable[[], S], engine: EngineThread) -> S:
    """A proxy for a service; its coroutines are awaited on the caller's loop while they run on the engine's.

    `make` returns the service; it is called on the engine's loop, where its dependencies are imported. The coroutines
    raise FlowCabalError: Gone for a chapter, run, workflow or version that does not exist, ProjectError where stored
    data has another form than the program writes. Only coroutines can be called.
    """
    return cast(S, _Proxy(make, engine))


@contextmanager
def typed_errors(work: str) -> Iterator[None]:
    """Raises ProjectError where stored data has another form than the program writes. The log names the work."""
    try:
        yield
    except (FlowCabalError, NoQuestion):
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, ArithmeticError) as error:
        log.exception("%s", work)
        raise ProjectError(
            _("The project's data could not be shown here."),
            _("It is damaged, or the program has an error: {reason}. Nothing was changed.").format(
                reason=clean_line(repr(error))[:_LONGEST]
            ),
            _("The rest of the project can still be used. The log has the details."),
        ) from error


class NoQuestion(AttributeError):
    """The service has no coroutine of this name: a mistake of the caller."""


class _Proxy:
    def __init__(self, make: Callable[[], object], engine: EngineThread) -> None:
        self._make, self._engine = make, engine

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def ask(*arguments: Any, **named: Any) -> Any:
            async def answer() -> Any:
                service = self._make()
                if not hasattr(type(service), name):
                    raise NoQuestion(name)
                return await getattr(service, name)(*arguments, **named)

            with typed_errors(f"question {name}"):
                return await self._engine.call(answer())

        setattr(self, name, ask)
        return ask
