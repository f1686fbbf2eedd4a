"""Boundaries that import-linter cannot see: what is really loaded."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import flowcabal_tui

BELOW = sorted(
    module.name
    for module in pkgutil.walk_packages(flowcabal_tui.__path__, "flowcabal_tui.")
    if not module.name.startswith(("flowcabal_tui.tui", "flowcabal_tui.__main__"))
)

PACKAGES = {f"flowcabal_tui.{module.name}" for module in pkgutil.iter_modules(flowcabal_tui.__path__) if module.ispkg}


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


def test_no_project_file_names_a_registry():
    root = Path(flowcabal_tui.__file__).parent.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False).stdout.split()
    texts = [(name, (root / name).read_text(encoding="utf-8", errors="replace")) for name in listed]
    registry = "pypi" + ".org"
    assert [name for name, text in texts if registry in text] == []


@pytest.mark.parametrize(
    ("contract", "field", "left_out"),
    [
        ("Arrows point down only", "layers", ()),
        ("No circles inside a package", "ancestors", ()),
        ("Only the screen knows Textual", "source_modules", ("cli", "tui")),
        ("Only the store knows SQLite", "source_modules", ("store",)),
    ],
)
def test_each_package_is_in_the_contracts(contract: str, field: str, left_out: tuple[str, ...]):
    root = Path(flowcabal_tui.__file__).parent.parent
    tools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (listed,) = (each[field] for each in tools["importlinter"]["contracts"] if each["name"] == contract)
    named = {name.strip() for line in listed for part in line.split("|") for name in part.split(" : ")}
    assert PACKAGES - named == {f"flowcabal_tui.{name}" for name in left_out}
