"""A project in one file: the database as of one moment, chapter files, settings and prompts; and its restoration.

The file is a ZIP with a manifest of sizes and digests. Everything is checked against the manifest before anything is
written into the folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import lzma
import os
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import tomlkit
from pydantic import ValidationError

from flowcabal_tui import __version__
from flowcabal_tui.domain.codec import from_json, to_json
from flowcabal_tui.domain.errors import (
    DiskFull,
    ProjectDamaged,
    ProjectError,
    ProjectExists,
    SettingsError,
    UnknownName,
)
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean, without_login
from flowcabal_tui.locale import _
from flowcabal_tui.settings.file_modes import file_modes
from flowcabal_tui.settings.paths import MANUSCRIPT, PROJECT_FILE, PROJECT_STATE
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.store import Store
from flowcabal_tui.store.maintenance.maintenance import require_whole
from flowcabal_tui.store.store import DATABASE
from flowcabal_tui.system.files import Folder, Modes

FORM: Final = "flowcabal-backup/1"
MANIFEST: Final = "manifest.json"
KNOWLEDGE: Final = "knowledge.ovpack"
"""The knowledge server's own pack: may be left out, since its workspace can be made again."""
FOLDERS: Final = (MANUSCRIPT, "prompts", "actions", "profiles")
Packer = Callable[[Path], Awaitable[bool]]
"""Writes the knowledge server's pack to a path; False when there is none."""
_CHUNK: Final = 1 << 20
_MANIFEST_SIZE: Final = 16 << 20
_MOST_FILES: Final = 100_000
_MOST_LOOKED_AT: Final = 200
_RATIO: Final = 200
_SPARE: Final = 64 << 20
"""Bytes. A member may be `_RATIO` times as large as it is in the archive, plus this."""
_LOGIN: Final = re.compile(r"(?<=//)[^/@\s\"']+@")
_ADDRESSES: Final = ("base_url", "url")
"""Settings whose values are addresses, which may contain a key."""
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
    RuntimeError,
)
"""The errors of a file that is no archive, or one that is damaged (also in the name of a file) or encrypted."""
WINDOWS: Final = os.name == "nt"
_NO_NAME: Final = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
_NO_WINDOWS_NAME: Final = re.compile(r'[:*?"<>|]|[. ](?:/|$)')


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a backup: its size in bytes and the SHA-256 of its content."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """The description that a backup contains. `database` is the format of the database file."""

    form: str
    program: str
    made: datetime
    project: str
    name: str
    language: str
    database: int
    members: Mapping[str, Member]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(member.size for member in self.members.values())


async def back_up(
    store: Store, folder: Path, target: Path, made: datetime, pack_knowledge: Packer | None = None
) -> BackupManifest:
    """Writes a backup of the project in `folder` while the project is in use.

    It contains no secrets: settings name keys without their values, and logins and queries of addresses are left out.
    Raises ProjectExists, DiskFull, and ProjectError for a file whose name could not be restored.
    """
    target = target.expanduser().resolve()
    if target.exists():
        raise ProjectExists(
            _("There is already a file {file}.").format(file=target),
            _("It was not changed."),
            _("Choose another name."),
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        workplace = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=".backup-", dir=target.parent))
    except OSError as error:
        raise no_room(target, error) from error
    try:
        await store.maintenance.copy_to(workplace / DATABASE)
        if pack_knowledge is not None and not await pack_knowledge(workplace / KNOWLEDGE):
            (workplace / KNOWLEDGE).unlink(missing_ok=True)
        return await asyncio.to_thread(_write, folder, workplace, target, made)
    except OSError as error:
        raise no_room(target, error) from error
    finally:
        await asyncio.to_thread(shutil.rmtree, workplace, ignore_errors=True)


def _write(folder: Path, workplace: Path, target: Path, made: datetime) -> BackupManifest:
    settings = load_project(folder).project
    members: dict[str, Member] = {}
    half = workplace / "archive"
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        project = Folder(folder)
        cleaned = _settings(project.text(PROJECT_FILE)).encode()
        _put(archive, PROJECT_FILE, cleaned)
        members[PROJECT_FILE] = Member(len(cleaned), hashlib.sha256(cleaned).hexdigest())
        files = [(Folder(workplace), (name,)) for name in (DATABASE, KNOWLEDGE) if (workplace / name).is_file()]
        for place, names in itertools.chain(files, ((project, names) for names in _files(project))):
            name = "/".join(names)
            with (
                place.opened(*names) as descriptor,
                open(descriptor, "rb", closefd=False) as source,
                archive.open(name, "w", force_zip64=True) as sink,
            ):
                members[name] = _copy(source, sink)
        manifest = BackupManifest(
            *(FORM, __version__, made, settings.id, clean(settings.name), settings.language),
            *(require_whole(workplace / DATABASE), members),
        )
        _put(archive, MANIFEST, to_json(manifest).encode())
    with half.open("rb") as file:
        os.fchmod(file.fileno(), stat.S_IMODE(half.stat().st_mode) & file_modes().file)
        os.fsync(file.fileno())
    os.replace(half, target)
    return manifest


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Adds a file without the current date, because a ZIP cannot contain one before 1980, which a wrong clock shows."""
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def _settings(text: str) -> str:
    """The project's settings without secrets, in values and in comments."""
    document = tomlkit.parse(_LOGIN.sub("", text))
    _hide_logins(document)
    return tomlkit.dumps(document)


