"""The coordinates of a drawing: each frame is laid out by itself, then placed in its surroundings as a box."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.drawing.level import DrawnArrow, DrawnItem, Level, lay_out_level
from flowcabal_tui.drawing.text_width import crop, one_line, text_width
from flowcabal_tui.drawing.values import Box, Drawing, DrawnEdge, DrawnNode, Layout, Point, Route

TITLE_SIZE: Final = 14.0
KIND_SIZE: Final = 11.0
LINE_SIZE: Final = 12.0
LABEL_SIZE: Final = 12.0
TITLE_HEIGHT: Final = 20.0
KIND_HEIGHT: Final = 16.0
LINE_HEIGHT: Final = 17.0
PADDING: Final = 10.0
_MARGIN: Final = 24.0
_FRAME: Final = 18.0
_MOST_TEXT: Final = 260.0
_MOST_LABEL: Final = 140.0
_MOST_LINES: Final = 6
_BOLD: Final = 1.08
_LOOP: Final = 16.0


def shown(node: DrawnNode) -> tuple[str, str, tuple[str, ...]]:
    """Title, kind and lines in displayed form: one line each, cropped to the widest box."""
    lines = [crop(one_line(line), LINE_SIZE, _MOST_TEXT) for line in node.lines]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"… +{len(lines) - _MOST_LINES + 1}"]
    title = crop(one_line(node.title) or one_line(node.id) or "?", TITLE_SIZE * _BOLD, _MOST_TEXT)
    return title, crop(one_line(node.kind), KIND_SIZE, _MOST_TEXT), tuple(lines)


def shown_label(edge: DrawnEdge) -> str:
    """The displayed label of an edge."""
    return crop(one_line(edge.label), LABEL_SIZE, _MOST_LABEL)


def box_size(node: DrawnNode) -> tuple[float, float]:
    """Width and height that the text of a node needs."""
    title, kind, lines = shown(node)
    widths = [text_width(title, TITLE_SIZE) * _BOLD, text_width(kind, KIND_SIZE)]
    widths += [text_width(line, LINE_SIZE) for line in lines]
    height = TITLE_HEIGHT + KIND_HEIGHT * bool(kind) + LINE_HEIGHT * len(lines) + PADDING
    return max(72.0, round(max(widths) + 2 * PADDING + 4)), height


def lay_out(drawing: Drawing) -> Layout:
    """Coordinates for a drawing: the same for the same drawing, boxes never overlap."""
    return _Composer(drawing).compose()


Port = tuple[str, str, int]
"""The crossing of a node's arrows and the edge of a frame: the frame, the node, and -1 at the top or 1 at the
bottom."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of an arrow inside one frame, from a node or a port of it to a node or a port of it."""

    source: str | Port
    target: str | Port
    label: str = ""
    leaves: Port | None = None
    enters: Port | None = None


@dataclass
class _Inside:
    """The content of a frame, or of the whole picture; `number` has the places of nodes and ports in `items`."""

    number: dict[str | Port, int] = field(default_factory=dict)
    parts: list[_Part] = field(default_factory=list)

    def add(self, part: _Part) -> int:
        """The number of the part."""
        for end in (part.source, part.target):
            self.number.setdefault(end, len(self.number))
        self.parts.append(part)
        return len(self.parts) - 1


