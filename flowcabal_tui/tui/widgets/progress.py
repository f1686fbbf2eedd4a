"""Progress as a bar of cells that needs no colour."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.locale import _

GOAL_CELLS: Final = 16
"""Cells of the bar of a goal."""


def progress_bar(part: float, cells: int, *, plain: bool = False) -> str:
    """A bar of `cells` cells, filled up to `part` (0 to 1; more fills it, less leaves it empty); `plain` is ASCII."""
    full, empty = ("#", ".") if plain else ("█", "░")
    filled = min(cells, max(0, round(part * cells)))
    return full * filled + empty * (cells - filled)


def goal_bar(done: int, goal: int, *, plain: bool = False) -> str:
    """The progress towards a length: a bar and both numbers."""
    bar = progress_bar(done / goal, GOAL_CELLS, plain=plain)
    return _("{bar} {done} of {goal}").format(bar=bar, done=f"{done:,}", goal=f"{goal:,}")
