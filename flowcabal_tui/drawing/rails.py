"""Rails for a graph, as `git log --graph` draws them, from the first node down; pure, in linear time.

A lane belongs to a node from its own row until the row of its last child. A row costs at most `MAX_LANES` and its own
parents; lanes beyond are counted but drawn as one `…`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.value_class import dataclass

MAX_LANES: Final = 24
NODE_SIGN: Final = "*"
"""The character of `RailRow.cells` at which the node's state is shown."""
PLAIN_RAILS: Final = str.maketrans("│─├┤└┘┼┴…", "|-++`'++~")


@dataclass(frozen=True, slots=True)
class RailRow:
    """The rails of one row, two cells per lane; exactly one of them is `NODE_SIGN`."""

    node: str
    cells: str


class _Lanes:
    """Maps lanes to the nodes that hold them, with the number of children each node still waits for."""

    def __init__(self, children: dict[str, int]) -> None:
        self._waiting_children = children
        self._lane_of: dict[str, int] = {}
        self._free: list[int] = []
        self._used = 0
        self.drawn = [False] * MAX_LANES
        self.beyond = 0

    def take(self) -> int:
        """The leftmost free lane."""
        if self._free:
            return heapq.heappop(self._free)
        self._used += 1
        return self._used - 1

    def hold(self, lane: int, node: str) -> None:
        """Keep `lane` for the children of `node`, if it has any."""
        if self._waiting_children.get(node):
            self._lane_of[node] = lane
            self._set(lane, True)
        else:
            heapq.heappush(self._free, lane)

    def meet(self, parents: Sequence[str]) -> tuple[list[int], list[int]]:
        """The lanes of `parents` that end at this child, and those that go on."""
        ending: list[int] = []
        going_on: list[int] = []
        for parent in parents:
            self._waiting_children[parent] -= 1
            if self._waiting_children[parent]:
                going_on.append(self._lane_of[parent])
            else:
                lane = self._lane_of.pop(parent)
                self._set(lane, False)
                ending.append(lane)
        return ending, going_on

    def release(self, lanes: Sequence[int]) -> None:
        """Give lanes back."""
        for lane in lanes:
            heapq.heappush(self._free, lane)

    def _set(self, lane: int, in_use: bool) -> None:
        if lane < MAX_LANES:
            self.drawn[lane] = in_use
        else:
            self.beyond += 1 if in_use else -1


def rail_rows(order: Sequence[str], deps: Mapping[str, Sequence[str]]) -> list[RailRow]:
    """One row for each node, in the order given; edges of `deps` (node to those it needs) are drawn to earlier
    nodes."""
    seen: set[str] = set()
    parents_of: list[list[str]] = []
    children: dict[str, int] = {}
    for node in order:
        parents = [parent for parent in dict.fromkeys(deps.get(node, ())) if parent in seen]
        parents_of.append(parents)
        for parent in parents:
            children[parent] = children.get(parent, 0) + 1
        seen.add(node)
    lanes = _Lanes(children)
    rows: list[RailRow] = []
    for node, parents in zip(order, parents_of, strict=True):
        ending, going_on = lanes.meet(parents)
        lane = min(ending) if ending else lanes.take()
        rows.append(RailRow(node, _draw(lane, set(ending) - {lane}, set(going_on), lanes)))
        lanes.release([other for other in ending if other != lane])
        lanes.hold(lane, node)
    return rows


def _draw(lane: int, ending: set[int], going_on: set[int], lanes: _Lanes) -> str:
    """The cells of one row: a line runs from the node's lane to the lane of each parent."""
    touched = {lane, *ending, *going_on}
    left, right = min(touched), max(touched)
    last = max([at for at, in_use in enumerate(lanes.drawn) if in_use], default=0)
    width = min(max(last, right) + 1, MAX_LANES)
    cells: list[str] = []
    for at in range(width):
        if at == lane:
            cells.append(NODE_SIGN)
        elif at in ending:
            cells.append("┴" if left < at < right else "└" if at < lane else "┘")
        elif at in going_on:
            cells.append("┼" if left < at < right else "├" if at < lane else "┤")
        elif lanes.drawn[at]:
            cells.append("│")
        else:
            cells.append("─" if left < at < right else " ")
        cells.append("─" if left <= at < right else " ")
    if lane >= MAX_LANES:
        cells.append(NODE_SIGN)
    elif lanes.beyond:
        cells.append("…")
    return "".join(cells).rstrip()
