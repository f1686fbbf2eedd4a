"""Changes volumes, chapters and scenes for the manuscript browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import EditChapter, EditScene, MergeChapters, SplitChapter, WriteChapter
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.maintenance import MaintenanceController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.subscriptions import on_key
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

Origin = Callable[[ChapterId, str, int], Awaitable[bool]]
OpenAt = Callable[[ChapterId, int, int], Awaitable[None]]


class BrowserController:
    """Carries out the requests of the manuscript browser, and splits the open chapter."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        book: BookController,
        maintenance: MaintenanceController,
        open_at: OpenAt,
        origin: Origin,
    ) -> None:
        self._screen, self.project, self._view, self._open_at = screen, project, view, open_at
        self.book, self.maintenance, self.origin = book, maintenance, origin
        self._made: tuple[ChapterId, int, int] | None = None
        """The last change of scenes: the chapter, its version before and after."""

    async def name_scene(self, chapter: Chapter, scene: ChapterScene) -> None:
        """Asks for a title; an empty one removes it."""
        question = _("Title of the scene (empty: none)")
        title = await self._screen.app.push_screen_wait(PromptLine(question, value=scene.title))
        if title is not None and title != scene.title:
            await self.edit_scene(EditScene(chapter.id, scene.number, chapter.version, title=title))

    async def write_beats(self, chapter: Chapter, scene: ChapterScene) -> None:
        """Opens the outline's text for a scene, which needs a title."""
        if not scene.title:
            self._screen.notify(_("Beats belong to a scene with a title: `n` gives it one."), markup=False)
            return
        heading = _("Beats of {title}").format(title=one_line(scene.title))
        beats = await self._screen.app.push_screen_wait(ProseScreen(heading, scene.beats))
        if beats is not None:
            await self.project.carry_out(EditScene(chapter.id, scene.number, chapter.version, beats=beats))

    async def edit_scene(self, command: EditScene) -> None:
        """Changes a scene so that it can be undone."""
        version = int(await self.project.carry_out(command) or 0)
        if version > command.expected_version:
            self._made = (command.chapter, command.expected_version, version)

    async def undo_scenes(self) -> None:
        """Undoes the last change of scenes, unless its chapter has changed since."""
        if self._made is None:
            self._screen.notify(_("No change of scenes to undo."), markup=False)
            return
        (chapter, before, made), self._made = self._made, None
        text = await self.project.book.chapter_text(chapter, before)
        await self.project.carry_out(WriteChapter(chapter, text, made, _("change of scenes undone")))

    async def bring_back(self) -> None:
        """Asks which deleted chapter to restore."""
        deleted = await self.project.book.deleted_chapters()
        rows = tuple((str(at.id), f"{at.position} {one_line(at.title)}") for at in deleted)
        if not rows:
            self._screen.notify(_("There are no deleted chapters."), markup=False)
        elif chosen := await self._screen.app.push_screen_wait(ChooseScreen(_("Bring back which chapter?"), rows)):
            await self.project.carry_out(EditChapter(ChapterId(chosen), deleted=False))

    async def into_volume(self, chapter: Chapter) -> None:
        """Asks for the volume's name; an empty one removes the chapter from its volume."""
        volume = await self._screen.app.push_screen_wait(PromptLine(_("Volume (empty: none)"), value=chapter.volume))
        if volume is not None and volume != chapter.volume:
            await self.project.carry_out(EditChapter(chapter.id, volume=volume))

    @on_key("manuscript.split", group="looking")
    async def split_here(self) -> None:
        """Splits the open chapter at the cursor of the editor, with its unsaved text, and opens the new chapter."""
        self._view.show_pane("manuscript")
        pane = self._screen.query_one(ManuscriptPane)
        text, at, was_editing = pane.text, pane.place, pane.face == "edit"
        pane.edit()
        if not was_editing or not text[:at].strip() or not text[at:].strip():
            if pane.face == "edit":
                words = _("Put the cursor where the new chapter begins, then press Shift+F2.")
                self._screen.notify(words, markup=False)
            return
        if self.book.chapter is not None and (unsaved := pane.take_unsaved()) is not None:
            await self.book.save(self.book.chapter.id, *unsaved)
        if (chapter := self.book.chapter) is None or pane.take_unsaved() is not None:
            return
        if (new := await self.split(chapter, at)) is not None:
            await self._open_at(new, -1, -1)

    async def split(self, chapter: Chapter, at: int) -> ChapterId | None:
        """Asks for the title of the new chapter and returns its id; None if it was not split."""
        question = _("Title of the new chapter, which begins here")
        title = await self._screen.app.push_screen_wait(PromptLine(question, value=chapter.title))
        if not title:
            return None
        new = await self.project.carry_out(SplitChapter(chapter.id, at, title, chapter.version))
        self._screen.notify(
            _("Split. In the manuscript (`M`), `m` on the first part merges the two again."), markup=False
        )
        return ChapterId(str(new))

    async def merge(self, chapter: Chapter, following: Chapter) -> None:
        """Merges two chapters after a question. Refuses while the second has unsaved text, which would become
        invisible."""
        await self.book.drafts.write()
        if await self.project.drafts.of(following.id) is not None:
            words = _("{title} has unsaved text. Save or discard it first; nothing was merged.")
            self._screen.notify(words.format(title=one_line(following.title)), severity="warning", markup=False)
            return
        title = _("Merge {first} and {second}?").format(first=chapter.title, second=following.title)
        words = _("The second chapter follows the first after a scene break; its versions stay in the project.")
        if await self._screen.app.push_screen_wait(ConfirmScreen(title, words)):
            await self.project.carry_out(MergeChapters(chapter.id, following.id))

    async def versions(self, chapter: Chapter) -> None:
        """Shows the versions; a restored one becomes the newest."""
        versions = await self.project.book.chapter_versions(chapter.id)
        if not versions:
            self._screen.notify(_("Nothing of this chapter is kept yet."), markup=False)
            return
        await self.book.restore_older(chapter, versions)

    async def kept(self, chapter: Chapter | None) -> None:
        """Shows the outputs that were kept for a chapter, or for the book."""
        from flowcabal_tui.tui.book.kept import KeptScreen

        await self._screen.app.push_screen_wait(KeptScreen(self.project, self.maintenance, chapter))
