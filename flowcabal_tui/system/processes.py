"""Starts child processes that see nothing of the current folder, of Python's environment or of the keys.

The current folder may be a stranger's project. `python -m` puts it first on the module path, an empty entry of PATH or
LD_LIBRARY_PATH names it, and tools read their settings from it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import flowcabal_tui
from flowcabal_tui.domain.late_pattern import late

NEUTRAL_FOLDER: Final = "/"
"""The working folder of children: no user and no project can put files there."""
_PASSED_ON: Final = late(
    r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|COLORTERM|XDG_[A-Z_]+|(?:DY)?LD_LIBRARY_PATH"
)
_LISTS: Final = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_SECRET: Final = late(r"KEY(?!BOARD|MAP|RING)|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_PACKAGE_FOLDER: Final = Path(flowcabal_tui.__file__).resolve().parent.parent
_BOOT: Final = (
    "import sys; sys.path += [entry for entry in sys.argv[2:] if entry not in sys.path]; "
    "from importlib import import_module; import_module(sys.argv[1]).serve()"
)


def minimal_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment with only the places of programs and files, the locale and the terminal, so without keys."""
    return _absolute_lists({name: value for name, value in environment.items() if _PASSED_ON.fullmatch(name)})


def environment_without_secrets(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The user's whole environment for the user's own programs, without variables named like a key or a password."""
    return _absolute_lists({name: value for name, value in environment.items() if not _SECRET.search(name)})


def _absolute_lists(environment: dict[str, str]) -> dict[str, str]:
    for name in _LISTS:
        if name in environment:
            environment[name] = _absolute_entries(environment[name])
            if not environment[name]:
                del environment[name]
    return environment


def _absolute_entries(folders: str) -> str:
    """A list such as PATH without empty and relative entries: they name the current folder, whichever it is."""
    return os.pathsep.join(entry for entry in folders.split(os.pathsep) if os.path.isabs(entry))


def find_program(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The absolute path of a program that can be started: `name` is a path, or a bare name found on PATH.

    A relative path, and an entry of PATH that is relative or the current folder, finds nothing.
    """
    if os.path.dirname(name):
        expanded = os.path.expanduser(name)
        return shutil.which(expanded) if os.path.isabs(expanded) else None
    here = _current_folder()
    entries = _absolute_entries(environment.get("PATH") or os.defpath).split(os.pathsep)
    elsewhere = [entry for entry in entries if entry and not _same(entry, here)]
    return shutil.which(name, path=os.pathsep.join(elsewhere)) if name and elsewhere else None


def own_python(module: str) -> list[str]:
    """The command line of a Python process of this program that calls `serve()` of `module`.

    Isolated (`-I`): the current folder, PYTHON* variables and the user's site folder add no module. The entries of our
    own module path are added after the standard library, wherever this program is installed.
    """
    bytecode = ["-B"] if sys.dont_write_bytecode else []
    return [sys.executable, "-I", *bytecode, "-c", _BOOT, module, *_trusted_module_path()]


def forget_current_folder() -> None:
    """Removes the current folder from the module path, so that nothing in it can pass as a module or a plug-in.

    `python -m`, or an empty entry of PYTHONPATH, puts it there. The folder of this program itself stays.
    """
    sys.path[:] = _trusted_module_path()


def _trusted_module_path() -> list[str]:
    here = _current_folder()
    return [entry for entry in sys.path if _is_trusted(entry, here)]


def _is_trusted(entry: str, here: str | None) -> bool:
    return os.path.isabs(entry) and (not _same(entry, here) or Path(entry).resolve() == _PACKAGE_FOLDER)


def _current_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def _same(folder: str, other: str | None) -> bool:
    return other is not None and os.path.realpath(folder) == os.path.realpath(other)
