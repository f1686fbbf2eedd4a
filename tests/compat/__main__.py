"""`python -m tests.compat FOLDER [--json]`: the recorded cases of the original systems against ours.

FOLDER holds `velvetflow`, `smarttavern` and `flowcabal`, or some of them. Exit code: 0 every case passes or differs on
purpose, 1 one fails or nothing was run, 2 there is no such folder.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

from tests.compat.result import CaseResult

OUTCOMES: Final = ("pass", "fail", "deliberate")
Runner = Callable[[Path], list[CaseResult]]


def runners(here: Path = Path(__file__).parent) -> dict[str, Runner]:
    """Every module of this folder that runs cases, by name."""
    found = (
        path for path in sorted(here.glob("*.py")) if re.search(r"^def run\(", path.read_text("utf-8"), re.MULTILINE)
    )
    return {path.stem: partial(_run, path.stem) for path in found}


def _run(name: str, folder: Path) -> list[CaseResult]:
    found: list[CaseResult] = import_module(f"tests.compat.{name}").run(folder)
    return found


def results(folder: Path, modules: dict[str, Runner]) -> list[CaseResult]:
    """What every module says; one that breaks off counts as a failed case, and the others still run."""
    found: list[CaseResult] = []
    for name, run in modules.items():
        try:
            found += run(folder)
        except Exception as error:  # the edge: a file of the folder may hold anything
            last = traceback.extract_tb(error.__traceback__)[-1]
            detail = f"{type(error).__name__}: {error} (line {last.lineno} of {Path(last.filename).name})"
            found.append(CaseResult(name, "the module", "fail", detail))
    return found


def unread(folder: Path, found: Iterable[CaseResult]) -> list[str]:
    """JSON files that gave no result: nobody runs them."""
    run = {result.file for result in found}
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.json"))
    return [file for file in files if file not in run]


def counts(found: Iterable[CaseResult]) -> dict[str, Counter[str]]:
    """For each file how many cases have which outcome."""
    table: dict[str, Counter[str]] = {}
    for result in found:
        table.setdefault(result.file, Counter())[result.outcome] += 1
    return table


def report(found: list[CaseResult], others: list[str]) -> Iterable[str]:
    """Lines for a reader: what fails, what differs and why, then the table."""
    table = counts(found)
    for file in table:
        told = [result for result in found if result.file == file and result.outcome != "pass"]
        if told:
            yield file
            yield from (f"  {result.outcome:<11} {result.case}: {_one_line(result.detail)}" for result in told)
    yield ""
    width = max(map(len, (*table, *others, "total")))
    yield f"{'file':<{width}}  {'  '.join(f'{outcome:>10}' for outcome in OUTCOMES)}"
    total = sum(table.values(), Counter())
    for file, row in (*table.items(), ("total", total)):
        yield f"{file:<{width}}  {'  '.join(f'{row[outcome]:>10}' for outcome in OUTCOMES)}"
    for file in others:
        yield f"{file:<{width}}  not run by anybody"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compat")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    if not given.folder.is_dir():
        print(f"{given.folder} is no folder.", file=sys.stderr)
        return 2
    found = results(given.folder, runners())
    others = unread(given.folder, found)
    if given.json:
        told = {
            "counts": counts(found),
            "cases": [asdict(result) for result in found],
            "not_run": others,
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print("\n".join(report(found, others)))
    return 1 if not found or any(result.outcome == "fail" for result in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
