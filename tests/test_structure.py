"""The figures of `python -m tests.structure` that have a limit."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.structure import SMALL, Tree

FILE_LINES = 450
CLASS_LINES = 400
"""Of a class with its bases."""
FUNCTION_LINES = 64
"""Most functions have fewer than 40; the longest one lists the controllers of the screen."""


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(Path(__file__).parent.parent)


def test_no_file_is_too_long(tree):
    assert {name: lines for name, lines in tree.lines.items() if lines > FILE_LINES} == {}


def test_no_class_is_too_long_with_its_bases(tree):
    assert {name: lines for name in tree.classes if (lines := tree.lines_with_bases(name)) > CLASS_LINES} == {}


def test_no_function_is_too_long(tree):
    assert {name: lines for name, lines in tree.functions.items() if lines > FUNCTION_LINES} == {}


def test_a_base_class_has_two_children_or_is_used_itself(tree):
    assert tree.hollow_bases() == []


def test_folders_of_a_package_import_each_other_in_one_direction(tree):
    assert tree.circles() == []


def test_modules_import_each_other_in_one_direction(tree):
    assert tree.circle() == []


def test_a_small_module_has_two_importers_or_is_loaded_later(tree):
    assert tree.small_modules() == [], f"under {SMALL} lines: move it into its importer"


def test_the_benches_import_names_that_exist(tree):
    imported = {
        (node.module, alias.name)
        for path in sorted(Path(__file__).parent.joinpath("bench").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flowcabal_tui")
        for alias in node.names
    }
    found = {(module, name) for module, name in imported if f"{module}.{name}" not in tree.parsed}
    assert {(module, name) for module, name in found if not {name, "__getattr__"} & tree.defined(module)} == set()


def test_no_source_cites_a_document_that_is_not_in_the_repository():
    root = Path(__file__).parent.parent / "flowcabal_tui"
    cited = [path.name for path in root.rglob("*.py") if re.search(r"\bDESIGN\b", path.read_text(encoding="utf-8"))]
    assert cited == []
