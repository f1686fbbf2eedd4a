"""The editor of the writing view: the cursor's row stays at half height, and other paragraphs can fade."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from textual.geometry import Offset
from textual.reactive import var

from flowcabal_tui.domain.lengths import TextLength, text_length
from flowcabal_tui.tui.widgets.prose_area import ProseArea, RowFace
from flowcabal_tui.tui.widgets.prose_document import ProseLines


class WritingArea(ProseArea):
    """A `ProseArea` that can scroll like a typewriter and show only the cursor's paragraph in full colour."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prose--faded"}
    DEFAULT_CSS = "WritingArea > .prose--faded { color: $secondary; }"

    is_typewriter = var(False)
    fades_others = var(False)
    edits = var(0)
    """Counts edits, so that others can watch them."""

    @property
    def length(self) -> TextLength:
        """How long the text is; costs only what changed since it was last asked for."""
        assert isinstance(self.document, ProseLines)
        return self.document.length

    @property
    def selected_length(self) -> TextLength:
        """How long the selection is."""
        return text_length(self.selected_text)

    def watch_is_typewriter(self) -> None:
        """The text gets room below its end, or loses it, and the cursor comes to its place."""
        if self.is_mounted:
            self._refresh_size()
            self.scroll_cursor_visible()
            self.refresh()

    def watch_fades_others(self) -> None:
        """Paragraphs fade, or come back."""
        self._line_cache.clear()
        self.refresh()

    def _note_edit(self) -> None:
        super()._note_edit()
        self.edits += 1

    @property
    def _rows_below(self) -> int:
        return self.size.height // 2 if self.is_typewriter else 0

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Brings the cursor into view: in the middle row of a typewriter, which is never animated."""
        if not self.is_typewriter:
            return super().scroll_cursor_visible(center, animate)
        self._recompute_cursor_offset()  # type: ignore[no-untyped-call]  # Textual's, without types
        before = self.scroll_offset
        row = self.wrapped_document.location_to_offset(self.cursor_location).y
        self.scroll_to(y=max(0, row - self.size.height // 2), animate=False, force=True, immediate=True)
        return self.scroll_offset - before

    def _face(self, row: int) -> RowFace:
        face = super()._face(row)
        if not self.fades_others or not face.exists:
            return face
        line, _section = self.wrapped_document._offset_to_line_info[row]
        return face._replace(is_faded=line != self.cursor_location[0])

    def _base_style(self, face: RowFace) -> Style:
        style = super()._base_style(face)
        return style + self.get_component_rich_style("prose--faded", partial=True) if face.is_faded else style
