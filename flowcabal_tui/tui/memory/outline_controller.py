"""Reads and writes the outline for its screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, OutlinePart
from flowcabal_tui.locale import _
from flowcabal_tui.project.words import META
from flowcabal_tui.protocol.book import AssignOutline, WriteMeta, WriteOutlinePart
from flowcabal_tui.tui.memory.outline import BeatsScreen, PartOf, chapter_titles
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.widgets.role_words import facts_words

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project

_OUTLINE: Final = ChapterId("meta/outline")


class OutlineController:
    """Reads and writes the outline for its screen."""

    def __init__(self, screen: Screen[Any], workbench: Project) -> None:
        self._screen, self._workbench = screen, workbench
        self.outline, self.chapter_text = workbench.book.outline, workbench.book.chapter_text

    async def edit(self, of: PartOf, book: BookOutline, version: int) -> bool:
        """Edits the text of a part, as of this version, beside its chapter; returns True when it was saved."""
        placed = of.placed
        beats = book.outline.body(placed.part) if placed else ""
        heading = (placed.part.title or _("The whole book")) if placed else of.volume
        title = facts_words(heading, chapter_titles(book).get(of.chapter) or "")
        text = await self.chapter_text(of.chapter) if of.chapter else ""
        words = await self._screen.app.push_screen_wait(BeatsScreen(title, text, beats, is_new=placed is None))
        if words is not None:
            await self.write(words, of, version)
        return words is not None

    async def write(self, text: str, of: PartOf, version: int) -> None:
        part = of.placed.part if of.placed else None
        title, nth, chapter = (part.title, part.nth, NOWHERE) if part else ("", 1, of.chapter)
        await self._workbench.carry_out(WriteOutlinePart(text, title, nth, chapter, version, of.volume))

    async def assign(self, part: OutlinePart, chapter: ChapterId | None) -> None:
        await self._workbench.carry_out(AssignOutline(part.title, part.nth, chapter))

    async def earlier_text(self) -> str | None:
        versions = await self._workbench.book.chapter_versions(_OUTLINE)
        if not versions:
            return None

        async def load(version: int) -> str:
            return await self._workbench.book.chapter_text(_OUTLINE, version)

        page = VersionsScreen(_(META["outline"]), versions, load, self._workbench.info.language)
        return await self._screen.app.push_screen_wait(page)

    async def write_all(self, text: str, version: int) -> None:
        await self._workbench.carry_out(WriteMeta("outline", text, version))
