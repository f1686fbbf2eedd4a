"""The OpenViking that `knowledge install` has put into the user's data folder, in an environment of its own."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.locale import _
from flowcabal_tui.settings.paths import data_folder
from flowcabal_tui.system.files import Folder
from flowcabal_tui.system.processes import find_program

VERSION: Final = "0.5.2"
"""The version to install, with the versions in constraints.txt beside this file."""
LICENCE: Final = "AGPL-3.0"
_RECORD: Final = "flowcabal-installed.json"
_MODULE: Final = "openviking_cli.server_bootstrap"


@dataclass(frozen=True, slots=True)
class Installed:
    """A complete installation that has started once."""

    folder: Path
    version: str
    packages: int
    megabytes: int

    @property
    def command(self) -> tuple[str, ...]:
        return command_in(self.folder)

    @property
    def can_start(self) -> bool:
        """False when the Python with which it was made was removed or replaced."""
        return find_program(self.command[0]) is not None


def installation_folder() -> Path:
    """The folder of the installation, present or future; absolute."""
    return data_folder().absolute() / "knowledge-server"


def python_in(environment: Path) -> Path:
    """The Python of an environment."""
    return environment / "bin" / "python"


def command_in(environment: Path) -> tuple[str, ...]:
    """The command that starts the server in an environment. It works after a rename, although the scripts contain the
    old path.

    Isolated: neither the current folder nor the user's Python settings and packages reach it.
    """
    return (str(python_in(environment)), "-I", "-m", _MODULE)


def installed() -> Installed | None:
    """The installation on this machine; None if there is none, or an incomplete one."""
    folder = installation_folder()
    with suppress(OSError, ValueError, TypeError):
        kept = json.loads(Folder(folder).read(_RECORD))
        return Installed(folder, str(kept["version"]), int(kept["packages"]), int(kept["megabytes"]))
    return None


def record(environment: Path, packages: int, megabytes: int) -> None:
    """Marks an environment as complete. Raises OSError."""
    kept = asdict(Installed(environment, VERSION, packages, megabytes))
    del kept["folder"]
    Folder(environment).write(json.dumps(kept).encode(), _RECORD)


@contextmanager
def used_by(command: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """A descriptor for the child: while it is open, the installation cannot be removed. () for another server."""
    folder = installation_folder()
    if not Path(command[0]).is_relative_to(folder):
        yield ()
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield (descriptor,)
    finally:
        os.close(descriptor)


@contextmanager
def unused(folder: Path) -> Iterator[None]:
    """Raises KnowledgeError while a server runs from this folder, which need not exist."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        title = _("The knowledge server of an open book runs from this folder.")
        raise KnowledgeError(title, str(folder), _("Close the books that are open and try again.")) from None
    finally:
        os.close(descriptor)
