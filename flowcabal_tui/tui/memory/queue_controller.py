"""The doors of the screen of background work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Freshness, StaleText
from flowcabal_tui.protocol.memory import CancelBackground, RebuildProgress, RetryBackground
from flowcabal_tui.tui.book.upkeep import UpkeepDesk
from flowcabal_tui.tui.memory.names import called

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


class QueueDesk:
    """What the writer sees and does of it."""

    def __init__(self, workbench: Workbench, upkeep: UpkeepDesk) -> None:
        self._workbench, self._upkeep = workbench, upkeep

    @property
    def rebuilt(self) -> RebuildProgress | None:
        """How far the last rebuild of the index is."""
        return self._upkeep.progress

    async def tasks(self, state: Freshness | None) -> tuple[BackgroundTask, ...]:
        """Steps in a state, or all that are not done."""
        return await self._workbench.background(state)

    async def counts(self) -> dict[Freshness, int]:
        """How many there are in each state."""
        return await self._workbench.background_counts()

    async def subjects(self) -> Mapping[str, str]:
        """What everything is called, by id and by uri."""
        return await called(self._workbench)

    async def stale(self) -> Mapping[StaleText, str]:
        """What is out of date, in story order, with what each is called."""
        found = await self._workbench.stale()
        names = await self.subjects() if found else {}
        return {text: names.get(text.uri, text.uri) for text in found}

    async def make_again(self, texts: Sequence[StaleText]) -> None:
        """From the words of now."""
        await self._upkeep.make_again(tuple(texts))

    async def rebuild(self) -> None:
        """Asks which part."""
        await self._upkeep.rebuild()

    async def reading(self) -> BootstrapStatus | None:
        """How far a paid reading of an import is."""
        return await self._workbench.bootstrap()

    async def retry(self, task: int | None) -> None:
        """One step, or all that failed or were cancelled."""
        await self._workbench.carry_out(RetryBackground(task))

    async def cancel(self, task: int | None) -> None:
        """One step, or all that are left."""
        await self._workbench.carry_out(CancelBackground(task))
