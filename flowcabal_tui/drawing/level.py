"""One level of a drawing: boxes without their contents, in layers from top to bottom, with the arrows between."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from typing import Final

from flowcabal_tui.drawing.columns import Pair, Shifts, ordered, placed
from flowcabal_tui.drawing.ranks import backward, ranks
from flowcabal_tui.drawing.values import Point

_BOX_GAP: Final = 30.0
_LINE_GAP: Final = 14.0
_LAYER_GAP: Final = 34.0
_WIDEST_GAP: Final = 130.0
_LINE: Final = 4.0


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """A box, a frame, or (pinned, without height) a place where arrows enter (-1) or leave (1) the level."""

    width: float
    height: float
    pin: int = 0


@dataclass(frozen=True, slots=True)
class DrawnArrow:
    """An arrow between two items by number, attached `source_shift` right of the source's centre; likewise below."""

    source: int
    target: int
    label: str = ""
    label_size: tuple[float, float] = (0, 0)
    source_shift: float = 0
    target_shift: float = 0


@dataclass(frozen=True, slots=True)
class Level:
    """The top left corner of each item, and for each link its points and the centre of its label."""

    corners: tuple[Point, ...]
    paths: tuple[tuple[Point, ...], ...]
    labels: tuple[Point | None, ...]
    width: float
    height: float


def lay_out_level(items: Sequence[DrawnItem], links: Sequence[DrawnArrow]) -> Level:
    """Layers, order and coordinates. Long arrows pass the layers between in lanes of their own; those of one
    source (or to one target) share them, so that a wide fan stays readable."""
    grid = _Grid(items, links)
    layers = ordered(grid.layers, grid.edges)
    gaps = [[grid.apart(left, right) for left, right in pairwise(row)] for row in layers]
    x = placed(layers, grid.edges, gaps, range(len(items), len(grid.size)))
    left = min((x[vertex] - grid.size[vertex][0] / 2 for vertex in x), default=0.0)
    x = {vertex: round(at - left, 1) for vertex, at in x.items()}
    tops, bottoms = grid.heights(layers, x)
    corners = tuple((x[at] - item.width / 2, tops[grid.rank[at]]) for at, item in enumerate(items))
    paths, labels = [], []
    for link, chain in zip(links, grid.chains, strict=True):
        path, label = _path(grid, chain, link, x, tops, bottoms)
        paths.append(path)
        labels.append(label)
    width = max((x[vertex] + grid.size[vertex][0] / 2 for vertex in x), default=0.0)
    return Level(corners, tuple(paths), tuple(labels), round(width, 1), bottoms[-1] if bottoms else 0.0)


