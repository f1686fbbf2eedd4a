"""The workflow as rails: one row per node, its state as a sign, its name at the right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar, Final

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.drawing.rails import NODE_SIGN, PLAIN_RAILS, RailRow, rail_rows
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.cells import crop
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.roles import Role

STATE_SIGNS: Final[dict[str, tuple[str, str]]] = {
    "pending": ("○", "."),
    "ready": ("◇", "o"),
    "running": ("◐", ">"),
    "waiting": ("?", "?"),
    "done": ("●", "*"),
    "failed": ("✗", "!"),
    "blocked": ("⊘", "="),
    "skipped": ("·", "-"),
    "frozen": ("■", "F"),
    "stale": ("◌", "~"),
    "retrying": ("◔", "%"),
    "cancelled": ("□", "x"),
    "paused": ("◑", "^"),
    "interrupted": ("◒", "/"),
    "round": ("▸", ":"),
}
"""State (a round of a loop has none) -> its sign, and its sign in ASCII; an unknown state shows its first letter."""


STATE_ROLES: Final[dict[str, Role]] = {
    "running": "focus", "retrying": "focus", "waiting": "waiting", "done": "done", "failed": "failed",
    "blocked": "failed", "frozen": "key", "stale": "stale", "cancelled": "secondary", "skipped": "secondary",
    "pending": "secondary", "ready": "secondary", "paused": "focus", "interrupted": "stale",
}  # fmt: skip
"""State -> the role with its colour."""


def state_sign(state: str, plain: bool) -> str:
    """The sign of a node's state, one cell wide."""
    return STATE_SIGNS[state][plain] if state in STATE_SIGNS else crop(state, 1) or "."


@dataclass(frozen=True, slots=True)
class RailNode:
    """One node as drawn; parents are ids of earlier nodes (others are ignored)."""

    id: str
    label: str
    state: str = "pending"
    parents: tuple[str, ...] = ()


