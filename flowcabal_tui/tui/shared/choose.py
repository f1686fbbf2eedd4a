"""A dialog with one choice from a list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.column_rows import Column, Columns

Choices = tuple[tuple[str, str | tuple[str, ...]], ...]
"""(id, words or the cells of a row; a row of cells is cut from its end)."""
_NEAR: Final = 5
CELLS: Final = 6
"""The most cells of a row."""


class ChooseScreen(ModalScreen[str | None]):
    """A title and lines to choose from; returns the id, or None after Esc."""

    KEYS_LINE: ClassVar[str] = mark("Enter: choose   Esc: cancel")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", mark("Cancel"), id="choose.cancel")]

    def __init__(self, title: str, choices: Choices, more: Callable[[], Awaitable[Choices]] | None = None) -> None:
        """`choices` are (id, words); `more` returns further ones when the cursor nears the end, or ()."""
        super().__init__()
        self._title_words, self._choices, self._more = title, choices, more
        self._columns = Columns(Column(), *(Column(rank=rank, least=6, role="secondary") for rank in range(1, CELLS)))

    def compose(self) -> ComposeResult:
        """Yields the lines, the first under the cursor."""
        with Vertical(classes="dialog"):
            yield Static(self._title_words, markup=False, classes="dialog-title")
            yield PickList()
            yield Static(_(self.KEYS_LINE), markup=False, classes="dialog-keys")

    def on_mount(self) -> None:
        """Shows the choices; names of projects and models are cleaned."""
        lines = self.query_one(PickList)
        lines.add_options(self._rows(self._choices))
        lines.action_first()

    @on(OptionList.OptionHighlighted)
    def read_on(self, event: OptionList.OptionHighlighted) -> None:
        """Loads further lines near the end."""
        if self._more is not None and event.option_index >= event.option_list.option_count - _NEAR:
            more, self._more = self._more, None
            attempt(self, self._add(more))

    async def _add(self, more: Callable[[], Awaitable[Choices]]) -> None:
        choices: Choices = ()
        try:
            choices = await more()
        except FlowCabalError:
            self._more = more  # requested again when the cursor moves
            raise
        if choices:
            self._more = more
            self.query_one(PickList).add_options(self._rows(choices))

    def _rows(self, choices: Choices) -> list[Option]:
        rows = []
        for key, words in choices:
            is_row = isinstance(words, tuple)
            row = self._columns.row(*map(clean, words)) if is_row and len(words) <= CELLS else clean(str(words))
            rows.append(Option(row, id=key))
        return rows

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Returns the id on Enter."""
        self.dismiss(event.option_id)
