from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from flowcabal_tui.cli import main
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.book import ImportManuscript
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE
from tests.project.case import both, make, opened, write_chapters

INES = "profiles/characters/ines"


@pytest.fixture
def book(tmp_path: Path) -> str:
    """A book in whose last chapter Ines is named often enough to have a profile."""
    texts = {"Chapter 1 The Rope": "Ines Marlow rowed out. Ines Marlow sang. Then Ines Marlow slept in the boat."}

    async def write() -> None:
        async with opened(await make(tmp_path / "book", both(OFFLINE))) as case:
            await case.project.carry_out(PutEntity(Entity(EntityId("ines"), "character", "Ines Marlow")))
            await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts", texts))))
            await case.settled()

    asyncio.run(write())
    return str(tmp_path / "book")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["profile", *words]) == 0
    return capsys.readouterr().out


def test_profiles_are_listed_and_one_is_shown_in_its_levels(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split("\t") for line in said(capsys, book).splitlines()]
    assert [INES, "Characters", "Ines Marlow"] in [row[:3] for row in rows]
    shown = said(capsys, book, INES)
    assert shown.count("as of chapter 1") == 3
    assert "Ines Marlow sang." in shown


def test_the_writers_words_stand_and_can_be_pinned_compared_and_given_up(
    book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Ines cannot swim.", encoding="utf-8")
    made = json.loads(said(capsys, book, INES, "--json"))["history"][0]["generation"]
    assert "Ines cannot swim." in said(capsys, book, INES, "--write", str(own))
    by_hand = json.loads(said(capsys, book, INES, "--json"))["history"][0]["generation"]
    assert "+Ines cannot swim." in said(capsys, book, INES, "--diff", str(made), str(by_hand))
    assert "Ines cannot swim." not in said(capsys, book, INES, "--pin", str(made))
    assert "pinned" in said(capsys, book, INES, "--history")
    assert "Ines cannot swim." in said(capsys, book, INES, "--pin", "0")
    before = len(json.loads(said(capsys, book, INES, "--json"))["history"])
    said(capsys, book, INES, "--regenerate")
    assert len(json.loads(said(capsys, book, INES, "--json"))["history"]) == before + 2
    assert "Ines cannot swim." not in said(capsys, book, INES, "--take")


@pytest.mark.parametrize("words", [("--pin", "999"), ("--diff", "998", "999")])
def test_a_state_that_is_none_is_told_with_those_there_are(
    book: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(said(capsys, book, INES, "--json"))["history"][0]["generation"]
    assert main(["profile", book, INES, *words]) == 2
    told = capsys.readouterr().err
    assert "There is no state 99" in told
    assert f"Its states: {made}" in told


def test_nothing_is_taken_where_nothing_was_made_since(
    book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Ines cannot swim.", encoding="utf-8")
    assert main(["profile", book, INES, "--take"]) == 1
    said(capsys, book, INES, "--write", str(own))
    assert main(["profile", book, INES, "--take"]) == 1
    assert "No text was generated after" in capsys.readouterr().err
    assert "Ines cannot swim." in said(capsys, book, INES)


def test_words_that_are_written_under_a_pin_are_said_not_to_stand(
    book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Ines cannot swim.", encoding="utf-8")
    made = json.loads(said(capsys, book, INES, "--json"))["history"][0]["generation"]
    assert f"State {made} is pinned" in said(capsys, book, INES, "--pin", str(made))
    written = said(capsys, book, INES, "--write", str(own))
    assert "Ines cannot swim." not in written
    assert written.splitlines()[-1].startswith("Saved, but a pinned version is in use.")
    assert "Ines cannot swim." in said(capsys, book, INES, "--pin", "0")


def test_what_is_not_there_is_refused(book: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", book, "profiles/characters/nobody", "--take"]) != 0
    assert main(["profile", book, INES, "--diff", "1", "2"]) != 0
