"""Stored vectors by embedder and text, so that a lost knowledge server does not have to be paid for again."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.store.file.connection import StorePart

_MOST_BYTES: Final = 2 * 8_192
_TOGETHER: Final = 500
"""Digests per query."""


class Vectors(StorePart):
    """Vectors as 16-bit floats, compressed. A purge removes all rows, because no row records whose words it is made
    of."""

    async def get(self, embedder: str, texts: Sequence[Digest]) -> dict[Digest, list[float]]:
        """The stored vectors, by the digest of their text."""
        found: dict[Digest, list[float]] = {}
        for start in range(0, len(texts), _TOGETHER):
            part = texts[start : start + _TOGETHER]
            marks = ", ".join("?" * len(part))
            rows = await self._database.rows(
                f"SELECT digest, body FROM vector WHERE embedder=? AND digest IN ({marks})", (embedder, *part)
            )
            found |= {Digest(name): vector for name, body in rows if (vector := _unpacked(body))}
        return found

    async def put(self, embedder: str, vectors: Mapping[Digest, Sequence[float]]) -> None:
        """Stores vectors; an existing one is replaced."""
        rows = [(embedder, name, _packed(vector)) for name, vector in vectors.items()]
        await self._database.do(
            lambda connection: connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows).close()
        )


def rounded(vector: Sequence[float]) -> list[float]:
    """The vector with the precision of the store."""
    return _unpacked(_packed(vector))


def _packed(vector: Sequence[float]) -> bytes:
    return zlib.compress(struct.pack(f"<{len(vector)}e", *(max(-65_504.0, min(65_504.0, each)) for each in vector)), 1)


def _unpacked(body: bytes) -> list[float]:
    """The vector; [] for a body that is damaged, or longer than any vector: the file may come from a stranger."""
    try:
        plain = zlib.decompressobj().decompress(body, _MOST_BYTES + 1)
    except zlib.error:
        return []
    if len(plain) > _MOST_BYTES or len(plain) % 2:
        return []
    return list(struct.unpack(f"<{len(plain) // 2}e", plain))
