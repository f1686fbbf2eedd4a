"""The drawing of the family of errors, and the table of exit codes in the guides."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import flowcabal_tui
from flowcabal_tui.domain import errors

SOURCE = Path(flowcabal_tui.__file__).parent
GUIDES = [SOURCE.parent / "docs" / "guide" / name for name in ("en.md", "zh.md")]


def error_classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    """Every class of the family, from the source, with the file that defines it."""
    classes = [
        (file, found)
        for file in sorted(SOURCE.rglob("*.py"))
        for found in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(found, ast.ClassDef)
    ]
    names = {"FlowCabalError"}
    while grown := {
        found.name
        for _file, found in classes
        if {base.id for base in found.bases if isinstance(base, ast.Name)} & names and found.name not in names
    }:
        names |= grown
    yield from ((file, found) for file, found in classes if found.name in names)


def undrawn(drawings: str, names: set[str]) -> set[str]:
    """The names that the drawings do not have as a word."""
    return names - set(re.findall(r"\w+", drawings))


def public_errors() -> set[str]:
    return {found.name for _file, found in error_classes() if not found.name.startswith("_")}


def test_every_error_is_in_the_drawing_of_its_family() -> None:
    drawings = f"{errors.__doc__} {(SOURCE / 'actions' / 'errors.py').read_text(encoding='utf-8').split('class ')[0]}"
    assert len(public_errors()) > 30
    assert undrawn(drawings, public_errors()) == set()
    assert undrawn(drawings.replace("DiskFull", ""), public_errors()) == {"DiskFull"}


def test_every_exit_code_of_an_error_is_in_the_table_of_both_guides() -> None:
    codes = {
        str(part.value.value)
        for _file, found in error_classes()
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
