"""Places in the text of a pane: found, gone to, and asked where they came from."""

from __future__ import annotations

from textual import on
from textual.containers import Vertical

from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.locale import _
from flowcabal_tui.tui.book.manuscript_words import Face
from flowcabal_tui.tui.shared.find_in_text import ask_to_find
from flowcabal_tui.tui.shared.view import OriginRequested
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.stream_view import StreamView


class PlacesInText(Vertical):
    """What a pane with a reader `#read` and an editor does with places in its text."""

    face: Face
    _chapter: Chapter | None

    def _need_chapter(self) -> Chapter | None:
        """The chapter that is shown. When there is none, that is said, and how there is one."""
        if self._chapter is None:
            self.notify(_("No chapter is open: `a` in the list of chapters adds one."), markup=False)
        return self._chapter

    def _text_in_view(self) -> StreamView | ProseArea:
        if self.face == "edit":
            return self.query_one(ProseArea)
        return self.query_one(f"#{self.face}", StreamView)

    @on(StreamView.SearchRequested)
    def _find_in_reading(self, message: StreamView.SearchRequested) -> None:
        message.stop()
        ask_to_find(self.app, message.stream)

    def action_find(self) -> None:
        """Ask what to look for in the text that is shown."""
        ask_to_find(self.app, self._text_in_view())

    def action_find_next(self) -> None:
        """Go to the next place that was found."""
        self._text_in_view().next_match()

    def go_to(self, start: int, end: int) -> None:
        """Marks these characters of the text that is read and brings them into view; none are marked below 0."""
        reader = self.query_one("#read", StreamView)
        reader.highlight(start, end)
        if start >= 0:
            reader.scroll_to_offset(start)

    def action_origin(self) -> None:
        """Ask where the paragraph at the cursor comes from; in the reader, the one that is marked or uppermost."""
        shown, chapter = self._text_in_view(), self._need_chapter()
        if chapter is None:
            return
        place = shown.selected_span[1] if isinstance(shown, ProseArea) else shown.place
        start, end = shown.text.rfind("\n", 0, place) + 1, shown.text.find("\n", place)
        paragraph = shown.text[start : end if end >= 0 else len(shown.text)]
        self.post_message(OriginRequested(chapter.id, paragraph, start))
