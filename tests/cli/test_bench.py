"""`bench context` and `bench chronicle`: novels through the product itself, queries through its Context agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.settings.paths import cache_folder
from tests.cli.conftest import Call

FILLER = "日色将暮，山风渐紧，四下里并无人声，只有流水潺潺。" * 8


@pytest.fixture
def novels(tmp_path: Path) -> Path:
    folder = tmp_path / "novels" / "ferry"
    folder.mkdir(parents=True)
    for number in range(1, 8):
        spoken = "".join(f"林远道：“第{number}日了。”沈青道：“走罢。”苏九道：“且慢。”" for _ in range(4))
        rare = "老周道：“铜铃收好。”老周道：“莫丢。”老周道：“切记。”" if number in (2, 7) else ""
        (folder / f"{number:03}.txt").write_text(f"{spoken}\n\n{FILLER}\n\n{rare}{FILLER}\n", "utf-8")
    return folder.parent


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    rows = [
        {"id": "q1", "lang": "zh", "novel": "ferry", "now": 6, "text": "写第6章。林远又见老周，说起铜铃。"},
        {"id": "q2", "lang": "zh", "novel": "ferry", "now": 3, "text": "林远与沈青"},
    ]
    file = tmp_path / "queries.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


def lines(file: Path) -> dict[str, list[dict[str, Any]]]:
    return {row["id"]: row["items"] for row in map(json.loads, file.read_text("utf-8").splitlines())}


def test_the_chapter_with_the_rare_name_comes_first_and_nothing_leaks(
    call: Call, novels: Path, queries: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    words = ("bench", "context", "--novels", novels, "--queries", queries, "--out", out)
    done = call(*words, "--budget", 4_000)
    assert done.code == 0, done.err
    assert "ferry: 2" in done.err
    run = lines(out)
    assert run["q1"][0]["chapter"] == 2
    assert {item["chapter"] for item in run["q1"]} <= set(range(1, 6))
    assert {item["chapter"] for item in run["q2"]} <= {1, 2}
    assert sum(item["tokens"] for item in run["q1"]) <= 4_000
    text = (novels / "ferry" / "002.txt").read_text("utf-8")
    assert "老周" in text[run["q1"][0]["start"] : run["q1"][0]["end"]]
    imported = {path.stat().st_mtime_ns for path in (cache_folder() / "bench").iterdir()}
    assert call(*words, "--budget", 4_000).code == 0
    assert {path.stat().st_mtime_ns for path in (cache_folder() / "bench").iterdir()} == imported
    assert lines(out) == run
    for off in (("--without", "far", "--without", "summaries"), ("--only", "lexical"), ("--only", "vectors")):
        assert call(*words, "--budget", 1_500, *off).code == 0
        assert lines(out).keys() == run.keys()


def test_what_is_no_query_file_is_told(call: Call, novels: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "q1"}\n', "utf-8")
    done = call("bench", "context", "--novels", novels, "--queries", broken, "--out", tmp_path / "run.jsonl")
    assert done.code == 1
    assert "broken.jsonl" in done.err


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_chronicle_is_made_measured_and_leaks_nothing(call: Call, language: str) -> None:
    words = ("bench", "chronicle", "--words", 9_000, "--contexts", 3, "--budget", 6_000, "--language", language)
    done = call(*words, "--json")
    assert done.code == 0, done.err
    figures = json.loads(done.out)
    assert (figures["contexts"], figures["future"], figures["viewpoint"]) == (9, 0, 0)
    assert "Leaks from the future: 0. Leaks past the point of view: 0." in call(*words).out
