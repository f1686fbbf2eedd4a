"""A list and a tree that can be used with hjkl or the arrows; their texts are never markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, TypeVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static, Tree
from textual.widgets.option_list import Option
from textual.widgets.tree import TreeNode

from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.column_rows import Columns

Leaf = TypeVar("Leaf")
_REVERSED: Final = Style(reverse=True)


class PickList(OptionList):
    """One row per option, cut at the edge."""

    DEFAULT_CSS = """
    PickList { text-wrap: nowrap; text-overflow: ellipsis; border: none; padding: 0; height: 1fr; }
    PickList:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", mark("Down"), show=False, id="list.down"),
        Binding("k", "cursor_up", mark("Up"), show=False, id="list.up"),
        Binding("g", "first", mark("First"), show=False, id="list.first"),
        Binding("G", "last", mark("Last"), show=False, id="list.last"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, markup=False, compact=True)

    @property
    def picked(self) -> str | None:
        """The id of the option under the cursor."""
        row = self.highlighted
        return None if row is None else self.get_option_at_index(row).id

    def pick(self, option_id: str | None) -> None:
        """Moves the cursor to an option, if the list has it."""
        rows = [row for row, option in enumerate(self.options) if option.id == option_id]
        if option_id is not None and rows:
            self.highlighted = rows[0]

    def refill(self, rows: Iterable[Option], cursor: str | None = None) -> None:
        """Shows other rows; the cursor goes to the id `cursor`, or stays at its id, or goes to the first row."""
        wanted = cursor if cursor is not None else self.picked
        self.set_options(rows)
        self.pick(wanted)
        if self.highlighted is None:
            self.action_first()

    def render_line(self, y: int) -> Strip:
        """Reverses the row under the cursor, in one colour, if a theme has no colour of its own for it."""
        strip = super().render_line(y)
        if self.highlighted is None or not self.app.native_ansi_color or not self._has_keys:
            return strip
        first = next((segment.style for segment in strip if segment.style), None)
        if first is None or first.meta.get("option") != self.highlighted:
            return strip
        return Strip([_reversed(segment) for segment in strip], strip.cell_length)

    @property
    def _has_keys(self) -> bool:
        """True when keys act here: in the list, or in the input that searches it."""
        focused = self.screen.focused
        return focused is self or (isinstance(focused, Input) and focused.parent in self.ancestors)

    def find_row(self, words: str) -> bool:
        """Puts the cursor on the next row that contains the words, letter case aside, wrapping around."""
        wanted, start = words.casefold(), (self.highlighted if self.highlighted is not None else -1) + 1
        rows = [*range(start, self.option_count), *range(start)]
        for row in rows:
            option = self.get_option_at_index(row)
            if not option.disabled and wanted in str(option.prompt).casefold():
                self.highlighted = row
                return True
        return False


class MovesList(Widget):
    """A screen whose keys move the cursor of its list while another widget has the focus.

    It is the last of the bases: Textual takes the styles of the first one.
    """

    def action_go(self, way: str) -> None:
        """Moves the cursor: `cursor_down`, `cursor_up`, `page_down` or `page_up`."""
        getattr(self.query_one(PickList), f"action_{way}")()


def _reversed(segment: Segment) -> Segment:
    """Without its colours, which would be grounds of as many colours."""
    style = segment.style or Style()
    look = Style(reverse=True, color="default", bgcolor="default") if style.color or style.bgcolor else _REVERSED
    return Segment(segment.text, style + look, segment.control)


class ColumnHead(Static):
    """The column headings above a list, as wide as its rows."""

    DEFAULT_CSS = "ColumnHead { height: 1; width: 1fr; color: $text-muted; }"

    def show(self, columns: Columns) -> None:
        """Shows the headings of these columns."""
        self.update(columns.head(), layout=False)


class PickTree(Tree[Leaf]):
    """A tree without a root: `l` opens a branch or moves into it, `h` closes it or moves out of it."""

    DEFAULT_CSS = """
    PickTree { height: 1fr; padding: 0; overflow-x: hidden; }
    PickTree:ansi:nocolor > .tree--cursor { text-style: $block-cursor-blurred-text-style; }
    PickTree:ansi:nocolor:focus > .tree--cursor { text-style: $block-cursor-text-style; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", mark("Down"), show=False, id="tree.down"),
        Binding("k", "cursor_up", mark("Up"), show=False, id="tree.up"),
        Binding("l,right", "inward", mark("Open"), show=False, id="tree.open"),
        Binding("h,left", "outward", mark("Close"), show=False, id="tree.close"),
        Binding("g", "scroll_home", mark("First"), show=False, id="tree.first"),
        Binding("G", "scroll_end", mark("Last"), show=False, id="tree.last"),
    ]

    def __init__(self) -> None:
        super().__init__("")
        self.show_root = False
        self.guide_depth = 2

    def render_label(self, node: TreeNode[Leaf], base_style: Style, style: Style) -> Text:
        """Gives the words of a label that name a role, such as `$role-done`, its colour; cuts a long label."""
        label = super().render_label(node, base_style, style)
        label.spans = [Span(start, end, self._look(named)) for start, end, named in label.spans]
        free, above = self.scrollable_content_region.width, node.parent
        while above is not None and not above.is_root:
            free, above = free - self.guide_depth, above.parent
        if free > 0:
            label.truncate(free, overflow="ellipsis")
        return label

    def _look(self, named: str | Style) -> str | Style:
        if isinstance(named, Style) or "$" not in named:
            return named
        weight, _sign, variable = named.partition("$")
        colour = Color.parse(self.app.theme_variables.get(variable, "ansi_default"))
        return Style.parse(weight) + Style(color=colour.rich_color)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaves `l` to the pane on a leaf, which cannot be opened."""
        if action == "inward":
            return self.cursor_node is not None and self.cursor_node.allow_expand
        return True

    def action_inward(self) -> None:
        """Opens the branch; when it is open, goes to its first leaf."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.children:
            self.move_cursor(node.children[0])
        node.expand()

    def action_outward(self) -> None:
        """Closes the branch; from a leaf, goes to its branch."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded:
            node.collapse()
        elif node.parent is not None and not node.parent.is_root:
            self.move_cursor(node.parent)

    def place(self, node: TreeNode[Leaf] | None) -> None:
        """Puts the cursor on a node as soon as its line is known."""
        if node is not None:
            self.call_after_refresh(self.move_cursor, node)
