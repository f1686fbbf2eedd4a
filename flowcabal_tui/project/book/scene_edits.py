"""Scenes of a chapter with their text in the outline: reading, moving, naming, splitting and joining them."""

from __future__ import annotations

from flowcabal_tui.domain.errors import RunError, UnknownName, VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import Placed
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.headings.scene_beats import renamed_beats, with_beats, written_beats
from flowcabal_tui.headings.scenes import scene_title, scenes, with_break, with_moved, with_title, without_break
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.curation import Curation
from flowcabal_tui.project.book.outlining import Outlining
from flowcabal_tui.protocol.book import EditScene, WriteChapter, WriteOutlinePart


class SceneEdits:
    """Edits scenes. Lives on the engine's loop. Every change of a text is a new version of its chapter."""

    def __init__(self, base: ProjectBase, curation: Curation, outlining: Outlining) -> None:
        self._base, self._store, self._curation, self._outlining = base, base.store, curation, outlining

    @property
    def _blank_lines(self) -> bool:
        return self._base.settings.project.blank_lines_break

    async def scenes(self, chapter: ChapterId) -> tuple[ChapterScene, ...]:
        """The scenes of the newest text, with their beats. Raises UnknownName."""
        known = await self._base.chapter(chapter)
        text = await self._store.book.text(known.id)
        found = scenes(text, blank_lines=self._blank_lines)
        return with_beats(found, (await self._part(chapter))[1])

    async def edit(self, command: EditScene) -> str:
        """Edits a scene and returns the number of the chapter's version. Raises VersionConflict, UnknownName or
        RunError; then nothing was changed."""
        chapter = await self._base.chapter(command.chapter)
        if chapter.version != command.expected_version:
            raise VersionConflict(_("The chapter was changed in the meantime."), _("Nothing was changed."))
        if await self._store.drafts.of(chapter.id) is not None:
            title = _("{title} has unsaved text.").format(title=chapter.title)
            raise RunError(title, _("Nothing was changed."), _("Save or discard it first."))
        text = await self._store.book.text(chapter.id)
        found = scenes(text, blank_lines=self._blank_lines)
        to = 1 if command.to is None else command.to
        if not (1 <= command.number <= len(found) and 1 <= to <= len(found)):
            raise UnknownName(_("The chapter has no such scene."), _("Nothing was changed."))
        scene = found[command.number - 1]
        new, note = self._changed(text, scene, command)
        if command.beats is not None:
            await self._write_beats(chapter, scene, command.beats)
        if new == text:
            return str(chapter.version)
        version = await self._curation.write(WriteChapter(chapter.id, new, chapter.version, note))
        if command.title and scene.title:
            await self._rename_beats(chapter, scene.title, scene_title(command.title))
        return version

    def _changed(self, text: str, scene: ChapterScene, command: EditScene) -> tuple[str, str]:
        """The new text and the note for its version."""
        number, blank_lines = scene.number, self._blank_lines
        if command.to is not None:
            return with_moved(text, number, command.to, blank_lines=blank_lines), _("scene moved")
        if command.title is not None:
            return with_title(text, number, command.title, blank_lines=blank_lines), _("scene renamed")
        if command.join:
            if number == 1:
                raise RunError(_("There is no previous scene."), _("Nothing was changed."))
            return without_break(text, number, blank_lines=blank_lines), _("scenes joined")
        if command.at is not None:
            return with_break(text, command.at), _("scene split")
        return text, ""

    async def _part(self, chapter: ChapterId) -> tuple[Placed | None, str]:
        """The chapter's own part of the outline, and its text."""
        book = await self._store.book.outline()
        placed = next((each for each in book.of(chapter) if len(each.chapters) == 1), None)
        return placed, book.outline.body(placed.part) if placed else ""

    async def _write_beats(self, chapter: Chapter, scene: ChapterScene, words: str) -> None:
        if not scene.title:
            raise RunError(_("The scene has no title."), _("Nothing was changed."), _("Give it a title first."))
        _placed, body = await self._part(chapter.id)
        await self._put(chapter, written_beats(body, scene.title, words))

    async def _rename_beats(self, chapter: Chapter, title: str, new: str) -> None:
        placed, body = await self._part(chapter.id)
        if placed is not None and (renamed := renamed_beats(body, title, new)) != body:
            await self._put(chapter, renamed)

    async def _put(self, chapter: Chapter, body: str) -> None:
        placed, _body = await self._part(chapter.id)
        title, nth = (placed.part.title, placed.part.nth) if placed else ("", 1)
        await self._outlining.write(WriteOutlinePart(body, title, nth, ChapterId("") if placed else chapter.id))
        if (await self._part(chapter.id))[1] != body:
            raise RunError(
                _("In this outline, the heading of a scene would be read as that of a chapter."),
                _("The text was saved in the outline, but not under this chapter."),
                _("Check the whole outline."),
            )
