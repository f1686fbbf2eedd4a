"""VelvetFlow's recorded executions: converted, and run by our runner with simulated actions.

Cases without a `quirk` must give the recorded results, in the names that ours gives them; `DECISIONS` says where and
why ours differ.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.simulation import simulate
from flowcabal_tui.dialects.report import Conversion
from flowcabal_tui.dialects.velvetflow import read
from flowcabal_tui.domain.errors import FlowCabalError, RunError
from flowcabal_tui.domain.workflow import Node, Workflow
from flowcabal_tui.nodes.validation import require_valid
from flowcabal_tui.protocol.runs import WorkflowFailed
from tests.compat.result import CaseResult
from tests.compat.velvetflow_values import is_python_text
from tests.runner.fakes import Bench, FakeModel

HERE = "velvetflow"
Case = dict[str, Any]


@dataclass(frozen=True)
class SimulatedActions:
    """Actions as templates of a case, rendered as the original does; none needs approval."""

    data: Mapping[str, Mapping[str, Any]]

    def gated(self, action: str) -> bool:
        return False

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        if not action:
            raise RunError("no action is named")
        return simulate(action, params, self.data, strings=True)

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RunError("no functions")

    async def workflow(self, reference: str) -> Workflow:
        raise RunError("no workflows")


@dataclass(frozen=True)
class Outcome:
    """What ours gave: results by node in theirs' names, and the error, with the node at which it stopped first."""

    results: Mapping[str, Any]
    error: str = ""


@dataclass(frozen=True)
class Decision:
    """Where we differ on purpose: which cases it covers, and why."""

    reason: str
    covers: Callable[[Case, Outcome], bool]


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `velvetflow` folder; files that are not there are passed over."""
    root = folder / HERE
    return [
        _judged(f"{HERE}/{path.name}", case, asyncio.run(outcome(case, root.parent)))
        for path in sorted(root.glob("execution_cases*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
    ]


async def outcome(case: Case, folder: Path) -> Outcome:
    """Converts and runs a case. Names that nobody defines get as inputs what the original leaves in their place."""
    try:
        document = case.get("workflow") or json.loads((folder / case["source"]).read_text(encoding="utf-8"))
        conversion = read(document)
        require_valid(conversion.workflow)
        return await simulated(conversion, case.get("simulations") or {})
    except FlowCabalError as error:
        return Outcome({}, str(error))


async def simulated(conversion: Conversion, simulations: Mapping[str, Mapping[str, Any]]) -> Outcome:
    """Runs the workflow of a conversion with simulated actions."""
    bench = Bench(FakeModel(lambda request: "a text"))
    bench.ports = replace(bench.ports, actions=SimulatedActions(simulations))
    workflow = conversion.workflow
    asked = {name: "{{" + name + "}}" for name in _inputs(workflow)}
    run_of = await bench.run(workflow, inputs=asked)
    await run_of.execute()
    failures = [f"{event.node}: {event.error} {event.detail}" for event in bench.of(WorkflowFailed)]
    results = {
        node.id: _as_theirs(node, run_of.outputs[node.id].value)
        for node in workflow.nodes
        if node.id in run_of.outputs and node.kind not in ("start", "end")
    }
    return Outcome(results, "\n".join(failures))


def _inputs(workflow: Workflow) -> Iterator[str]:
    text = json.dumps([node.params for node in workflow.nodes], ensure_ascii=False)
    for piece in text.split("{{input.")[1:]:
        yield piece.partition("}")[0].partition(".")[0]


def _as_theirs(node: Node, value: Any) -> Any:
    """Our output with the names of theirs."""
    if node.kind == "condition":
        return _condition(node.params, value)
    return _loop(node.params, value) if node.kind == "loop" else value


def _condition(params: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs lays the fields of an object beside the answer; today's answers an expression by its value."""
    told = {key: one for key, one in value.items() if key not in ("label", "result")}
    if params["kind"] == "expression" and "source" not in params:
        told["resolved_value"] = value["result"]
    fields = told.get("resolved_value")
    return {"condition_result": value["result"], **(fields if isinstance(fields, dict) else {}), **told}


