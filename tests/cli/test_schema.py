"""The schema of documents: it takes what can run, refuses what cannot, and stands in words on a page."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import flowcabal_tui
from flowcabal_tui.dialects.detect import dialect_of
from flowcabal_tui.dialects.reading import load
from flowcabal_tui.nodes.registry import kinds
from flowcabal_tui.nodes.schema import workflow_schema
from tests.cli.conftest import Call
from tests.pages.language import language_page

ROOT = Path(flowcabal_tui.__file__).parent
SHIPPED = [
    path
    for path in sorted(ROOT.rglob("*"))
    if path.suffix in (".json", ".yaml") and dialect_of(load(path.read_text(encoding="utf-8"))) == "ours"
]
CHECK = jsonschema.Draft202012Validator(workflow_schema())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_document_that_is_shipped_fits_the_schema(path: Path) -> None:
    assert [error.message for error in CHECK.iter_errors(load(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    "node",
    [
        {"id": "a", "params": {"promt": []}},
        {"id": "a", "kind": "promt"},
        {"id": "a", "kind": "loop", "params": {}},
        {"id": "a", "kind": "action"},
        {"id": "a", "kind": "loop", "params": {"body": {"nodes": [{"id": "b", "kind": "human", "params": {}}]}}},
        {"kind": "prompt"},
    ],
)
def test_what_a_kind_does_not_take_does_not_fit(node: dict[str, object]) -> None:
    assert list(CHECK.iter_errors({"id": "w", "nodes": [node]}))


def test_the_schema_itself_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(workflow_schema())
    assert len(SHIPPED) > 6


def test_the_command_prints_the_whole_or_one_kind(call: Call) -> None:
    assert json.loads(call("schema").out) == workflow_schema()
    for name in kinds():
        schema = json.loads(call("schema", name).out)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"] == name and schema["description"]


def test_a_kind_that_there_is_not_names_the_nearest(call: Call) -> None:
    asked = call("schema", "lop")
    assert asked.code == 2
    assert "loop" in asked.err and "Traceback" not in asked.err


def test_the_words_of_a_kind_tell_every_parameter(call: Call) -> None:
    for name, kind in kinds().items():
        words = call("schema", name, "--words").out
        assert words.startswith(f"## {name}\n")
        assert all(f"`{field}`" in words for field in kind.params.model_fields)


def test_the_page_of_the_language_is_current() -> None:
    page = ROOT.parent / "docs" / "workflow-language.md"
    assert page.read_text(encoding="utf-8") == language_page()


def test_every_field_of_the_language_is_explained() -> None:
    rows = [line for line in language_page().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.rstrip("| ").count("|") < 2] == []
    assert "|  |\n" not in language_page()
