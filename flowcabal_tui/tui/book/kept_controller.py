"""The controller of the page of kept outputs."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import OutputId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Curated
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import KEEP_KINDS
from flowcabal_tui.protocol.book import DeleteOutput, TagOutput
from flowcabal_tui.tui.book.maintenance import MaintenanceController
from flowcabal_tui.tui.shared.form import names_of
from flowcabal_tui.tui.widgets.prompt_line import PromptLine


class KeptController:
    """Reads, removes, restores and purges the kept outputs of a chapter, or of the book."""

    def __init__(
        self, screen: Screen[Any], workbench: Project, maintenance: MaintenanceController, chapter: Chapter | None
    ) -> None:
        """`chapter` None: only the whole book can be shown."""
        self._screen, self.workbench, self.maintenance, self._chapter = screen, workbench, maintenance, chapter

    def title(self, whole: bool) -> str:
        """The heading of the list."""
        if whole or self._chapter is None:
            return _("Kept in the whole book")
        return _("Kept for chapter {n}, {title}").format(n=self._chapter.position, title=self._chapter.title)

    async def kept(self, whole: bool) -> tuple[tuple[Curated, str], ...]:
        """Kept texts, newest first, removed ones included; for the whole book, each with a description."""
        if not whole and self._chapter is not None:
            return tuple((kept, "") for kept in reversed(await self.workbench.book.kept(self._chapter.id)))
        names = {chapter.id: f"{chapter.position} {chapter.title}" for chapter in await self.workbench.book.chapters()}
        return tuple(
            (kept, " ".join(filter(None, (_(KEEP_KINDS[kept.kind]), names.get(kept.chapter) if kept.chapter else ""))))
            for kept in reversed(await self.workbench.book.kept())
        )

    async def take_out(self, output: OutputId, back: bool) -> None:
        """Removes an output from the chapter and the memory, or restores it."""
        await self.workbench.carry_out(DeleteOutput(output, restore=back))

    async def tag(self, kept: Curated) -> None:
        """Asks for the tags of a kept output, separated by commas."""
        line = PromptLine(_("Tags, separated by commas"), value=_(", ").join(kept.tags))
        typed: str | None = await self._screen.app.push_screen_wait(line)
        if typed is not None:
            await self.workbench.carry_out(TagOutput(kept.id, names_of(typed)))
