"""Builds: workflows that the Builder suggests, and that the writer accepts in whole or in part, or undoes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flowcabal_tui.domain.builds import BuildRow, NearTemplate
from flowcabal_tui.project.commands import Service, passed_on
from flowcabal_tui.protocol.builds import (
    AcceptBuild,
    AnswerBuild,
    BuildWords,
    EditChange,
    MarkChanges,
    RejectBuild,
    RequestBuild,
    ResumeBuild,
    ReviseBuild,
    StopBuild,
    UndoBuild,
)

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.prices import BuildPrice
    from flowcabal_tui.project.builder.records import BuildRecord


class BuildService(Service):
    """Questions and commands about builds. Lives on the engine's loop; the Builder is imported at first use."""

    passes_on = (
        passed_on(RequestBuild, lambda parts, command: parts.builds.start(command)),
        passed_on(AnswerBuild, lambda parts, command: parts.builds.answer(command.build, command.text)),
        passed_on(ReviseBuild, lambda parts, command: parts.builds.revise(command.build, command.reason, command.form)),
        passed_on(ResumeBuild, lambda parts, command: parts.builds.resume(command.build)),
        passed_on(StopBuild, lambda parts, command: parts.builds.stop(command.build)),
        passed_on(
            MarkChanges,
            lambda parts, command: parts.builds.decisions.mark(command.build, command.changes, ticked=command.ticked),
        ),
        passed_on(
            EditChange,
            lambda parts, command: parts.builds.decisions.edit(command.build, command.change, command.value),
        ),
        passed_on(AcceptBuild, lambda parts, command: parts.builds.decisions.accept(command.build, command.changes)),
        passed_on(RejectBuild, lambda parts, command: parts.builds.decisions.reject(command.build, command.reason)),
        passed_on(UndoBuild, lambda parts, command: parts.builds.decisions.take_back(command.build)),
    )

    async def build(self, identity: str) -> BuildRecord:
        """A stored build of a workflow. Raises UnknownName."""
        return await self._parts.builds.get(identity)

    async def build_rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first; an unfinished one that no longer runs counts as interrupted."""
        at_work = self._parts.builds.at_work if "builds" in vars(self._parts) else frozenset()
        return tuple(
            replace(row, state="interrupted") if row.state == "building" and row.id not in at_work else row
            for row in await self._store.builds.rows()
        )

    async def build_price(self, wish: str, workflow: str = "", tools: BuildWords = "ours") -> BuildPrice | None:
        """The price of a build by the agents' model; None without such a model, when a build is free."""
        return await self._parts.builds.price(wish, workflow, tools)

    async def near_templates(self, wish: str) -> tuple[NearTemplate, ...]:
        """The templates that cover at least half of the writer's request, best first; a new workflow can start from
        one.
        """
        return await self._parts.builds.nearest(wish)

    async def filled_form(self, wish: str, workflow: str = "") -> Mapping[str, Any]:
        """The form filled from the writer's request by the vocabulary, as JSON. Raises UnknownName."""
        return await self._parts.builds.filled_form(wish, workflow)
