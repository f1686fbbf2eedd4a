"""The outline on the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.book import AddChapter, WriteChapter, WriteMeta
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE
from tests.cli.conftest import Call
from tests.project.case import change, make, opened

TEXT = (
    "# Book\nPremise.\n## Part One: Sea \x1b[31mside\n## Chapter 1: Rain\n- A\n"
    "## Ideas\n- Someone\x9b31m dies.\n## Chapter 9\n- Z\n"
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Two chapters and an outline; its third part fits none, its last is of a chapter to come."""

    async def write() -> None:
        await make(tmp_path / "book")
        async with opened(tmp_path / "book") as case:
            for title in ("Rain", "Snow\x1b]0;x\x07"):
                await case.project.carry_out(AddChapter(title))
            await case.project.carry_out(WriteMeta("outline", TEXT))

    asyncio.run(write())
    return tmp_path / "book"


def parts(call: Call, book: Path, *options: object) -> dict[str, Any]:
    called = call("outline", book, "--json", *options)
    assert called.code == 0, called.err
    return {each["title"]: each for each in json.loads(called.out)["parts"]}


def test_parts_are_listed_with_their_chapters_and_what_is_not_assigned(book: Path, call: Call) -> None:
    called = call("outline", book)
    assert called.code == 0
    assert [line.split("\t") for line in called.out.splitlines()] == [
        ["0", "book", "Book", ""],
        ["1", "volume", "Part One: Sea side", "volume"],
        ["2", "chapter", "Chapter 1: Rain", "1 Rain"],
        ["3", "chapter", "Ideas", "not assigned"],
        ["4", "chapter", "Chapter 9", "a chapter not yet written"],
        ["-", "chapter", "2 Snow", "nothing in the outline yet"],
    ]


def test_the_words_of_a_chapter_or_a_part_are_printed_without_power(book: Path, call: Call) -> None:
    assert call("outline", book, "--chapter", 1).out == "- A\n"
    assert call("outline", book, "--part", "Ideas").out == "- Someone dies.\n"
    assert call("outline", book, "--part", 3).out == "- Someone dies.\n"
    assert call("outline", book, "--chapter", 2).code == 1
    assert "\x1b" not in (raw := call("outline", book, "--json").out) and "\x9b" not in raw
    assert [*parts(call, book, "--chapter", 1)] == ["Chapter 1: Rain"]


def test_a_part_is_assigned_to_a_chapter_to_none_and_by_the_rules(book: Path, call: Call) -> None:
    assert call("outline", book, "--assign", "Ideas", 2).code == 0
    assert (parts(call, book)["Ideas"]["chapters"], parts(call, book)["Ideas"]["by"]) == ([2], "hand")
    assert parts(call, book, "--assign", 2, "none")["Chapter 1: Rain"]["unassigned"]
    assert parts(call, book, "--assign", 2, "rules")["Chapter 1: Rain"]["chapters"] == [1]


def test_a_part_a_chapter_or_the_whole_is_written(book: Path, call: Call, tmp_path: Path) -> None:
    assert call("outline", book, "--part", "Ideas", "--write", "-", lines="- Nobody dies.\n").code == 0
    assert call("outline", book, "--chapter", 1, "--write", "-", lines="- B").code == 0
    assert call("outline", book, "--chapter", 2, "--write", "-", lines="- S").code == 0
    found = parts(call, book)
    assert (found["Ideas"]["text"], found["Chapter 1: Rain"]["text"]) == ("- Nobody dies.", "- B")
    assert call("outline", book, "--chapter", 2).out == "- S\n"
    (tmp_path / "whole.md").write_text("## Chapter 2\n- only\n", encoding="utf-8")
    assert call("outline", book, "--write", tmp_path / "whole.md").code == 0
    assert [*parts(call, book)] == ["", "Chapter 2"]


