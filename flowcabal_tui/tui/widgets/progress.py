"""Progress as a bar of cells that needs no colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from textual.content import Content

from flowcabal_tui.locale import _
from flowcabal_tui.tui.widgets.cells import cell_width, padded

GOAL_CELLS: Final = 16
"""Cells of the bar of a goal."""


def progress_bar(part: float, cells: int, *, plain: bool = False) -> str:
    """A bar of `cells` cells, filled up to `part` (0 to 1; more fills it, less leaves it empty); `plain` is ASCII."""
    full, empty = ("#", ".") if plain else ("█", "░")
    filled = min(cells, max(0, round(part * cells)))
    return full * filled + empty * (cells - filled)


def goal_rows(goals: Sequence[tuple[str, int, int]], *, plain: bool) -> Iterator[Content]:
    """The progress towards each goal that is set: its name, a bar and both numbers. `goals` are (name, done, goal)."""
    width = max(cell_width(name) for name, _done, _goal in goals)
    for name, done, goal in goals:
        if goal:
            bar = progress_bar(done / goal, GOAL_CELLS, plain=plain)
            words = _("{bar} {done} of {goal}").format(bar=bar, done=f"{done:,}", goal=f"{goal:,}")
            yield Content(f"{padded(name, width)} {words}")
