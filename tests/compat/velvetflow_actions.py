"""VelvetFlow's recorded cases of actions: registry, approval, simulation templates."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.errors import ActionError, ApprovalRequired, SimulationError
from flowcabal_tui.actions.executor import ActionExecutor
from flowcabal_tui.actions.registry import Action, ActionRegistry
from flowcabal_tui.actions.simulation import load_simulations, simulate
from tests.actions.functions import RegistryWithFunctions
from tests.compat.result import CaseResult

HERE = "velvetflow"
APPROVAL = "approval_cases.json"
EXECUTIONS = "execution_cases*.json"
_ACTION_IN_MESSAGE = re.compile(r"动作 (\S+) 需要审批")


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `velvetflow` folder; files that are not there are passed over."""
    root = folder / HERE
    results = [
        *_loads(sorted(root.glob("actions/business_actions*.json")), lambda path: ActionRegistry.load([path])),
        *_loads(sorted(root.glob("actions/simulation_data*.json")), load_simulations),
    ]
    if (root / APPROVAL).exists():
        cases = json.loads((root / APPROVAL).read_text(encoding="utf-8"))
        results += [_approval(case) for case in cases]
    for path in sorted(root.glob(EXECUTIONS)):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            results += [
                _simulation(f"{HERE}/{path.name}", f"{case['id']} · simulation {number} · {action_id}", recorded, value)
                for number, (action_id, recorded, value) in enumerate(_recorded_calls(case), 1)
            ]
    return results


def _loads(paths: list[Path], load: Callable[[Path], object]) -> Iterator[CaseResult]:
    for path in paths:
        name = f"{HERE}/actions/{path.name}"
        try:
            load(path)
        except ActionError as error:
            yield CaseResult(name, "loads", "fail", str(error))
        else:
            yield CaseResult(name, "loads", "pass", "")


def _approval(case: dict[str, Any]) -> CaseResult:
    """Theirs looks for a node that is called an approval; ours stops at the action itself."""
    name = f"{HERE}/{APPROVAL}"
    named = {found for message in case["expected"] for found in _ACTION_IN_MESSAGE.findall(message)}
    gates = asyncio.run(_gates(case))
    if gates == named:
        return CaseResult(name, case["id"], "pass", "")
    if not named and gates == {node["action_id"] for node in case["nodes"]} & set(case["requires_approval"]):
        detail = "a node called an approval opens no gate: the action itself waits for one"
        return CaseResult(name, case["id"], "deliberate", detail)
    return CaseResult(name, case["id"], "fail", f"gates at {sorted(gates)}, recorded {sorted(named)}")


async def _gates(case: dict[str, Any]) -> set[str]:
    """The actions at which a run of the case's nodes stops for approval."""
    needing = case["requires_approval"]
    ids = dict.fromkeys(node["action_id"] for node in case["nodes"] if node.get("action_id"))
    actions = (
        Action(action_id=each, description="", arg_schema={}, function="done", requires_approval=each in needing)
        for each in ids
    )
    registry = RegistryWithFunctions(actions, done=lambda params: params)
    executor = ActionExecutor(registry, {}, folder=Path())
    stopped = set()
    for node in case["nodes"]:
        try:
            await executor.run(node["action_id"], node.get("params", {}), role="user", approved=False)
        except ApprovalRequired as error:
            stopped.add(error.action_id)
    return stopped


Call = tuple[str, dict[str, Any], Callable[[bool], Any]]


def _recorded_calls(case: dict[str, Any]) -> Iterator[Call]:
    """Each recorded result of a simulated action, and how ours is made (as text, or with types)."""
    nodes = {node["id"]: node for node in _nodes(case.get("workflow", {}).get("nodes", []))}

    def call(node_id: str, recorded: dict[str, Any]) -> Iterator[Call]:
        action_id = nodes.get(node_id, {}).get("action_id")
        if not action_id or "params" not in recorded:
            return
        result = {key: value for key, value in recorded.items() if key != "params"}
        params, data = recorded["params"], case.get("simulations") or {}
        yield action_id, result, lambda strings: simulate(action_id, params, data, strings=strings)

    for node_id, recorded in case["expected"].get("results", {}).items():
        yield from call(node_id, recorded)
        last = nodes.get(node_id, {}).get("params", {}).get("body_subgraph", {}).get("exit")
        for turn in recorded.get("iterations", []):
            if last and "exit_result" in turn:
                yield from call(last, turn["exit_result"])


def _nodes(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        yield node
        yield from _nodes((node.get("params") or {}).get("body_subgraph", {}).get("nodes", []))


def _simulation(file: str, case: str, recorded: Any, value: Callable[[bool], Any]) -> CaseResult:
    as_text = value(True)
    if as_text != recorded:
        return CaseResult(file, case, "fail", f"{as_text!r}, recorded {recorded!r}")
    try:
        typed = value(False)
    except SimulationError as error:
        return CaseResult(file, case, "deliberate", f"a slot without a value is an error: {error.title}")
    if typed == recorded:
        return CaseResult(file, case, "pass", "")
    if _equal_as_text(typed, recorded):
        return CaseResult(file, case, "deliberate", f"a slot that is the whole text keeps its type: {typed!r}")
    return CaseResult(file, case, "fail", f"{typed!r}, recorded {recorded!r}")


def _equal_as_text(typed: Any, recorded: Any) -> bool:
    """Are the two equal but for values that the original made into text?"""
    if isinstance(typed, dict) and isinstance(recorded, dict):
        return typed.keys() == recorded.keys() and all(_equal_as_text(typed[key], recorded[key]) for key in typed)
    if isinstance(typed, list) and isinstance(recorded, list):
        return len(typed) == len(recorded) and all(map(_equal_as_text, typed, recorded))
    return bool(typed == recorded or str(typed) == recorded)
