"""Undo of changes of the book, purges of chapters and kept outputs, backups of the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.changes import LoggedChange
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Curated
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.project.change_words import change_extent, change_words
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import RevertChange
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.subscriptions import on_key
from flowcabal_tui.tui.shared.typed_path import PathSuggester, typed_path
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.type_name import TypeNameScreen

_MEBIBYTE: Final = 2**20


class MaintenanceController:
    """Undoes changes, purges and backs up, after questions."""

    def __init__(
        self, screen: Screen[Any], project: Project, book: BookController, now: Callable[[], datetime]
    ) -> None:
        self._screen, self._project, self._book, self._now = screen, project, book, now

    @on_key("book.changes", group="changes", exclusive=True)
    async def undo_change(self) -> None:
        """Asks which change to undo, the last one first, and undoes it."""
        listed = await self._project.book.changes()
        open_ones = [change for change in listed if not change.undone]
        last = await self._project.book.last_change()
        first = [change for change in open_ones if last is not None and change.generation == last.generation]
        rest = [change for change in open_ones if change not in first]
        if not open_ones:
            self._screen.notify(
                _("There is no change of the whole book to undo. `M` moves and merges chapters, F11 replaces words."),
                markup=False,
            )
            return
        rows = tuple((str(change.generation), _row(change, listed)) for change in first + rest)
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Undo which change?"), rows))
        change = next((each for each in open_ones if str(each.generation) == chosen), None)
        if change is None:
            return
        words = one_line(change_words(change, listed))
        await self._project.carry_out(RevertChange(change.generation))
        self._screen.notify(_("Undone: {change}").format(change=words), markup=False)

    async def purge_chapter(self, under_cursor: Chapter | None) -> None:
        """Asks which chapter, if there are deleted ones, then for its name as a confirmation."""
        deleted = await self._project.book.deleted_chapters()
        chapters = {str(each.id): each for each in ((under_cursor,) if under_cursor else ()) + deleted}
        chosen = next(iter(chapters), None)
        if deleted:
            kinds = {each.id: _("deleted") for each in deleted}
            rows = tuple(
                (key, " ".join(filter(None, (str(each.position), one_line(each.title), kinds.get(each.id, "")))))
                for key, each in chapters.items()
            )
            chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Purge which chapter?"), rows))
        if chosen is None:
            return
        chapter = chapters[chosen]
        title = _("Purge chapter {n}, {title}?").format(n=chapter.position, title=one_line(chapter.title))
        if await self._purge(Purge(chapter=chapter.id), title, one_line(chapter.title) or chapter.id):
            self._book.drafts.forget(chapter.id)

    async def purge_output(self, kept: Curated) -> None:
        """Purges a kept output after the beginning of its id was typed."""
        name = kept.id[:8]
        await self._purge(Purge(output=kept.id), _("Purge the kept output {name}?").format(name=name), name)

    async def _purge(self, command: Purge, title: str, name: str) -> bool:
        words = sentences(
            _("This cannot be undone."),
            _("It is removed with all its versions, everything derived from it, and the runs that made it."),
            _("The local knowledge server's folder is emptied; it is filled again from the book."),
            _("Backups and copies elsewhere stay as they are."),
        )
        if not await self._screen.app.push_screen_wait(TypeNameScreen(title, words, name)):
            return False
        await self._project.carry_out(command)
        return True

    @on_key("book.backup", group="backup", exclusive=True)
    async def back_up(self) -> None:
        """Asks for a new file and writes the whole project into it."""
        info = self._project.info
        named = info.path.absolute().parent / f"{info.path.absolute().name}-{self._now():%Y-%m-%d-%H%M}.zip"
        typed = await self._screen.app.push_screen_wait(
            PromptLine(_("Back the project up to the file"), value=str(named), suggester=PathSuggester())
        )
        if not typed:
            return
        path = typed_path(typed)
        path = path if path.suffix else path.with_suffix(".zip")
        words = _("The backup contains it as unsaved text; its chapters have the saved text.")
        if not await self._book.may_leave_unsaved(_("Back up with unsaved text?"), words):
            return
        manifest = await self._project.book.back_up(path)
        words = _("{file}: {n} files, {size} MiB.")
        self._screen.notify(
            words.format(file=path, n=len(manifest.members), size=round(manifest.size / _MEBIBYTE, 1)),
            title=_("Backed up"), markup=False,
        )  # fmt: skip


def _row(change: LoggedChange, listed: Sequence[LoggedChange]) -> str:
    return f"{change.at:%Y-%m-%d %H:%M}  {one_line(change_words(change, listed))}  {change_extent(change)}"
