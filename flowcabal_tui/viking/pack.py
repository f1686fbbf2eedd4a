"""The server's tree in one file: OpenViking's own pack, with our manifest of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.locale import _
from flowcabal_tui.viking.manifest import MANIFEST

_TREE: Final = "tree.ovpack"
_MOST_BYTES: Final = 1 << 30
"""The limit of either part: a pack that unpacks to more was not made by this program."""


@dataclass(frozen=True, slots=True)
class Pack:
    """`tree` is an ovpack with vectors, `known` the text of the manifest."""

    tree: bytes
    known: str


def write(path: Path, pack: Pack) -> None:
    """Writes a pack. Raises OSError."""
    import zipfile  # here and below: a book is opened sooner without

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ((_TREE, pack.tree), (MANIFEST, pack.known)):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # the clock may be before 1980


def read(path: Path) -> Pack:
    """Reads a pack. Raises KnowledgeError for a file that is not a pack."""
    import lzma
    import zipfile
    import zlib

    unreadable = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, UnicodeDecodeError)
    try:
        with zipfile.ZipFile(path) as archive:
            if any(archive.getinfo(name).file_size > _MOST_BYTES for name in (_TREE, MANIFEST)):
                raise unfit(_("It is too large."))
            return Pack(archive.read(_TREE), archive.read(MANIFEST).decode("utf-8", "replace"))
    except (OSError, KeyError, *unreadable, RuntimeError) as error:
        raise unfit(str(error)) from error  # RuntimeError: encrypted


def unfit(why: str) -> KnowledgeError:
    """The error for a pack that cannot be used."""
    return KnowledgeError(
        _("The data package of the knowledge server does not belong to this book."),
        why,
        _("Nothing is lost: everything is sent to the server again."),
    )
