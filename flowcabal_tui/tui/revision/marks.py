"""Marks commented passages in the reader and the editor, and shows the comment at the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.comments import COMMENT_KINDS, Comment, CommentFilter
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.moved_text import MovedText
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.revision import CommentsChanged
from flowcabal_tui.tui.book.comment_line import CommentLine
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key, on_request
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.hints import COMMENT_SIGN, Hint
from flowcabal_tui.tui.widgets.role_words import facts_words


class CommentMarks:
    """Follows the text of the open chapter, saved or not."""

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView) -> None:
        self._screen, self._project, self._view = screen, project, view
        self._marks: list[Hint] = []
        """The marks of the text in view, in text order."""

    def follow_text(self) -> None:
        """Shows marks as soon as there is a text."""
        watch = self._screen.watch
        watch(self._pane.reader, "texts_shown", self._read_again)
        watch(self._pane, "face", self._read_again, init=False)
        watch(self._pane.reader, "scroll_y", self._tell, init=False)
        watch(self._pane.area, "selection", self._tell, init=False)

    @property
    def _pane(self) -> ManuscriptPane:
        return self._screen.query_one(ManuscriptPane)

    @on_request(ManuscriptPane.DraftEdited)
    def typed(self, chapter: ChapterId, text: str | None, base: int | None) -> None:
        """Updates the marks after typing has stopped."""
        if self._marks:
            self._read_again()

    @on_event
    def _changed(self, _event: CommentsChanged) -> None:
        self._read_again()

    def _read_again(self) -> None:
        attempt(self._screen, self._mark(), group="comment-marks", exclusive=True)

    async def _mark(self) -> None:
        chapter = self._view.chapter
        if chapter is None:
            return
        found = await self._project.revision.comments(CommentFilter((chapter,)))
        placed = [each for each in found if each.quotation and not each.lost]
        pane = self._pane
        text = pane.text
        saved = await self._project.book.chapter_text(chapter) if placed and pane.is_unsaved else text
        if self._view.chapter != chapter or self._pane.text != text:
            return  # another one is on its way
        self._marks = _marks(placed, saved, text)
        if pane.face == "edit":
            self._pane.area.show_hints(self._marks, COMMENT_SIGN)
        else:
            self._pane.reader.mark_notes((start, end) for start, end, _words in self._marks)
        self._tell()

    def _tell(self) -> None:
        """Shows the comment at the cursor; in the reader the last visited one, else the first in view."""
        words, pane = "", self._pane
        if self._marks and pane.face == "edit":
            words = self._pane.area.hint(COMMENT_SIGN)
        elif self._marks and pane.face == "read":
            words = next((words for start, _end, words in self._marks if self._is_read(start)), "")
        pane.query_one(CommentLine).show(words)

    def _is_read(self, start: int) -> bool:
        span, (first, last) = self._pane.reader.highlighted, self._pane.reader.in_view
        return start == span[0] if span and first <= span[0] < last else first <= start < last

    @on_key("revision.next-comment")
    def next(self) -> None:
        """Goes to the next comment of the chapter, wrapping around."""
        self._view.show_pane("manuscript")
        if not self._marks or self._pane.face == "proposal":
            self._screen.notify(
                _("No passage of this chapter has a comment: `;` lists those of the book."), markup=False
            )
            return
        here = self._here()
        start, end, _words = next((mark for mark in self._marks if mark[0] > here), self._marks[0])
        if self._pane.face == "edit":
            self._pane.area.select_span(start, end)
        else:
            self._pane.go_to(start, end)
        self._tell()

    def _here(self) -> int:
        if self._pane.face == "edit":
            return self._pane.area.selected_span[0]
        span, (first, last) = self._pane.reader.highlighted, self._pane.reader.in_view
        return span[0] if span and first <= span[0] < last else first - 1


def comment_head(comment: Comment) -> str:
    """The kind, author and time of a comment."""
    when = f"{comment.at:%Y-%m-%d}" if comment.at else ""
    return facts_words(_(COMMENT_KINDS[comment.kind]), one_line(comment.author) or _("you"), when)


def _marks(placed: Sequence[Comment], saved: str, text: str) -> list[Hint]:
    """The passages as found in the text, possibly unsaved, with their displayed words."""
    moved = MovedText(saved, text) if text != saved else None
    found: list[Hint] = []
    for each in placed:
        place = (each.start, each.end) if moved is None else moved.place(each.start, each.end)
        if place is not None:
            found.append(
                (*place, _("{kind}: {words}").format(kind=comment_head(each), words=one_line(each.words, 600)))
            )
    return [
        (start, end, f"{COMMENT_SIGN} {number}/{len(found)} {words}")
        for number, (start, end, words) in enumerate(sorted(found), 1)
    ]
