"""The errors of actions. Nothing was started, except for an ActionFailed."""

from __future__ import annotations

from flowcabal_tui.domain.errors import FlowCabalError


class ActionError(FlowCabalError):
    """An action that cannot be used, or that failed."""


class ActionFileError(ActionError):
    """A file of actions or of simulations that cannot be used; names the place."""

    exit_code = 2


class UnknownAction(ActionError):
    """No action has that id."""


class ActionDisabled(ActionError):
    """The registry has `enabled: false` for the action."""


class ActionForbidden(ActionError):
    """The role is not among those that may use the action."""


class ApprovalRequired(ActionError):
    """A person must agree first; the caller asks and calls again with `approved`."""

    def __init__(self, action_id: str, title: str, detail: str, advice: str) -> None:
        super().__init__(title, detail, advice)
        self.action_id = action_id


class ActionUnbound(ActionError):
    """The project has no function and no command for the action."""


class BadParams(ActionError):
    """The parameters do not match the action's schema."""


class SimulationError(ActionError):
    """A simulation template that cannot be filled in."""


class ActionFailed(ActionError):
    """The action was started and did not succeed."""


class TimedOut(ActionFailed):
    """The action did not end in time and was stopped."""


class BadOutput(ActionFailed):
    """The action's output is not JSON, too large, or does not match its output schema."""
