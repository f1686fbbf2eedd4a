"""The type of a folder's file system: SQLite's write-ahead log needs shared memory, which network file systems lack."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flowcabal_tui.domain.late_pattern import late

_MOUNTS: Final = Path("/proc/self/mountinfo")
_NETWORK: Final = late(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|lustre|davfs|drvfs|prl_fs|vboxsf|vmhgfs|fuse\.vmhgfs-fuse"
    r"|fuse\.(sshfs|rclone|s3fs|gcsfuse|glusterfs|ceph.*|gvfsd-fuse|davfs2?|curlftpfs|smbnetfs|cifs)"
)
_OCTAL: Final = late(r"\\([0-7]{3})")


def file_system_of(folder: Path, mounts: str) -> str:
    """The type of the file system under `folder`, by the text of `/proc/self/mountinfo`; "" when unknown."""
    wanted = folder.resolve()
    best, found = -1, ""
    for line in mounts.splitlines():
        place, _, rest = line.partition(" - ")
        fields = place.split()
        if len(fields) < 5 or not rest:
            continue
        point = Path(_OCTAL.sub(lambda octal: chr(int(octal[1], 8)), fields[4]))
        if wanted.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), rest.split()[0]
    return found


def is_network(file_system: str) -> bool:
    """True for a file system with files on another machine."""
    return _NETWORK.fullmatch(file_system) is not None


def network_of(folder: Path) -> str:
    """The type of the network file system of a folder, by this machine's list of mounts; "" for a local folder."""
    found = file_system_of(folder, mounts())
    return found if is_network(found) else ""


def mounts() -> str:
    """The mounts of this machine; "" where the system does not list them."""
    try:
        return _MOUNTS.read_text("utf-8", "replace")
    except OSError:
        return ""
