"""The use of a token budget: one stacked bar, and a legend of its classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.widget import Widget

from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.cells import cell_width, crop
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.roles import Role

_FILLS: Final[tuple[tuple[str, str, Role], ...]] = (
    ("█", "#", "key"), ("▓", "=", "model"), ("▒", "+", "done"), ("▞", "%", "focus"), ("░", ":", "rule"),
    ("▚", "*", "contradiction"), ("▙", "@", "quoted"), ("▟", "&", "stale"), ("▄", "$", "hand"),
)  # fmt: skip
"""Fill of a class, the same in ASCII, and the role whose colour it has: neighbours differ without colour, too."""
_FREE: Final = ("·", ".")
_LABEL_CELLS: Final = 24


@dataclass(frozen=True, slots=True)
class BudgetClass:
    """One class of sources: its name, its tokens, and its share of the whole (0 to 1)."""

    label: str
    tokens: int
    share: float


def fill_of(place: int, *, plain: bool = False) -> tuple[str, Role]:
    """The fill character of the class at a place, and the role of its colour."""
    sign, ascii_sign, role = _FILLS[place % len(_FILLS)]
    return (ascii_sign if plain else sign), role


def bar_widths(shares: Sequence[float], space: int) -> list[int]:
    """The cells of each class in a bar of `space` cells for the whole budget; a used class has at least one cell."""
    widths = [max(1, round(share * space)) if share > 0 else 0 for share in shares]
    while sum(widths) > space and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


def budget_rows(classes: Sequence[BudgetClass], width: int, plain: bool = False) -> list[Content]:
    """The bar, at most `width` cells wide, and the rows of the legend; the unused budget is dotted."""
    used = [entry for entry in classes if entry.tokens]
    if not used or width < 1:
        return []
    widths = bar_widths([entry.share for entry in used], width)
    parts = []
    for place, cells in enumerate(widths):
        sign, role = fill_of(place, plain=plain)
        parts.append((sign * cells, f"$role-{role}"))
    free = (_FREE[plain] * (width - sum(widths)), "$border-blurred")
    return [Content.assemble(*parts, free), *_legend(used, width, plain)]


def _legend(used: Sequence[BudgetClass], width: int, plain: bool) -> list[Content]:
    rows: list[list[Content]] = [[]]
    taken = 0
    for place, entry in enumerate(used):
        sign, role = fill_of(place, plain=plain)
        label = crop(" ".join(clean(entry.label).split()), min(_LABEL_CELLS, max(1, width - 3)))
        cells = cell_width(label) + 4
        if rows[-1] and taken + cells - 2 > width:
            rows.append([])
            taken = 0
        rows[-1].append(Content.assemble((sign, f"$role-{role}"), (f" {label}  ", "$role-secondary")))
        taken += cells
    return [Content("").join(row) for row in rows]


class BudgetBar(Widget):
    """Shows the budget as one bar with its legend."""

    DEFAULT_CSS = "BudgetBar { height: auto; width: 1fr; }"
    help = HelpData(mark("Budget"), mark("Tokens given to each class of sources, in the order of the prompt."))

    def __init__(self, *, plain: bool = False) -> None:
        super().__init__()
        self._budget: tuple[BudgetClass, ...] = ()
        self._plain = plain

    def set_budget(self, classes_of_budget: Sequence[BudgetClass]) -> None:
        """Shows another budget."""
        self._budget = tuple(classes_of_budget)
        self.refresh(layout=True)

    def render(self) -> Content:
        """Draws the rows for the available width."""
        return Content("\n").join(budget_rows(self._budget, self.size.width, self._plain))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """The height of the bar and its legend."""
        return len(budget_rows(self._budget, width, self._plain))
