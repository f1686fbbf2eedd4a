"""First frame, key echo and memory of a fresh start, beside other programs, one of them minimal, in one run."""

from __future__ import annotations

import compileall
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import flowcabal_tui
from flowcabal_tui.settings.project_file import OFFLINE, KnowledgeSettings
from tests.bench.projects import new_project, own_folders
from tests.bench.report import Figure, Missing, checked, given

ROUNDS, RUNS = 3, 4
BESIDE = {
    "Harlequin": ("FLOWCABAL_BENCH_HARLEQUIN", "Query Editor|Data Catalog"),
    "Posting": ("FLOWCABAL_BENCH_POSTING", "Collection"),
}
"""Variable with the program, and words of its first frame."""
MINIMAL = """from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static("Hello")

Minimal().run()
"""
Runs = list[dict[str, float]]


def measure() -> list[Figure]:
    """The programs take turns, so that all meet the same noise. Ours has its bytecode, as whatever pip installs has."""
    compileall.compile_dir(Path(flowcabal_tui.__file__).parent, quiet=2)
    script = given("FLOWCABAL_BENCH_STARTUP", "the script that times a first frame")
    others = {
        name: (os.environ[variable], words) for name, (variable, words) in BESIDE.items() if os.environ.get(variable)
    }
    with own_folders() as folder:
        book = folder / "book"
        new_project(book, OFFLINE, OFFLINE, knowledge=KnowledgeSettings(enabled=False))
        ours = [sys.executable, "-m", "flowcabal_tui", "--lang", "en", "open", str(book)]
        home = [sys.executable, "-m", "flowcabal_tui", "--lang", "en"]
        found: dict[str, Runs] = {}
        for _round in range(ROUNDS):
            found.setdefault("ours", []).extend(_timed(script, ours, "Opening|Chapters"))
            found.setdefault("workspace", []).extend(_timed(script, ours, "Chapters"))
            found.setdefault("open", []).extend(_timed(script, ours, "offline model", "4", r"\[4 Output\]"))
            found.setdefault("minimal", []).extend(_timed(script, [sys.executable, "-c", MINIMAL], "Hello"))
            found.setdefault("home", []).extend(_timed(script, home, "Open folder"))
            for name, (program, words) in others.items():
                found.setdefault(name, []).extend(_timed(script, [program], words))
    own = [figure for name, runs in found.items() for figure in _figures(name, runs)]
    return [
        *own,
        checked(
            "first frame, beside the minimal program", _painted(found["ours"]) / _painted(found["minimal"]), 1.8, "x"
        ),
        checked(
            "workspace, beside the minimal program", _painted(found["workspace"]) / _painted(found["minimal"]), 2.5, "x"
        ),
    ]


def _painted(runs: Runs) -> float:
    return statistics.median(run["painted_s"] for run in runs)


def _figures(name: str, runs: Runs) -> Iterator[Figure]:
    """`workspace` is timed until its panes are painted, `open` until keys count, the others until their first frame."""
    frame, memory = (statistics.median(run[key] for run in runs) for key in ("painted_s", "peak_rss_mib"))
    if name in (*BESIDE, "workspace", "open", "minimal"):
        yield Figure(f"{name}: painted", f"{frame:.2f} s")
    else:
        yield checked(f"{name}: first frame", frame, 0.6, "s")
        yield Figure(f"{name}: first frame, fastest", f"{min(run['painted_s'] for run in runs):.2f} s")
    if name == "open":
        yield checked(f"{name}: key echo", statistics.median(run["key_s"] for run in runs) * 1000, 60, "ms")
    if name == "home":
        yield checked(f"{name}: memory", memory, 90, "MiB")
    else:
        yield Figure(f"{name}: memory", f"{memory:.0f} MiB")


def _timed(script: Path, command: list[str], match: str, key: str = "", key_match: str = "") -> Runs:
    """Raises Missing when the words are not painted."""
    keys = ["--key", key.encode("unicode_escape").decode(), "--key-match", key_match] if key else []
    asked = [sys.executable, str(script), "--json", "--runs", str(RUNS), "--match", match, *keys, "--", *command]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{command[0]} did not paint {match!r}: {done.stderr[:1500]}")
    runs: Runs = json.loads(done.stdout)
    return runs
