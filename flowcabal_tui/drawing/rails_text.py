"""A drawing as lines of text: rails at the left, names at the right; the contents of a frame follow it, indented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.drawing.rails import NODE_SIGN, PLAIN_RAILS, rail_rows
from flowcabal_tui.drawing.ranks import Pair, backward, topological
from flowcabal_tui.drawing.text_width import one_line
from flowcabal_tui.drawing.values import Drawing, DrawnEdge

_SIGN: Final = "●"
_FRAME_SIGN: Final = "◆"


def rails_text(drawing: Drawing, *, plain: bool = False) -> str:
    """One line per node, sources above targets; `plain` uses ASCII except for names.

    Arrows that lead upwards (cycles) are named at the end of the line, because rails only lead down.
    """
    order = reading_order(drawing)
    place = {node: at for at, node in enumerate(order)}
    nodes = {node.id: node for node in drawing.nodes}
    around = drawing.paths()
    needed: dict[str, list[str]] = {node: [] for node in order}
    notes: dict[str, list[str]] = {node: [] for node in order}
    for edge in drawing.edges:
        if place[edge.source] < place[edge.target]:
            needed[edge.target].append(edge.source)
            if label := one_line(edge.label):
                notes[edge.target].append(f"({label})")
        else:
            notes[edge.source].append(f"{'^' if plain else '↑'} {one_line(nodes[edge.target].title)}")
    for node in drawing.nodes:
        if node.group and not any(node.group in around[source] for source in needed[node.id]):
            needed[node.id].append(node.group)
    lines = []
    for row in rail_rows(order, needed):
        node = nodes[row.node]
        sign = NODE_SIGN if plain else _FRAME_SIGN if node.id in drawing.groups else _SIGN
        cells = (row.cells.translate(PLAIN_RAILS) if plain else row.cells).replace(NODE_SIGN, sign)
        kind = f"[{one_line(node.kind)}]" if one_line(node.kind) else ""
        indent = "  " * (len(around[node.id]) - 1)
        words = [one_line(node.title) or one_line(node.id), kind, *notes[node.id], *map(one_line, node.lines)]
        lines.append(f"{cells} {indent}{'  '.join(filter(None, words))}")
    return "\n".join(lines) + "\n"


def reading_order(drawing: Drawing) -> list[str]:
    """All nodes, sources before targets unless a cycle prevents it, each frame right before its contents."""
    around = drawing.paths()
    inside: dict[str | None, list[str]] = {None: []}
    for member in drawing.nodes:
        inside.setdefault(member.group, []).append(member.id)
    number = {node: at for members in inside.values() for at, node in enumerate(members)}
    pairs: dict[str | None, dict[Pair, None]] = {group: {} for group in inside}
    for edge in drawing.edges:
        if met := _meeting(edge, around):
            group, source, target = met
            pairs[group][number[source], number[target]] = None
    found: list[str] = []
    waiting: list[str] = []

    def open_group(group: str | None) -> None:
        members, joined = inside[group], list(pairs[group])
        back = backward(len(members), joined)
        order = topological(len(members), [pair for pair in joined if pair not in back])
        waiting.extend(members[at] for at in reversed(order))

    open_group(None)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if node in inside:
            open_group(node)
    return found


def _meeting(edge: DrawnEdge, around: Mapping[str, tuple[str, ...]]) -> tuple[str | None, str, str] | None:
    """The innermost frame around both ends, and the node for each in it; None if one end holds the other."""
    up, down = around[edge.source], around[edge.target]
    common = 0
    while common < min(len(up), len(down)) and up[common] == down[common]:
        common += 1
    if common == min(len(up), len(down)):
        return None
    return (up[common - 1] if common else None), up[common], down[common]
