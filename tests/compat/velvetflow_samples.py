"""VelvetFlow's sample files: what becomes of each stands in a table of the documentation.

Simulated with the templates of the recorded execution of that file, else with those of the actions' own file.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.registry import Action, ActionRegistry
from flowcabal_tui.actions.simulation import load_simulations
from flowcabal_tui.dialects.report import Conversion, DialectError
from flowcabal_tui.dialects.velvetflow import check, read
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.nodes.validation import require_valid
from tests.compat.result import CaseResult
from tests.compat.velvetflow_execution import simulated

HERE = "velvetflow"
PAGE = Path(__file__).parents[2] / "docs" / "dialects" / "velvetflow.md"
_ROW = re.compile(r"^\| `([^`]+\.json)` \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
Row = tuple[str, ...]


def run(folder: Path, page: Path = PAGE) -> list[CaseResult]:
    """One result for each sample of `folder`, against its row in `page`."""
    root = folder / HERE
    expected = {name: tuple(cells) for name, *cells in _ROW.findall(page.read_text(encoding="utf-8"))}
    paths = sorted(root.glob("actions/business_actions*.json"))
    registry = {action.action_id: action for action in ActionRegistry.load(paths).all()} if paths else {}
    results = []
    for path in sorted(root.glob("samples/*.json")):
        ours, said = row(path, registry, _templates(root, path.name)), expected.get(path.name)
        outcome = "pass" if ours == said else "fail"
        detail = "" if ours == said else f"ours {ours}; the page says {said}"
        results.append(CaseResult(f"{HERE}/samples/{path.name}", "the row of the page", outcome, detail))
    return results


def row(path: Path, registry: Mapping[str, Action], templates: Mapping[str, Mapping[str, Any]]) -> Row:
    """What becomes of a file: loads, findings, converts, simulates."""
    text = path.read_text(encoding="utf-8")
    try:
        findings = check(text, registry)
        conversion = read(text)
    except DialectError:
        return ("refused", "-", "-", "-")
    told = dict.fromkeys(
        f"{one.code} {one.node}.{one.field}" + (" (warning)" if one.severity == "warning" else "") for one in findings
    )
    notes = [f"{note.level}: {note.place or 'the whole'}" for note in conversion.notes]
    return ("yes", "; ".join(told) or "none", "; ".join(notes) or "as it is", _simulated(conversion, templates))


def _simulated(conversion: Conversion, templates: Mapping[str, Mapping[str, Any]]) -> str:
    try:
        require_valid(conversion.workflow)
    except FlowCabalError:
        return "refused"
    outcome = asyncio.run(simulated(conversion, templates))
    return f"{len(outcome.results)} nodes" if not outcome.error else "stops at " + outcome.error.partition(":")[0]


def _templates(root: Path, sample: str) -> Mapping[str, Mapping[str, Any]]:
    for path in sorted(root.glob("execution_cases*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            if case["id"] == f"sample:{sample}":
                found: Mapping[str, Mapping[str, Any]] = case["simulations"]
                return found
    return dict(_all(root))


def _all(root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in sorted(root.glob("actions/simulation_data*.json")):
        yield from load_simulations(path).items()
