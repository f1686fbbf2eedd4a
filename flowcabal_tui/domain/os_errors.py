"""Reasons of operating system errors in the user's language; its own are English only."""

from __future__ import annotations

import errno
from typing import Final

from flowcabal_tui.locale import _, mark

_WORDS: Final = {
    errno.ENOENT: mark("There is no such file or folder"),
    errno.EACCES: mark("You do not have permission to do this here"),
    errno.EPERM: mark("You do not have permission to do this here"),
    errno.EROFS: mark("Nothing can be written here"),
    errno.ENOSPC: mark("The disk is full"),
    errno.EDQUOT: mark("Your share of the disk is full"),
    errno.EEXIST: mark("A file with this name exists"),
    errno.EISDIR: mark("This is a folder"),
    errno.ENOTDIR: mark("A part of the path is a file, not a folder"),
    errno.ENAMETOOLONG: mark("The name is too long"),
    errno.EIO: mark("The disk does not respond as it should"),
}


def os_reason(error: OSError) -> str:
    """The reason of a refusal, without a full stop; an unknown reason keeps the system's words."""
    words = _WORDS.get(error.errno) if error.errno is not None else None
    return _(words) if words else error.strerror or str(error)
