"""Installs OpenViking for the user: into a folder beside the final one, which is renamed when the server has started.

A separate program under the AGPL, used over HTTP only. Nothing of the current folder or of a project is used: children
are isolated, start in a neutral folder, and see the user's index settings and nothing else.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Self

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean, clean_line, without_login
from flowcabal_tui.locale import _
from flowcabal_tui.system.processes import NEUTRAL_FOLDER
from flowcabal_tui.viking.child import GuardedChild
from flowcabal_tui.viking.install_tools import InstallTool, network_environment
from flowcabal_tui.viking.installed import Installed, command_in, installation_folder, installed, record, unused

Step = Literal["environment", "fetching", "installing", "proving"]
PACKAGES: Final = 313
FETCHED_MEGABYTES: Final = 200
INSTALLED_MEGABYTES: Final = 900
NEEDED_MEGABYTES: Final = 1500
"""Measured with Python 3.11 on Linux: packages; megabytes of their archives, when installed, and at most meanwhile."""
_FULL_MEGABYTES: Final = 16
"""Below this much free space, a failure is reported as a full disk, because some tools do not report it."""
_LOOK_SECONDS: Final = 0.25
_GRACE: Final = 3.0
_LOCK_TRIES: Final = 40
_OUTPUT_KEPT: Final = 400_000
"""Maximum characters of output that are kept; the usual output of pip has a quarter of that."""
_OF_AN_ENVIRONMENT: Final = ("pip-", "setuptools-")
"""Packages that a new environment contains."""
_FETCHED: Final = re.compile(r"^[ \t]*(?:Downloading|Using cached|Processing) ", re.MULTILINE)
_FULL: Final = re.compile(
    rf"\[Errno (?:{errno.ENOSPC}|{errno.EDQUOT})\]|os error (?:{errno.ENOSPC}|{errno.EDQUOT})\b|No space left on device"
)
_REASON: Final = re.compile(r"^(?:ERROR|error)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The plan of an installation. `sources`: hosts and folders, () where they cannot be known."""

    folder: Path
    tool: str
    sources: tuple[str, ...]
    free_megabytes: int
    continues: bool
    """An earlier try has fetched a part."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress: `done` of `total` packages; a total of 0 means that nothing is counted."""

    step: Step
    done: int = 0
    total: int = 0


