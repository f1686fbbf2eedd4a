"""The line below the text of the writing view: lengths of the chapter, the session, the day and the selection."""

from __future__ import annotations

from collections.abc import Iterator

from textual.reactive import var
from textual.widgets import Static

from flowcabal_tui.domain.lengths import TextLength, text_length
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.words import counted, one_line
from flowcabal_tui.tui.widgets.role_words import head_words, key_words
from flowcabal_tui.tui.widgets.writing_area import WritingArea


class WritingLine(Static):
    """Updates with every key in the visible `WritingArea`, at a cost proportional to the change."""

    DEFAULT_CSS = """
    WritingLine {
        display: none; height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    area: var[WritingArea | None] = var(None)

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._chinese, self._goals, self._written_before = False, Goals(), 0
        self._chapter: Chapter | None = None
        self._first: dict[str, TextLength] = {}
        self._last: dict[str, TextLength] = {}
        """The first and the present length of each chapter that was edited in this session."""

    def follow(self, area: WritingArea) -> None:
        """Follows the changes of an editor."""
        if self.area is None:
            self.area = area
            self.watch(area, "edits", self._count, init=False)
            self.watch(area, "selection", self._count, init=False)

    def show_goals(self, goals: Goals, today: int, *, chinese: bool) -> None:
        """Sets the goals, and the growth of the saved book today."""
        self._goals, self._written_before, self._chinese = goals, today, chinese
        self._count()

    def open(self, chapter: Chapter) -> None:
        """Starts counting a chapter that is open in the editor."""
        self._chapter = chapter
        if self.area is not None:
            self._first.setdefault(chapter.id, self.area.length)
        self._count()

    def on_resize(self) -> None:
        """Names the key to the next view where it fits."""
        self._count()

    def _count(self) -> None:
        if self.display and self.area is not None and self._chapter is not None:
            self._last[self._chapter.id] = self.area.length
            title = f"{self._chapter.position} {one_line(self._chapter.title, 40) or _('untitled')}"
            counts = tuple(self._parts(self.area, self._chapter))
            lines = (
                head_words(title, *counts, key_words(_("Ctrl+n: next view"))),
                head_words(title, *counts),
                head_words("", *counts),
            )
            fitting = (line for line in lines if line.cell_length <= self.content_size.width)
            self.update(next(fitting, lines[-1]), layout=False)

    def _parts(self, area: WritingArea, chapter: Chapter) -> Iterator[str]:
        yield self._of(self._how_long(area.length), self._goals.chapter)
        if hint := area.hint():
            yield hint
        elif area.selected_text:
            yield _("selected {n}").format(n=f"{self._how_long(text_length(area.selected_text)):,}")
        session = sum((self._last[key] - self._first[key] for key in self._last), TextLength())
        yield _("session {n}").format(n=f"{self._how_long(session):+,}")
        unsaved = area.length.count("plain", chinese=self._chinese) - chapter.length
        yield _("today {n}").format(n=self._of(self._written_before + unsaved, self._goals.day))

    def _how_long(self, length: TextLength) -> int:
        return length.count(self._goals.counting, chinese=self._chinese)

    def _of(self, done: int, goal: int) -> str:
        return _("{done} of {goal}").format(done=f"{done:,}", goal=self._unit(goal)) if goal else self._unit(done)

    def _unit(self, count: int) -> str:
        return counted(count, chinese=self._chinese)
