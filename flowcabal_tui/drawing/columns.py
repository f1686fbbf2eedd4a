"""The second half of a layered drawing: the order of nodes within a layer, and their x coordinates."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise

Pair = tuple[int, int]
Shifts = tuple[float, float]
"""The offsets of an edge's ends, right of the centre of its source and of its target."""
_SWEEPS = 14
_STRAIGHT = 5000.0


def ordered(layers: Sequence[Sequence[int]], edges: Mapping[Pair, Shifts]) -> list[list[int]]:
    """The layers with few crossings: the best result of barycentre sweeps down and up."""
    above, below = _neighbours(edges)
    best = current = [list(layer) for layer in layers]
    fewest = crossings(best, below)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        place = {node: at for layer in current for at, node in enumerate(layer)}
        down = sweep % 2 == 0
        toward = above if down else below
        swept = list(current)
        for at in range(len(layers)) if down else range(len(layers) - 1, -1, -1):
            centre = {
                node: (sum(place[other] for other in toward[node]) / len(toward[node]), place[node])
                if node in toward
                else (place[node], place[node])
                for node in swept[at]
            }
            swept[at] = sorted(swept[at], key=centre.__getitem__)
            place.update((node, index) for index, node in enumerate(swept[at]))
        current = swept
        if (crossed := crossings(current, below)) < fewest:
            best, fewest = current, crossed
    return best


def crossings(layers: Sequence[Sequence[int]], below: Mapping[int, Sequence[int]]) -> int:
    """The number of pairs of edges between neighbouring layers that cross."""
    found = 0
    for upper, lower in pairwise(layers):
        place = {node: at for at, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(-place[other] for other in below.get(node, ()))
            found += sum(bisect_left(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return found


def placed(
    layers: Sequence[Sequence[int]],
    edges: Mapping[Pair, Shifts],
    apart: Sequence[Sequence[float]],
    lanes: Container[int],
) -> dict[int, float]:
    """The x of every node's centre, left to right as given, neighbours at least `apart[layer][place]` apart.

    Every node is drawn towards its neighbours, and `lanes` towards straight lines; the least squares are found layer by
    layer.
    """
    pulls: dict[int, list[tuple[int, float, float]]] = {}
    rises: dict[int, list[tuple[int, float, float]]] = {}
    for (source, target), (left, right) in edges.items():
        weight = _STRAIGHT if source in lanes and target in lanes else 1.0
        pulls.setdefault(target, []).append((source, left - right, weight))
        rises.setdefault(source, []).append((target, right - left, weight))
    x: dict[int, float] = {}
    for layer, gaps in zip(layers, apart, strict=True):
        whole = sum(gaps)
        at = -whole / 2
        for node, gap in zip(layer, [0.0, *gaps], strict=False):
            at += gap
            x[node] = at
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        last = sweep >= _SWEEPS - 2
        for at in range(len(layers)) if down else range(len(layers) - 1, -1, -1):
            wanted, weights = [], []
            for node in layers[at]:
                pulled = pulls.get(node, []) if down or last else []
                risen = rises.get(node, []) if not down or last else []
                by = [(x[other] + shift, weight) for other, shift, weight in (*pulled, *risen)]
                mass = sum(weight for _place, weight in by)
                wanted.append(sum(place * weight for place, weight in by) / mass if by else x[node])
                weights.append(mass or 0.1)
            x.update(zip(layers[at], _spread(wanted, weights, apart[at]), strict=True))
    return x


def _spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to those wanted (weighted least squares) that keep the gaps: pool adjacent violators."""
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, mass, size = want - offset, weight, 1
        while pools and pools[-1][0] >= mean:
            before, heavy, many = pools.pop()
            mean = (mean * mass + before * heavy) / (mass + heavy)
            mass += heavy
            size += many
        pools.append((mean, mass, size))
    places = [mean for mean, _mass, size in pools for _ in range(size)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def _neighbours(edges: Mapping[Pair, Shifts]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for source, target in edges:
        above.setdefault(target, []).append(source)
        below.setdefault(source, []).append(target)
    return above, below
