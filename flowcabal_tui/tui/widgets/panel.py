"""A frame around panes: heavy and in the focus colour while keys act inside it, thin otherwise."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from rich.segment import Segment
from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip

from flowcabal_tui.tui.widgets.cells import is_plain


class FrameEdge(NamedTuple):
    """The characters of a frame: line, upright, and the corners, clockwise from the upper left one."""

    line: str
    upright: str
    corners: tuple[str, str, str, str]


THIN: Final = FrameEdge("─", "│", ("╭", "╮", "╯", "╰"))
HEAVY: Final = FrameEdge("━", "┃", ("┏", "┓", "┛", "┗"))
PLAIN_THIN: Final = FrameEdge("-", "|", ("+", "+", "+", "+"))
PLAIN_HEAVY: Final = FrameEdge("=", "#", ("#", "#", "#", "#"))


def edge_of(*, is_current: bool, plain: bool) -> FrameEdge:
    """The frame of the current panel, or of another; `plain` is ASCII."""
    if plain:
        return PLAIN_HEAVY if is_current else PLAIN_THIN
    return HEAVY if is_current else THIN


class Panel(Vertical):
    """Draws its left, right and lower edge in its padding; its first row (the names of the panes) is the upper edge.

    Textual's own border would repaint all that lies in the frame when its colour changes.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"panel--edge", "panel--current"}
    DEFAULT_CSS = """
    Panel { padding: 0 1 1 1; }
    Panel > .panel--edge { color: $border-blurred; }
    Panel > .panel--current { color: $border; text-style: bold; }
    """

    def __init__(self, *panes: str, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's
        super().__init__(id=id, classes=classes)
        self.panes = panes
        self._is_current = False
        self._drawn: tuple[object, list[Strip]] = (None, [])

    def set_current(self, is_current: bool) -> None:
        """Marks the panel as current or not; repaints only the edges."""
        if is_current != self._is_current:
            self._is_current = is_current
            width, height = self.size
            self.refresh(
                Region(-1, 0, 1, height + 1), Region(width, 0, 1, height + 1), Region(-1, height, width + 2, 1)
            )

    def render_lines(self, crop: Region) -> list[Strip]:
        """Renders the frame, where there is padding for it."""
        if not self.styles.padding.left:
            return super().render_lines(crop)
        name = "panel--current" if self._is_current else "panel--edge"
        style = self.get_component_rich_style(name)
        key = (crop, self.outer_size, style, name)
        if self._drawn[0] != key:
            self._drawn = key, [self._row(y).crop(crop.x, crop.right) for y in range(crop.y, crop.bottom)]
        return self._drawn[1]

    def _filtered(self, strip: Strip) -> Strip:
        """The strip without the colours that are not to be sent, as Textual's own rows of a widget are."""
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip

    def _row(self, y: int) -> Strip:
        width, height = self.outer_size
        edge = edge_of(is_current=self._is_current, plain=is_plain(self.app))
        style = self.get_component_rich_style("panel--current" if self._is_current else "panel--edge")
        left, right, filled = edge.upright, edge.upright, " "
        if y == 0:
            left, right = edge.corners[0], edge.corners[1]
        elif y == height - 1:
            left, right, filled = edge.corners[3], edge.corners[2], edge.line
        return self._filtered(Strip([Segment(left + filled * (width - 2) + right, style)], width))
