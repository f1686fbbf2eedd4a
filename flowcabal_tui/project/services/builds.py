"""Builds: workflows that the Builder suggests, accepted wholly or by changes, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowcabal_tui.project.commands import handles
from flowcabal_tui.project.parts import Parts
from flowcabal_tui.protocol.builds import AcceptBuild, AnswerBuild, RejectBuild, RequestBuild, UndoBuild

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.builds import BuildRecord


class BuildService:
    """Questions and commands about builds. Lives on the engine's loop."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def build(self, identity: str) -> BuildRecord:
        """A build of a workflow as it is kept. Raises UnknownName."""
        return await self._parts.builds.get(identity)

    @handles(RequestBuild)
    async def request(self, command: RequestBuild) -> str:
        return await self._parts.builds.start(command)

    @handles(AnswerBuild)
    async def answer(self, command: AnswerBuild) -> str:
        return await self._parts.builds.answer(command.build, command.text)

    @handles(AcceptBuild)
    async def accept(self, command: AcceptBuild) -> str:
        return await self._parts.builds.accept(command.build, command.changes)

    @handles(RejectBuild)
    async def reject(self, command: RejectBuild) -> None:
        await self._parts.builds.reject(command.build, command.reason)

    @handles(UndoBuild)
    async def undo(self, command: UndoBuild) -> str:
        return await self._parts.builds.take_back(command.build)
