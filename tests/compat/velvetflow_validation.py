"""VelvetFlow's recorded validations: our findings must hold theirs, by code, node and field.

A case passes when the errors are the same; findings without a place in theirs match any place in ours, and warnings
of ours do not count. `DECISIONS` says where and why ours finds more, or less.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.registry import Action, ActionRegistry
from flowcabal_tui.dialects.velvetflow import check
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.workflow import Problem
from tests.compat.result import CaseResult

HERE = "velvetflow"
CASES = "validation_cases.json"
Case = dict[str, Any]
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Decision:
    """Where we differ on purpose: which cases it covers (`more` are our errors beyond theirs), and why."""

    reason: str
    covers: Callable[[Case, set[Place], dict[Place, Problem]], bool]


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `velvetflow` folder; files that are not there are passed over."""
    root = folder / HERE
    if not (root / CASES).exists():
        return []
    builtin = ActionRegistry.load(sorted(root.glob("actions/business_actions*.json"))).all()
    cases = json.loads((root / CASES).read_text(encoding="utf-8"))["cases"]
    return [_judged(case, findings(case, builtin)) for case in cases]


def findings(case: Case, builtin: tuple[Action, ...]) -> tuple[Problem, ...] | FlowCabalError:
    """What ours says of a case, or the error that it raises."""
    given = case["registry"]
    actions = builtin if isinstance(given, str) else [Action.model_validate(one) for one in given]
    try:
        return check(case["workflow"], {action.action_id: action for action in actions})
    except FlowCabalError as error:
        return error


def _judged(case: Case, found: tuple[Problem, ...] | FlowCabalError) -> CaseResult:
    def result(outcome: str, detail: str = "") -> CaseResult:
        return CaseResult(f"{HERE}/{CASES}", case["id"], outcome, detail)

    if isinstance(found, FlowCabalError):
        return result("fail", f"ours raises {found}")
    ours = {_place(one): one for one in found}
    expected = case["expected"]
    theirs = [_their_place(one) for one in expected] if isinstance(expected, list) else []
    missing = {place for place in theirs if not any(_covers(place, one) for one in ours)}
    more = {
        place: one
        for place, one in ours.items()
        if one.severity == "error" and not any(_covers(known, place) for known in theirs)
    }
    if not missing and not more and isinstance(expected, list):
        return result("pass")
    said = "; ".join(f"[{one.code}] {one.node}.{one.field}: {one.message}" for one in found) or "nothing"
    for decision in DECISIONS if "quirk" in case else UNASKED:
        if decision.covers(case, missing, more):
            return result("deliberate", f"{decision.reason}: {said}"[:600])
    return result("fail", f"ours {said}; theirs {json.dumps(expected, ensure_ascii=False)[:400]}")


def _place(finding: Problem) -> Place:
    return finding.code, finding.node, finding.field


def _their_place(one: Mapping[str, Any] | list[Any]) -> Place:
    code, node, field = (one["code"], one["node_id"], one["field"]) if isinstance(one, dict) else one[:3]
    return str(code), str(node or ""), str(field or "")


def _covers(theirs: Place, ours: Place) -> bool:
    return theirs[0] == ours[0] and theirs[1] in ("", ours[1]) and theirs[2] in ("", ours[2])


def _stops(case: Case) -> bool:
    """Does the original's validator end on a mistake of its own?"""
    return isinstance(case["expected"], dict) and case["expected"].get("raises") == "UnboundLocalError"


_NEW = ("INVALID_EDGE", "SELF_REFERENCE", "DISCONNECTED_GRAPH", "UNREACHABLE_NODE", "SYNTAX_ERROR", "DUPLICATE_SYMBOL")
"""Codes of checks that the original lacks."""


def _is_of_type(finding: Problem) -> bool:
    return finding.code == "SCHEMA_MISMATCH" and " is not of type " in finding.message


UNASKED = (
    Decision(
        "the types of literal values in the document are checked",
        lambda case, missing, more: bool(more) and not missing and all(map(_is_of_type, more.values())),
    ),
    Decision(
        "edges that lead nowhere, circles and what can never run are found",
        lambda case, missing, more: bool(more) and not missing and all(place[0] in _NEW for place in more),
    ),
    Decision(
        "all that is wrong is found, where the original stops on a mistake of its own",
        lambda case, missing, more: _stops(case) and bool(more),
    ),
)
_FOUND: Mapping[str, set[Place]] = {
    "string-path-bad-not-noticed": {("SCHEMA_MISMATCH", "b", "text")},
    "self-reference": {("SELF_REFERENCE", "a", "")},
    "type-mismatch-binding": {("SCHEMA_MISMATCH", "b", "max_sentences")},
    "cond-source-number-crash": {("SCHEMA_MISMATCH", "c", "field")},
    "cond-source-unknown-node": {("SCHEMA_MISMATCH", "c", "source")},
    "cond-branch-unknown-target": {("INVALID_EDGE", "c", "true_to_node")},
}
"""What ours finds where the original is silent, for the cases that are known."""
DECISIONS = (
    Decision(
        "found, where the original is silent",
        lambda case, missing, more: bool(more) and not missing and more.keys() == _FOUND.get(case["id"], set(more)),
    ),
    Decision(
        "max_iterations is a parameter of loops",
        lambda case, missing, more: not more and {(place[0], place[2]) for place in missing} == _BOUND,
    ),
)
_BOUND = {("UNKNOWN_PARAM", "max_iterations")}
