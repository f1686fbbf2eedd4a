"""`bench check --own`: contradictions planted into copies of a book's chapters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowcabal_tui.settings.paths import cache_folder, user_file
from tests.cli.conftest import Call
from tests.faultserver import FaultServer

SEEN = json.dumps({"verdicts": [], "compatible": [f"c{n}" for n in range(1, 200)], "findings": []})
"""All statements go with the book."""
TEXTS = {
    "zh": (
        "老周道：“走罢。”老周道：“且慢。”老周点头，左颊上一道刀疤。\n\n老周走了六十里山路才到渡口，乌黑的头发都湿了。",
        "林远道：“雨来了。”林远道：“不怕。”\n\n林远看着河水，想起许多旧事来。",
        "老周道：“是了。”林远道：“是了。”\n\n两人在灯下坐到天明，说了半夜的话。",
    ),
    "en": (
        "“Go,” said Tom Webb. “Wait,” said Tom Webb. He had a scar on his left cheek.\n\nTom Webb walked thirty miles "
        "to the ferry, and his black hair was wet.",
        "“It rains,” said Nora Marsh. “Let it,” said Nora Marsh.\n\nShe looked at the river and thought of old times.",
        "“Yes,” said Tom Webb. “Yes,” said Nora Marsh.\n\nThey sat by the lamp until the morning and talked.",
    ),
}


@pytest.fixture
def own(call: Call, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number, text in enumerate(TEXTS[request.param], start=1):
        (texts / f"{number:02}.txt").write_text(text, "utf-8")
    book = tmp_path / "book"
    assert call("new", book, "--language", request.param).code == 0
    assert call("import", book, texts).code == 0
    return book


@pytest.mark.parametrize("own", ["zh", "en"], indirect=True)
def test_what_is_planted_is_seen_and_the_book_stays_as_it_is(call: Call, own: Path, tmp_path: Path) -> None:
    before = sorted((path.name, path.read_bytes()) for path in (own / "manuscript").iterdir())
    out = tmp_path / "run.jsonl"
    done = call("bench", "check", "--own", own, "--rules-only", "--out", out, "--json")
    assert done.code == 0, done.err
    table = json.loads(done.out)
    assert table["number"]["planted"] >= 1 and table["attribute"]["planted"] >= 1
    assert table["all"]["planted"] == sum(
        table[kind]["planted"] for kind in ("number", "kin", "place", "attribute", "dead")
    )
    assert table["all"]["in_view"] >= 1 and table["clean_chapters"] >= 1
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(lines) == table["all"]["planted"]
    assert all(line["instead"] in line["draft"] and line["source"] < line["now"] for line in lines)
    assert sorted((path.name, path.read_bytes()) for path in (own / "manuscript").iterdir()) == before
    assert "number" in call("bench", "check", "--own", own, "--rules-only").out


@pytest.mark.parametrize("own", ["en"], indirect=True)
def test_a_model_is_asked_only_when_the_price_was_seen(call: Call, own: Path, tmp_path: Path) -> None:
    file = user_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[models.user]\nmodel = "writer"\nbase_url = "http://127.0.0.1:9/v1"\n', "utf-8")
    done = call("bench", "check", "--own", own, "--model", "agent", "--out", tmp_path / "run.jsonl")
    assert done.code == 0 and "would send about" in done.out and "--yes" in done.out
    assert not (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize("own", ["zh", "en"], indirect=True)
def test_a_model_is_quoted_first_then_asked_and_paid_once(
    call: Call, own: Path, tmp_path: Path, server: FaultServer
) -> None:
    file, out = user_file(), tmp_path / "run.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    priced = f'model = "judge"\nbase_url = "{server.url}/v1"\nprice_in = 2\nprice_out = 8\ncurrency = "USD"\n'
    file.write_text(f"[models.user]\n{priced}", "utf-8")
    words = ("bench", "check", "--own", own, "--model", "agent", "--out", out, "--most", "1", "--json")
    quoted = call(*words[:-1])
    assert "would send about" in quoted.out and "Sending costs about $" in quoted.out and not server.log
    server.push({"content": SEEN, "times": -1})
    done = call(*words, "--yes")
    assert done.code == 0, done.err
    table, asked = json.loads(done.out), len(server.log)
    assert asked and table["all"]["planted"] >= 1 and out.exists()
    again = call(*words, "--yes")
    assert json.loads(again.out) == table and len(server.log) == asked, "nothing is paid for twice"
    answers = cache_folder() / "bench" / "answers.jsonl"
    assert answers.stat().st_mode & 0o077 == 0
    answers.write_text(f"{answers.read_text('utf-8')}[half a li", "utf-8")
    assert json.loads(call(*words, "--yes").out) == table and len(server.log) == asked


def test_a_book_without_chapters_is_refused(call: Call, tmp_path: Path) -> None:
    book = tmp_path / "book"
    assert call("new", book, "--language", "en").code == 0
    done = call("bench", "check", "--own", book, "--rules-only")
    assert done.code == 2 and "Nothing can be planted in this book." in done.err
