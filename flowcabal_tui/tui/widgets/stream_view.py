"""Text that grows at its end: a model's output, or any long text to read."""

from __future__ import annotations

import os
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import mark
from flowcabal_tui.tui.widgets.cells import TAB_CELLS
from flowcabal_tui.tui.widgets.clipboard import CopyText
from flowcabal_tui.tui.widgets.find_in_text import ask_to_find
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.text_marks import Span, TextMarks, cut_at_marks
from flowcabal_tui.tui.widgets.wrapped_text import WrappedText

_THOUGHT_SIGN = "· "


class StreamView(ScrollView, can_focus=True):
    """Append-only text, wrapped for the script it is in; follows the end only while it is at the end.

    Offsets are offsets into `text`; thinking is shown before the text, apart, and is not part of it.
    `follow_step` is how many rows a full pane moves up at a time: each move repaints the pane, so it
    is 8 over SSH and 1 elsewhere unless given.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "stream--thinking", "stream--highlight", "stream--match", "stream--current", "stream--selected",
    }  # fmt: skip
    DEFAULT_CSS = """
    StreamView {
        overflow-x: hidden; overflow-y: auto; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
    }
    StreamView > .stream--thinking { color: $text-muted; text-style: italic; }
    StreamView > .stream--highlight { text-style: bold underline; }
    StreamView > .stream--match { text-style: underline; }
    StreamView > .stream--current { text-style: reverse bold; }
    StreamView > .stream--selected { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", mark("Down"), show=False, id="stream.down"),
        Binding("k,up", "move(-1)", mark("Up"), show=False, id="stream.up"),
        Binding("pagedown,space", "page(1)", mark("Page down"), show=False, id="stream.page-down"),
        Binding("pageup,b", "page(-1)", mark("Page up"), show=False, id="stream.page-up"),
        Binding("g,home", "top", mark("Start"), show=False, id="stream.start"),
        Binding("G,end", "bottom", mark("End"), show=False, id="stream.end"),
        Binding("slash", "search", mark("Search"), id="stream.search"),
        Binding("n", "match(1)", mark("Next match"), show=False, id="stream.next-match"),
        Binding("N", "match(-1)", mark("Previous match"), show=False, id="stream.previous-match"),
        Binding("v", "select", mark("Select lines"), show=False, id="stream.select"),
        Binding("y", "copy", mark("Copy"), id="stream.copy"),
        Binding("escape", "unselect", mark("Clear the selection"), show=False, id="stream.unselect"),
    ]
    help = HelpData(
        mark("Text"),
        mark("`v` selects lines, `y` copies them or the whole text, `/` searches."),
        last=True,
    )

    measure = 10_000  # columns of a row at most; rows are centred in a wider view

    def __init__(
        self,
        text: str = "",
        *,
        follow_step: int | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._prose = WrappedText()
        self._thoughts = WrappedText()
        self._following = True
        self._follow_step = follow_step or (8 if os.environ.get("SSH_CONNECTION") else 1)
        self._text_marks = TextMarks()
        self._prose.append(clean(text))

    # What is shown

    @property
    def text(self) -> str:
        """The text without the thinking."""
        return self._prose.text

    @property
    def thinking(self) -> str:
        """The thinking alone."""
        return self._thoughts.text

    def append(self, text: str) -> None:
        """Adds `text` at the end; the cost depends on its own length only."""
        if added := clean(text):
            self._show_growth(self._prose_top + self._prose.append(added))

    def append_thinking(self, text: str) -> None:
        """Adds to the thinking, which precedes the text."""
        if added := clean(text):
            row = self._thoughts.append(added)
            self._show_growth(row)

    def set_text(self, text: str, *, thinking: str = "", follow: bool = True) -> None:
        """Shows another text, from its end if `follow`, else from its start."""
        self._thoughts.clear()
        self._prose.clear()
        self._thoughts.append(clean(thinking))
        self._prose.append(clean(text))
        self._text_marks.clear()
        self._fit_height()
        if self.is_mounted:
            self.scroll_to(y=self.max_scroll_y if follow else 0, animate=False, force=True)
        self._following = follow
        self.refresh()

    def clear(self) -> None:
        """Shows nothing, and follows the text to come."""
        self.set_text("")

    # Places in the text

    @property
    def place(self) -> int:
        """The character of interest: the end of the selection, the start of the marked span or match, or the first
        visible one."""
        if (meant := self._text_marks.place(self._prose)) is not None:
            return meant
        row = max(0, self.scroll_offset.y - self._prose_top)
        return self._prose.starts[min(row, len(self._prose.starts) - 1)] if self._prose.starts else 0

    def highlight(self, start: int, end: int) -> None:
        """Marks the characters from `start` up to `end`; an empty span marks nothing."""
        self._text_marks.span = (start, end) if end > start else None
        self.refresh()

    def scroll_to_offset(self, offset: int) -> None:
        """Brings the character at `offset` into the upper third of the view."""
        row = self._prose_top + self._prose.row_of(offset)
        self.scroll_to(y=max(0, row - self.size.height // 3), animate=False, force=True)

    def find(self, text: str) -> int:
        """Marks every place of `text`, letter case aside, and goes to the first at or below the view.

        Returns how many there are; an empty `text` ends the search.
        """
        count = self._text_marks.find(text, self.text)
        if count:
            top = self.scroll_offset.y - self._prose_top
            here = self._prose.starts[min(max(top, 0), len(self._prose.starts) - 1)]
            self._go_to_match(self._text_marks.first_from(here))
        self.refresh()
        return count

    def next_match(self, step: int = 1) -> int | None:
        """Goes to the match that many places further, wrapping around; its number from 0, or None if there is none."""
        return self._go_to_match(self._text_marks.beside(step))

    def _go_to_match(self, number: int) -> int | None:
        found = self._text_marks.go_to(number)
        if (place := self._text_marks.match) is not None:
            row = self._prose_top + self._prose.row_of(place)
            if not self.scroll_offset.y <= row < self.scroll_offset.y + self.size.height:
                self.scroll_to_offset(place)
            self.refresh()
        return found

    # Size and scrolling

    @property
    def _prose_top(self) -> int:
        """The row of the view where the text begins: a blank one parts it from the thinking."""
        return len(self._thoughts.rows) + 1 if self._thoughts.rows else 0

    def _fit_height(self) -> None:
        """Updates the scroll bar to the number of rows, without a layout of the whole screen."""
        height = self._prose_top + len(self._prose.rows)
        over = height - self.size.height
        if over > 0:
            height += -over % self._follow_step
        if height != self.virtual_size.height:
            self.set_reactive(Widget.virtual_size, Size(0, height))
            if self.is_mounted:
                self._scroll_update(self.virtual_size)

    def _show_growth(self, first_row: int) -> None:
        """Repaints from `first_row` of the view on: only these rows, unless the view had to move."""
        scrolled = self.scroll_offset.y
        following = self._following
        self._fit_height()
        if following and self.max_scroll_y != scrolled:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        elif self.is_mounted:
            top = max(first_row, scrolled)
            bottom = min(self.virtual_size.height, scrolled + self.size.height)
            if bottom > top:
                self.refresh_lines(top, bottom - top)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follows the text again after scrolling to the end."""
        super().watch_scroll_y(old_value, new_value)
        self._following = round(new_value) >= self.max_scroll_y

    def on_resize(self) -> None:
        """Wraps for the new width and stays at the same words."""
        width = self._row_width
        if width < 1:
            return
        following = self._following
        row = self.scroll_offset.y - self._prose_top
        here = self._prose.starts[row] if 0 <= row < len(self._prose.starts) else 0
        self._text_marks.rows = None if width != self._prose.width else self._text_marks.rows
        self._prose.rewrap(width)
        self._thoughts.rewrap(width - len(_THOUGHT_SIGN))
        self._fit_height()
        target = self.max_scroll_y if following else self._prose_top + self._prose.row_of(here)
        self.scroll_to(y=target if following or row >= 0 else self.scroll_offset.y, animate=False, force=True)
        self.refresh()

    @property
    def _row_width(self) -> int:
        """Columns that the words of a row may take."""
        return min(self.scrollable_content_region.width, self.measure)

    # Painting

    def render_line(self, y: int) -> Strip:
        """Renders one row."""
        width, base = self.size.width, self.rich_style
        row, top = y + self.scroll_offset.y, self._prose_top
        if row < len(self._thoughts.rows):
            style = base + self.get_component_rich_style("stream--thinking", partial=True)
            strip = Strip([Segment(_THOUGHT_SIGN + self._thoughts.rows[row].expandtabs(TAB_CELLS), style)])
        elif top <= row < top + len(self._prose.rows):
            strip = self._prose_strip(row - top, base)
        else:
            return Strip.blank(width, base)
        return Strip([Segment(" " * (max(0, width - self.measure) // 2), base), *strip]).crop_extend(0, width, base)

    def _prose_strip(self, row: int, base: Style) -> Strip:
        segments = []
        for piece, names in cut_at_marks(self._prose.rows[row], self._prose.starts[row], self._spans(row)):
            style = base
            for name in names:
                style += self.get_component_rich_style(name, partial=True)
            segments.append(Segment(piece.replace("\t", " " * TAB_CELLS), style))
        return Strip(segments or [Segment("", base)])

    def _spans(self, row: int) -> list[tuple[Span, str]]:
        """The marked spans in a row of the text, in the order in which their styles are applied."""
        return self._text_marks.in_row(row, self._prose.starts[row], self._prose.end_of(row))

    # Keys

    def action_move(self, rows: int) -> None:
        """Scrolls, or moves the end of the selection, by `rows`."""
        if (selected := self._text_marks.rows) is None:
            self.scroll_relative(y=rows, animate=False)
            return
        anchor, last = selected
        last = min(max(last + rows, 0), len(self._prose.rows) - 1)
        self._text_marks.rows = (anchor, last)
        row = self._prose_top + last
        bottom = self.scroll_offset.y + self.size.height - 1
        self.scroll_relative(y=min(0, row - self.scroll_offset.y) + max(0, row - bottom), animate=False)
        self.refresh()

    def action_page(self, pages: int) -> None:
        """Scrolls by pages, two rows kept in sight."""
        self.action_move(pages * max(1, self.size.height - 2))

    def action_top(self) -> None:
        """Goes to the start."""
        self.scroll_to(y=0, animate=False, force=True)

    def action_bottom(self) -> None:
        """Goes to the end, and follows it."""
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self._following = True

    def action_search(self) -> None:
        """Asks for the words to find."""
        ask_to_find(self.app, self.find)

    def action_match(self, step: int) -> None:
        """Goes to the next match, or to the one before."""
        self.next_match(step)

    def action_select(self) -> None:
        """Begins a selection of lines: at the marked span if there is one, else at the top of the view."""
        if not self._prose.rows:
            return
        row = self.scroll_offset.y - self._prose_top
        if span := self._text_marks.span:
            row = self._prose.row_of(span[0])
        row = min(max(row, 0), len(self._prose.rows) - 1)
        self._text_marks.rows = (row, row)
        self.refresh()

    def action_unselect(self) -> None:
        """Clears the selection and the marked span."""
        self._text_marks.rows = self._text_marks.span = None
        self.refresh()

    def action_copy(self) -> None:
        """Asks for a copy: of the selected lines, else of the marked span, else of the whole text."""
        self.post_message(CopyText(self._text_marks.content(self._prose)))
