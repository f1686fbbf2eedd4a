"""The first half of a layered drawing (Sugiyama, Tagawa and Toda 1981): removes cycles and assigns layers."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

Pair = tuple[int, int]


def backward(count: int, pairs: Sequence[Pair]) -> set[Pair]:
    """The pairs that close a cycle in a depth-first walk from node 0 on; loops are among them."""
    following: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        following[source].append(target)
    state = [0] * count
    found: set[Pair] = set()
    for start in range(count):
        if state[start]:
            continue
        state[start] = 1
        walk = [(start, iter(following[start]))]
        while walk:
            node, rest = walk[-1]
            for after in rest:
                if state[after] == 1:
                    found.add((node, after))
                elif state[after] == 0:
                    state[after] = 1
                    walk.append((after, iter(following[after])))
                    break
            else:
                state[node] = 2
                walk.pop()
    return found


def topological(count: int, pairs: Sequence[Pair]) -> list[int]:
    """All nodes, sources before targets, otherwise by number. The pairs must not contain a cycle."""
    following: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in pairs:
        following[source].append(target)
        missing[target] += 1
    ready = [node for node in range(count) if not missing[node]]
    found: list[int] = []
    while ready:
        node = heapq.heappop(ready)
        found.append(node)
        for after in following[node]:
            missing[after] -= 1
            if not missing[after]:
                heapq.heappush(ready, after)
    return found


def ranks(pins: Sequence[int], pairs: Sequence[Pair], spans: Sequence[int], limit: int) -> list[int]:
    """The layer of each node: after its sources by at least the pair's span, at most `limit` nodes in one layer.

    `pins`: -1 puts a node in the first layer and 1 in the last, together only with nodes of the same pin; 0 anywhere
    between.
    """
    count = len(pins)
    order = topological(count, pairs)
    above: list[list[Pair]] = [[] for _ in range(count)]
    below: list[list[Pair]] = [[] for _ in range(count)]
    for (source, target), span in zip(pairs, spans, strict=True):
        above[target].append((source, span))
        below[source].append((target, span))
    base = 1 if -1 in pins else 0
    rank = [0] * count
    used: dict[int, int] = {}
    for node in order:
        if pins[node] == 0:
            rank[node] = max([base, *(rank[source] + span for source, span in above[node])])
            while used.get(rank[node], 0) >= limit:
                rank[node] += 1
            used[rank[node]] = used.get(rank[node], 0) + 1
    for node in reversed(order):
        inner = [rank[target] - span for target, span in below[node] if pins[target] == 0]
        if pins[node] == 0 and inner and len(inner) == len(below[node]) > len(above[node]):
            lower = max((at for at in range(rank[node] + 1, min(inner) + 1) if used.get(at, 0) < limit), default=0)
            if lower:
                used[rank[node]] -= 1
                used[lower] = used.get(lower, 0) + 1
                rank[node] = lower
    last = max([max(used, default=0) + 1, *(rank[s] + n for v in range(count) if pins[v] == 1 for s, n in above[v])])
    pinned = [last if pin == 1 else 0 if pin == -1 else at for pin, at in zip(pins, rank, strict=True)]
    taken = {at: place for place, at in enumerate(_with_label_layers(pinned, pairs, spans))}
    return [taken[at] for at in pinned]


def _with_label_layers(rank: Sequence[int], pairs: Sequence[Pair], spans: Sequence[int]) -> list[int]:
    """The layers that are kept: those with nodes, and below the source of a long span those that labels need."""
    kept = set(rank)
    for (source, _target), span in zip(pairs, spans, strict=True):
        kept.update(range(rank[source] + 1, rank[source] + span))
    return sorted(kept)
