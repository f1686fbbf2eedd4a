"""What is imported and made until the chapters of the demo are painted: counted, for a clock tells of the machine."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from flowcabal_tui.project import create_demo

MOST: Final = {"modules": 240, "dataclasses": 0, "value classes": 370, "constructors": 50, "patterns": 12}
"""Of ours. Modules were 692, dataclasses 718 (all compiled) and patterns 349 when everything was imported first;
decisions 38 and 39 tell what may come later. `dataclasses` are those that the standard library makes."""

OPENED_BEFORE: Final = """
import sys
from pathlib import Path
from flowcabal_tui.settings.opening import open_settings

open_settings(Path(sys.argv[1]))
"""
"""A book whose settings were never checked imports what checks them."""

SCRIPT: Final = """
import dataclasses, json, os, re, sys
from pathlib import Path

made = {"dataclasses": 0, "value classes": 0, "constructors": 0, "patterns": 0}

def counting(kind, make):
    def made_by_us(*arguments, **named):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.startswith((os.path.dirname(re.__file__), dataclasses.__file__)):
            frame = frame.f_back
        module = frame.f_globals.get("__name__", "")
        made[kind] += module.startswith("flowcabal_tui") and module != "flowcabal_tui.domain.value_class"
        return make(*arguments, **named)
    return made_by_us

dataclasses._process_class = counting("dataclasses", dataclasses._process_class)
re._compiler.compile = counting("patterns", re._compiler.compile)

from flowcabal_tui.domain import value_class

def counting_all(kind, make):
    def counted(*arguments, **named):
        made[kind] += 1
        return make(*arguments, **named)
    return counted

value_class._value_class = counting_all("value classes", value_class._value_class)
value_class._compiled_init = counting_all("constructors", value_class._compiled_init)

from flowcabal_tui.cli import screen
from flowcabal_tui.tui.app import app
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from flowcabal_tui.tui.book.chapter_list import ChapterList

async def chapters_are_there(workspace):
    modules = sum(name.startswith("flowcabal_tui") for name in sys.modules)
    listed = len(workspace.book.chapters)
    late = [name for name in ("pydantic", "pydantic_core", "tomlkit", "httpx") if name in sys.modules]
    owed = workspace._layout_required or workspace._repaint_required or bool(workspace._dirty_widgets)
    seen = {"modules": modules, "listed": listed, "late": late, "owed": owed}
    print(json.dumps(made | seen), file=sys.__stdout__, flush=True)
    os._exit(0)

WorkspaceScreen._add_rest = chapters_are_there
app.run_app = lambda opened: opened.run(headless=True, size=(140, 40))
screen._screen(Path(sys.argv[1]), "en", read_only=False)
"""

KEYS_COUNT: Final = """
import os, sys
from pathlib import Path

from flowcabal_tui.cli import screen
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.app import app

def keys_count(project):
    agents = [name for name in sys.modules if name.startswith("flowcabal_tui.agents.")]
    print(*agents, file=sys.__stdout__, flush=True)
    os._exit(0)

Project.begin = keys_count
app.run_app = lambda opened: opened.run(headless=True, size=(140, 40))
screen._screen(Path(sys.argv[1]), "en", read_only=False)
"""


def test_little_is_imported_until_the_chapters_of_the_demo_are_there(tmp_path: Path) -> None:
    run = _runner(tmp_path)
    run(OPENED_BEFORE)
    counted = json.loads(run(SCRIPT)[-1])
    assert counted.pop("listed") == 7
    assert counted.pop("late") == [], "libraries that the chapters do not need"
    assert not counted.pop("owed"), "the chapters are painted before anything else is imported"
    assert {kind: number for kind, number in counted.items() if number > MOST[kind]} == {}, counted
    assert min(counted["modules"], counted["value classes"], counted["constructors"]) > 20, "they were really counted"


def test_keys_count_before_the_agents_of_background_work_are_imported(tmp_path: Path) -> None:
    imported = _runner(tmp_path)(KEYS_COUNT)[-1].split()
    assert "flowcabal_tui.agents.profile_kinds" in imported, "the imports were really listed"
    assert {"flowcabal_tui.agents.checking.monitor", "flowcabal_tui.agents.curation.curator"}.isdisjoint(imported)


def _runner(folder: Path) -> Callable[[str], list[str]]:
    """Makes the demo in `folder`; the result runs a script on it in a process of its own and returns what it prints."""
    book = folder / "book"
    asyncio.run(create_demo(book, "en"))
    own = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}

    def run(script: str) -> list[str]:
        command = [sys.executable, "-c", script, str(book)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | own)
        return done.stdout.splitlines()

    return run
