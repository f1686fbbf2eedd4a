"""The list of proposals on the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.cli import main
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.project.case import make_one, opened
from tests.project.test_story import FERRY, written


@pytest.fixture
def book(tmp_path: Path) -> str:
    """A book whose only chapter was read by the offline model."""

    async def write() -> None:
        folder = await make_one(tmp_path / "book", ModelsSettings(user=OFFLINE, agent=OFFLINE))
        async with opened(folder, trust=True) as case:
            for name in ("Ines \x1b[31mMarlow", "Tobias Crane"):
                await case.project.carry_out(PutEntity(Entity(EntityId(name.split()[0].lower()), "character", name)))
            await written(case, FERRY)

    asyncio.run(write())
    return str(tmp_path / "book")


@pytest.fixture
def listed(book: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command prints as JSON."""

    def listed(*options: str) -> Any:
        capsys.readouterr()
        main(["proposals", book, "--json", *options])
        return json.loads(capsys.readouterr().out)

    return listed


def test_rows_are_listed_with_words_and_quotation(book: str, capsys: pytest.CaptureFixture[str], listed: Any) -> None:
    assert main(["proposals", book, "--kind", "relation"]) == 0
    (row,) = capsys.readouterr().out.splitlines()
    assert row.split("\t")[1:] == [
        "in use", "2", "relation", "Ines Marlow → sister of → Tobias Crane", "The quotation supports it.",
        "“Ines Marlow was Tobias Crane's sister”",
    ]  # fmt: skip
    page = listed("--chapter", "2", "--limit", "1")
    assert (len(page["proposals"]), page["proposals"][0]["position"]) == (1, 2)
    assert main(["proposals", book, "--words", "nothing of the kind"]) == 1


def test_rows_are_confirmed_corrected_dropped_and_taken_back(book: str, listed: Any) -> None:
    (relation,) = listed("--kind", "relation")["proposals"]
    facts = [row["id"] for row in listed("--kind", "fact")["proposals"]]
    assert len(facts) > 1
    assert main(["proposals", book, "--confirm", *facts]) == 0
    assert main(["proposals", book, "--correct", relation["id"], "--set", "kind=half-sister of"]) == 0
    decided = {row["id"]: row["state"] for row in listed("--state", "decided")["proposals"]}
    assert decided == dict.fromkeys(facts, "confirmed") | {relation["id"]: "corrected"}
    assert main(["proposals", book, "--undo"]) == 0
    assert main(["proposals", book, "--undo", "--drop", facts[0]]) == 0
    states = {row["id"]: row["state"] for row in listed("--state", "all")["proposals"]}
    assert [states[each] for each in (relation["id"], *facts)] == ["applied", "dropped", *["applied"] * len(facts[1:])]


@pytest.mark.parametrize(
    "options",
    [
        ["--confirm", "none"],
        ["--correct", "none", "--set", "kind=x"],
        ["--set", "kind=x"],
        ["--undo"],
        ["--chapter", "99"],
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_changed(
    book: str, options: list[str], capsys: pytest.CaptureFixture[str], listed: Any
) -> None:
    before = listed("--state", "all")
    assert main(["proposals", book, *options]) >= 1
    assert capsys.readouterr().err.startswith("flowcabal-tui: ")
    assert listed("--state", "all") == before


def test_a_field_that_the_record_does_not_have_is_refused(
    book: str, listed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (relation,) = listed("--kind", "relation")["proposals"]
    for flag in ("wrong=1", "id=x", 'directed:="sideways"'):
        assert main(["proposals", book, "--correct", relation["id"], "--set", flag]) > 1
        assert flag.partition("=")[0].rstrip(":") in capsys.readouterr().err
