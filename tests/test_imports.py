"""Boundaries that import-linter cannot see: what is really loaded."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import flowcabal_tui

BELOW = sorted(
    module.name
    for module in pkgutil.walk_packages(flowcabal_tui.__path__, "flowcabal_tui.")
    if not module.name.startswith(("flowcabal_tui.tui", "flowcabal_tui.__main__"))
)


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
