"""The permissions of files created in a project's folder."""

from __future__ import annotations

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_text import plain_text, read_toml
from flowcabal_tui.system.files import PRIVATE, SHARED, Modes


def file_modes() -> Modes:
    """The permissions of files made in project folders; private if the user's file cannot be read.

    The file is validated only if it asks to share files, because validation takes longer than opening a book.
    """
    try:
        if read_toml(plain_text(paths.user_file())).get("project_files") != "shared":
            return PRIVATE
        from flowcabal_tui.settings.user_file import load_user  # imports pydantic

        return SHARED if load_user().project_files == "shared" else PRIVATE
    except (OSError, ValueError, SettingsError):
        return PRIVATE
