"""One row of pane names with their digits: the current pane in brackets, in the focus colour while keys act there."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.tui.widgets.panel import edge_of
from flowcabal_tui.tui.widgets.roles import role_style


@dataclass
class PaneChosen(Message):
    """A name was clicked."""

    pane: str


class PaneTabs(Static):
    """Names of panes, such as ` 3 Manuscript [4 Output] 5 Prompt `.

    One widget for all names, because styling a widget for each took a tenth of the time to open a book.
    """

    DEFAULT_CSS = "PaneTabs { height: 1; text-wrap: nowrap; }"

    def __init__(
        self, panes: tuple[tuple[str, str, str], ...], *, classes: str = "", is_edge: bool = False, plain: bool = False
    ) -> None:
        """`panes` are (digit, id, words marked for translation); `is_edge` draws it as the upper edge of a panel."""
        self._panes_named, self._shown_pane, self._is_edge, self._plain = panes, "", is_edge, plain
        self._is_current = not is_edge
        super().__init__("" if is_edge else self._row(), classes=classes, markup=False)

    @property
    def panes(self) -> set[str]:
        """Ids of the panes that are named here."""
        return {pane for _digit, pane, _words in self._panes_named}

    def show(self, pane: str, *, is_current: bool = True) -> None:
        """Marks the displayed pane with brackets; `is_current`: keys act there."""
        if (pane, is_current) != (self._shown_pane, self._is_current):
            self._shown_pane, self._is_current = pane, is_current
            self.update(self._row(), layout=False)

    def on_resize(self) -> None:
        """Extends the line of an edge to the width of the panel."""
        if self._is_edge:
            self.update(self._row(), layout=False)

    def _names(self) -> Iterator[tuple[str, Content]]:
        for digit, pane, words in self._panes_named:
            name = f"{digit} {_(words)}"
            if pane != self._shown_pane:
                before = " " if self._is_edge or digit != self._panes_named[0][0] else ""  # all names need 80 cells
                yield pane, Content.styled(f"{before}{name} ", role_style("secondary"))
            elif self._is_edge and len(self._panes_named) == 1:
                yield pane, Content.styled(f" {name} ", self._look)
            else:
                yield pane, Content.styled(f"[{name}]", self._look)

    @property
    def _look(self) -> str:
        return role_style("focus") if self._is_current else "bold"

    def _row(self) -> Content:
        names = Content("").join(name for _pane, name in self._names())
        if not self._is_edge:
            return names
        line = edge_of(is_current=self._is_current, plain=self._plain).line
        look = "bold $border" if self._is_current else "$border-blurred"
        return Content.assemble(names, (line * (self.size.width - names.cell_length), look))

    def on_click(self, event: Click) -> None:
        """Selects the clicked pane."""
        left = event.x
        for pane, name in self._names():
            left -= name.cell_length
            if left < 0:
                self.post_message(PaneChosen(pane))
                return