class _Composer:
    """Lays out the frames from the innermost to the picture, then puts them into each other."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._nodes = {node.id: node for node in drawing.nodes}
        self._around = drawing.paths()
        self._inside: dict[str | None, _Inside] = {None: _Inside(), **{group: _Inside() for group in drawing.groups}}
        for node in drawing.nodes:
            number = self._inside[node.group].number
            number[node.id] = len(number)
        self._size = {node.id: box_size(node) for node in drawing.nodes}
        self._header = {node: size[1] for node, size in self._size.items() if node in self._inside}
        self._port_shift: dict[Port, float] = {}
        self._levels: dict[str | None, Level] = {}
        self._runs = [self._divide(edge) for edge in drawing.edges]

    def _divide(self, edge: DrawnEdge) -> list[tuple[str | None, int]]:
        """The parts of an arrow, outward from its source and inward to its target: frame and number of the part."""
        up, down = self._around[edge.source], self._around[edge.target]
        label = shown_label(edge)
        if up == down:
            return [self._add(self._nodes[edge.source].group, _Part(edge.source, edge.source))]
        common = 0
        while common < min(len(up), len(down)) and up[common] == down[common]:
            common += 1
        apart = common < min(len(up), len(down))
        low = common if apart else common - 1

        def port(path: tuple[str, ...], at: int, pin: int) -> Port | None:
            return (path[at], edge.source, pin) if at < len(path) - 1 else None

        runs = []
        for at in range(len(up) - 2, low - 1, -1):
            text = label if not apart and at == low else ""
            part = _Part(up[at + 1], (up[at], edge.source, 1), text, leaves=port(up, at + 1, 1))
            runs.append(self._add(up[at], part))
        if apart:
            part = _Part(up[common], down[common], label, port(up, common, 1), port(down, common, -1))
            runs.append(self._add(up[common - 1] if common else None, part))
        for at in range(low, len(down) - 1):
            text = label if not apart and at == low else ""
            part = _Part((down[at], edge.source, -1), down[at + 1], text, enters=port(down, at + 1, -1))
            runs.append(self._add(down[at], part))
        return runs

    def _add(self, frame: str | None, part: _Part) -> tuple[str | None, int]:
        return frame, self._inside[frame].add(part)

    def compose(self) -> Layout:
        """The whole picture."""
        innermost_first = sorted(
            (frame for frame in self._inside if frame is not None), key=lambda frame: (-len(self._around[frame]), frame)
        )
        for frame in innermost_first:
            self._close(frame, self._level(frame))
        picture = self._levels[None] = self._level(None)
        boxes: dict[str, Box] = {}
        origins: dict[str | None, Point] = {None: (_MARGIN, _MARGIN)}
        for node in sorted(self._drawing.nodes, key=lambda node: len(self._around[node.id])):
            left, top = origins[node.group]
            x, y = self._levels[node.group].corners[self._inside[node.group].number[node.id]]
            width, height = self._size[node.id]
            header = self._header.get(node.id, 0.0)
            box = Box(node, left + x, top + y, width, height, len(self._around[node.id]) - 1, header)
            boxes[node.id] = box
            if header:
                inset = (width - self._levels[node.id].width) / 2
                origins[node.id] = (box.x + inset, box.y + header + _FRAME / 2)
        routes = tuple(
            self._route(edge, runs, origins) for edge, runs in zip(self._drawing.edges, self._runs, strict=True)
        )
        return Layout(picture.width + 2 * _MARGIN + _LOOP, picture.height + 2 * _MARGIN, tuple(boxes.values()), routes)

    def _level(self, frame: str | None) -> Level:
        inside = self._inside[frame]
        items = [
            DrawnItem(*self._size[name]) if isinstance(name, str) else DrawnItem(0.0, 0.0, name[2])
            for name in inside.number
        ]
        links = [
            DrawnArrow(
                inside.number[part.source],
                inside.number[part.target],
                part.label,
                (text_width(part.label, LABEL_SIZE) + 8, LABEL_SIZE + 6),
                self._port_shift[part.leaves] if part.leaves else 0.0,
                self._port_shift[part.enters] if part.enters else 0.0,
            )
            for part in inside.parts
        ]
        return lay_out_level(items, links)

    def _close(self, frame: str, level: Level) -> None:
        """Put a frame around a level: its size, and where its ports are."""
        self._levels[frame] = level
        width = max(level.width + 2 * _FRAME + _LOOP, self._size[frame][0] + 2 * _FRAME)
        self._size[frame] = (width, self._header[frame] + level.height + 1.5 * _FRAME)
        for name, number in self._inside[frame].number.items():
            if not isinstance(name, str):
                self._port_shift[name] = level.corners[number][0] - level.width / 2

    def _route(self, edge: DrawnEdge, runs: list[tuple[str | None, int]], origins: dict[str | None, Point]) -> Route:
        points: dict[Point, None] = {}
        label = None
        for frame, number in runs:
            left, top = origins[frame]
            level = self._levels[frame]
            part = self._inside[frame].parts[number]
            if not isinstance(part.source, str) and part.source[0] == edge.source:
                points[left + level.paths[number][0][0], top - _FRAME / 2] = None
            points |= {(round(left + x, 1), round(top + y, 1)): None for x, y in level.paths[number]}
            if at := level.labels[number]:
                label = (left + at[0], top + at[1])
            if not isinstance(part.target, str) and part.target[0] == edge.target:
                points[left + level.paths[number][-1][0], top + level.height + _FRAME] = None
        return Route(edge, tuple(points), label)
