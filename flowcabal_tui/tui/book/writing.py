"""The writing view: the text of the open chapter alone, in a readable width; scene breaks; words by day."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.overview import Goals
from flowcabal_tui.domain.text import shared_start
from flowcabal_tui.domain.writing_days import WritingLog
from flowcabal_tui.headings.scenes import break_line, scene_at, scenes, with_break, without_break
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import OutputPersisted, SetGoals
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.writing_line import WritingLine
from flowcabal_tui.tui.shared.subscriptions import on_event, on_key
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.view import OpenView

_CLASSES = ("-writing", "-zoom")


def difference(old: str, new: str) -> tuple[int, int, str]:
    """The span of `old` that differs from `new`, and its replacement in `new`."""
    start = shared_start(old, new)
    same_end = shared_start(old[start:][::-1], new[start:][::-1])
    return start, len(old) - same_end, new[start : len(new) - same_end]


class WritingController:
    """Switches the workspace to the writing view and back. The editor, its drafts and its undo history are
    unaffected."""

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView) -> None:
        self._screen, self._project, self._view = screen, project, view
        self._was_zoomed = False
        self._is_followed = False

    @property
    def is_on(self) -> bool:
        """True when the writing view is shown."""
        return self._screen.has_class("-writing")

    @property
    def _pane(self) -> ManuscriptPane:
        return self._screen.query_one(ManuscriptPane)

    @property
    def _is_editing(self) -> bool:
        return self._pane.face == "edit"

    @on_key("manuscript.writing", group="writing", exclusive=True)
    async def turn(self) -> None:
        """Switches to the next view: all panes, the text alone, the text with only the current paragraph in full
        colour."""
        if not self.is_on:
            await self._enter()
        elif not self._pane.area.fades_others:
            self._pane.area.fades_others = True
        else:
            self.leave()

    async def _enter(self) -> None:
        self._view.show_pane("manuscript")
        self._pane.edit()
        if not self._is_editing:
            return
        self._follow()
        self._was_zoomed = self._screen.has_class("-zoom")
        self._screen.add_class(*_CLASSES)
        self._pane.area.is_typewriter = True
        await self._count()

    def _follow(self) -> None:
        self._screen.query_one(WritingLine).follow(self._pane.area)
        if not self._is_followed:
            self._is_followed = True
            self._screen.watch(self._pane, "face", self._face_changed, init=False)

    def _face_changed(self, face: str) -> None:
        if face == "read":
            self.leave()

    @on_key("book.words", group="looking")
    def show_days(self) -> None:
        """Opens the words by day, where the goals can be set."""
        from flowcabal_tui.tui.book.days import DaysScreen

        async def read() -> tuple[WritingLog, dict[ChapterId, str]]:
            log, chapters = await self._project.book.writing_log(), await self._project.book.chapters()
            return log, {each.id: f"{each.position} {each.title}" for each in chapters}

        async def write(goals: Goals) -> None:
            await self._project.carry_out(SetGoals(goals))

        info = self._project.info
        self._screen.app.push_screen(DaysScreen(info.name, info.language, read, write))

    @on_key("manuscript.scene")
    def break_scene(self) -> None:
        """Inserts a scene break at the cursor, or removes the one in the cursor's line: one step for undo."""
        if not self._is_editing:
            self._view.show_pane("manuscript")
            self._pane.edit()
            if self._is_editing:
                words = _("Put the cursor where the next scene begins, then press Ctrl+] again.")
                self._screen.notify(words, markup=False)
            return
        text, (_start, at) = self._pane.area.text, self._pane.area.selected_span
        line = self._pane.area.document.get_line(self._pane.area.cursor_location[0])
        if break_line(line) is not None:
            new = without_break(text, scene_at(scenes(text), at).number)
        else:
            new = with_break(text, at)
        if new == text:
            self._screen.notify(_("One of the two scenes would be empty."), markup=False)
            return
        self._pane.area.replace_span(*difference(text, new))
        self._pane.area.report_edit()

    def leave(self) -> None:
        """Shows all panes again; the editor is unaffected."""
        if self.is_on:
            self._screen.remove_class(*_CLASSES[: 1 if self._was_zoomed else 2])
            self._pane.area.is_typewriter = self._pane.area.fades_others = False

    @on_event
    def _note_kept(self, _event: OutputPersisted) -> None:
        if self.is_on:
            attempt(self._screen, self._count(), group="writing")

    async def _count(self) -> None:
        """Reads the goals and the words written today, and shows them below the text."""
        seen, line = await self._project.book.overview(), self._screen.query_one(WritingLine)
        chapter: Chapter | None = next(
            (status.chapter for status in seen.chapters if status.chapter.id == self._view.chapter), None
        )
        if chapter is not None:
            line.open(chapter)
            line.show_goals(seen.goals, seen.today, chinese=self._project.info.language.startswith("zh"))
