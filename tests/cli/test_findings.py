"""The list of findings and checks of chapters on the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from flowcabal_tui.cli import main
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.book import AddChapter, WriteChapter
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project
from tests.project.case import make_one, opened
from tests.project.test_findings import FIRST, SECOND


@pytest.fixture
def book(tmp_path: Path) -> str:
    """Two chapters that do not agree on an age; the second has a model's words in it."""

    async def write() -> None:
        folder = await make_one(tmp_path / "book", ModelsSettings(user=OFFLINE, agent=OFFLINE))
        async with opened(folder, trust=True) as case:
            await case.project.carry_out(PutEntity(Entity(EntityId("mara"), "character", "Mara Quill")))
            for number, text in enumerate((FIRST, SECOND), 1):
                await case.project.carry_out(AddChapter(f"Chapter {number}"))
                await case.project.carry_out(WriteChapter(await case.chapter(number), text))
            await case.settled()

    asyncio.run(write())
    return str(tmp_path / "book")


@pytest.fixture
def listed(book: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command prints as JSON."""

    def listed(*options: str, command: str = "findings") -> Any:
        capsys.readouterr()
        main([command, book, "--json", *options])
        return json.loads(capsys.readouterr().out)

    return listed


def test_findings_are_listed_with_both_passages_and_what_was_read(
    book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["findings", book, "--check", "ages"]) == 0
    row, *_rates, report, compared = capsys.readouterr().out.splitlines()
    _identity, place, title, sure, _state, words, there, source, _why = row.split("\t")
    assert (place, title, sure, there) == ("2", "An age does not agree with an earlier one", "sure", "1")
    assert "twelve" in words and "thirty" in source
    assert report.startswith("read by rule: 2 of 2 chapters")
    assert compared.startswith("sentences read by rule: ") and not compared.endswith(" 0")
    assert main(["findings", book, "--chapter", "1"]) == 1
    assert main(["status", book]) == 0
    assert "2 new findings" in capsys.readouterr().out


def test_the_writers_word_is_given_and_taken_back(book: str, listed: Any) -> None:
    ids = {row["proposal"]["origin"]["maker"]: row["proposal"]["id"] for row in listed()["findings"]}
    assert main(["findings", book, "--intended", ids["ages"]]) == 1, "a reason is needed"
    main(["findings", book, "--intended", ids["ages"], "--reason", "she lies"])
    (row,) = listed("--state", "decided")["findings"]
    assert (row["proposal"]["state"], row["word"]) == ("intended", "she lies")
    main(["findings", book, "--not-useful", ids["leftovers"]])
    rates = {rate["check"]: rate["useless"] for rate in listed("--state", "all")["report"]["rates"]}
    assert rates["leftovers"] == 1
    main(["findings", book, "--undo"])
    main(["findings", book, "--later", ids["leftovers"]])
    assert [row["proposal"]["id"] for row in listed("--state", "later")["findings"]] == [ids["leftovers"]]
    main(["findings", book, "--again", *ids.values()])
    assert len(listed()["findings"]) == 2


def test_a_change_is_written_as_a_fact(book: str, listed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ids = {row["proposal"]["origin"]["maker"]: row["proposal"]["id"] for row in listed()["findings"]}
    assert main(["findings", book, "--changed", ids["ages"], "--set", "colour=red"]) == 2
    assert "Available: about" in capsys.readouterr().err
    assert main(["findings", book, "--changed", ids["ages"], "--set", "text=Mara is twelve."]) == 0
    assert listed("--state", "decided")["findings"][0]["proposal"]["state"] == "changed"


def test_a_check_is_named_by_its_id_or_by_the_title_that_is_printed(
    book: str, listed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    by_id = listed("--check", "ages")["findings"]
    assert by_id
    for title in ("An age does not agree with an earlier one", "年龄与前文不一致"):
        assert listed("--check", title)["findings"] == by_id
    assert main(["findings", book, "--check", "weather"]) == 2
    refused = capsys.readouterr().err
    assert "There is no check weather." in refused and "ages (An age does not agree" in refused


def test_a_check_ends_with_1_while_findings_wait(book: str, listed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", book, "--chapter", "1"]) == 0
    assert main(["check", book]) == 1
    said = listed("--chapter", "2..2", command="check")
    assert {row["position"] for row in said["findings"]} == {2}
    assert main(["findings", book, "--rule-off", "leftovers"]) == 0
    main(["findings", book, "--rule-off", "ages"])
    assert load_project(Path(book)).checks.off == ("leftovers", "ages")
    assert main(["check", book]) == 0
    assert main(["check", book, "--model", "--yes"]) in (0, 1)
    with pytest.raises(SystemExit):
        main(["check", book, "--chapter", "3..1"])
    assert "is not a range of chapters" in capsys.readouterr().err
