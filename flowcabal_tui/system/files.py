"""Reads, writes and removes files in an untrusted folder, and nowhere else.

The folder itself is the one that the user named, also by a link. Below it only plain names are followed, folder by
folder from open descriptors; links, devices, pipes, second names of a file (hard links) and files of other users are
refused.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _

LARGEST: Final = 256 * 1024 * 1024
_DEEPEST: Final = 32
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_FILE: Final = (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EMLINK, errno.EISDIR)


class UnsafePath(OSError):
    """A file that must not be used; `strerror` is the reason, in the user's language."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(errno.EPERM, why, str(path))

    @property
    def reason(self) -> str:
        """The name and the reason, for a sentence of its own."""
        return f"{self.filename}: {self.strerror}"


@dataclass(frozen=True, slots=True)
class Modes:
    """The permissions of new folders and files; the umask restricts them further."""

    folder: int = 0o700
    file: int = 0o600


PRIVATE: Final = Modes()
SHARED: Final = Modes(0o777, 0o666)


def open_own(path: Path, flags: int, mode: int = PRIVATE.file, *, owner: int | None = None) -> int:
    """A descriptor of a regular file that has one name and belongs to this user, root or `owner`.

    Never waits for the other end of a pipe. Raises UnsafePath or OSError.
    """
    return _open(path.name, flags, mode, None, path, _trusted(owner))


