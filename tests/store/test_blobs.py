"""Texts as they lie in the database."""

from __future__ import annotations

import pytest

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.store.file.blobs import pack, unpack


def test_a_small_body_that_holds_very_much_is_refused_before_it_is_whole() -> None:
    assert unpack(pack("a" * 1_000), limit=1_000) == "a" * 1_000
    for body in (pack("a" * 1_001), pack("a" * 1_000)[:-5]):
        with pytest.raises(ProjectDamaged):
            unpack(body, limit=1_000)


@pytest.mark.parametrize("body", [b"", b"\xff\x00", pack("a" * 999)[:-9], 7])
def test_a_body_that_is_damaged_is_a_damaged_project(body: bytes) -> None:
    with pytest.raises(ProjectDamaged, match="damaged"):
        unpack(body)
