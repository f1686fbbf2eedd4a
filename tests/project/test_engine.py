"""Work for an engine that ends: it is closed, and whoever waits for it hears so."""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import CancelledError

import pytest

from flowcabal_tui.project.engine import EngineThread


async def answer() -> int:
    return 7


def test_work_is_done_on_the_thread_of_the_engine() -> None:
    engine = EngineThread()
    assert engine.submit(answer()).result() == 7
    engine.stop()


def test_work_that_comes_after_the_end_is_refused_and_closed() -> None:
    engine, late = EngineThread(), answer()
    engine.stop()
    with pytest.raises(RuntimeError, match="closed"):
        engine.submit(late)
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED


def test_work_that_comes_while_the_loop_ends_is_cancelled_and_closed() -> None:
    """As when a screen asks for something while its project closes."""
    engine, late, ended = EngineThread(), answer(), threading.Event()

    async def end() -> None:
        engine._loop.stop()
        ended.set()

    engine.submit(end())
    assert ended.wait()
    engine._thread.join()
    future = engine.submit(late)
    engine.stop()
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED
    with pytest.raises(CancelledError):
        future.result()
