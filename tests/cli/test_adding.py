"""Workflows that are brought into a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowcabal_tui import examples
from flowcabal_tui.cli import main
from flowcabal_tui.project.create import create_project


@pytest.fixture
async def book(tmp_path):
    return await create_project(tmp_path / "book", name="Book", language="en")


def listed(capsys) -> set[str]:
    return {line.partition("\t")[0] for line in capsys.readouterr().out.splitlines()}


@pytest.mark.parametrize("name", [*examples.NAMES, "text-adventure"])
def test_an_example_is_added_by_its_name(book, capsys, name):
    assert main(["workflows", str(book), "--add", name]) == 0
    assert f"{name.replace('_', '-')}@1" in listed(capsys)


def test_a_document_of_another_system_is_converted_and_added(book, capsys):
    document = Path(examples.__file__).parent / "stock" / "workflow.en.json"
    assert main(["workflows", str(book), "--add", str(document)]) == 0
    assert len(listed(capsys)) == 5


def test_what_an_addition_could_not_carry_over_is_told_as_a_conversion_tells_it(book, tmp_path, capsys):
    document = tmp_path / "there.json"
    block = {"kind": "literal", "content": "Write."}
    nodes = [{"id": "1", "label": "A", "systemPrompt": [], "userPrompt": [block], "agentSystemPrompt": "x"}]
    document.write_text(json.dumps({"id": "there", "name": "There", "nodes": nodes}), encoding="utf-8")
    assert main(["convert", str(document), "--to", "ours"]) == 0
    told = capsys.readouterr().err.splitlines()[1:]
    assert main(["workflows", str(book), "--add", str(document)]) == 0
    assert told
    said = capsys.readouterr().err.splitlines()
    brought = ["It contains:", "Workflows whose prompts are sent to the models:", "There: A"]
    assert said[: len(told)] == told and [line.strip() for line in said[len(told) :]] == brought


def test_a_chapter_is_added_where_it_is_wanted(book, capsys):
    for words in (["The Ferry"], ["The Bell", "--volume", "Part Two"], ["The Ledger", "--at", "2"]):
        assert main(["chapters", str(book), "--add", *words]) == 0
    capsys.readouterr()
    assert main(["chapters", str(book), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["title"] for row in rows] == ["The Ferry", "The Ledger", "The Bell"]
    assert rows[2]["volume"] == "Part Two"
    assert main(["chapters", str(book), "--add", " "]) == 2


def test_what_cannot_run_is_refused_and_nothing_is_stored(book, tmp_path, capsys):
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"id": "x", "nodes": [{"id": "a", "kind": "nothing"}]}), encoding="utf-8")
    assert main(["workflows", str(book), "--add", str(broken)]) == 2
    assert "UNKNOWN_KIND" in capsys.readouterr().err
    assert main(["workflows", str(book)]) == 0
    assert len(listed(capsys)) == 4
