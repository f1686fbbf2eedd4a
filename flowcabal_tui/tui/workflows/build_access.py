"""The requests of the screens of builds to the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.app import App

from flowcabal_tui.domain.builds import BuildRow, NearTemplate
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.build_words import build_price_lines
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.tui.shared.spending import agrees_to_pay

if TYPE_CHECKING:
    from flowcabal_tui.project.builder.prices import BuildPrice
    from flowcabal_tui.project.builder.records import BuildRecord
    from flowcabal_tui.project.project import Project


class BuildAccess:
    """The Builder is imported by the project when the first of these is asked."""

    def __init__(self, workbench: Project) -> None:
        self._workbench = workbench

    @property
    def read_only(self) -> bool:
        """True when nothing may be changed."""
        return self._workbench.info.read_only

    @property
    def language(self) -> str:
        """The language of the book."""
        return self._workbench.info.language

    async def record(self, build: str) -> BuildRecord:
        """A build as it is."""
        return await self._workbench.builds.build(build)

    async def rows(self) -> tuple[BuildRow, ...]:
        """All builds, oldest first."""
        return await self._workbench.builds.build_rows()

    async def price(self, wish: str, workflow: str) -> BuildPrice | None:
        """The price of a build by a model; None if there is no model."""
        return await self._workbench.builds.build_price(wish, workflow)

    async def near_templates(self, wish: str) -> tuple[NearTemplate, ...]:
        """The templates that cover half of a wish or more, the nearest first."""
        return await self._workbench.builds.near_templates(wish)

    async def filled_form(self, wish: str, workflow: str) -> Mapping[str, Any]:
        """The form as the vocabulary fills it."""
        return await self._workbench.builds.filled_form(wish, workflow)

    async def workflow(self, workflow: str) -> Workflow:
        """The newest document of a workflow."""
        return await self._workbench.workflows.get(workflow)

    async def do(self, command: Command) -> str:
        """Carries out a command."""
        return await self._workbench.carry_out(command)

    async def may_pay(self, app: App[Any], record: BuildRecord) -> bool:
        """The writer's answer to the price of going on with a build; True unasked where nothing is paid."""
        if record.offline or record.form is not None:
            return True
        price = await self.price(record.wish, str(record.base["id"]) if record.base and not record.from_file else "")
        if price is None:
            return True
        return await agrees_to_pay(app, _("Continue with the Builder?"), build_price_lines(price))