def _loop(params: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs has no result of a body without an exit; today's has exports by name only."""
    told = {key: one for key, one in value.items() if key != "stopped"}
    if "exit" not in params["body"]:
        turns = [{key: one for key, one in turn.items() if key != "exit_result"} for turn in value["iterations"]]
        told["iterations"] = turns
    collected = params.get("exports", {}).get("aggregates", [])
    if collected and all(one["kind"] == "collect" for one in collected):
        told = {key: one for key, one in told.items() if key not in ("items", "aggregates")}
        told["exports"] = value["aggregates"]
    return told


def _judged(file: str, case: Case, ours: Outcome) -> CaseResult:
    expected = case["expected"]
    if _same(case, ours):
        return CaseResult(file, case["id"], "pass", "")
    for decision in DECISIONS if "quirk" in case else UNASKED:
        if decision.covers(case, ours):
            return CaseResult(file, case["id"], "deliberate", f"{decision.reason}: {_short(ours)}")
    return CaseResult(
        file, case["id"], "fail", f"ours {_short(ours)}; theirs {json.dumps(expected, ensure_ascii=False)}"
    )


def _short(ours: Outcome) -> str:
    return ours.error[:300] or json.dumps(ours.results, ensure_ascii=False)


def _same(case: Case, ours: Outcome) -> bool:
    expected = case["expected"]
    if "raises" in expected or ours.error:
        return "raises" in expected and bool(ours.error)
    return _equal(ours.results, expected.get("results"))


def _equal(ours: Any, theirs: Any, as_text: Callable[[Any, Any], bool] = lambda theirs, ours: False) -> bool:
    """Equal, true and 1 told apart; `as_text` says whether two texts may differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_equal(ours[key], theirs[key], as_text) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(_equal(*pair, as_text) for pair in zip(ours, theirs, strict=True))
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours == theirs or as_text(theirs, ours)
    return bool(ours == theirs) and isinstance(ours, bool) == isinstance(theirs, bool)


def _raised(case: Case) -> str:
    return str(case["expected"].get("raises", ""))


def _unresolved(case: Case, ours: Outcome) -> bool:
    """Did ours stop at a binding that theirs passed on as it was, or took for nothing?"""
    recorded = json.dumps(case["expected"], ensure_ascii=False)
    passed_on = any(sign in recorded for sign in ("__from__", "{{", "${", '"resolved_value": null'))
    said = ("cannot be filled in", "not in the workflow", "[SCHEMA_MISMATCH]")
    return passed_on and any(one in ours.error for one in said) and _agree_so_far(case, ours)


def _agree_so_far(case: Case, ours: Outcome) -> bool:
    """Do the nodes that ran before ours stopped give what was recorded, loops apart?"""
    loops = {node["id"] for node in case.get("workflow", {}).get("nodes", []) if node.get("type") == "loop"}
    recorded = case["expected"].get("results", {})
    return all(
        _equal(one, recorded[node]) for node, one in ours.results.items() if node in recorded and node not in loops
    )


def _same_but(case: Case, ours: Outcome, left_out: str) -> bool:
    """Are the results those that were recorded, without one node?"""
    recorded = {node: one for node, one in case["expected"].get("results", {}).items() if node != left_out}
    return left_out not in ours.results and _equal(ours.results, recorded)


def _first_items(case: Case, ours: Outcome) -> bool:
    """Are the items of every loop with the mode first those of its first round, and all else as recorded?"""
    firsts = [
        node["id"]
        for node in case.get("workflow", {}).get("nodes", [])
        if node.get("params", {}).get("exports", {}).get("items", {}).get("mode") == "first"
    ]
    recorded = case["expected"].get("results", {})
    return (
        bool(firsts)
        and all(ours.results[node]["items"] == recorded[node]["items"][:1] for node in firsts)
        and _equal(
            {node: one for node, one in ours.results.items() if node not in firsts},
            {node: one for node, one in recorded.items() if node not in firsts},
        )
    )


def _collected(case: Case, ours: Outcome) -> bool:
    """Are the rounds of a loop in today's form as recorded, and taken out of it what they gave?

    What stands behind the loop is not compared: theirs found nothing there.
    """
    nodes, recorded = case.get("workflow", {}).get("nodes", []), case["expected"].get("results", {})
    today = [
        node["id"]
        for node in nodes
        if node["type"] == "loop" and isinstance(node["params"].get("exports", {}).get("items"), str)
    ]
    before = [node["id"] for node in nodes[: next((n for n, one in enumerate(nodes) if one["id"] in today), 0)]]
    return (
        bool(today)
        and all(_equal(ours.results.get(node), recorded.get(node)) for node in before)
        and all(
            _equal(ours.results[node]["iterations"], recorded[node]["iterations"])
            and ours.results[node]["exports"]["items"]
            == [turn["exit_result"] for turn in recorded[node]["iterations"] if "exit_result" in turn]
            for node in today
        )
    )


def _unfilled(theirs: str, _ours: str) -> bool:
    """A text in which theirs left a binding as it was."""
    return "{{" in theirs or "${" in theirs


def _but(case: Case, ours: Outcome, *kinds: str) -> bool:
    """Are the results the same but for nodes of these types?"""
    others = {node["id"] for node in case.get("workflow", {}).get("nodes", []) if node.get("type") in kinds}
    recorded = case["expected"].get("results", {})
    return bool(others) and _equal(
        {node: one for node, one in ours.results.items() if node not in others},
        {node: one for node, one in recorded.items() if node not in others},
    )


UNASKED = (
    Decision("a binding that cannot be resolved is an error, never passed on", _unresolved),
    Decision(
        "a loop over more items than max_iterations is refused before its first round, not cut",
        lambda case, ours: "max_iterations allows" in ours.error and _agree_so_far(case, ours),
    ),
    Decision(
        "lists and objects inside a text are written as JSON",
        lambda case, ours: not ours.error and _equal(ours.results, case["expected"].get("results"), is_python_text),
    ),
    Decision(
        "the branches of a parallel run",
        lambda case, ours: not ours.error and _but(case, ours, "parallel"),
    ),
    Decision(
        "a loop over what is no list is an error that says what it is, not a loop that is skipped",
        lambda case, ours: (
            "a loop needs a list" in ours.error
            and "source_not_list" in json.dumps(case["expected"])
            and _agree_so_far(case, ours)
        ),
    ),
    Decision(
        "{{node.field}} reads the node's result",
        lambda case, ours: not ours.error and _equal(ours.results, case["expected"].get("results"), _unfilled),
    ),
    Decision(
        "exports in today's form are collected, which the older executor does not know",
        lambda case, ours: not ours.error and _collected(case, ours),
    ),
    Decision(
        "an action is waited for: a run is resumed from its log, not from a file made when an action is suspended",
        lambda case, ours: (
            bool(case["expected"].get("suspended")) and "event_type" in ours.error and _agree_so_far(case, ours)
        ),
    ),
    Decision(
        "the original stops on a mistake of its own",
        lambda case, ours: _raised(case) == "TypeError" and not ours.error,
    ),
    Decision(
        "a switch is a chain of conditions: the same way is taken",
        lambda case, ours: not ours.error and _but(case, ours, "switch"),
    ),
)
DECISIONS = (
    Decision(
        "a node of a branch that was not taken does not run, whatever else it reads",
        lambda case, ours: (
            not ours.error and any(_same_but(case, ours, node) for node in case["expected"].get("results", {}))
        ),
    ),
    Decision(
        "every aggregate is computed; a text that is a number counts as one",
        lambda case, ours: (
            case["id"] == "loop-aggregates"
            and _but(case, ours, "loop")
            and ours.results["l"]["aggregates"]
            == {"sum": 114.0, "avg": 38.0, "max": 39, "min": 36.8, "count": 3, "count_if": 2}
        ),
    ),
    Decision(
        "the mode first takes the items of the first round",
        lambda case, ours: not ours.error and _first_items(case, ours),
    ),
    Decision("a binding that cannot be resolved is an error, never passed on", _unresolved),
)