def write_whole(path: Path, content: bytes, modes: Modes = PRIVATE, *, keep_mode: bool = False) -> None:
    """Replaces a file that the user named, like `Folder.write`, and creates its folders.

    It gets the permissions of `modes`; with `keep_mode`, an existing file keeps its own. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=modes.folder)
    Folder(path.parent, modes).write(content, path.name, keep_mode=keep_mode)


class Folder:
    """A folder that the user named. Names are given part by part: `("manuscript", "0001-a.md")`.

    Every method raises UnsafePath for refused files, otherwise OSError.
    """

    def __init__(self, path: Path, modes: Modes = PRIVATE) -> None:
        self.path, self.modes = path, modes

    def read(self, *names: str, limit: int = LARGEST) -> bytes:
        """The whole file, at most `limit` bytes."""
        with self.opened(*names) as descriptor:
            if os.fstat(descriptor).st_size > limit:
                raise OSError(errno.EFBIG, _("It is larger than {n} bytes").format(n=limit), str(self._place(names)))
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(limit)

    def text(self, *names: str, limit: int = LARGEST) -> str:
        """The whole file as UTF-8 with plain line ends. Also raises UnicodeDecodeError."""
        return self.read(*names, limit=limit).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")

    @contextmanager
    def opened(self, *names: str) -> Iterator[int]:
        """A descriptor for reading. Not for a database or a lock file: closing it drops this process's POSIX locks."""
        with self._inside(names[:-1]) as (folder, trusted):
            descriptor = _open(_plain(names[-1]), os.O_RDONLY, 0, folder, self._place(names), trusted)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def status(self, *names: str) -> os.stat_result | None:
        """The status of a file that may be read; None if it is missing or refused."""
        try:
            return self.require(*names)
        except OSError:
            return None

    def require(self, *names: str) -> os.stat_result:
        """The status of a file. Raises UnsafePath for a refused file, FileNotFoundError for a missing one."""
        with self._inside(names[:-1]) as (folder, trusted):
            found = os.stat(_plain(names[-1]), dir_fd=folder, follow_symlinks=False)
        if why := _refusal(found, trusted):
            raise UnsafePath(self._place(names), why)
        return found

    def is_there(self, *names: str) -> bool:
        """True when anything has this name, usable or not."""
        try:
            with self._inside(names[:-1]) as (folder, _trusted):
                os.stat(_plain(names[-1]), dir_fd=folder, follow_symlinks=False)
        except OSError:
            return False
        return True

    def statuses(self, *names: str) -> dict[str, os.stat_result]:
        """The files of a folder that may be read; {} if the folder does not exist."""
        try:
            with self._inside(names) as (folder, trusted):
                return dict(_files(folder, trusted))
        except OSError:
            return {}

    def walk(self, *names: str) -> Iterator[tuple[str, ...]]:
        """The names of all readable files below a folder, sorted; none if the folder does not exist."""
        try:
            with self._inside(names) as (folder, trusted):
                files = [name for name, _status in _files(folder, trusted)]
                inner = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
        except OSError:
            return
        yield from ((*names, name) for name in sorted(files))
        for name in inner if len(names) < _DEEPEST else ():
            yield from self.walk(*names, name)

    def folders(self, *names: str) -> tuple[str, ...]:
        """The folders in a folder, sorted."""
        try:
            with self._inside(names) as (folder, _trusted):
                return tuple(sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)))
        except OSError:
            return ()

    def make(self, *names: str) -> None:
        """Creates the folder and its parents; an existing one is not changed."""
        with self._inside(names, make=True):
            pass

    def write(self, content: bytes, *names: str, keep_mode: bool = True) -> None:
        """Writes a file atomically, in folders that are created where they are missing; a link is replaced by a file.

        An existing file keeps its permissions, unless `keep_mode` is False.
        """
        with self._inside(names[:-1], make=True) as (folder, trusted):
            name, half = _plain(names[-1]), f".{secrets.token_hex(4)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE_FLAGS
            descriptor = os.open(half, flags, self.modes.file, dir_fd=folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    with suppress(OSError):
                        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
                        if keep_mode and _refusal(before, trusted) is None:
                            os.fchmod(descriptor, stat.S_IMODE(before.st_mode) & 0o666)
                    file.write(content)
                    file.flush()
                    os.fsync(descriptor)
                os.replace(half, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:  # cut off or not, no half file stays
                with suppress(OSError):
                    os.unlink(half, dir_fd=folder)
                raise

    def remove(self, *names: str) -> None:
        """Removes a file, or a link and not its target; a missing one is no error."""
        with suppress(FileNotFoundError), self._inside(names[:-1]) as (folder, _trusted):
            os.unlink(_plain(names[-1]), dir_fd=folder)

    def tighten(self, *names: str) -> None:
        """Removes the permissions of others from a folder and its files, as far as this user owns them."""
        with self._inside(names) as (folder, _trusted):
            wanted = [(None, self.modes.folder), *((name, self.modes.file) for name in os.listdir(folder))]
            for name, mode in wanted:
                with suppress(OSError):
                    _tighten(folder, name, mode)

    def _place(self, names: tuple[str, ...]) -> Path:
        return self.path.joinpath(*names)

    @contextmanager
    def _inside(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[tuple[int, frozenset[int]]]:
        """A descriptor of the folder at these names, and the permitted owners of its files."""
        descriptor = os.open(self.path, _FOLDER_FLAGS)
        try:
            trusted = _trusted(os.fstat(descriptor).st_uid)
            for depth, name in enumerate(names, 1):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(_plain(name), self.modes.folder, dir_fd=descriptor)
                place = self._place(names[:depth])
                inner = _open_folder(_plain(name), descriptor, place, trusted)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, trusted
        finally:
            os.close(descriptor)


def _tighten(folder: int, name: str | None, mode: int) -> None:
    found = os.fstat(folder) if name is None else os.stat(name, dir_fd=folder, follow_symlinks=False)
    kept = stat.S_IMODE(found.st_mode) & mode
    if found.st_uid != os.geteuid() or kept == stat.S_IMODE(found.st_mode):
        return
    if name is None:
        os.fchmod(folder, kept)
    elif _refusal(found, frozenset((os.geteuid(),))) is None:
        os.chmod(name, kept, dir_fd=folder)  # by name: closing a descriptor would drop the locks of this process


def _trusted(owner: int | None) -> frozenset[int]:
    return frozenset({0, os.geteuid()} | ({owner} if owner is not None else set()))


def _plain(name: str) -> str:
    """The name of one file or folder. Raises UnsafePath for one that leads elsewhere."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise UnsafePath(name.replace("\0", "?"), _("It is not a plain file name"))
    return name


def _open(name: str, flags: int, mode: int, folder: int | None, place: Path, trusted: frozenset[int]) -> int:
    try:
        path = place if folder is None else name
        descriptor = os.open(path, (flags | _FILE_FLAGS) & ~os.O_TRUNC, mode, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise UnsafePath(place, _("It is a link, or not a regular file")) from error
        raise
    if why := _refusal(os.fstat(descriptor), trusted):
        os.close(descriptor)
        raise UnsafePath(place, why)
    if flags & os.O_TRUNC:  # only after its owner was checked
        os.ftruncate(descriptor, 0)
    return descriptor


def _open_folder(name: str, folder: int, place: Path, trusted: frozenset[int]) -> int:
    try:
        descriptor = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise UnsafePath(place, _("It is a link, or not a folder")) from error
        raise
    if os.fstat(descriptor).st_uid not in trusted:
        os.close(descriptor)
        raise UnsafePath(place, _("It belongs to another user"))
    return descriptor


def _files(folder: int, trusted: frozenset[int]) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if _refusal(found, trusted) is None:
                    yield entry.name, found


def _refusal(status: os.stat_result, trusted: frozenset[int]) -> str | None:
    """The reason why a file must not be used; None when it may be used."""
    if not stat.S_ISREG(status.st_mode):
        return _("It is a link, or not a regular file")
    if status.st_uid not in trusted:
        return _("It belongs to another user")
    if status.st_nlink > 1:
        return _("It has a second name elsewhere (a hard link)")
    return None
