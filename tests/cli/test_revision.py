"""Locks and passes on the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from flowcabal_tui.protocol.book import WriteChapter
from tests.cli.conftest import Call
from tests.project.case import opened


def test_chapters_are_locked_listed_and_unlocked(demo: Path, call: Call) -> None:
    assert call("lock", demo).code == 1
    locked = call("lock", demo, "1..2")
    assert locked.code == 0 and [line.split("\t")[0] for line in locked.out.splitlines()] == ["1", "2"]
    refused = call("delete", demo, 1)
    assert refused.code == 1 and "unlock PROJECT 1" in refused.err
    assert call("unlock", demo, 1).code == 0
    (row,) = json.loads(call("lock", demo, "--json").out)["locked"]
    assert (row["position"], row["locked"]) == (2, True)


def test_passes_are_ticked_and_changed(demo: Path, call: Call) -> None:
    assert call("passes", demo, "proof", "--tick", "1..2").code == 0
    assert call("passes", demo, "proof", "--tick", 3, "--item", 2).code == 0
    lines = call("passes", demo, "proof").out.splitlines()
    assert "2 of" in lines[0] and lines[1].startswith("1. ")
    rows = [line.split("\t") for line in lines if line[:1].isdigit() and "\t" in line]
    assert [row[2] for row in rows][:3] == ["done", "done", "to do"] and rows[2][3] == "2"
    made = call("passes", demo, "--add", "下雨", "--checks", "ages, looks", "--checklist", "一；二", "--place", 1)
    assert made.code == 0
    first = json.loads(call("passes", demo, "--json").out)["passes"][0]
    assert (first["title"], first["checks"], first["checklist"]) == ("下雨", ["ages", "looks"], ["一", "二"])
    assert call("passes", demo, first["id"], "--rename", "雨").code == 0
    assert call("passes", demo, first["id"], "--remove").code == 0
    assert "雨" not in call("passes", demo).out


def test_a_chapter_is_rewritten_and_taken_by_paragraph(demo: Path, call: Call) -> None:
    assert call("revise", demo).code == 1
    asked = call("revise", demo, "--chapter", 1, "--paragraphs", "1..2", "--instruction", "shorter", "--json")
    assert asked.code == 0 and "It is free." in asked.err
    (row,) = json.loads(asked.out)["rewrites"]
    assert row["position"] == 1 and row["changes"]
    taken = call("revise", demo, "--take", row["id"], "--only", 1)
    assert taken.code == 0
    number = taken.out.split()[-1]
    text = next((demo / "manuscript").glob("0001*.md")).read_text(encoding="utf-8")
    assert call("revise", demo).code == 1
    assert call("blame", demo, 1, "--line", 1).code == 0
    assert call("revise", demo, "--undo", number).code == 0
    again = call("revise", demo, "--chapter", 1, "--instruction", "shorter")
    assert again.code == 0 and again.out.splitlines()[1].startswith("1\t- "), text
    identity = again.out.split("\t")[0]
    assert call("revise", demo, "--drop", identity).code == 0
    assert call("revise", demo, "--chapter", 1, "--findings").code == 2


def test_a_mend_by_rule_is_named_as_one(demo: Path, call: Call) -> None:
    async def write() -> None:
        async with opened(demo) as case:
            await case.project.carry_out(WriteChapter(await case.chapter(1), "It rained.\n\nIt was **very** late."))
            await case.settled()

    asyncio.run(write())
    asked = call("revise", demo, "--chapter", 1, "--findings")
    assert asked.code == 0 and "It is free." in asked.err
    head, *changes = asked.out.splitlines()
    assert head.split("\t")[2] == "by rule"
    assert any("It was very late." in line for line in changes)
