"""Texts under their digests, compressed, each stored once."""

from __future__ import annotations

import sqlite3
import zlib
from typing import Final

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.store.file.faults import damaged

LARGEST: Final = 256 << 20
"""Greatest size of one text in bytes: that of an imported file."""
_LEVEL: Final = 1
_SMALL: Final = 400


def pack(text: str) -> bytes:
    """`text` compressed; a lone surrogate (a model's broken character) survives."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpack(body: str | bytes, limit: int = LARGEST) -> str:
    """The text that `pack` or `pack_large` stored.

    Raises ProjectDamaged, also beyond `limit` bytes, since a small body can expand greatly.
    """
    if isinstance(body, str):
        return body
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(body, limit)
        if not unpacker.eof:
            raise zlib.error("the text is cut off or too large")
        return plain.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError, TypeError) as error:
        raise damaged(str(error)) from error


def pack_large(text: str) -> str | bytes:
    """Short plain texts stay readable in the database; others are compressed."""
    return text if is_short(text) else pack(text)


def is_short(text: str) -> bool:
    """True when compression would save nothing."""
    return len(text) < _SMALL and text.isascii()


def put_text(connection: sqlite3.Connection, text: str, name: Digest | None = None) -> Digest:
    """Stores `text` if it is not there; in the writer's thread. `name` is its digest when that is known."""
    name = name or digest(text)
    if is_short(text):
        connection.execute("INSERT OR IGNORE INTO blob VALUES (?, ?)", (name, text))
    elif connection.execute("SELECT 1 FROM blob WHERE digest=?", (name,)).fetchone() is None:
        connection.execute("INSERT INTO blob VALUES (?, ?)", (name, pack(text)))
    return name


def get_text(connection: sqlite3.Connection, name: Digest) -> str:
    """The stored text. Raises Gone if there is none."""
    row = connection.execute("SELECT body FROM blob WHERE digest=?", (name,)).fetchone()
    if row is None:
        raise Gone(name)
    return unpack(row[0])
