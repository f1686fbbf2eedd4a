"""Reads the rows of a damaged SQLite file page by page, without SQLite: each page is read independently of the others.

The format is https://www.sqlite.org/fileformat2.html. Pages that the write-ahead log has committed replace those in the
file. Nothing is written, and no number in the file is used before it was checked against the sizes.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.store.file.foreign_log import LOG_MAGIC, PAGE_SIZES

Value = int | float | str | bytes | None
MAGIC: Final = b"SQLite format 3\x00"
_USUAL_SIZE: Final = 4096
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_LARGEST_ROW: Final = 64 << 20
_MOST_COLUMNS: Final = 64
_INTEGER_SIZES: Final = (0, 1, 2, 3, 4, 6, 8)


@dataclass(frozen=True, slots=True)
class RowStart:
    """The start of a row: the number of its page, and the offset in it."""

    page: int
    offset: int


class Pages:
    """A database file and its log (None: none), open for reading. Use it in a `with` statement. Raises OSError."""

    def __init__(self, file: Path, log: Path | None) -> None:
        self._open = ExitStack()
        self._file = self._opened(file)
        self._log = self._opened(log) if log is not None else None
        head = self._read(self._file, 0, 100)
        size = struct.unpack(">H", head[16:18])[0] if len(head) == 100 and head.startswith(MAGIC) else 0
        self.header_is_whole = (size if size != 1 else 65536) in PAGE_SIZES
        self._committed: dict[int, int] = {}
        logged = self._log_size()
        self.size = (65536 if size == 1 else size) if self.header_is_whole else logged or _USUAL_SIZE
        if logged == self.size:
            self._committed = self._committed_pages()
        self._usable = self.size - (head[20] if self.header_is_whole else 0)
        length = os.fstat(self._file).st_size if self._file is not None else 0
        self.count = max(-(-length // self.size), *self._committed, 0) if self._committed else -(-length // self.size)

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def _opened(self, path: Path) -> int | None:
        """A descriptor of a regular file that is no link; None when there is none."""
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        self._open.callback(os.close, file)
        return file if stat.S_ISREG(os.fstat(file).st_mode) else None

    @staticmethod
    def _read(file: int | None, start: int, size: int) -> bytes:
        """Up to `size` bytes; none where the disk cannot read them."""
        try:
            return os.pread(file, size, start) if file is not None else b""
        except OSError:
            return b""

    # The log

    def _log_size(self) -> int:
        """The page size in the header of the log; 0 when there is no log to read."""
        head = self._read(self._log, 0, 32)
        if len(head) < 32:
            return 0
        magic, _version, size = struct.unpack(">III", head[:12])
        return size if magic in LOG_MAGIC and size in PAGE_SIZES else 0

    def _committed_pages(self) -> dict[int, int]:
        """For each page the offset of its newest committed image; frames after a wrong checksum are ignored."""
        head = self._read(self._log, 0, 32)
        swapped = (struct.unpack(">I", head[:4])[0] == LOG_MAGIC[0]) != (sys.byteorder == "little")
        sums = _checksum(head[:24], (0, 0), swapped=swapped)
        if sums != struct.unpack(">II", head[24:32]):
            return {}
        found: dict[int, int] = {}
        waiting: dict[int, int] = {}
        start = 32
        while len(frame := self._read(self._log, start, 24 + self.size)) == 24 + self.size:
            page, commit = struct.unpack(">II", frame[:8])
            sums = _checksum(frame[24:], _checksum(frame[:8], sums, swapped=swapped), swapped=swapped)
            if frame[8:16] != head[16:24] or sums != struct.unpack(">II", frame[16:24]) or not page:
                break
            waiting[page] = start + 24
            if commit:
                found |= waiting
                waiting.clear()
            start += 24 + self.size
        return found

    # Pages and rows

    def page(self, number: int) -> bytes:
        """A page, from 1; short or empty where the file ends or cannot be read."""
        if number in self._committed:
            return self._read(self._log, self._committed[number], self.size)
        return self._read(self._file, (number - 1) * self.size, self.size)

    def free(self) -> frozenset[int]:
        """The pages on the free list, whose rows were deleted. Empty when the list cannot be read."""
        head = self.page(1)[:100]
        if len(head) < 100 or not head.startswith(MAGIC):
            return frozenset()
        trunk, found = struct.unpack(">I", head[32:36])[0], set[int]()
        while trunk and trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            if len(page) < 8:
                break
            trunk, leaves = struct.unpack(">II", page[:8])
            leaves = min(leaves, (len(page) - 8) // 4)
            found.update(struct.unpack(f">{leaves}I", page[8 : 8 + 4 * leaves]))
        return frozenset(found)

    def rows(self) -> Iterator[tuple[RowStart, tuple[Value, ...]]]:
        """Every row of every table and index that can be read, in the order of the pages."""
        free = self.free()
        for number in range(1, self.count + 1):
            if number not in free:
                page = self.page(number)
                for offset in _cells(page, 100 if number == 1 else 0):
                    place = RowStart(number, offset)
                    if (row := self._row(page, place)) is not None:
                        yield place, row

    def row(self, place: RowStart) -> tuple[Value, ...] | None:
        """Reads one row again."""
        return self._row(self.page(place.page), place)

    def number(self, place: RowStart) -> int:
        """The number of a row of a table, which is stored before its columns."""
        page = self.page(place.page)
        _length, at = _varint(page, place.offset)
        return _varint(page, at)[0]

    def _row(self, page: bytes, place: RowStart) -> tuple[Value, ...] | None:
        kind = page[100 if place.page == 1 else 0]
        at = place.offset + (4 if kind == _INDEX_INNER else 0)
        length, at = _varint(page, at)
        if kind == _TABLE_LEAF:
            _rowid, at = _varint(page, at)
        if not 0 < length <= _LARGEST_ROW:
            return None
        content = self._content(page, at, length, of_table=kind == _TABLE_LEAF)
        return _values(content) if content is not None else None

    def _content(self, page: bytes, at: int, length: int, *, of_table: bool) -> bytes | None:
        """The bytes of a row: those in its page, and those in its overflow pages."""
        usable = self._usable
        most = usable - 35 if of_table else (usable - 12) * 64 // 255 - 23
        least = (usable - 12) * 32 // 255 - 23
        if length <= most:
            return page[at : at + length] if at + length <= len(page) else None
        here = least + (length - least) % (usable - 4)
        here = here if here <= most else least
        if at + here + 4 > len(page):
            return None
        parts, left = [page[at : at + here]], length - here
        (following,) = struct.unpack(">I", page[at + here : at + here + 4])
        while left > 0:
            overflow = self.page(following) if 0 < following <= self.count else b""
            if len(overflow) < 4 + min(left, usable - 4):
                return None
            parts.append(overflow[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            (following,) = struct.unpack(">I", overflow[:4])
        return b"".join(parts)


def _checksum(data: bytes, sums: tuple[int, int], *, swapped: bool) -> tuple[int, int]:
    words = array("I", data)
    if swapped:
        words.byteswap()
    one, two = sums
    for at in range(0, len(words), 2):
        one = (one + words[at] + two) & 0xFFFFFFFF
        two = (two + words[at + 1] + one) & 0xFFFFFFFF
    return one, two


def _cells(page: bytes, start: int) -> Iterator[int]:
    """The offsets of a page's rows; none for a page that holds no rows."""
    if len(page) < start + 12 or page[start] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
        return
    (count,) = struct.unpack(">H", page[start + 3 : start + 5])
    first = start + (12 if page[start] == _INDEX_INNER else 8)
    if first + 2 * count > len(page):
        return
    for offset in struct.unpack(f">{count}H", page[first : first + 2 * count]):
        if first + 2 * count <= offset < len(page) - 2:
            yield offset


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at an offset, and the offset after it; 0 where the bytes end."""
    value = 0
    for count in range(9):
        if at >= len(data):
            return 0, at
        byte = data[at]
        at += 1
        if count == 8:
            return (value << 8) | byte, at
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, at
    return value, at


def _values(content: bytes) -> tuple[Value, ...] | None:
    """The columns of a row; None when the bytes are not a row."""
    head, at = _varint(content, 0)
    if not 1 < head <= len(content):
        return None
    kinds: list[int] = []
    while at < head:
        kind, at = _varint(content, at)
        kinds.append(kind)
        if len(kinds) > _MOST_COLUMNS:
            return None
    values: list[Value] = []
    for kind in kinds:
        size = _INTEGER_SIZES[kind] if kind < 7 else 8 if kind == 7 else 0 if kind < 12 else (kind - 12) // 2
        if at + size > len(content):
            return None
        values.append(_value(kind, content[at : at + size]))
        at += size
    return tuple(values)


def _value(kind: int, data: bytes) -> Value:
    if kind < 7:
        return int.from_bytes(data, "big", signed=True) if kind else None
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    if kind < 12:
        return kind - 8
    return data.decode("utf-8", "replace") if kind % 2 else data
