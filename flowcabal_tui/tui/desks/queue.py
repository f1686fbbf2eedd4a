"""The doors of the screen of background work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Freshness
from flowcabal_tui.protocol import CancelBackground, RetryBackground

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


class QueueDesk:
    """What the writer sees and does of it."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    async def tasks(self, state: Freshness | None) -> tuple[BackgroundTask, ...]:
        """Steps in a state, or all that are not done."""
        return await self._workbench.background(state)

    async def counts(self) -> dict[Freshness, int]:
        """How many there are in each state."""
        return await self._workbench.background_counts()

    async def subjects(self) -> Mapping[str, str]:
        """What chapters and entities are called, by id."""
        chapters = {str(at.id): f"{at.position} {at.title}" for at in await self._workbench.chapters()}
        return {str(entity.id): entity.name for entity in await self._workbench.entities()} | chapters

    async def reading(self) -> BootstrapStatus | None:
        """How far a paid reading of an import is."""
        return await self._workbench.bootstrap()

    async def retry(self, task: int | None) -> None:
        """One step, or all that failed or were cancelled."""
        await self._workbench.carry_out(RetryBackground(task))

    async def cancel(self, task: int | None) -> None:
        """One step, or all that are left."""
        await self._workbench.carry_out(CancelBackground(task))
