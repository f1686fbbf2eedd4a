"""Boundaries that import-linter cannot see: what is really loaded."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import flowcabal_tui

BELOW = sorted(
    module.name
    for module in pkgutil.walk_packages(flowcabal_tui.__path__, "flowcabal_tui.")
    if not module.name.startswith(("flowcabal_tui.tui", "flowcabal_tui.__main__"))
)
LIMIT = 450
"""Lines of a file; one that is longer wants to be two."""
CLASS_LIMIT = 400
"""Lines of a class with its bases that are ours."""


def loaded_after(code: str) -> set[str]:
    """The top-level names of the modules that a fresh interpreter has loaded after running `code`."""
    script = f"{code}\nimport sys\nprint('\\n'.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_nothing_below_the_screen_loads_textual():
    loaded = loaded_after("\n".join(f"import {name}" for name in BELOW))
    assert not loaded & {"textual", "rich"}
    assert "sqlite3" in loaded, "the test must really have imported the store"


def test_the_version_loads_nothing_heavy():
    loaded = loaded_after("from flowcabal_tui.cli import main\nmain(['--version'])")
    assert not loaded & {"textual", "httpx", "openviking", "pydantic", "asyncio", "aiosqlite", "argparse"}


def test_the_first_frame_needs_neither_project_nor_http():
    loaded = loaded_after("import flowcabal_tui.tui.app.app")
    assert "textual" in loaded
    assert not loaded & {"httpx", "aiosqlite", "sqlite3", "ahocorasick"}


def test_no_file_is_too_long():
    root = Path(flowcabal_tui.__file__).parent
    long = {
        str(path.relative_to(root)): lines
        for path in root.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LIMIT
    }
    assert long == {}


def defined_classes() -> dict[str, tuple[str, ast.ClassDef, list[str]]]:
    """Every class of the product by name: its module, its definition, the names of its bases."""
    root = Path(flowcabal_tui.__file__).parent
    found = {}
    for path in root.rglob("*.py"):
        module = path.relative_to(root.parent).with_suffix("").as_posix().replace("/", ".")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
                found[node.name] = (module, node, bases)
    return found


def made_names() -> set[str]:
    """The names that are called somewhere in the product: `StreamView()`, `PickTree[NodeId]()`."""
    root = Path(flowcabal_tui.__file__).parent
    calls = (
        node.func.value if isinstance(node.func, ast.Subscript) else node.func
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    )
    return {ast.unparse(call).rpartition(".")[2] for call in calls}


COUNTED = ("flowcabal_tui.tui",)
"""Packages in which classes are counted with their bases; the others follow."""
ONE_CHILD: dict[str, str] = {}
"""Base classes with one child that stay, and why."""


@pytest.mark.parametrize("package", COUNTED)
def test_no_class_is_too_long_with_its_bases(package):
    classes = defined_classes()

    def lines(name: str) -> int:
        _module, node, bases = classes[name]
        own = (node.end_lineno or node.lineno) - node.lineno + 1
        return own + sum(lines(base) for base in bases if base in classes and base != name)

    ours = {name: lines(name) for name, (module, *_) in classes.items() if in_package(module, package)}
    assert {name: count for name, count in ours.items() if count > CLASS_LIMIT} == {}


@pytest.mark.parametrize("package", COUNTED)
def test_a_base_class_has_two_children_or_is_made_itself(package):
    classes, made = defined_classes(), made_names()
    children = Counter(base for _module, _node, bases in classes.values() for base in bases)
    hollow = {
        name
        for name, (module, *_) in classes.items()
        if in_package(module, package) and children[name] == 1 and name not in made
    }
    assert hollow == set(ONE_CHILD)


def in_package(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def test_no_project_file_names_a_registry():
    root = Path(flowcabal_tui.__file__).parent.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False).stdout.split()
    texts = [(name, (root / name).read_text(encoding="utf-8", errors="replace")) for name in listed]
    registry = "pypi" + ".org"
    assert [name for name, text in texts if registry in text] == []
