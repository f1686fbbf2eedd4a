"""Keys: from the environment, else from a file that only the user can read; never from the project."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.locale import _
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_text import read_toml, require_writable
from flowcabal_tui.settings.locked import locked
from flowcabal_tui.system.files import write_whole

if TYPE_CHECKING:
    from flowcabal_tui.domain.endpoints import Endpoint


def read_secrets() -> dict[str, str]:
    """The entries of the secrets file; {} if there is none. Raises SettingsError if others can read it."""
    path = paths.secrets_file()
    try:
        mode = path.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingsError(
                _("{file} can be read by others.").format(file=path),
                _("It was not read."),
                _("Run: chmod 600 {file}").format(file=path),
            )
        values = read_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(_("Cannot read {file}.").format(file=path), type(error).__name__) from error
    return {name: value for name, value in values.items() if isinstance(value, str)}


def keep_secret(name: str, key: str) -> None:
    """Writes a key into the secrets file, which only the user can read. Raises OSError or SettingsError."""
    path = paths.secrets_file().resolve()
    with locked(paths.secrets_file()):
        from flowcabal_tui.settings.toml_edit import edited  # imports tomlkit, which no reader needs

        read_secrets()  # raises: a file that others can read, or that is invalid, is not changed
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        require_writable(path)
        write_whole(path, edited(text, [((name,), key)]).encode())


def has_key(endpoint: Endpoint, environ: Mapping[str, str] = os.environ) -> bool:
    """True when there is a key under one of the endpoint's names."""
    return find_key(endpoint, environ) is not None


def find_key(endpoint: Endpoint, environ: Mapping[str, str] = os.environ) -> str | None:
    """The key of an endpoint: its environment variable first, then its entry in the secrets file.

    Only `Trust.require_model` passes it on, after the user has confirmed that it may be sent to that host.
    """
    if endpoint.api_key_env and (key := environ.get(endpoint.api_key_env)):
        return key
    return read_secrets().get(endpoint.secret) if endpoint.secret else None
