"""What a measurement says, and the places of what it needs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class Missing(Exception):
    """Something that the measurement needs is not on this machine; its text says what, and how to name it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `target` is "" where the figure has none; `met` is True if it was reached."""

    what: str
    value: str
    target: str = ""
    met: bool | None = None


def checked(what: str, number: float, limit: float, unit: str) -> Figure:
    """A number that may be at most `limit`."""
    return Figure(what, f"{number:,.1f} {unit}", f"<= {limit:g} {unit}", number <= limit)


def none_of(what: str, number: int) -> Figure:
    """A number of things that must not be there."""
    return Figure(what, str(number), "0", number == 0)


def given(variable: str, what: str) -> Path:
    """A path from the environment. Raises Missing."""
    named = os.environ.get(variable)
    if not named or not Path(named).exists():
        raise Missing(f"{what} is not here; name it with {variable}")
    return Path(named)


def percentile(values: Iterable[float], part: float) -> float:
    """The value below which `part` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def line(figure: Figure) -> str:
    """The figure in columns that all measurements share."""
    verdict = {True: "reached", False: "MISSED", None: ""}[figure.met]
    return f"  {figure.what:<58} {figure.value:>22}  {figure.target:<14} {verdict}".rstrip()
