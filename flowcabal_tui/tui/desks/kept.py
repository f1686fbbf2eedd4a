"""The doors of the page of kept outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import OutputId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Curated
from flowcabal_tui.locale import _
from flowcabal_tui.protocol import DeleteOutput
from flowcabal_tui.tui.desks.spending import may_spend
from flowcabal_tui.tui.desks.upkeep import UpkeepDesk
from flowcabal_tui.tui.panes.words import one_line

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


class KeptDesk:
    """What was kept of one chapter, and what the writer does with it."""

    def __init__(self, screen: Screen[Any], workbench: Workbench, upkeep: UpkeepDesk, chapter: Chapter) -> None:
        self._screen, self._workbench, self._upkeep, self._chapter = screen, workbench, upkeep, chapter

    async def kept(self) -> tuple[Curated, ...]:
        """Newest first, those that were taken out too."""
        return tuple(reversed(await self._workbench.kept(self._chapter.id)))

    async def text(self, output: OutputId) -> str:
        """What was kept, as it was."""
        return await self._workbench.kept_text(output)

    async def take_out(self, output: OutputId, back: bool) -> None:
        """Out of the chapter and the memory, or back; asks first where the agents' model costs money."""
        title = _("Change {title}?").format(title=one_line(self._chapter.title))
        if await may_spend(self._screen, self._workbench, title):
            await self._workbench.carry_out(DeleteOutput(output, restore=back))

    async def purge(self, kept: Curated) -> None:
        """For good, after its name was typed."""
        await self._upkeep.purge_output(kept)