def _hide_logins(table: MutableMapping[str, Any]) -> None:
    for name, value in list(table.items()):
        if isinstance(value, MutableMapping):
            _hide_logins(value)
        elif name in _ADDRESSES and isinstance(value, str) and without_login(value) != value:
            table[name] = without_login(value)


def _files(project: Folder) -> Iterator[tuple[str, ...]]:
    """The names of the writer's own files. Links are not followed, even in place of a whole folder; hidden files are
    left out."""
    for folder in FOLDERS:
        for names in project.walk(folder):
            if any(part.startswith(".") for part in names):
                continue
            if not _is_safe("/".join(names)):
                raise ProjectError(
                    _("A file cannot be added to a backup: {name}").format(name=ascii("/".join(names))),
                    _("Its name could not be restored. No backup was made."),
                    _("Give the file another name, or move it out of the project's folder."),
                )
            yield names


async def restore(archive: Path, folder: Path) -> BackupManifest:
    """Makes the project of a backup in a folder that is new or empty.

    Raises ProjectDamaged for a file that is not a complete backup or would write elsewhere, ProjectTooNew,
    ProjectExists for a folder that is not empty, DiskFull; then nothing was created.
    """
    return await asyncio.to_thread(_restore, archive.expanduser().resolve(), folder.expanduser().resolve())


def backups_of(folder: Path, project: str) -> list[Path]:
    """The backups of a project in its folder or beside it, among a limited number of files.

    Raises OSError. Skips unreadable files, and pipes, which would block.
    """
    found = []
    files = [file for file in (*sorted(folder.glob("*.zip")), *sorted(folder.parent.glob("*.zip"))) if file.is_file()]
    for file in files[:_MOST_LOOKED_AT]:
        try:
            with zipfile.ZipFile(file) as archive:
                info = archive.getinfo(MANIFEST)
                known = (
                    info.file_size <= _MANIFEST_SIZE
                    and from_json(BackupManifest, archive.read(info)).project == project
                )
        except (OSError, *_UNREADABLE, KeyError, ValueError):
            continue
        if known:
            found.append(file)
    return found


def _restore(file: Path, folder: Path) -> BackupManifest:
    require_empty(folder)
    try:
        with _opened(file) as archive:
            return _unpack(archive, _checked(archive, file), folder)
    except _UNREADABLE as error:
        raise _unusable(_("It is not an archive, or it is damaged or locked.")) from error
    except OSError as error:
        raise no_room(folder, error) from error


