"""A row of the graph on the screen; its rails come from `drawing.rails`."""

from __future__ import annotations

from flowcabal_tui.domain.value_class import dataclass


@dataclass(frozen=True, slots=True)
class RailNode:
    """One node as drawn; parents are ids of earlier nodes (others are ignored)."""

    id: str
    label: str
    state: str = "pending"
    parents: tuple[str, ...] = ()
