"""Reads parts of an untrusted ZIP file (DOCX, EPUB) within fixed limits; nothing is written to disk.

The sizes that an archive declares may be false, so bytes are counted while they are inflated.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import BinaryIO, Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _

MOST_ENTRIES: Final = 10_000
MOST_BYTES_OF_A_PART: Final = 64 << 20
MOST_BYTES: Final = 96 << 20
"""Maximum inflated bytes of all parts that are read."""
MOST_ELEMENTS: Final = 2_000_000
"""XML elements of all parts that are read."""
MOST_NODES_OF_A_TREE: Final = 500_000
"""Elements and attributes of a part that is held as a whole; some 200 bytes each."""
_LARGEST_RATIO: Final = 100
_RATIO_COUNTS_FROM: Final = 1 << 20
_LARGEST_DIRECTORY: Final = 4 << 20
_CHUNK: Final = 1 << 16
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of a DOC file, and of a DOCX file with a password."""


class _BoundedFile:
    """Refuses reads that are larger than the largest permitted directory of an archive."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(_LARGEST_DIRECTORY + 1 if size < 0 else min(size, _LARGEST_DIRECTORY + 1))
        if len(content) > _LARGEST_DIRECTORY:
            raise too_large(self._name, _("Its list of parts is too long."))
        return content

    def close(self) -> None:
        """The file belongs to the caller."""


class Archive:
    """The parts of a ZIP file by name. All methods raise ManuscriptError."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        """`file` is open and seekable, and stays the caller's; `name` is its name in messages."""
        self.name = name
        self._bytes_left, self._elements_left = MOST_BYTES, MOST_ELEMENTS
        if file.read(len(_OLE)) == _OLE:
            raise ManuscriptError(
                _("This file has a password, or is an old Word file (DOC): {name}").format(name=name),
                _("Nothing was read."),
                _("Open it in Word, save it as DOCX without a password, and import that."),
            )
        try:
            self._zip = zipfile.ZipFile(_BoundedFile(file, name))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError) as error:
            raise damaged(
                name, _("It is not an archive, or it is incomplete ({reason}).").format(reason=error)
            ) from error
        entries = self._zip.infolist()
        if len(entries) > MOST_ENTRIES:
            raise too_large(name, _("It has more than {n} parts.").format(n=f"{MOST_ENTRIES:,}"))
        for entry in entries:
            self._check(entry)
        self._entries = {entry.filename: entry for entry in entries}

    def close(self) -> None:
        """Ends the reading; the file stays open."""
        self._zip.close()

    def __contains__(self, part: str) -> bool:
        return part in self._entries

    def chunks(self, part: str, *, again: bool = False) -> Iterator[bytes]:
        """The inflated bytes of a part, piece by piece. Raises ManuscriptError when the part is missing.

        With `again`, they were counted before and are not counted twice.
        """
        entry = self._entries.get(part)
        if entry is None:
            raise damaged(self.name, _("{part} is missing.").format(part=part))
        inflated = 0
        try:
            with self._zip.open(entry) as source:
                while chunk := source.read(_CHUNK):
                    inflated += len(chunk)
                    if not again:
                        self._count(inflated, len(chunk), entry)
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
            reason = _("{part} cannot be unpacked ({reason}).").format(part=part[:80], reason=error)
            raise damaged(self.name, reason) from error

    def read(self, part: str) -> bytes:
        """The bytes of a whole part."""
        return b"".join(self.chunks(part))

    def count_elements(self, number: int) -> None:
        """Counts XML elements that are about to be built. Raises ManuscriptError when there are too many."""
        self._elements_left -= number
        if self._elements_left < 0:
            raise too_large(self.name, _("It has more than {n} XML elements.").format(n=f"{MOST_ELEMENTS:,}"))

    def _count(self, inflated: int, new: int, entry: zipfile.ZipInfo) -> None:
        self._bytes_left -= new
        if inflated > MOST_BYTES_OF_A_PART or self._bytes_left < 0:
            raise too_large(self.name, _("Unpacked, it has more than {n} MB.").format(n=MOST_BYTES_OF_A_PART >> 20))
        if inflated > _RATIO_COUNTS_FROM and inflated > _LARGEST_RATIO * max(entry.compress_size, 1):
            raise too_large(
                self.name, _("{part} expands to more than {n} times its size.").format(part=entry.filename[:80], n=100)
            )

    def _check(self, entry: zipfile.ZipInfo) -> None:
        name = entry.filename
        if entry.flag_bits & 0x1:
            raise ManuscriptError(
                _("This file has a password: {name}").format(name=self.name),
                _("Nothing was read."),
                _("Save it without a password, and import that."),
            )
        absolute = PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or name.startswith("\\")
        if absolute or ".." in name.replace("\\", "/").split("/"):
            raise damaged(self.name, _("A part has a name that points outside the file."))
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise damaged(self.name, _("A part is a link."))
        if entry.compress_type not in _METHODS:
            raise damaged(self.name, _("A part is compressed with a method that files of this kind do not use."))


def damaged(name: str, reason: str) -> ManuscriptError:
    """The error for a damaged archive."""
    return ManuscriptError(
        _("This file is damaged: {name}").format(name=name),
        reason,
        _("Open it in the program that wrote it, save it again, and import that."),
    )


def too_large(name: str, reason: str) -> ManuscriptError:
    """The error for an archive beyond the limits."""
    return ManuscriptError(
        _("This file is too large to be read: {name}").format(name=name),
        reason,
        _("Split it, or save the text as TXT and import that."),
    )