def require_empty(folder: Path) -> None:
    """Raises ProjectExists for anything but an empty folder, or none."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectExists(
            _("{folder} is not empty.").format(folder=folder), _("Nothing was changed."), _("Name a new folder.")
        )


def _opened(file: Path) -> zipfile.ZipFile:
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe would block, and a device may never end
            raise OSError(_("It is not a regular file"))
        return zipfile.ZipFile(file)
    except FileNotFoundError as error:
        raise UnknownName(_("There is no file {file}.").format(file=file)) from error
    except OSError as error:
        raise _unread(file, error) from error


def _checked(archive: zipfile.ZipFile, file: Path) -> BackupManifest:
    """The manifest, after every file was read to its end and compared with it."""
    try:
        manifest = _manifest(archive)
        for name, member in manifest.members.items():
            with archive.open(name) as source:
                if _copy(source, None) != member:
                    raise _unusable(_("{name} differs from its entry in the backup's manifest.").format(name=name))
    except OSError as error:
        raise _unread(file, error) from error
    return manifest


def _manifest(archive: zipfile.ZipFile) -> BackupManifest:
    """The manifest, if the archive contains exactly its files and no path that leads elsewhere."""
    infos = {info.filename: info for info in archive.infolist()}
    if len(infos) != len(archive.infolist()) or len(infos) > _MOST_FILES:
        raise _unusable(_("It contains files twice, or too many files."))
    if MANIFEST not in infos or infos[MANIFEST].file_size > _MANIFEST_SIZE:
        raise _unusable(_("It has no manifest."))
    try:
        manifest = from_json(BackupManifest, archive.read(MANIFEST))
    except ValidationError as error:
        raise _unusable(_("Its manifest cannot be read.")) from error
    if manifest.form != FORM:
        raise _unusable(_("Its format is {form}; this program reads {known}.").format(form=manifest.form, known=FORM))
    if {*manifest.members} != {*infos} - {MANIFEST} or not {DATABASE, PROJECT_FILE} <= {*manifest.members}:
        raise _unusable(_("Its contents do not match its manifest."))
    for name, member in manifest.members.items():
        info = infos[name]
        if not _is_safe(name) or stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise _unusable(_("A file in it would be written elsewhere: {name}").format(name=ascii(name)))
        if info.file_size != member.size or member.size > info.compress_size * _RATIO + _SPARE:
            raise _unusable(_("A file in it is much larger than the archive says: {name}").format(name=name))
    return manifest


def _is_safe(name: str) -> bool:
    """True for a possible file of a backup: a plain path below the folder that this system can write."""
    if name in (DATABASE, PROJECT_FILE, KNOWLEDGE):
        return True
    path = PurePosixPath(name)
    plain = path.as_posix() == name and not _NO_NAME.search(name) and not (WINDOWS and _NO_WINDOWS_NAME.search(name))
    inside = len(path.parts) > 1 and path.parts[0] in FOLDERS
    return plain and inside and not any(part.startswith(".") for part in path.parts)


def _unpack(archive: zipfile.ZipFile, manifest: BackupManifest, folder: Path) -> BackupManifest:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder.parent).free < manifest.size:
        raise no_room(folder, OSError(_("{n} bytes are needed").format(n=manifest.size)))
    modes = file_modes()
    workplace = Path(tempfile.mkdtemp(prefix=".restore-", dir=folder.parent))
    made = workplace / "project"
    try:
        made.mkdir(mode=modes.folder)
        project = Folder(made, modes)
        project.make(MANUSCRIPT)
        project.write(b"*\n", PROJECT_STATE, ".gitignore")
        for name, member in manifest.members.items():
            target = made / (f"{PROJECT_STATE}/{name}" if name in (DATABASE, KNOWLEDGE) else name)
            _extract(archive, name, member, target, modes)
        _require_usable(made)
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    finally:  # cut off or not, no half project stays
        shutil.rmtree(workplace, ignore_errors=True)
    return manifest


def _require_usable(project: Path) -> None:
    """Raises ProjectTooNew, or ProjectDamaged with advice about the backup, because the folder is removed."""
    try:
        require_whole(project / PROJECT_STATE / DATABASE)
        load_project(project)
    except ProjectDamaged as error:
        raise _unusable(error.detail) from error
    except SettingsError as error:
        raise _unusable(_("Its settings cannot be read.")) from error


def _extract(archive: zipfile.ZipFile, name: str, member: Member, target: Path, modes: Modes) -> None:
    """Writes one file. Raises ProjectDamaged if another file of the archive has its path, such as a.md for A.md."""
    try:
        _make_folders(target.parent, modes)
        new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, modes.file)
        with archive.open(name) as source, open(new, "wb") as sink:
            if _copy(source, sink) != member:
                raise _unusable(_("{name} differs from its entry in the backup's manifest.").format(name=name))
    except FileExistsError as error:
        raise _unusable(_("Another file in it has the same path on this system: {name}").format(name=name)) from error


def _make_folders(folder: Path, modes: Modes) -> None:
    """Creates folders, each with these permissions; `parents=True` would set them only on the last one."""
    if not folder.is_dir():
        _make_folders(folder.parent, modes)
        folder.mkdir(mode=modes.folder)


def _copy(source: IO[bytes], sink: IO[bytes] | None) -> Member:
    """Reads a source to its end, writes it if there is a sink, and returns its size and digest."""
    size, seen = 0, hashlib.sha256()
    while piece := source.read(_CHUNK):
        size += len(piece)
        seen.update(piece)
        if sink is not None:
            sink.write(piece)
    return Member(size, seen.hexdigest())


def _unusable(why: str) -> ProjectDamaged:
    return ProjectDamaged(_("The backup cannot be used."), why, _("Nothing was changed. Use another backup."))


def _unread(file: Path, error: OSError) -> ProjectError:
    return ProjectError(
        _("Cannot read {file}.").format(file=file),
        _("{reason}. Nothing was changed.").format(reason=os_reason(error)),
        _("Name a backup file, and check that you may read it."),
    )


def no_room(place: Path, error: OSError) -> DiskFull:
    """The error for a place that cannot be written."""
    return DiskFull(
        _("Cannot write {file}.").format(file=place),
        _("{reason}. Nothing was changed.").format(reason=os_reason(error)),
        _("Free some space, or choose another folder."),
    )
