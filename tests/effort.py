"""What a call costs, counted in steps instead of seconds: the same on every machine, whatever else it does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class TooMuchWork(BaseException):
    """More calls than allowed; no `except Exception` of what is measured swallows it."""


class Effort:
    """Calls of functions, of Python and of C, that were made so far."""

    def __init__(self, most: int | None) -> None:
        self.calls, self._most = 0, most

    def _count(self, _frame: FrameType, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            self.calls += 1
            if self._most is not None and self.calls > self._most:
                sys.setprofile(None)
                raise TooMuchWork(f"more than {self._most} calls")


@contextmanager
def effort(most: int | None = None) -> Iterator[Effort]:
    """Counts the calls of a block in this thread; ends it with TooMuchWork as soon as they are more than `most`.

    Work within one call of C (a pattern, a sort, a copy) counts as one: what is slow there is bounded by its input.
    """
    counted, before = Effort(most), sys.getprofile()
    sys.setprofile(counted._count)
    try:
        yield counted
    finally:
        sys.setprofile(before)


def growth(work: Callable[[int], object], size: int, factor: int = 4) -> float:
    """By how much the calls grow from `size` to `factor` times that, divided by `factor`: 1 is linear."""
    counts = []
    for each in (size, size * factor):
        with effort() as counted:
            work(each)
        counts.append(counted.calls)
    return counts[1] / counts[0] / factor
