"""The settings of a project that is being opened.

Validating settings needs pydantic, which takes a sixth of the time until the chapters are displayed. A text that this
version of the program has validated before is therefore validated again only when a setting is first used; a new or
changed text is validated before anything is opened.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flowcabal_tui import __version__
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_text import project_text
from flowcabal_tui.system.files import write_whole

if TYPE_CHECKING:
    from flowcabal_tui.settings.project_file import ProjectSettings

_MOST: Final = 50
"""Maximum number of checked texts that are remembered; the oldest are forgotten, and validated again."""


@dataclass(frozen=True, slots=True)
class OpenedSettings:
    """The text of a project's file, and the language of its book."""

    folder: Path
    text: str
    language: str

    def checked(self) -> ProjectSettings:
        """All settings, validated. Raises SettingsError."""
        from flowcabal_tui.settings.project_file import checked_project  # imports pydantic

        return checked_project(self.folder, self.text)


def open_settings(folder: Path) -> OpenedSettings:
    """The settings of the project in a folder. Raises ProjectNotFound or SettingsError."""
    text = project_text(folder)
    known, key = _known(), digest(f"{__version__}\n{text}")
    if key not in known:
        from flowcabal_tui.settings.project_file import checked_project

        known[key] = checked_project(folder, text).project.language
        kept = dict([*known.items()][-_MOST:])
        with suppress(OSError):  # then it is validated again the next time
            write_whole(_file(), json.dumps(kept).encode())
    return OpenedSettings(folder, text, known[key])


def _file() -> Path:
    """The file with the languages of books, by the digests of checked texts."""
    return paths.state_folder() / "checked_settings.json"


def _known() -> dict[str, str]:
    """The languages of checked texts by digest; {} if the file is missing or damaged."""
    try:
        kept: Any = json.loads(_file().read_text(encoding="utf-8"))
        return {key: kept[key] for key in kept if isinstance(kept[key], str)}
    except (OSError, ValueError, TypeError, RecursionError):
        return {}
