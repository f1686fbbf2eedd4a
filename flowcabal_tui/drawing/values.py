"""Values for the content of a drawing and its layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A box. `group` is the id of the node whose frame contains it; a node that is a group is drawn as a frame.

    A `missing` node is referenced but does not exist.
    """

    id: str
    title: str
    kind: str = ""
    lines: tuple[str, ...] = ()
    group: str | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An arrow from one node to another."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph to draw; cycles are permitted, because invalid documents are drawn too.

    Raises ValueError for duplicate ids, an edge or a group without a node, or groups that contain each other.
    """

    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...] = ()

    def __post_init__(self) -> None:
        ids = {node.id for node in self.nodes}
        if len(ids) != len(self.nodes):
            raise ValueError("two nodes have the same id")
        named = {end for edge in self.edges for end in (edge.source, edge.target)}
        named |= {node.group for node in self.nodes if node.group is not None}
        if unknown := sorted(named - ids):
            raise ValueError(f"no such node: {unknown[0]!r}")
        self.paths()

    @property
    def groups(self) -> frozenset[str]:
        """The nodes that contain others."""
        return frozenset(node.group for node in self.nodes if node.group is not None)

    def paths(self) -> Mapping[str, tuple[str, ...]]:
        """For each node, the frames around it, outermost first, followed by the node itself."""
        parent = {node.id: node.group for node in self.nodes}
        found: dict[str, tuple[str, ...]] = {}
        for node in parent:
            waiting: dict[str, None] = {}
            at: str | None = node
            while at is not None and at not in found:
                if at in waiting:
                    raise ValueError(f"{at!r} contains itself")
                waiting[at] = None
                at = parent[at]
            path = found[at] if at is not None else ()
            for inner in reversed(waiting):
                path = found[inner] = (*path, inner)
        return found


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a node, in pixels; a frame also has the height of its header."""

    node: DrawnNode
    x: float
    y: float
    width: float
    height: float
    depth: int = 0
    header: float = 0

    @property
    def is_frame(self) -> bool:
        return self.header > 0


@dataclass(frozen=True, slots=True)
class Route:
    """The path of an arrow: straight between points with the same x, else a curve that starts and ends vertically."""

    edge: DrawnEdge
    points: tuple[Point, ...]
    label_at: Point | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing with coordinates, frames before their contents. Sizes in pixels."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