class Installation:
    """One installation, inside `async with`, which excludes other installations. First `prepare`, then `install`.

    Leaving it early keeps only the downloads for the next try; after a full disk, nothing is kept.
    """

    def __init__(self, tool: InstallTool, *, needed: int = NEEDED_MEGABYTES, tries: int = _LOCK_TRIES) -> None:
        """`needed`: megabytes that must be free; `tries`: checks, four per second, for the end of another installer."""
        self._tool, self._needed, self._tries = tool, needed, tries
        self._places = _Places(installation_folder())
        self._alone = AsyncExitStack()
        self._lock = -1
        self._output = ""
        self._full = False

    async def __aenter__(self) -> Self:
        try:
            self._places.target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = await self._alone.enter_async_context(_only_installer(self._places.target.parent, self._tries))
            await asyncio.to_thread(self._places.tidy)
        except OSError as error:
            await self._alone.aclose()
            raise self._failure(error) from error
        return self

    async def __aexit__(self, *_error: object) -> None:
        try:
            await asyncio.to_thread(self._places.tidy, keep=not self._full)
        finally:
            await self._alone.aclose()

    async def prepare(self) -> InstallPlan:
        """Makes an empty environment, and determines without a connection where packages would come from.

        Raises KnowledgeError.
        """
        places, begun = self._places, self._places.has_fetched
        free = free_megabytes(places.target.parent)
        if free < self._needed:
            words = _("It needs {n} MB while it is installed; {free} MB are free in {folder}.")
            detail = words.format(n=self._needed, free=free, folder=places.target.parent)
            raise KnowledgeError(_("There is not enough space on the disk."), detail, _("Nothing was changed."))
        try:
            places.make()
            await self._run(self._tool.make(places.environment), _("The environment could not be made."))
            output = await self._run(self._tool.ask(places.environment), _("The environment does not work."))
        except OSError as error:
            raise self._failure(error) from error
        return InstallPlan(places.target, self._tool.name, self._tool.sources(output), free, begun)

    async def install(self, publish: Callable[[Progress], None]) -> Installed:
        """Fetches, installs and starts it once; only then moves it to its place. Raises KnowledgeError."""
        places = self._places
        try:
            command = self._tool.install(places.environment, places.cache)
            title = _("The knowledge server could not be installed.")
            await self._run(command, title, look=lambda: publish(self._progress()))
            publish(Progress("proving"))
            started = [*command_in(places.environment), "--version"]
            alone = {"HOME": str(places.temporary), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
            await self._run(started, _("The installed server does not start."), alone)
            await asyncio.to_thread(places.put_in_place)
        except OSError as error:
            raise self._failure(error) from error
        done = installed()
        if done is None:
            raise KnowledgeError(_("The installed server has been removed in the meantime."))
        return done

    async def _run(
        self,
        command: Sequence[str],
        title: str,
        further: Mapping[str, str] = MappingProxyType({}),
        look: Callable[[], None] = lambda: None,
    ) -> str:
        """Runs a child to its end and returns its output; `look` is called at intervals.

        Raises KnowledgeError with `title`, and OSError.
        """
        self._output = ""
        environment = {**network_environment(self._places.temporary), **further}
        mark = self._places.part / "running"
        child = GuardedChild(command, NEUTRAL_FOLDER, environment, mark=mark, grace=_GRACE, descriptors=(self._lock,))
        try:
            await child.watch(self._take)
            while not child.over:
                look()
                await child.ended(_LOOK_SECONDS)
        finally:
            child.stop()
            await child.ended(_GRACE * 2)
            child.release()
        if child.code:
            raise self._failure(title)
        return self._output

    def _take(self, piece: bytes) -> None:
        self._output = (self._output + clean(piece.decode("utf-8", "replace")))[-_OUTPUT_KEPT:]

    def _progress(self) -> Progress:
        if there := self._places.packages():
            return Progress("installing", min(there, PACKAGES), PACKAGES)
        fetched = len(_FETCHED.findall(self._output))
        return Progress("fetching", min(fetched, PACKAGES), PACKAGES if fetched else 0)

    def _failure(self, cause: str | OSError) -> KnowledgeError:
        """The message; after a full disk nothing of the installation is left."""
        if isinstance(cause, OSError):
            title, detail = _("The knowledge server could not be installed."), os_reason(cause)
            full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
        else:
            title, detail = cause, _reason(self._output)
            full = bool(_FULL.search(self._output)) or free_megabytes(self._places.target.parent) < _FULL_MEGABYTES
        if full:
            self._full = True
            words = _("The disk is full. It needs {n} MB while it is installed; nothing of it was left behind.")
            return KnowledgeError(title, words.format(n=self._needed), _("Free some space and try again."))
        kept = _("Downloads are kept: try again to continue, or delete them with `knowledge remove`.")
        return KnowledgeError(title, detail, kept if self._places.has_fetched else _("Nothing was changed."))


class _Places:
    """The final folder, and the one beside it in which everything is made."""

    def __init__(self, target: Path) -> None:
        self.target, self.part = target, target.with_name(f"{target.name}.part")
        self.environment, self.cache = self.part / "environment", self.part / "cache"
        self.temporary, self._replaced, self._removed = (
            self.part / name for name in ("temporary", "replaced", "removed")
        )

    @property
    def has_fetched(self) -> bool:
        """An earlier try has left something to continue from."""
        return any(files for _folder, _folders, files in os.walk(self.cache))

    def make(self) -> None:
        """Raises OSError."""
        for folder in (self.part, self.cache, self.temporary):
            folder.mkdir(exist_ok=True, mode=0o700)

    def packages(self) -> int:
        """Packages in the environment that is being made."""
        found = self.environment.glob("lib/python*/site-packages/*.dist-info")
        return sum(1 for package in found if not package.name.startswith(_OF_AN_ENVIRONMENT))

    def put_in_place(self) -> None:
        """Renames the environment, an older one out of its way first. Raises OSError and KnowledgeError."""
        record(self.environment, self.packages(), _megabytes(self.environment))
        os.sync()  # a record without its files would pass for a whole installation after a power cut
        with unused(self.target):
            if self.target.exists():
                self.target.rename(self._replaced)
            self.environment.rename(self.target)
        shutil.rmtree(self.cache)

    def remove(self) -> bool:
        """Deletes the installation and the downloads. Returns False if there was nothing. Raises OSError and
        KnowledgeError."""
        there = self.target.exists() or self.part.exists()
        if self.target.exists():
            self.make()
            with unused(self.target):
                self.target.rename(self._removed)
        shutil.rmtree(self.part, ignore_errors=not there)
        return there

    def tidy(self, *, keep: bool = True) -> None:
        """Removes the remains of an attempt; with `keep`, downloads stay. Raises OSError."""
        if self._replaced.exists() and not self.target.exists():
            self._replaced.rename(self.target)
        for folder in (self.environment, self.temporary, self._replaced, self._removed):
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        if not (keep and self.has_fetched):
            shutil.rmtree(self.part, ignore_errors=True)


async def remove_installation() -> bool:
    """Deletes the installation and its downloads; returns False if there was none. Raises KnowledgeError."""
    places = _Places(installation_folder())
    try:
        async with _only_installer(places.target.parent):
            return await asyncio.to_thread(places.remove)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise KnowledgeError(_("The knowledge server could not be removed."), os_reason(error)) from error


@asynccontextmanager
async def _only_installer(folder: Path, tries: int = _LOCK_TRIES) -> AsyncIterator[int]:
    """Locks the folder and gives the lock's descriptor; children that inherit it hold the lock until they end.

    Waits a little for those of a process that was killed. Raises KnowledgeError and OSError.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for _try in range(tries):
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            await asyncio.sleep(_LOOK_SECONDS)
        else:
            advice = _("Wait until that one has ended.")
            raise KnowledgeError(_("It is being installed by another process."), "", advice)
        yield lock
    finally:
        os.close(lock)


def _reason(output: str) -> str:
    """The errors that a tool printed last, otherwise its last line."""
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if _REASON.match(line)] or lines[-1:]
    return clean_line(" ".join(without_login(line) if "@" in line else line for line in errors[-3:]))[:400]


def free_megabytes(folder: Path) -> int:
    """The free space of a folder's disk, in megabytes. Raises OSError."""
    return shutil.disk_usage(folder).free // 2**20


def _megabytes(environment: Path) -> int:
    """The size of the files in megabytes."""
    walked = os.walk(environment)
    sizes = (os.lstat(os.path.join(folder, name)).st_size for folder, _folders, files in walked for name in files)
    return round(sum(sizes) / 1e6)
