"""No test looks at a clock, sleeps and hopes, or passes because something took short: another machine is busier."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.waiting import PATIENCE

TESTS: Final = Path(__file__).parent
CLOCKS: Final = {
    "perf_counter",
    "perf_counter_ns",
    "monotonic",
    "monotonic_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
    "time_ns",
    "getrusage",
}
LONGEST_SLEEP: Final = 0.05
REVIEWED: Final = {
    ("waiting.py", "monotonic"): "the one bound of all waits",
    ("waiting.py", "time"): "lets the clock of the loop go on",
}
"""File under `tests/` and what it uses, with the reason."""


def faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and word of what reads a clock, sleeps for long, or gives up early."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_clock(node):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield node.lineno, "from time import"
        elif isinstance(node, ast.Call) and (fault := _waits(node)):
            yield node.lineno, fault


def _is_clock(node: ast.Attribute) -> bool:
    """`time.monotonic` and its like, `time.time`, and `loop.time`."""
    if node.attr in CLOCKS:
        return True
    of = node.value
    name = of.id if isinstance(of, ast.Name) else of.func.attr if _is_method(of) else ""
    return node.attr == "time" and name in ("time", "loop", "get_running_loop", "get_event_loop")


def _is_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _waits(call: ast.Call) -> str:
    """The name of a sleep that is too long, or of a wait that has another bound than `PATIENCE`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    first, *others = [*(_seconds(each) for each in call.args), None]
    named = {each.arg: _seconds(each.value) for each in call.keywords}
    if name in ("sleep", "pause"):
        return name if (first or named.get("delay") or 0) > LONGEST_SLEEP else ""
    if name in ("timeout", "wait", "join", "result") and first is not None:
        return name
    if name in ("wait_for", "wait") and any(each is not None for each in others):
        return name
    if name == "run" and not isinstance(call.func, ast.Attribute):  # a fixture: the time-out is that of the product
        return ""
    if name in ("wait_for", "wait", "run", "communicate", "join", "result") and named.get("timeout") is not None:
        return name
    return ""


def _seconds(node: ast.expr) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return float(node.value)
    return None


def modules() -> list[Path]:
    return [path for path in sorted(TESTS.rglob("*.py")) if "bench" not in path.relative_to(TESTS).parts]


@cache
def found() -> dict[tuple[str, str], list[int]]:
    places: dict[tuple[str, str], list[int]] = {}
    for path in modules():
        for line, word in faults(ast.parse(path.read_text("utf-8"))):
            places.setdefault((path.relative_to(TESTS).as_posix(), word), []).append(line)
    return places


def test_no_test_reads_a_clock_or_waits_for_a_time():
    assert {place: lines for place, lines in found().items() if place not in REVIEWED} == {}


def test_every_reviewed_exception_is_still_needed():
    assert [place for place in REVIEWED if place not in found()] == []


@pytest.mark.parametrize(
    "line",
    [
        "took = time.perf_counter() - began",
        "began = time.time()",
        "began = asyncio.get_running_loop().time()",
        "clock = monotonic = time.monotonic",
        "from time import perf_counter",
        "used = resource.getrusage(0)",
        "await asyncio.sleep(0.3)",
        "time.sleep(1)",
        "await pilot.pause(0.5)",
        "await pilot.pause(delay=1.0)",
        "await asyncio.wait_for(task, 2)",
        "await asyncio.wait_for(task, timeout=2)",
        "with asyncio.timeout(5): pass",
        "gate.wait(10)",
        "thread.join(5)",
        "subprocess.run([], timeout=20)",
    ],
)
def test_what_depends_on_how_fast_a_machine_is_is_found(line):
    assert list(faults(ast.parse(_inside(line))))


@pytest.mark.parametrize(
    "line",
    [
        "await asyncio.sleep(0)",
        "await asyncio.sleep(LOOK)",
        "await pilot.pause()",
        "await asyncio.wait_for(task, PATIENCE)",
        "await gate.wait()",
        "at = datetime.now(UTC).time()",
        "words.get(3)",
        '", ".join(words)',
    ],
)
def test_what_any_machine_does_alike_is_not(line):
    assert list(faults(ast.parse(_inside(line)))) == []


def _inside(line: str) -> str:
    return f"async def test():\n    {line}\n"


def test_patience_is_long():
    assert PATIENCE >= 60
