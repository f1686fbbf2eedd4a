"""The drawing of the family of errors, and the table of exit codes in the guides."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import flowcabal_tui
from flowcabal_tui.domain import errors

SOURCE = Path(flowcabal_tui.__file__).parent
GUIDES = [SOURCE.parent / "docs" / "guide" / name for name in ("en.md", "zh.md")]


@cache
def error_classes() -> list[ast.ClassDef]:
    """Every class of the family, from the source. Only files that define one are parsed."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(SOURCE.rglob("*.py"))]
    heads = [(text, re.findall(r"^class (\w+)\((.+)\):", text, re.MULTILINE)) for text in texts]
    names = {"FlowCabalError"}
    while grown := {
        name
        for _text, found in heads
        for name, bases in found
        if name not in names and names & set(re.findall(r"\w+", bases))
    }:
        names |= grown
    family = [text for text, found in heads if names & {name for name, _bases in found}]
    classes = [node for text in family for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return [node for node in classes if node.name in names]


def drawn(drawing: str) -> set[tuple[str, str]]:
    """Base and subclass, for every name that a line `Base: Name, Name` of the drawing has."""
    lines = re.findall(r"^(\w+): (\w+(?:,\s+\w+)*)$", drawing, re.MULTILINE)
    return {(base, name) for base, names in lines for name in re.findall(r"\w+", names)}


def defined() -> set[tuple[str, str]]:
    """The same of the source; a base outside of the family is left out."""
    classes = error_classes()
    names = {found.name for found in classes}
    bases = {(base.id, found.name) for found in classes for base in found.bases if isinstance(base, ast.Name)}
    return {(base, name) for base, name in bases if base in names}


def test_the_drawing_of_the_family_has_each_error_below_its_base() -> None:
    assert len(defined()) > 40
    assert drawn(errors.__doc__ or "") == defined()
    assert drawn("A: B,\n    C\nB: D") == {("A", "B"), ("A", "C"), ("B", "D")}


def test_every_exit_code_of_an_error_is_in_the_table_of_both_guides() -> None:
    codes = {
        str(part.value.value)
        for found in error_classes()
        for part in found.body
        if isinstance(part, ast.Assign)
        and isinstance(part.value, ast.Constant)
        and any(isinstance(target, ast.Name) and target.id == "exit_code" for target in part.targets)
    }
    assert {"1", "2", "3", "4", "6"} <= codes
    tables = [
        re.findall(r"^\| ([0-9][0-9, 、]*) \|", page.read_text(encoding="utf-8"), re.MULTILINE) for page in GUIDES
    ]
    for table in tables:
        assert codes <= {code for row in table for code in re.split(r"[,、]\s*", row)}
        assert [row[0] for row in table] == list("01234561")
