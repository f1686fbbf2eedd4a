"""`bench check`: rows go through the sources of the product's own checker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.settings.paths import cache_folder, user_file
from tests.cli.conftest import Call

FILLER = "日色将暮，山风渐紧，四下里并无人声，只有流水潺潺。\n\n" * 6
FACT = "老周左颊有一道刀疤。"


@pytest.fixture
def novels(tmp_path: Path) -> Path:
    folder = tmp_path / "novels" / "ferry"
    folder.mkdir(parents=True)
    for number in range(1, 6):
        spoken = "".join(f"林远道：“第{number}日了。”老周道：“走罢。”沈青道：“且慢。”" for _ in range(4))
        fact = FACT if number == 2 else ""
        (folder / f"{number:03}.txt").write_text(f"{spoken}\n\n{fact}\n\n{FILLER}", "utf-8")
    return folder.parent


def rows_of(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    usual = {"lang": "zh", "novel": "ferry", "now": 4, "kind": "contradiction"}
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({**usual, **row}, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


def test_the_passage_that_a_draft_contradicts_is_shown_and_nothing_later(
    call: Call, novels: Path, tmp_path: Path
) -> None:
    draft = "老周回过头来，右颊上那道刀疤在灯下发亮。[此处待补]"
    rows = rows_of(tmp_path, {"id": "a", "draft": draft, "span": [7, 14]}, {"id": "c", "kind": "clean", "chapter": 4})
    out = tmp_path / "run.jsonl"
    words = ("bench", "check", "--novels", novels, "--rows", rows, "--rules-only", "--out", out)
    done = call(*words, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["n"] == 2
    run = {each["id"]: each for each in map(json.loads, out.read_text("utf-8").splitlines())}
    assert run.keys() == {"a", "c"}
    at = (novels / "ferry" / "002.txt").read_text("utf-8").index(FACT)
    shown = run["a"]["shown"]
    assert any(each["chapter"] == 2 and each["start"] <= at and each["end"] >= at + len(FACT) for each in shown)
    assert all(each["chapter"] < 4 for row in run.values() for each in row["shown"])
    assert [each["by"] for each in run["a"]["findings"]] == ["rule:leftovers"]
    (found,) = run["a"]["findings"]
    assert draft[slice(*found["draft"])] == "[此处待补]"
    assert found["source"]["start"] < found["source"]["end"]
    made = {path.stat().st_mtime_ns for path in (cache_folder() / "bench").iterdir()}
    assert "2 rows" in call(*words, "--inside").out
    assert {path.stat().st_mtime_ns for path in (cache_folder() / "bench").iterdir()} == made


def test_a_bad_line_is_named_and_nothing_is_imported(call: Call, novels: Path, tmp_path: Path) -> None:
    rows = rows_of(tmp_path, {"id": "a", "draft": "一"}, {"id": "b", "draft": "一", "span": [0, 2]})
    out = tmp_path / "run.jsonl"
    done = call("bench", "check", "--novels", novels, "--rows", rows, "--rules-only", "--out", out)
    assert done.code == 2
    assert "rows.jsonl:2" in done.err
    assert "outside the draft" in done.err
    assert not out.exists()
    assert not (cache_folder() / "bench").exists()


def test_a_judge_that_errs_goes_through_the_whole_check_and_its_table_is_told(
    call: Call, novels: Path, tmp_path: Path
) -> None:
    draft = "老周回过头来，右颊上那道刀疤在灯下发亮，人人都看得见。"
    at = (novels / "ferry" / "002.txt").read_text("utf-8").index(FACT)
    source = {"chapter": 2, "start": at, "end": at + len(FACT)}
    wrong = [{"id": f"a{n}", "draft": draft, "span": [7, 14], "source": source} for n in range(8)]
    out = tmp_path / "run.jsonl"
    rows = rows_of(tmp_path, *wrong, {"id": "c", "kind": "clean", "chapter": 4})
    words = ("bench", "check", "--novels", novels, "--rows", rows, "--erring", "1", "--out", out, "--json")
    done = call(*words)
    assert done.code == 0, done.err
    table = json.loads(done.out)
    assert (table["rows"], table["clean"], table["angles_not_checked"]) == (8, 1, 0)
    assert table["seen_by_first_question"] > 0.5 and table["calls_a_clean_chapter"] >= 1
    run = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    found = [each for row in run for each in row["findings"]]
    assert found and {each["by"] for each in found} == {"model"}
    assert any(each["source"]["chapter"] == 2 and each["source"]["start"] <= at for each in found)
    assert call(*words).out == done.out, "the seed decides"


def test_a_model_is_asked_only_when_the_price_was_seen(call: Call, novels: Path, tmp_path: Path) -> None:
    rows, out = rows_of(tmp_path, {"id": "a", "draft": "老周回过头来。"}), tmp_path / "run.jsonl"
    words = ("bench", "check", "--novels", novels, "--rows", rows, "--model", "agent", "--out", out)
    assert call(*words).code != 0
    file = user_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[models.user]\nmodel = "writer"\nbase_url = "http://127.0.0.1:9/v1"\n', "utf-8")
    done = call(*words)
    assert done.code == 0 and "1 row would send about" in done.out and "--yes" in done.out and not out.exists()
