from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from flowcabal_tui.cli import main
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from tests.project.case import make, opened

TEXT = "The lamp burned.\n\nInes counted the dead."


@pytest.fixture
def book(tmp_path: Path) -> str:
    """A book of one chapter in two versions."""

    async def write() -> None:
        async with opened(await make(tmp_path / "book")) as case:
            chapter = await case.project.carry_out(AddChapter("The Lamp"))
            await case.project.carry_out(WriteChapter(chapter, TEXT.partition("\n")[0]))
            await case.project.carry_out(WriteChapter(chapter, TEXT))

    asyncio.run(write())
    return str(tmp_path / "book")


def test_search_prints_each_place_with_what_was_sought(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", book, "counted the"]) == 0
    assert "1\tThe Lamp\tInes [counted the] dead." in capsys.readouterr().out
    assert main(["search", book, "nowhere"]) == 1
    assert capsys.readouterr().err == "Nothing was found.\n"


def test_search_as_json_has_the_offsets(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", book, "lamp", "--kind", "text", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [TEXT[hit["start"] : hit["end"]] for hit in answer["hits"]] == ["lamp"]
    assert answer["counts"] == [["text", 1]]


def test_blame_tells_the_version_of_every_line_and_all_of_one(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blame", book, "1"]) == 0
    rows = [row.split("\t") for row in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("1", "v1", "The lamp burned."),
        ("3", "v2", "Ines counted the dead."),
    ]
    assert main(["blame", book, "1", "--line", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["line"]["origin"]["version"] == 2


def test_blame_of_what_is_not_there_is_refused(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["blame", book, "1", "--line", "2"]) != 0
    assert main(["blame", book, "9"]) != 0


def test_the_counts_have_a_full_width_colon_in_chinese(
    book: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOWCABAL_LANG", "zh")
    assert main(["search", book, "lamp", "--kind", "text"]) == 0
    assert capsys.readouterr().out.startswith("正文：1\n")
