"""The manifest forgets nothing on its own, and a crash costs at most one record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.viking.manifest import Manifest, Record

RECORD = Record("c1", True, 3, {"scene-001.md": Digest("d1"), ".abstract.md": Digest("d2")}, ((0, 9),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "manifest.jsonl"


def test_records_are_there_when_it_is_opened_again(path: Path) -> None:
    first = Manifest(path)
    first.put("manuscript/卷一/雨", RECORD)
    first.put("gone", RECORD)
    first.forget("gone")
    assert list(Manifest(path)) == [("manuscript/卷一/雨", RECORD)]
    assert Manifest(path).paths_of("c1") == ["manuscript/卷一/雨"]


def test_after_a_torn_line_new_lines_still_count(path: Path) -> None:
    first = Manifest(path)
    first.put("kept", RECORD)
    first.put("torn", RECORD)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    Manifest(path).forget("kept")
    assert list(Manifest(path)) == []


def test_the_file_does_not_grow_without_end(path: Path) -> None:
    manifest = Manifest(path)
    for position in range(300):
        manifest.put("a", replace(RECORD, position=position))
    assert Manifest(path).get("a") == replace(RECORD, position=299)
    assert len(path.read_text().splitlines()) == 1
