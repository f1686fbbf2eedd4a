"""The part of an open project that builds workflows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from flowcabal_tui.domain.builds import BuildRow
from flowcabal_tui.project.base import ProjectBase

if TYPE_CHECKING:
    from flowcabal_tui.project.agents import AgentFactory
    from flowcabal_tui.project.builder.builds import Builds
    from flowcabal_tui.project.runs.parts import RunParts


class BuilderParts:
    """The builds of workflows; the Builder is imported at first use. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, agents: Callable[[], AgentFactory], runs: Callable[[], RunParts]) -> None:
        self._base, self._agents, self._runs = base, agents, runs

    @cached_property
    def builds(self) -> Builds:
        """All builds of the project."""
        from flowcabal_tui.project.builder.builds import Builds

        return Builds(self._base, self._agents(), self._runs())

    async def rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first; an unfinished one that no longer runs counts as interrupted."""
        at_work = self.builds.at_work if "builds" in vars(self) else frozenset()
        rows = await self._base.store.builds.rows()
        return tuple(
            replace(row, state="interrupted") if row.state == "building" and row.id not in at_work else row
            for row in rows
        )
