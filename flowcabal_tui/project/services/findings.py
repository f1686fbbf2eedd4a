"""Findings: the results of checks, the writer's decisions, and checks of kept chapters."""

from __future__ import annotations

from typing import get_args

from flowcabal_tui.domain.errors import UnknownName, available
from flowcabal_tui.domain.findings import CheckReport, FindingFilter, FindingPage
from flowcabal_tui.domain.proposals import Proposal, ProposalId
from flowcabal_tui.domain.run import Quote, RuleName
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.project.commands import Service, handles, passed_on
from flowcabal_tui.project.story.reader_notes import split
from flowcabal_tui.protocol.findings import ChangeFromHere, CheckChapters, DecideFindings, StopChecking, SwitchRule
from flowcabal_tui.settings.project_file import ChecksSettings, ProjectSettings


class FindingService(Service):
    """Questions and commands about findings. Lives on the engine's loop."""

    passes_on = (
        passed_on(DecideFindings, lambda parts, command: parts.findings.decide(command)),
        passed_on(CheckChapters, lambda parts, command: parts.findings.check(command)),
    )

    async def findings(self, where: FindingFilter, offset: int = 0, limit: int = 100) -> FindingPage:
        """A page of findings from `offset` on, in story order, certain ones of a chapter first; notes of readers
        precede them.
        """
        parts = self._parts
        return await parts.notes.page(where, offset, limit, parts.store.findings.page)

    async def finding(self, identity: ProposalId) -> Proposal:
        """A finding, or a note of a reader. Raises Gone."""
        parts, (note,) = self._parts, split([identity])[1] or (None,)
        if note is not None:
            return await parts.notes.row(note)
        (row,) = await parts.store.proposals.get([identity])
        return row

    async def finding_report(self) -> CheckReport:
        """The checked chapters, the unchecked ones, and the usefulness of each check."""
        return await self._parts.findings.report()

    async def quote_check(self, first: int | None = None, last: int | None = None) -> Quote:
        """The price of a check of chapters by the agents' model. Raises ModelError without a model."""
        parts, monitor = self._parts, self._parts.agents.required_monitor()
        await parts.base.models.learn_windows()
        return await parts.runs.quotes.check(await parts.findings.chapters(first, last), monitor)

    @handles(ChangeFromHere)
    async def change(self, command: ChangeFromHere) -> str:
        (note,) = split([command.finding])[1] or (None,)
        findings = self._parts.findings
        if note is not None:
            record = await findings.change_by_note(note, await self.finding(command.finding), command.fact)
        else:
            record = await findings.change(command)
        await self._parts.memory.updates.story_changed()
        return record

    @handles(SwitchRule)
    async def switch(self, command: SwitchRule) -> None:
        await self._switch(command.rule, on=command.on)
        if not command.on:
            await self._parts.findings.withdraw(command.rule)

    async def _switch(self, rule: str, *, on: bool) -> None:
        """Writes into the project's file which rules do not check this book. Raises UnknownName or SettingsError."""
        parts = self._parts
        if rule not in get_args(RuleName):
            raise UnknownName(
                _("There is no rule {name}.").format(name=clean_line(rule)), "", available(get_args(RuleName))
            )

        def switch(settings: ProjectSettings) -> ProjectSettings:
            off = [each for each in settings.checks.off if each != rule]
            checks = ChecksSettings.model_validate({"off": off if on else [*off, rule]})
            return settings.model_copy(update={"checks": checks})

        await parts.base.settings_file.change(switch)

    @handles(StopChecking)
    async def stop(self, _command: StopChecking) -> None:
        self._parts.findings.stop()
