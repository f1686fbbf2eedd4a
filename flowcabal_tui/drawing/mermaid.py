"""A drawing as a Mermaid flowchart. Ids are generated, so that no text of the document is interpreted as syntax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flowcabal_tui.drawing.text_width import one_line
from flowcabal_tui.drawing.values import Drawing, DrawnEdge, DrawnNode

_PLAIN: Final = frozenset(" _,.·，。！？：；、（）《》“”—…→←‹›")
_MOST: Final = 80


def mermaid(drawing: Drawing) -> str:
    """`flowchart TD` with quoted labels; frames become subgraphs."""
    name = {node.id: f"n{at}" for at, node in enumerate(drawing.nodes)}
    groups = drawing.groups
    around = drawing.paths()
    inside: dict[str | None, list[DrawnNode]] = {}
    for member in drawing.nodes:
        inside.setdefault(member.group, []).append(member)
    anchored = {_holder(edge, around) for edge in drawing.edges} - {None}
    lines = ["flowchart TD"]
    waiting: list[DrawnNode | None] = list(reversed(inside.get(None, [])))
    depth = 1
    while waiting:
        node = waiting.pop()
        if node is None:
            depth -= 1
            lines.append(f"{'  ' * depth}end")
            continue
        indent = "  " * depth
        if node.id not in groups:
            lines.append(f"{indent}{name[node.id]}[{_label(node)}]")
            continue
        lines.append(f"{indent}subgraph {name[node.id]}[{_label(node)}]")
        depth += 1
        if node.id in anchored:
            lines.append(f'{"  " * depth}{name[node.id]}_self((" "))')
        waiting += [None, *reversed(inside[node.id])]
    for edge in drawing.edges:
        holder = _holder(edge, around)
        source, target = (f"{name[end]}_self" if end == holder else name[end] for end in (edge.source, edge.target))
        label = f'|"{_safe(edge.label)}"|' if _safe(edge.label) else ""
        lines.append(f"  {source} -->{label} {target}")
    return "\n".join(lines) + "\n"


def _holder(edge: DrawnEdge, around: Mapping[str, tuple[str, ...]]) -> str | None:
    """The end that contains the other: Mermaid refuses an edge between a subgraph and what is in it."""
    if edge.source == edge.target:
        return None
    if edge.source in around[edge.target]:
        return edge.source
    return edge.target if edge.target in around[edge.source] else None


def _label(node: DrawnNode) -> str:
    parts = [node.title or node.id, *([f"({node.kind})"] if node.kind else []), *node.lines]
    return '"' + "<br/>".join(_safe(part) or " " for part in parts) + '"'


def _safe(text: str) -> str:
    """Letters, digits and plain marks as they are, all else as Mermaid's `#code;`."""
    line = one_line(text)
    line = line if len(line) <= _MOST else line[: _MOST - 1] + "…"
    return "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in line)
