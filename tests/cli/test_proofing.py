"""`proof` and `scenes` on the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from flowcabal_tui.cli import main
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from tests.project.case import make, opened

TEXT = "He saw the the door.\n\n***\n\nShe could of gone."


@pytest.fixture
def book(tmp_path: Path) -> str:
    """A book of one chapter with two scenes and two slips."""

    async def write() -> None:
        async with opened(await make(tmp_path / "book")) as case:
            await case.project.carry_out(WriteChapter(await case.project.carry_out(AddChapter("One")), TEXT))

    asyncio.run(write())
    return str(tmp_path / "book")


def test_proof_prints_places_with_what_could_be_there(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["proof", book]) == 1
    told = capsys.readouterr()
    assert told.out == (
        "1\t7\tdoubled word: the?\tHe saw [the the] door.\n1\t31\twrong word: could have?\tShe [could of] gone.\n"
    )
    assert told.err == "2 places in 1 chapters.\n"
    assert main(["proof", book, "--chapter", "1", "--rule", "quotes"]) == 0


def test_proof_as_json_has_offsets(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["proof", book, "--chapter", "1..1", "--json"]) == 1
    chapter = json.loads(capsys.readouterr().out)
    assert [TEXT[mark["start"] : mark["end"]] for mark in chapter["marks"]] == ["the the", "could of"]


def test_scenes_are_listed_and_changed(book: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["scenes", book, "1", "--title", "2", "The lamp"]) == 0
    assert capsys.readouterr().out == "1\t\t5\tHe saw the the door.\t\n2\tThe lamp\t4\tShe could of gone.\t\n"
    beats = tmp_path / "beats.txt"
    beats.write_text("She leaves.", encoding="utf-8")
    assert main(["scenes", book, "1", "--beats", "2", str(beats)]) == 0
    assert capsys.readouterr().out.endswith("She leaves.\n")
    assert main(["scenes", book, "1", "--move", "2", "1", "--json"]) == 0
    assert [json.loads(line)["title"] for line in capsys.readouterr().out.splitlines()] == ["The lamp", ""]
    assert main(["scenes", book, "1", "--join", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_chapters_without_marks_are_counted_in_a_sentence_of_their_own(
    book: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["proof", book, "--rule", "quotes"]) == 0
    assert capsys.readouterr().err == "Nothing is marked in 1 chapters.\n"
    monkeypatch.setenv("FLOWCABAL_LANG", "zh")
    assert main(["proof", book, "--rule", "quotes"]) == 0
    assert capsys.readouterr().err == "1 章中没有标记。\n"
    assert main(["proof", book]) == 1
    assert capsys.readouterr().err == "1 章中有 2 处。\n"
