"""Models of the user's own settings file, for measurements without a project."""

from __future__ import annotations

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault, SettingsError
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.locale import _
from flowcabal_tui.models.http_model import HttpModel
from flowcabal_tui.models.registry import make_model
from flowcabal_tui.settings.key_hosts import is_safe_transport
from flowcabal_tui.settings.secrets import find_key
from flowcabal_tui.settings.user_file import load_user


def own_endpoint(role: Role) -> Endpoint:
    """The model of the role. Raises SettingsError if there is none."""
    endpoint = load_user().models.of(role)
    if endpoint is None or endpoint.provider == "offline":
        raise SettingsError(
            _("Your settings file names no model for the role {role}.").format(role=role),
            _("Nothing was sent."),
            _("Name one under [models.{role}], or measure without a model.").format(role=role),
        )
    return endpoint


def own_model(endpoint: Endpoint) -> HttpModel:
    """The user's own model. Raises ModelError for a key that would be sent over plain http to another machine, and
    SettingsError."""
    key = find_key(endpoint)
    if key is not None and not is_safe_transport(endpoint.address):
        raise ModelError(ModelFault.NOT_CONFIRMED, _("The key would go over plain http to another machine."))
    return make_model(endpoint, key)