class _Grid:
    """Items and lanes by number, the items first; edges run between neighbouring layers only."""

    def __init__(self, items: Sequence[DrawnItem], links: Sequence[DrawnArrow]) -> None:
        pairs = [(link.source, link.target) for link in links]
        back = backward(len(items), pairs)
        self.downward = [(t, s) if (s, t) in back else (s, t) for s, t in pairs]
        self.turned = [pair in back for pair in pairs]
        forward = [(pair, 2 if link.label else 1) for pair, link in zip(self.downward, links, strict=True)]
        forward = [(pair, span) for pair, span in forward if pair[0] != pair[1]]
        limit = max(6, ceil(1.5 * sqrt(len(items))))
        self.rank = ranks(
            [item.pin for item in items], [pair for pair, _ in forward], [span for _, span in forward], limit
        )
        self.size = [(item.width, item.height) for item in items]
        self.real = len(items)
        self._out = [0] * len(items)
        self._in = [0] * len(items)
        for (source, target), _span in forward:
            self._out[source] += 1
            self._in[target] += 1
        self._lanes: dict[Hashable, int] = {}
        self.edges: dict[Pair, Shifts] = {}
        self.chains = [self._chain(at, link) for at, link in enumerate(links)]
        self.layers: list[list[int]] = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for vertex in self._depth_first():
            self.layers[self.rank[vertex]].append(vertex)

    def _chain(self, at: int, link: DrawnArrow) -> list[int]:
        """The vertices of a link from top to bottom; a loop has none."""
        source, target = self.downward[at]
        if source == target:
            return []
        shifts = (link.source_shift, link.target_shift)
        upper, lower = reversed(shifts) if self.turned[at] else shifts
        chain = [source]
        for rank in range(self.rank[source] + 1, self.rank[target]):
            key: Hashable = (source, upper, link.label)
            if self.turned[at]:
                key = (at, "turned")
            elif not link.label and self._in[target] > self._out[source]:
                key = (lower, target)
            lane = self._lanes.setdefault((key, rank), len(self.size))
            if lane == len(self.size):
                first = link.label and rank == self.rank[source] + 1
                self.size.append(link.label_size if first else (_LINE, 0.0))
                self.rank.append(rank)
            chain.append(lane)
        chain.append(target)
        for one, other in pairwise(chain):
            self.edges[one, other] = (upper if one == source else 0.0, lower if other == target else 0.0)
        return chain

    def _depth_first(self) -> list[int]:
        """All vertices, relatives near each other: the order from which crossings are reduced."""
        following: list[list[int]] = [[] for _ in self.size]
        for source, target in reversed(self.edges):
            following[source].append(target)
        seen: dict[int, None] = {}
        for start in sorted(range(self.real), key=lambda vertex: (self.rank[vertex], vertex)):
            waiting = [start]
            while waiting:
                vertex = waiting.pop()
                if vertex not in seen:
                    seen[vertex] = None
                    waiting += following[vertex]
        return list(seen)

    def apart(self, left: int, right: int) -> float:
        """The smallest distance between the centres of two neighbours."""
        gap = _BOX_GAP if left < self.real and right < self.real else _LINE_GAP
        return (self.size[left][0] + self.size[right][0]) / 2 + gap

    def heights(self, layers: Sequence[Sequence[int]], x: dict[int, float]) -> tuple[list[float], list[float]]:
        """Top and bottom of each layer; the further arrows must go sideways, the more space is between."""
        reach = [0.0] * len(layers)
        for (source, target), (left, right) in self.edges.items():
            way = abs(x[source] + left - x[target] - right)
            reach[self.rank[source]] = max(reach[self.rank[source]], way)
        tops, bottoms = [], []
        top = 0.0
        for row, way in zip(layers, reach, strict=True):
            tops.append(top)
            bottoms.append(top + max((self.size[vertex][1] for vertex in row), default=0.0))
            top = round(bottoms[-1] + min(_LAYER_GAP + 0.08 * way, _WIDEST_GAP), 1)
        return tops, bottoms


def _path(
    grid: _Grid,
    chain: Sequence[int],
    link: DrawnArrow,
    x: dict[int, float],
    tops: Sequence[float],
    bottoms: Sequence[float],
) -> tuple[tuple[Point, ...], Point | None]:
    """The points of a link, from its own source to its own target, and the centre of its label."""
    if not chain:
        right = x[link.source] + grid.size[link.source][0] / 2
        top = tops[grid.rank[link.source]]
        return ((right, top + 22), (right + 14, top + 22), (right + 14, top + 10), (right, top + 10)), None
    turned = link.source != chain[0]
    first, last = (link.target_shift, link.source_shift) if turned else (link.source_shift, link.target_shift)
    points: list[Point] = []
    for vertex in chain:
        at = x[vertex] + (first if vertex == chain[0] else last if vertex == chain[-1] else 0.0)
        rank = grid.rank[vertex]
        if vertex != chain[0]:
            points.append((at, tops[rank]))
        if vertex != chain[-1]:
            if vertex == chain[0]:
                points.append((at, tops[rank] + grid.size[vertex][1]))
            points.append((at, bottoms[rank]))
    label = None
    if link.label:
        rank = grid.rank[chain[1]]
        label = (x[chain[1]], tops[rank] + link.label_size[1] / 2)
    if turned:
        points.reverse()
    return tuple(dict.fromkeys((round(px, 1), round(py, 1)) for px, py in points)), label