class RailGraph(ScrollView, can_focus=True):
    """A graph of up to thousands of nodes, with a cursor; `plain` draws it in ASCII."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rail--line", "rail--cursor",
        *(f"rail--{state}" for state in STATE_SIGNS),
    }  # fmt: skip
    DEFAULT_CSS = """
    RailGraph { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    RailGraph > .rail--line { color: $border-blurred; }
    RailGraph > .rail--cursor { text-style: underline; }
    RailGraph:focus > .rail--cursor { text-style: reverse; }
    RailGraph > .rail--done { color: $success; }
    RailGraph > .rail--running { color: $primary; text-style: bold; }
    RailGraph > .rail--waiting { color: $warning; text-style: bold; }
    RailGraph > .rail--failed { color: $error; text-style: bold; }
    RailGraph > .rail--blocked { color: $error; }
    RailGraph > .rail--skipped, RailGraph > .rail--pending { color: $text-muted; }
    RailGraph > .rail--stale { color: $warning; text-style: italic; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", mark("Down"), show=False, id="rail.down"),
        Binding("k,up", "move(-1)", mark("Up"), show=False, id="rail.up"),
        Binding("pagedown", "page(1)", mark("Page down"), show=False, id="rail.page-down"),
        Binding("pageup", "page(-1)", mark("Page up"), show=False, id="rail.page-up"),
        Binding("g,home", "first", mark("Start"), show=False, id="rail.start"),
        Binding("G,end", "last", mark("End"), show=False, id="rail.end"),
        Binding("enter", "select", mark("Open"), id="rail.open"),
    ]
    help = HelpData(
        mark("Graph"),
        mark("Each row is a node; the lines on the left lead down from what a node needs. `enter` opens it."),
    )

    @dataclass
    class NodeHighlighted(Message):
        """The cursor moved to `node`."""

        node: str

    @dataclass
    class NodeSelected(Message):
        """The user opens `node`."""

        node: str

    def __init__(self, *, plain: bool = False, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._plain = plain
        self._rail_nodes: list[RailNode] = []
        self._rail_rows: list[RailRow] = []
        self._row_of_node: dict[str, int] = {}
        self._cursor_row = 0
        self._lay_out([])

    @property
    def cursor_node(self) -> str | None:
        """The id of the node under the cursor."""
        return self._rail_nodes[self._cursor_row].id if self._rail_nodes else None

    def set_graph(self, nodes: Iterable[RailNode]) -> None:
        """Draws other nodes (in topological order); the cursor stays on its node if that is still there."""
        before = self.cursor_node
        self._lay_out(list(nodes))
        self._cursor_row = self._row_of_node.get(before or "", min(self._cursor_row, len(self._rail_nodes) - 1))
        self._cursor_row = max(0, self._cursor_row)
        if self.is_mounted:
            self._scroll_update(self.virtual_size)
            self.refresh()

    def set_state(self, node: str, state: str) -> None:
        """Shows another state of one node and repaints its row; ignores an unknown node."""
        row = self._row_of_node.get(node)
        if row is not None and self._rail_nodes[row].state != state:
            self._rail_nodes[row] = replace(self._rail_nodes[row], state=state)
            self._refresh_row(row)

    def go_to(self, node: str) -> None:
        """Moves the cursor to `node` and scrolls to it; ignores an unknown node."""
        if node in self._row_of_node:
            self._move_to(self._row_of_node[node])

    def _lay_out(self, nodes: list[RailNode]) -> None:
        self._rail_nodes = nodes
        self._rail_rows = rail_rows([node.id for node in nodes], {node.id: node.parents for node in nodes})
        self._row_of_node = {node.id: row for row, node in enumerate(nodes)}
        self.set_reactive(Widget.virtual_size, Size(0, len(nodes)))

    def render_line(self, y: int) -> Strip:
        """Renders one node."""
        row = y + self.scroll_offset.y
        width = self.size.width
        base = self.rich_style
        if row >= len(self._rail_nodes):
            return Strip.blank(width, base)
        node = self._rail_nodes[row]
        rails = self._rail_rows[row].cells
        before, _sign, after = (rails.translate(PLAIN_RAILS) if self._plain else rails).partition(NODE_SIGN)
        line_style = base + self.get_component_rich_style("rail--line", partial=True)
        state_style = base
        if node.state in STATE_SIGNS:
            state_style += self.get_component_rich_style(f"rail--{node.state}", partial=True)
        label_style = state_style
        if row == self._cursor_row:
            label_style += self.get_component_rich_style("rail--cursor", partial=True)
        label = node.label.replace("\n", " ").replace("\t", " ")
        strip = Strip(
            [
                Segment(before, line_style),
                Segment(state_sign(node.state, self._plain), state_style),
                Segment(after + " ", line_style),
                Segment(crop(label, max(1, width - len(rails) - 1)), label_style),
            ]
        )
        return strip.crop_extend(0, width, base)

    def _refresh_row(self, row: int) -> None:
        if 0 <= row - self.scroll_offset.y < self.size.height:
            self.refresh_line(row)

    def _move_to(self, row: int) -> None:
        row = min(max(row, 0), len(self._rail_nodes) - 1)
        if row < 0 or row == self._cursor_row:
            return
        old, self._cursor_row = self._cursor_row, row
        top, height = self.scroll_offset.y, self.size.height
        if row < top:
            self.scroll_to(y=row, animate=False, force=True)
        elif row >= top + height > 0:
            self.scroll_to(y=row - height + 1, animate=False, force=True)
        self._refresh_row(old)
        self._refresh_row(row)
        self.post_message(self.NodeHighlighted(self._rail_nodes[row].id))

    def on_click(self, event: Click) -> None:
        """Moves the cursor to the clicked node; a second click opens it."""
        row = event.y + self.scroll_offset.y
        if row < len(self._rail_nodes):
            if row == self._cursor_row:
                self.action_select()
            self._move_to(row)

    def action_move(self, rows: int) -> None:
        """Moves the cursor by `rows`."""
        self._move_to(self._cursor_row + rows)

    def action_page(self, pages: int) -> None:
        """Moves the cursor by pages."""
        self._move_to(self._cursor_row + pages * max(1, self.size.height - 1))

    def action_first(self) -> None:
        """Goes to the first node."""
        self._move_to(0)

    def action_last(self) -> None:
        """Goes to the last node."""
        self._move_to(len(self._rail_nodes) - 1)

    def action_select(self) -> None:
        """Opens the node under the cursor."""
        if (node := self.cursor_node) is not None:
            self.post_message(self.NodeSelected(node))
