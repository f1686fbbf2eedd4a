"""`bench context` and `bench chronicle`: novels through the product itself, queries through its Context agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


def test_contexts_are_the_same_bytes_whatever_the_hash_seed(
    call: Call, novels: Path, queries: Path, tmp_path: Path
) -> None:
    words = ["bench", "context", "--novels", novels, "--queries", queries, "--budget", 2_000]
    assert call(*words).code == 0
    made = []
    for seed in ("0", "1", "4242"):
        out = tmp_path / f"{seed}.jsonl"
        command = [sys.executable, "-m", "flowcabal_tui", *map(str, words), "--out", str(out)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True)
        made.append(out.read_bytes())
    assert made[0] == made[1] == made[2] != b""


def test_other_novels_before_it_change_no_number_of_a_chapter(
    call: Call, novels: Path, queries: Path, tmp_path: Path
) -> None:
    other = novels / "weir"
    other.mkdir()
    for number in (1, 2):
        (other / f"{number:03}.txt").write_text(f"陈七道：“来了。”{FILLER}\n", "utf-8")
    out = tmp_path / "run.jsonl"
    words = ("bench", "context", "--novels", novels, "--queries", queries, "--out", out, "--budget", 4_000)
    done = call(*words, "--chapters", 12)
    assert done.code == 0, done.err
    run = lines(out)
    assert run["q1"][0]["chapter"] == 2
    assert {item["chapter"] for item in run["q1"]} <= set(range(1, 6))


def test_what_each_part_brings_is_one_table(call: Call, novels: Path, queries: Path) -> None:
    rows = [json.loads(line) for line in queries.read_text("utf-8").splitlines()]
    rows[0] |= {"kind": "callback", "gold": {"2": 3}, "evidence": [{"chapter": 2, "start": 0, "end": 10}]}
    queries.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    done = call("bench", "context", "--novels", novels, "--queries", queries, "--budget", 4_000, "--ablate")
    assert done.code == 0, done.err
    table = [line.split("|")[1:-1] for line in done.out.splitlines() if line.startswith("|")]
    assert [row[0].strip() for row in table[2:]] == [
        "zh words only",
        "zh names and words",
        "zh with vectors too",
        *(f"zh without {name}" for name in ("entities", "near", "last_meeting", "far", "summaries")),
    ]
    assert table[3][4].strip() == "1.000"


def test_a_book_of_ones_own_is_asked_without_a_model(call: Call, novels: Path, tmp_path: Path) -> None:
    for number in range(8, 24):
        rare = "老周道：“铜铃何在？”" if number == 23 else ""
        text = f"林远道：“第{number}日了。”沈青道：“走罢。”苏九道：“且慢。”\n\n{FILLER}\n\n{rare}{FILLER}\n"
        (novels / "ferry" / f"{number:03}.txt").write_text(text, "utf-8")
    folder = tmp_path / "book"
    assert call("new", folder, "--language", "zh", "--offline").code == 0
    assert call("import", folder, novels / "ferry").code == 0
    done = call("bench", "context", folder, "--json", "--most", 5)
    assert done.code == 0, done.err
    (trial,) = json.loads(done.out)
    by_kind = {each["kind"]: each for each in trial["means"]}
    assert by_kind["callback"]["queries"] == 1
    assert by_kind["callback"]["evidence"] == 1.0
    assert by_kind["relation"]["queries"] == 5
    assert call("bench", "context").code == 2


def test_what_is_no_query_file_is_told(call: Call, novels: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "q1"}\n', "utf-8")
    done = call("bench", "context", "--novels", novels, "--queries", broken, "--out", tmp_path / "run.jsonl")
    assert done.code == 2
    assert "broken.jsonl" in done.err


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_chronicle_is_made_measured_and_leaks_nothing(call: Call, language: str) -> None:
    words = ("bench", "chronicle", "--words", 9_000, "--contexts", 3, "--budget", 6_000, "--language", language)
    done = call(*words, "--json")
    assert done.code == 0, done.err
    figures = json.loads(done.out)
    assert (figures["contexts"], figures["future"], figures["viewpoint"]) == (9, 0, 0)
    assert "Leaks from the future: 0. Leaks beyond the point of view: 0." in call(*words).out
