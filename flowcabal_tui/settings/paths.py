"""Paths of files, by the XDG rules. These functions create no folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from platformdirs import PlatformDirs

_DIRS: Final = PlatformDirs("flowcabal", appauthor=False)
PROJECT_FILE: Final = "flowcabal.toml"
PROJECT_STATE: Final = ".flowcabal"
MANUSCRIPT: Final = "manuscript"


def config_folder() -> Path:
    """The folder of the user's settings and secrets."""
    return Path(os.environ.get("FLOWCABAL_CONFIG_DIR") or _DIRS.user_config_dir)


def state_folder() -> Path:
    """The folder of recent projects and crash reports."""
    return Path(os.environ.get("FLOWCABAL_STATE_DIR") or _DIRS.user_state_dir)


def cache_folder() -> Path:
    """The folder for reproducible files: OpenViking's workspaces."""
    return Path(os.environ.get("FLOWCABAL_CACHE_DIR") or _DIRS.user_cache_dir)


def data_folder() -> Path:
    """The folder of the demo's project, of vocabularies and of the installed knowledge server."""
    return Path(os.environ.get("FLOWCABAL_DATA_DIR") or _DIRS.user_data_dir)


def user_file() -> Path:
    return config_folder() / "config.toml"


def secrets_file() -> Path:
    return config_folder() / "secrets.toml"


def locations() -> tuple[tuple[str, Path], ...]:
    """Every folder by name, as `config path` prints it."""
    return (
        ("config", user_file()),
        ("secrets", secrets_file()),
        ("state", state_folder()),
        ("cache", cache_folder()),
        ("data", data_folder()),
    )
