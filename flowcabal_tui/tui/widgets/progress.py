"""How far something is, as a bar of cells that needs no colour."""

from __future__ import annotations


def progress_bar(part: float, cells: int, *, plain: bool = False) -> str:
    """A bar of `cells` cells, filled up to `part` (0 to 1; more fills it, less leaves it empty); `plain` is ASCII."""
    full, empty = ("#", ".") if plain else ("█", "░")
    filled = min(cells, max(0, round(part * cells)))
    return full * filled + empty * (cells - filled)
