"""The agents of an open project, with its models, prompts and rules."""

from __future__ import annotations

from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.rule_checks import RuleChecks


class AgentFactory:
    """Makes the curator and the Monitor by the settings of the moment."""

    def __init__(self, base: ProjectBase) -> None:
        self._base = base
        self.rules = RuleChecks(base.workshop, lambda: base.settings.checks.off)

    def monitor(self) -> Monitor | None:
        """The Monitor; None when it is switched off."""
        if not self._base.settings.agents.monitor:
            return None
        models = self._base.models
        return Monitor(
            self._base.store.memory,
            models.agent,
            models.counter,
            self._base.prompts,
            self._base.workshop.do,
            self.rules,
        )

    async def curator(self, by_rule: bool) -> Curator | None:
        """The curator, with the agents' model, whose window is then known, or by rule; None when it is switched off."""
        if not self._base.settings.agents.curator:
            return None
        models = self._base.models
        asks = not by_rule and models.endpoint("agent") is not None
        if asks:
            await models.learn_windows()
        # It measures by a rule that never learns: what it makes again must be what it made before.
        return Curator(models.agent if asks else None, TokenEstimator(), self._base.prompts, self.monitor())
