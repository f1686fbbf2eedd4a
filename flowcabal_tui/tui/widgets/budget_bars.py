"""Where a budget of tokens went, class by class, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.cells import cell_width, crop
from flowcabal_tui.tui.widgets.help import HelpData

_LABEL_CELLS = 24
_LEAST_BAR = 3
_PER_CENT_FROM = 34
"""Cells below which the tokens alone are shown."""


@dataclass(frozen=True, slots=True)
class BudgetClass:
    """One class of sources: its name, what it used, and its part of the whole (0 to 1)."""

    label: str
    tokens: int
    share: float


def bar_lines(classes: Sequence[BudgetClass], width: int, plain: bool = False) -> list[str]:
    """One line a class, at most `width` cells: name, bar, tokens, per cent; `plain` is ASCII.

    Bars stand to each other as the shares do: that of the largest share fills the room.
    """
    counts = [f"{entry.tokens:,}" + (f" {entry.share:4.0%}" if width >= _PER_CENT_FROM else "") for entry in classes]
    count_cells = max((len(count) for count in counts), default=0)
    label_cells = max(0, min(_LABEL_CELLS, width - count_cells - 2 - _LEAST_BAR))
    labels = [crop(" ".join(clean(entry.label).split()), label_cells) for entry in classes]
    label_cells = max((cell_width(label) for label in labels), default=0)
    room = max(0, width - label_cells - count_cells - 2)
    full, largest = "#" if plain else "█", max((entry.share for entry in classes), default=0.0)
    lines: list[str] = []
    for entry, label, count in zip(classes, labels, counts, strict=True):
        part = entry.share / largest if largest else 0.0
        bar = (full * min(room, max(round(room * part), 1 if entry.tokens and room else 0))).ljust(room)
        lines.append(f"{label}{' ' * (label_cells - cell_width(label))} {bar} {count:>{count_cells}}")
    return lines


class BudgetBars(Widget):
    """Bars for the classes of a budget; as high as there are classes."""

    DEFAULT_CSS = "BudgetBars { height: auto; width: 1fr; }"
    help = HelpData(mark("Budget"), mark("Tokens given to each class of sources, and its share."))

    def __init__(
        self,
        classes_of_budget: Sequence[BudgetClass] = (),
        *,
        plain: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._budget = tuple(classes_of_budget)
        self._plain = plain

    def set_budget(self, classes_of_budget: Sequence[BudgetClass]) -> None:
        """Show another budget."""
        self._budget = tuple(classes_of_budget)
        self.refresh(layout=True)

    def render(self) -> Content:
        """The lines, for the width that there is."""
        return Content("\n".join(bar_lines(self._budget, self.size.width, self._plain)))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """One row a class."""
        return len(self._budget)
