"""`convert`: every form into ours and back where it can be held, with a report of what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Call
from tests.cli.test_validate import FLOWCABAL, SLIP, SMARTTAVERN, SOUND, VELVETFLOW

CASES = {"velvetflow": VELVETFLOW, "smarttavern": SMARTTAVERN, "flowcabal": FLOWCABAL}


def put(folder: Path, document: Any, name: str = "in.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return file


@pytest.mark.parametrize("dialect", CASES)
def test_a_document_becomes_ours_and_goes_back(call: Call, tmp_path: Path, dialect: str) -> None:
    ours = tmp_path / "ours.json"
    there = call("convert", put(tmp_path, CASES[dialect]), "--to", "ours", "-o", ours)
    assert (there.code, there.out) == (0, "")
    assert f"{dialect} to ours" in there.err
    back = call("convert", ours, "--to", dialect)
    assert back.code == 0, back.err
    ids = [node["id"] for node in json.loads(back.out)["nodes"]]
    assert CASES[dialect]["nodes"][-1]["id"] == ids[-1]
    assert len(ids) == len(CASES[dialect]["nodes"])
    assert call("validate", ours).code in (0, 1)


def test_the_report_stands_beside_the_document_not_in_it(call: Call, tmp_path: Path) -> None:
    shown = call("convert", put(tmp_path, VELVETFLOW), "--to", "ours")
    assert json.loads(shown.out)["nodes"]
    assert "0 could not be carried over" in shown.err


def test_what_a_form_cannot_hold_is_said_and_nothing_is_written(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    tried = call("convert", put(tmp_path, VELVETFLOW), "--to", "flowcabal", "-o", out)
    assert tried.code == 2
    assert "action" in tried.err and not out.exists()


@pytest.mark.parametrize("form", ["map", "python", "template", "workspace"])
def test_each_form_of_flowcabal_can_be_written(call: Call, tmp_path: Path, form: str) -> None:
    made = call("convert", put(tmp_path, SOUND), "--to", "flowcabal", "--form", form)
    assert made.code == 0, made.err
    again = call("convert", put(tmp_path, json.loads(made.out), "again.json"), "--to", "ours")
    assert "写一章" in again.out, again.err


def test_yaml_is_written_where_the_ending_says_so(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    assert call("convert", put(tmp_path, SLIP), "--to", "ours", "-o", out).code == 0
    assert yaml.safe_load(out.read_text(encoding="utf-8")) == SLIP
    assert "写一章" in out.read_text(encoding="utf-8")


def test_a_place_that_cannot_be_written_is_an_error(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    tried = call("convert", put(tmp_path, SOUND), "--to", "ours", "-o", tmp_path / "file" / "out.json")
    assert tried.code == 1 and "Traceback" not in tried.err


def test_a_broken_document_is_named(call: Call, tmp_path: Path) -> None:
    broken = put(tmp_path, {"id": "w", "nodes": [{"id": "a", "params": 3}]}, "broken.json")
    tried = call("convert", broken, "--to", "velvetflow")
    assert tried.code == 2
    assert "broken.json" in tried.err and "params" in tried.err
