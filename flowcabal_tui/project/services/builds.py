"""Builds: workflows that the Builder suggests, and that the writer accepts in whole or in part, or undoes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flowcabal_tui.domain.builds import BuildRow, NearTemplate
from flowcabal_tui.project.commands import Service, handles
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

    async def build(self, identity: str) -> BuildRecord:
        """A stored build of a workflow. Raises UnknownName."""
        return await self._parts.builder.builds.get(identity)

    async def build_rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first."""
        return await self._parts.builder.rows()

    async def build_price(self, wish: str, workflow: str = "", tools: BuildWords = "ours") -> BuildPrice | None:
        """The price of a build by the agents' model; None without such a model, when a build is free."""
        return await self._parts.builder.builds.price(wish, workflow, tools)

    async def near_templates(self, wish: str) -> tuple[NearTemplate, ...]:
        """The templates that cover at least half of the writer's request, best first; a new workflow can start from
        one.
        """
        return await self._parts.builder.builds.nearest(wish)

    async def filled_form(self, wish: str, workflow: str = "") -> Mapping[str, Any]:
        """The form filled from the writer's request by the vocabulary, as JSON. Raises UnknownName."""
        return await self._parts.builder.builds.filled_form(wish, workflow)

    @handles(RequestBuild)
    async def request(self, command: RequestBuild) -> str:
        return await self._parts.builder.builds.start(command)

    @handles(AnswerBuild)
    async def answer(self, command: AnswerBuild) -> str:
        return await self._parts.builder.builds.answer(command.build, command.text)

    @handles(ReviseBuild)
    async def revise(self, command: ReviseBuild) -> str:
        return await self._parts.builder.builds.revise(command.build, command.reason, command.form)

    @handles(ResumeBuild)
    async def resume(self, command: ResumeBuild) -> str:
        return await self._parts.builder.builds.resume(command.build)

    @handles(StopBuild)
    async def stop(self, command: StopBuild) -> None:
        await self._parts.builder.builds.stop(command.build)

    @handles(MarkChanges)
    async def mark(self, command: MarkChanges) -> None:
        await self._parts.builder.builds.decisions.mark(command.build, command.changes, ticked=command.ticked)

    @handles(EditChange)
    async def edit(self, command: EditChange) -> None:
        await self._parts.builder.builds.decisions.edit(command.build, command.change, command.value)

    @handles(AcceptBuild)
    async def accept(self, command: AcceptBuild) -> str:
        return await self._parts.builder.builds.decisions.accept(command.build, command.changes)

    @handles(RejectBuild)
    async def reject(self, command: RejectBuild) -> None:
        await self._parts.builder.builds.decisions.reject(command.build, command.reason)

    @handles(UndoBuild)
    async def undo(self, command: UndoBuild) -> str:
        return await self._parts.builder.builds.decisions.take_back(command.build)
