"""Kept vectors: what is damaged or too long is none."""

from __future__ import annotations

import zlib

import pytest

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.store import Store


async def test_vectors_come_back_as_they_were_kept(store: Store) -> None:
    await store.vectors.put("m", {Digest("a"): [0.5, -1.0], Digest("b"): [2.0, 0.25]})
    assert await store.vectors.get("m", [Digest("a"), Digest("b"), Digest("c")]) == {"a": [0.5, -1.0], "b": [2.0, 0.25]}
    assert await store.vectors.get("other", [Digest("a")]) == {}


@pytest.mark.parametrize("body", [b"", b"no zlib", zlib.compress(b"odd"), zlib.compress(bytes(50_000_000))])
async def test_a_row_that_a_stranger_wrote_is_no_vector(store: Store, body: bytes) -> None:
    await store._database.do(
        lambda connection: connection.execute("INSERT INTO vector VALUES ('m', 'a', ?)", (body,)).close()
    )
    assert await store.vectors.get("m", [Digest("a")]) == {}