def test_a_volume_without_a_part_gets_one_by_its_name_or_number(tmp_path: Path, call: Call) -> None:
    async def write() -> None:
        await make(tmp_path / "book")
        async with opened(tmp_path / "book") as case:
            for title, volume in (("Rain", "Dusk"), ("Snow", "Dawn\x1b[31m")):
                await case.project.carry_out(AddChapter(title, volume))
            await case.project.carry_out(WriteMeta("outline", "## Chapter 2\n- S\n"))

    asyncio.run(write())
    book = tmp_path / "book"
    listed = call("outline", book).out.splitlines()
    assert [line.split("\t")[1:] for line in listed if line.startswith("-")] == [
        ["volume", "Dusk", "nothing in the outline yet"],
        ["volume", "Dawn", "nothing in the outline yet"],
        ["chapter", "1 Rain", "nothing in the outline yet"],
    ]
    assert call("outline", book, "--volume", "Dawn").code == 1
    for name, words in (("Dusk", "- early"), ("2", "- late"), ("Dawn", "- later")):
        assert call("outline", book, "--volume", name, "--write", "-", lines=words).code == 0
    assert call("outline", book, "--volume", 2).out == "- later\n"
    assert json.loads(call("outline", book, "--json").out)["volumes_without"] == []
    refused = call("outline", book, "--volume", "Noon\x1b[31m")
    assert refused.code == 2 and "no volume Noon" in refused.err and "\x1b" not in refused.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--part", "None", "--write", "-"], "no such heading"),
        (["--assign", "None", "1"], "no such heading"),
        (["--assign", "0", "1"], "no such heading"),
        (["--assign", "Ideas", "99"], "The book has 2 chapters"),
        (["--assign", "Ideas", "9" * 6_000], "The book has 2 chapters"),
        (["--assign", "Ideas", "x\x1b[31m"], "is not a chapter"),
        (["--chapter", "99", "--write", "-"], "The book has 2 chapters"),
        (["--write", "{none}"], "Cannot read"),
        (["--chapter", "1", "--part", "2"], "not allowed with"),
        (["--write", "-", "--assign", "Ideas", "1"], "not allowed with"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_changed(
    book: Path, call: Call, tmp_path: Path, options: list[str], said: str
) -> None:
    before = parts(call, book)
    called = call("outline", book, *(option.format(none=tmp_path / "none") for option in options), lines="- new\n")
    assert called.code >= 1 and said in called.err and "\x1b" not in called.err
    assert parts(call, book) == before


def test_a_title_of_several_parts_is_named_by_number(book: Path, call: Call) -> None:
    assert call("outline", book, "--write", "-", lines="## A\n1\n## A\n2\n## B\n3\n").code == 0
    assert call("outline", book, "--part", "A").code == 2
    assert call("outline", book, "--part", "2").out == "2\n"
    assert call("outline", book, "--assign", 1, 1).code == 0 and call("outline", book, "--assign", 2, 1).code == 0
    called = call("outline", book, "--chapter", 1, "--write", "-", lines="x")
    assert called.code == 2 and "--part: 1, 2" in called.err


def test_the_whole_outline_goes_out_and_comes_back_byte_for_byte(book: Path, call: Call, tmp_path: Path) -> None:
    text = "\n  # Book \n\tPremise.  \n\n\n## Chapter 1: Rain\n- A\u3000\u2028\n## Ideas\n- é\n\n\n"
    (tmp_path / "first.md").write_bytes(text.encode())
    assert call("outline", book, "--write", tmp_path / "first.md").code == 0
    (tmp_path / "second.md").write_bytes(call("outline", book, "--whole").out.encode())
    assert (tmp_path / "second.md").read_bytes() == text.encode()
    assert call("outline", book, "--write", tmp_path / "second.md").code == 0
    assert call("outline", book, "--whole").out == text
    assert call("outline", book, "--write", "-", lines="").code == 0
    assert call("outline", book, "--whole").code == 1


def test_marks_of_other_systems_and_controls_are_taken_out_of_a_file(book: Path, call: Call, tmp_path: Path) -> None:
    (tmp_path / "windows.md").write_bytes(
        b"\xef\xbb\xbf# Chapter 1: Rain\r\n- A\x00\x1b[31m\r- B\x0b\r\n# Chapter 2\r\n"
    )
    assert call("outline", book, "--write", tmp_path / "windows.md").code == 0
    assert call("outline", book, "--whole").out == "# Chapter 1: Rain\n- A\n- B\n# Chapter 2\n"
    assert [*parts(call, book)] == ["", "Chapter 1: Rain", "Chapter 2"]


def test_progress_says_which_names_of_the_beats_came_and_where(book: Path, call: Call) -> None:
    async def write() -> None:
        async with opened(book) as case:
            first, second = (chapter.id for chapter in await case.project.book.chapters())
            for name in ("Maud", "Ve\x1b[31mra"):
                await case.project.carry_out(PutEntity(Entity(EntityId(name[:2]), "character", name)))
            beats = "## Chapter 1\n- It rains.\n1. Maud meets Vera.\n2. Vera leaves.\n"
            await case.project.carry_out(WriteMeta("outline", beats))
            await case.project.carry_out(WriteChapter(first, "Rain.\n\n***\n\nMaud came.\n"))
            await case.project.carry_out(WriteChapter(second, "Snow.\n"))

    asyncio.run(write())
    called = call("outline", book, "--chapter", 1, "--progress")
    assert (called.code, called.err) == (0, "")
    assert [line.split("\t") for line in called.out.splitlines()] == [
        ["", "names nobody", "It rains.", ""],
        ["Scene 1", "some names found", "Maud meets Vera.", "Maud (1); not found: Vera; in scene 2, not in scene 1"],
        ["Scene 2", "no name found", "Vera leaves.", "not found: Vera"],
    ]
    assert call("outline", book, "--progress").out.split("\t") == ["1", "Rain", "0 of 2", "3\n"]
    assert call("outline", book, "--chapter", 2, "--progress").code == 1
    (chapter,) = json.loads(call("outline", book, "--chapter", 1, "--progress", "--json").out)["chapters"]
    (beat,) = chapter["parts"][1]["beats"]
    assert (beat["state"], beat["place"], beat["scene"]) == ("partly", [12, 16], 2)
    assert [name["places"] for name in beat["names"]] == [[[12, 16]], []]


def test_a_model_is_asked_about_the_beats_of_one_chapter(book: Path, call: Call) -> None:
    async def write() -> None:
        async with opened(book) as case:
            first, _second = (chapter.id for chapter in await case.project.book.chapters())
            await case.project.carry_out(WriteMeta("outline", "## Chapter 1\n- Maud lights the lamp.\n- Vera dies.\n"))
            await case.project.carry_out(WriteChapter(first, "Rain. Maud lights the old lamp.\n"))

    change(book, "models", user=OFFLINE, agent=OFFLINE)
    asyncio.run(write())
    called = call("outline", book, "--chapter", 1, "--progress", "--model")
    assert called.code == 0
    assert [line.split("\t")[2:] for line in called.out.splitlines()] == [
        ["Maud lights the lamp.", "", "model: in the text"],
        ["Vera dies.", "", "model: not in the text"],
    ]
    (chapter,) = json.loads(call("outline", book, "--chapter", 1, "--progress", "--json").out)["chapters"]
    first, second = (beat["model"] for beat in chapter["parts"][0]["beats"])
    assert first == {"verdict": "brought", "place": [6, 30], "out_of_date": False}
    assert second == {"verdict": "not found", "place": None, "out_of_date": False}
