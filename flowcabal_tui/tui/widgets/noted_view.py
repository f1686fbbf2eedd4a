"""A text view with notes on passages, which are underlined and marked with a sign at the row's end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.reactive import var
from textual.strip import Strip

from flowcabal_tui.tui.widgets.roles import role_sign
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.widgets.text_marks import Span

NOTE_SIGN: Final = role_sign("hand")
"""The sign of a note, visible without colour."""
_MARGIN: Final = 2
"""Columns that rows leave free for the sign where there are notes."""


class NotedView(StreamView):
    """A `StreamView` whose text may have notes; setting another text removes them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"noted--note"}
    DEFAULT_CSS = "NotedView > .noted--note { text-style: underline; }"

    texts_shown = var(0)  # counted, so that others can watch

    _notes: tuple[Span, ...] = ()

    def set_text(self, text: str, *, thinking: str = "", follow: bool = True) -> None:
        """Shows another text, from its end if `follow`, else from its start."""
        self._notes = ()
        super().set_text(text, thinking=thinking, follow=follow)
        self.texts_shown += 1

    def mark_notes(self, spans: Iterable[Span]) -> None:
        """Marks passages that have notes."""
        had, self._notes = bool(self._notes), tuple(sorted(spans))
        if had != bool(self._notes):
            self.on_resize()
        self.refresh()

    @property
    def highlighted(self) -> Span | None:
        """The marked span."""
        return self._text_marks.span

    @property
    def in_view(self) -> Span:
        """The characters from the first to the last visible row."""
        first = max(0, self.scroll_offset.y - self._prose_top)
        last = min(first + self.size.height, len(self._prose.rows)) - 1
        return (self._prose.starts[first], self._prose.end_of(last)) if first <= last else (0, 0)

    @property
    def _row_width(self) -> int:
        return super()._row_width - (_MARGIN if self._notes else 0)

    def _spans(self, row: int) -> list[tuple[Span, str]]:
        start, end = self._prose.starts[row], self._prose.end_of(row)
        noted = self._notes[: bisect_left(self._notes, (end, 0))]
        return [(note, "noted--note") for note in noted if start < note[1]] + super()._spans(row)

    def _prose_strip(self, row: int, base: Style) -> Strip:
        strip = super()._prose_strip(row, base)
        start, end = self._prose.starts[row], self._prose.end_of(row)
        if bisect_left(self._notes, (start, 0)) == bisect_left(self._notes, (end, 0)):
            return strip
        strip = strip.extend_cell_length(self.scrollable_content_region.width - 1, base)
        return Strip.join([strip, Strip([Segment(NOTE_SIGN, base)], 1)])
