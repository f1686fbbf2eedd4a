"""The agents of an open project: the program's own, or those of installed plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flowcabal_tui.domain.errors import ModelError, ModelFault, SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.rule_checks import RuleChecks
from flowcabal_tui.settings.project_file import AgentRole, agent_group
from flowcabal_tui.settings.user_file import load_user
from flowcabal_tui.system.plugins import load_plugin

if TYPE_CHECKING:
    from flowcabal_tui.agents.checking.monitor import Monitor
    from flowcabal_tui.agents.curation.curator import Curator

C = TypeVar("C", bound=type)


class AgentFactory:
    """Makes agents by the current settings. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase) -> None:
        self._base = base
        self._plugins: dict[AgentRole, Callable[..., Any] | None] = {}
        self.rules = RuleChecks(base.workshop, lambda: base.settings.checks.off)

    def of(self, role: AgentRole, shipped: C) -> C:
        """The callable that makes the agent of a role: `shipped`, or the one of a plug-in.

        A plug-in is called with the arguments of `shipped` and returns an object with its public methods. Raises
        SettingsError when it cannot be used, and ProjectNotConfirmed for one that the project asks for before the user
        confirms it.
        """
        if role not in self._plugins:
            self._plugins[role] = self._plugin(role)
        plugin = self._plugins[role]
        return shipped if plugin is None else cast(C, _checked(plugin, shipped, agent_group(role)))

    def _plugin(self, role: AgentRole) -> Callable[..., Any] | None:
        own: str = getattr(load_user().agents, role)
        name: str = own or getattr(self._base.settings.agents.plugins, role)
        if not name:
            return None
        if not own:
            self._base.trust.require_agent(role, name)
        plugin: Callable[..., Any] | None = load_plugin(agent_group(role), name, SettingsError)
        if plugin is None:
            raise SettingsError(
                _("No installed plug-in provides the agent {name}.").format(name=name),
                agent_group(role),
                _("Install it beside the program, or remove the name from the settings."),
            )
        return plugin

    def monitor(self) -> Monitor | None:
        """The Monitor; None when it is switched off."""
        if not self._base.settings.agents.monitor:
            return None
        from flowcabal_tui.agents.checking.monitor import Monitor

        base, models = self._base, self._base.models
        make = self.of("checker", Monitor)
        return make(base.store.memory, models.agent, models.counter, base.prompts, base.workshop.do, self.rules)

    def required_monitor(self) -> Monitor:
        """The Monitor. Raises ModelError when it is switched off."""
        monitor = self.monitor()
        if monitor is None:
            raise ModelError(ModelFault.NOT_CONFIGURED, _("Checks by a model are switched off in this book."))
        return monitor

    async def curator(self, by_rule: bool, *, checks: bool = True) -> Curator | None:
        """The curator, with the agents' model (after its window was determined) or by rule; None when it is switched
        off.

        Without `checks` it has no Monitor.
        """
        if not self._base.settings.agents.curator:
            return None
        from flowcabal_tui.agents.curation.curator import Curator

        models = self._base.models
        asks = not by_rule and models.endpoint("agent") is not None
        if asks:
            await models.learn_windows()
        make = self.of("curator", Curator)
        # A fresh estimator, which has learned nothing: a regenerated text must equal the earlier one.
        return make(
            models.agent if asks else None, TokenEstimator(), self._base.prompts, self.monitor() if checks else None
        )


def _checked(plugin: Callable[..., Any], shipped: type, group: str) -> Callable[..., Any]:
    """The plug-in, wrapped so that SettingsError is raised if its object lacks public methods of `shipped`."""

    def make(*arguments: Any, **named: Any) -> Any:
        agent = plugin(*arguments, **named)
        missing = [name for name in vars(shipped) if not name.startswith("_") and not hasattr(agent, name)]
        if missing:
            raise SettingsError(
                _("The plug-in in {group} is not an agent of this kind.").format(group=group),
                _("It lacks {names}.").format(names=_(", ").join(missing)),
                _("Remove its name from the settings, or install a version that fits."),
            )
        return agent

    return make
