"""The editor of the writing view: the cursor's row can stay at half height, and other paragraphs can fade."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset
from textual.reactive import var
from textual.strip import Strip

from flowcabal_tui.domain.lengths import TextLength
from flowcabal_tui.tui.widgets.hints import MARGIN_SIGN, Hint, Hints
from flowcabal_tui.tui.widgets.prose_area import ProseArea, RowFace
from flowcabal_tui.tui.widgets.prose_document import ProseLines


class WritingArea(ProseArea):
    """A `ProseArea` that can scroll like a typewriter, show only the cursor's paragraph in full colour, and hints.

    Hints belong to the words of their paragraph: they disappear when it is edited, and return with the next ones.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prose--faded", "prose--sign"}
    DEFAULT_CSS = ".prose--faded { color: $secondary; } .prose--sign { color: $text-warning; text-style: bold; }"

    is_typewriter = var(False)
    fades_others = var(False)
    edits = var(0)  # counted, so that others can watch

    _hints = Hints()

    def show_hints(self, hints: Iterable[Hint], sign: str = MARGIN_SIGN) -> None:
        """Underlines spans of the text and marks their rows, replacing earlier hints with the sign."""
        if (shown := self._hints.replaced(sign, self.document.lines, hints)) != self._hints:
            self._hints = shown
            self.refresh()

    def hint(self, sign: str = MARGIN_SIGN) -> str:
        """The hint with this sign at the cursor; "" if there is none."""
        row, column = self.cursor_location
        return self._hints.words(self.document.get_line(row), column, sign)

    @property
    def length(self) -> TextLength:
        """The length of the text; the cost depends on the changes since the last call."""
        assert isinstance(self.document, ProseLines)
        return self.document.length

    def watch_is_typewriter(self) -> None:
        """Adds space below the end of the text, or removes it, and scrolls to the cursor."""
        if self.is_mounted:
            self._refresh_size()
            self.scroll_cursor_visible()
            self.refresh()

    def watch_fades_others(self) -> None:
        """Fades other paragraphs, or restores them."""
        self._line_cache.clear()
        self.refresh()

    def _note_edit(self) -> None:
        super()._note_edit()
        self.edits += 1

    @property
    def _rows_below(self) -> int:
        return self.size.height // 2 if self.is_typewriter else 0

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scrolls to the cursor: to the middle row in typewriter mode, which is never animated."""
        if not self.is_typewriter:
            return super().scroll_cursor_visible(center, animate)
        self._recompute_cursor_offset()  # type: ignore[no-untyped-call]  # Textual's, without types
        before = self.scroll_offset
        row = self.wrapped_document.location_to_offset(self.cursor_location).y
        self.scroll_to(y=max(0, row - self.size.height // 2), animate=False, force=True, immediate=True)
        return self.scroll_offset - before

    def _face(self, row: int) -> RowFace:
        face = super()._face(row)
        if not face.exists or not (self.fades_others or self._hints):
            return face
        line, section = self.wrapped_document._offset_to_line_info[row]
        first = self.wrapped_document.get_offsets(line)[section - 1] if section else 0
        here = self.document.get_line(line), first, len(face.words)
        is_faded = self.fades_others and line != self.cursor_location[0]
        return face._replace(is_faded=is_faded, hints=self._hints.spans(*here), sign=self._hints.sign(*here))

    def _draw(self, face: RowFace) -> Strip:
        strip = super()._draw(face)
        width = self.scrollable_content_region.width
        if not face.sign or cell_len(face.words) >= width:
            return strip
        sign = Segment(face.sign, self._base_style(face) + self.get_component_rich_style("prose--sign", partial=True))
        return Strip.join([strip.crop(0, width - 1), Strip([sign], 1), strip.crop(width)])

    def _base_style(self, face: RowFace) -> Style:
        style = super()._base_style(face)
        return style + self.get_component_rich_style("prose--faded", partial=True) if face.is_faded else style
