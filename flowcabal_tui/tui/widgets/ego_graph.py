"""A person and their neighbours as a graph in the terminal, with a cursor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.ego_layout import EgoNeighbour, EgoPlan, RowPiece, draw_row, lay_out
from flowcabal_tui.tui.widgets.help import HelpData


class EgoGraph(ScrollView, can_focus=True):
    """One centre and its neighbours; `plain` draws it in ASCII."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"ego--line", "ego--words", "ego--centre", "ego--cursor"}
    DEFAULT_CSS = """
    EgoGraph { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    EgoGraph > .ego--line { color: $text-muted; }
    EgoGraph > .ego--words { text-style: italic; }
    EgoGraph > .ego--centre { text-style: bold; }
    EgoGraph > .ego--cursor { text-style: underline; }
    EgoGraph:focus > .ego--cursor { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", mark("Next neighbour"), show=False, id="ego.next"),
        Binding("k,up", "move(-1)", mark("Previous neighbour"), show=False, id="ego.previous"),
        Binding("h", "side('left')", mark("Left side"), show=False, id="ego.left"),
        Binding("l", "side('right')", mark("Right side"), show=False, id="ego.right"),
        Binding("enter", "select", mark("To the centre"), tooltip=mark("Centre the view on this neighbour."),
                id="ego.centre"),
    ]  # fmt: skip
    help = HelpData(
        mark("Relations"),
        mark("The one in the box and its neighbours. An arrow leads from a person to the one they are related to; "
             "a dashed line only means that they occur together. `j` `k` move around, `h` `l` to the other side, "
             "Enter moves one into the box."),
    )  # fmt: skip

    @dataclass
    class NeighbourHighlighted(Message):
        """The cursor moved to `neighbour`."""

        neighbour: str

    @dataclass
    class NeighbourChosen(Message):
        """Requests that `neighbour` become the centre."""

        neighbour: str

    def __init__(self, *, plain: bool = False) -> None:
        super().__init__()
        self._plain, self._centre_name = plain, ""
        self.cursor = ""
        """The neighbour under the cursor; empty when there is none."""
        self._neighbours: tuple[EgoNeighbour, ...] = ()
        self._plan: EgoPlan = lay_out((), 0)

    def show(self, centre: str, neighbours: Iterable[EgoNeighbour], cursor: str = "") -> None:
        """Draws another graph; the cursor goes to `cursor`, or stays at its neighbour, or goes to the first one."""
        self._centre_name = _one_row(centre)
        self._neighbours = tuple(
            replace(each, name=_one_row(each.name), words=_one_row(each.words)) for each in neighbours
        )
        known = [each.id for each in self._neighbours]
        wanted = next((each for each in (cursor, self.cursor) if each in known), None)
        self._lay_out()
        self.cursor = wanted or next(iter(known), "")
        self._bring(self._plan.middle)
        self._follow_cursor()
        self.refresh()
        self.post_message(self.NeighbourHighlighted(self.cursor))

    def go_to(self, neighbour: str) -> None:
        """Moves the cursor to a neighbour; ignores one that is not drawn."""
        if self._plan.place(neighbour) is not None:
            self._move_to(neighbour)

    def _lay_out(self) -> None:
        self._plan = lay_out(self._neighbours, self.size.height)
        self.set_reactive(Widget.virtual_size, Size(0, self._plan.rows))
        if self.is_mounted:
            self._scroll_update(self.virtual_size)

    def on_resize(self, event: Resize) -> None:
        """Adapts the space between the rows."""
        self._lay_out()
        self._bring(self._plan.middle)
        self._follow_cursor()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of lines and names."""
        width, base = self.size.width, self.rich_style
        row = y + self.scroll_offset.y
        if row >= self._plan.rows:
            return Strip.blank(width, base)
        pieces = draw_row(self._plan, self._centre_name, row, width, plain=self._plain)
        return Strip(Segment(each.text, self._style_of(each, base)) for each in pieces).adjust_cell_length(width, base)

    def _style_of(self, piece: RowPiece, base: Style) -> Style:
        name = "cursor" if piece.role == "name" and piece.neighbour == self.cursor else piece.role
        known = name in ("line", "words", "centre", "cursor")
        return base + self.get_component_rich_style(f"ego--{name}", partial=True) if known else base

    def _bring(self, row: int) -> None:
        """Puts a row into the middle."""
        self.scroll_to(y=max(0, row - self.size.height // 2), animate=False, force=True)

    def _follow_cursor(self) -> None:
        place = self._plan.place(self.cursor)
        top, height = self.scroll_offset.y, self.size.height
        if place is not None and not top <= place[1] < top + height:
            self._bring(place[1])

    def _move_to(self, neighbour: str) -> None:
        if neighbour and neighbour != self.cursor:
            self.cursor = neighbour
            self._follow_cursor()
            self.refresh()
            self.post_message(self.NeighbourHighlighted(neighbour))

    def action_move(self, step: int) -> None:
        """Moves to the next neighbour: down one side, then down the other."""
        order = [each.id for each in self._plan.order]
        if order:
            self._move_to(order[(order.index(self.cursor) + step) % len(order)])

    def action_side(self, side: str) -> None:
        """Moves to the nearest neighbour of the other side."""
        place = self._plan.place(self.cursor)
        column = self._plan.left if side == "left" else self._plan.right
        if place is not None and place[0] != side and column:
            self._move_to(column[min(column, key=lambda row: abs(row - place[1]))].id)

    def action_select(self) -> None:
        """Makes the neighbour under the cursor the centre."""
        if self.cursor:
            self.post_message(self.NeighbourChosen(self.cursor))

    def on_click(self, event: Click) -> None:
        """Moves the cursor to the clicked neighbour; a second click makes it the centre."""
        left = event.x
        for each in draw_row(self._plan, self._centre_name, event.y + self.scroll_offset.y, self.size.width):
            left -= len(each.text) if each.role == "line" else Segment(each.text).cell_length
            if left < 0:
                if each.neighbour and each.neighbour == self.cursor:
                    self.action_select()
                self._move_to(each.neighbour)
                return


def _one_row(words: str) -> str:
    return " ".join(clean(words).split())
