"""Texts as they lie in the database."""

from __future__ import annotations

import zlib

import pytest

from flowcabal_tui.store.file.blobs import pack, unpack


def test_a_small_body_that_holds_very_much_is_refused_before_it_is_whole() -> None:
    assert unpack(pack("a" * 1_000), limit=1_000) == "a" * 1_000
    for body in (pack("a" * 1_001), pack("a" * 1_000)[:-5]):
        with pytest.raises(zlib.error):
            unpack(body, limit=1_000)
