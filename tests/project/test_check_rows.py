"""Rows of planted contradictions: what is read of a line, and where a draft lies in the chapter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.project.bench.check_rows import CheckRow, checked, read_rows

ROW = {"id": "r1", "lang": "zh", "novel": "ferry", "now": 2, "kind": "benign", "draft": "铜铃响了。", "span": [0, 2]}


@pytest.fixture
def novels(tmp_path: Path) -> Path:
    folder = tmp_path / "novels" / "ferry"
    folder.mkdir(parents=True)
    for number in (1, 2):
        (folder / f"{number:03}.txt").write_text("一\n\n二\n", "utf-8")
    return folder.parent


def written(folder: Path, *rows: Any) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in rows), "utf-8")
    return file


def test_labels_of_a_row_are_not_read(tmp_path: Path, novels: Path) -> None:
    labelled = {**ROW, "source": {"chapter": 1, "start": 0, "end": 1}, "explanation": "x"}
    clean = {"id": "r2", "lang": "zh", "novel": "ferry", "now": 1, "kind": "clean", "chapter": 1}
    file = written(tmp_path, labelled, "", clean)
    rows = (CheckRow("r1", "zh", "ferry", 2, "铜铃响了。"), CheckRow("r2", "zh", "ferry", 1, None))
    assert read_rows(file, novels) == read_rows(tmp_path, novels) == rows


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("[1]", "dictionary"),
        ({**ROW, "id": "r0"}, "twice"),
        ({**ROW, "now": "2"}, "now"),
        ({**ROW, "now": 3}, "2 chapters"),
        ({**ROW, "lang": "xx"}, "lang"),
        ({**ROW, "novel": "none"}, "no novel none"),
        ({**ROW, "novel": "../novels/ferry"}, "no novel"),
        ({**ROW, "draft": " "}, "no draft"),
        ({**ROW, "draft": 1}, "draft"),
        ({**ROW, "span": [0, 99]}, "outside the draft"),
        ({**ROW, "span": [2, 2]}, "outside the draft"),
        ({**ROW, "span": [1]}, "outside the draft"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path: Path, novels: Path, line: Any, why: str) -> None:
    file = written(tmp_path, {**ROW, "id": "r0"}, "", line)
    with pytest.raises(ManuscriptError) as raised:
        read_rows(file, novels)
    assert "rows.jsonl:3" in raised.value.title
    assert why in raised.value.detail


def test_a_file_or_folder_that_is_not_there_is_named(tmp_path: Path, novels: Path) -> None:
    for rows, folder, named in ((tmp_path / "no.jsonl", novels, "no.jsonl"), (tmp_path, tmp_path / "none", "none")):
        with pytest.raises(ManuscriptError) as raised:
            read_rows(rows, folder)
        assert named in raised.value.title
    with pytest.raises(ManuscriptError):
        read_rows(written(tmp_path), novels)


def test_inside_the_draft_is_a_paragraph_after_half_of_the_lines() -> None:
    row = CheckRow("r", "zh", "ferry", 2, "稿")
    inside = checked(row, "一\n\n二\n\n三", inside=True)
    assert inside.text == "一\n\n稿\n二\n\n三"
    assert inside.text[inside.start : inside.end] == "稿"
    assert inside.own(2, 5) == (0, 1)
    assert inside.own(0, 3) is None
    assert inside.own(4, 6) is None
    assert checked(row, "一", inside=False).text == "稿"
    assert checked(row, "", inside=True).text == "稿\n"
    clean = checked(CheckRow("r", "zh", "ferry", 2, None), "一\n二", inside=True)
    assert (clean.text, clean.own(0, 3)) == ("一\n二", (0, 3))
