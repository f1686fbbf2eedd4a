"""Reads the texts of settings files, before anything is validated."""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.errors import ProjectNotFound, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.settings.paths import PROJECT_FILE
from flowcabal_tui.system.files import Folder

_DEEPEST: Final = 50
LARGEST_PROJECT_FILE: Final = 4 * 1024 * 1024


def plain_text(path: Path) -> str:
    """The text of a file. Raises OSError or UnicodeDecodeError."""
    return path.read_bytes().decode("utf-8")


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises TOMLDecodeError (a ValueError), also for one that is nested too deeply."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _too_deep() from None
    level: list[Any] = [tables]
    for _depth in range(_DEEPEST):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
        if not level:
            return tables
    raise _too_deep()


def _too_deep() -> tomllib.TOMLDecodeError:
    return tomllib.TOMLDecodeError(_("It has tables or lists that are nested too deeply."))


def text_of(path: Path, read: Callable[[Path], str] = plain_text) -> str | None:
    """The file's text; None if there is no file. Raises SettingsError."""
    try:
        return read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(_("Cannot read {file}.").format(file=path), os_reason(error)) from error
    except UnicodeDecodeError as error:
        title, advice = _("Cannot read {file}.").format(file=path), _("Save it as UTF-8 and try again.")
        raise SettingsError(title, _("Its text is not UTF-8."), advice) from error


def project_text(folder: Path) -> str:
    """The text of a project's `flowcabal.toml`. Raises ProjectNotFound or SettingsError."""
    if not Folder(folder).is_there(PROJECT_FILE):
        raise ProjectNotFound(
            _("There is no FlowCabal project in {folder}.").format(folder=folder),
            _("It has no file named {file}.").format(file=PROJECT_FILE),
            _("Create one with `flowcabal-tui new FOLDER`, or open another folder."),
        )
    read = lambda path: Folder(path.parent).text(path.name, limit=LARGEST_PROJECT_FILE)  # noqa: E731  # one line, used once
    return text_of(folder / PROJECT_FILE, read) or ""


def require_writable(path: Path) -> None:
    """Raises PermissionError for a file that its owner has made read-only, which replacing the file would
    circumvent."""
    with suppress(FileNotFoundError):
        if not path.stat().st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
