"""The manifest forgets nothing on its own, and a crash costs at most one record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.viking.manifest import Head, Manifest, Record, empty_if_other

HEAD = Head("viking://resources/book", "zh", "lexical/512")
RECORD = Record("manuscript/c1", 3, {"scene-001.md": Digest("d1"), ".abstract.md": Digest("d2")}, ((0, 9),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "manifest.jsonl"


def test_records_are_there_when_it_is_opened_again(path: Path) -> None:
    first = Manifest(path, HEAD)
    first.put("manuscript/卷一/雨", RECORD)
    first.put("gone", RECORD)
    first.forget("gone")
    assert list(Manifest(path, HEAD)) == [("manuscript/卷一/雨", RECORD)]
    assert Manifest(path, HEAD).paths_of("manuscript/c1") == ["manuscript/卷一/雨"]


def test_after_a_torn_line_new_lines_still_count(path: Path) -> None:
    first = Manifest(path, HEAD)
    first.put("kept", RECORD)
    first.put("torn", RECORD)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    Manifest(path, HEAD).forget("kept")
    assert list(Manifest(path, HEAD)) == []


def test_the_file_does_not_grow_without_end(path: Path) -> None:
    manifest = Manifest(path, HEAD)
    for position in range(300):
        manifest.put("a", replace(RECORD, position=position))
    assert Manifest(path, HEAD).get("a") == replace(RECORD, position=299)
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize("change", [{"root": "viking://resources/other"}, {"language": "en"}, {"embedder": "e5/384"}])
def test_what_was_written_for_another_head_counts_no_more(path: Path, change: dict[str, str]) -> None:
    Manifest(path, HEAD).put("a", RECORD)
    after = Manifest(path, replace(HEAD, **change))
    assert list(after) == [] and after.former == HEAD
    assert list(Manifest(path, HEAD)) == []


def test_a_manifest_whose_file_was_taken_away_is_written_whole(path: Path) -> None:
    manifest = Manifest(path, HEAD)
    manifest.put("a", RECORD)
    path.unlink()
    path.parent.rmdir()
    manifest.put("b", RECORD)
    assert [name for name, _record in Manifest(path, HEAD)] == ["a", "b"]


def test_the_workspace_of_another_embedder_is_emptied_and_the_same_is_not(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    assert empty_if_other(workspace, HEAD) == ""
    Manifest(workspace / "manifest.jsonl", HEAD).put("a", RECORD)
    assert empty_if_other(workspace, HEAD) == "" and workspace.exists()
    told = empty_if_other(workspace, replace(HEAD, embedder="e5/384"))
    assert "e5/384" in told and not workspace.exists()
    workspace.mkdir()
    (workspace / "vectordb").mkdir()
    assert empty_if_other(workspace, HEAD), "vectors of nobody knows what"
