"""The part of an open project that builds workflows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
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
        from flowcabal_tui.agents.builder.builder import ModelBuilder
        from flowcabal_tui.project.builder.builds import Builds
        from flowcabal_tui.project.builder.known_names import known_names
        from flowcabal_tui.project.builder.prices import RunPrices

        base, models, runs = self._base, self._base.models, self._runs()
        return Builds(
            base.store,
            lambda: None if models.is_offline("agent") else models.agent(),
            partial(known_names, base.folder, base.store, base.current_settings),
            runs.actions.workflow,
            runs.versions.save,
            base.emit,
            lambda: base.language,
            lambda: (models.endpoint("agent"), models.counter),
            lambda known: partial(runs.actions.records, known.actions or {}),
            partial(self._agents().of, "builder", ModelBuilder),
            RunPrices(base.store, self._runs, self._is_offline).words,
        )

    def _is_offline(self) -> bool:
        """True when every model that a node can name is the offline model."""
        models, named = self._base.models, self._base.current_settings().models.tables.values()
        return (
            models.is_offline("user")
            and models.is_offline("agent")
            and all(each.provider == "offline" for each in named)
        )

    async def rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first; an unfinished one that no longer runs counts as interrupted."""
        at_work = self.builds.at_work if "builds" in vars(self) else frozenset()
        rows = await self._base.store.builds.rows()
        return tuple(
            replace(row, state="interrupted") if row.state == "building" and row.id not in at_work else row
            for row in rows
        )
