"""A list, and the details of the row under the cursor: beside it, or below it in a narrow terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from flowcabal_tui.tui.widgets.role_words import fold_facts, wrapped

_BOTH: Final = 96
"""Columns in which a list and a detail have space beside each other."""


class ListDetail(Container):
    """Lays out a list and a `DetailText`."""

    DEFAULT_CSS = """
    ListDetail { layout: horizontal; height: 1fr; }
    ListDetail > PickList, ListDetail > Vertical { width: 3fr; height: 1fr; }
    ListDetail.-below { layout: vertical; }
    ListDetail.-below > PickList, ListDetail.-below > Vertical { width: 1fr; }
    ListDetail > DetailText { width: 2fr; height: 1fr; padding: 0 2; border-left: solid $panel; }
    ListDetail.-below > DetailText {
        width: 1fr; height: auto; max-height: 40%; padding: 0 1; border-left: none; border-top: solid $panel;
    }
    """

    def on_resize(self, event: Resize) -> None:
        """Places the details below the list if both do not fit beside each other."""
        self.set_class(event.size.width < _BOTH, "-below")


class DetailText(VerticalScroll, can_focus=False):
    """The details of the row under the cursor; the last lines are cut if there is no space."""

    DEFAULT_CSS = "DetailText > Static { height: auto; } DetailText { scrollbar-size-vertical: 0; }"

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(Static(markup=False), classes=classes)
        self._parts: list[Content] = []

    def show(self, parts: Iterable[Content | str]) -> None:
        """Shows another text from its beginning; it is never markup."""
        self._parts = [part if isinstance(part, Content) else Content(part) for part in parts]
        self._lay_out()
        self.scroll_home(animate=False)

    @property
    def plain(self) -> str:
        """The text as given."""
        return "\n".join(part.plain for part in self._parts)

    def on_resize(self) -> None:
        """Wraps the text for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        if (width := self.scrollable_content_region.width) > 0:
            lines = [line for part in self._parts for line in part.split("\n", allow_blank=True)]
            rows = [row for line in lines for folded in fold_facts(line, width) for row in wrapped(folded, width)]
            self.query_one(Static).update(Content("\n").join(rows))
