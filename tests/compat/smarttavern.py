"""SmartTavern's recorded cases: its node types, its executor, its checks at loading, its dual state.

Each flow is read by the dialect and run by our runner. What is compared: items, state afterwards, calls of the model,
and that an error which was told there is told here. Wording, logs and metrics are not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flowcabal_tui.dialects.report import Conversion, DialectError
from flowcabal_tui.dialects.smarttavern import read
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault, RunError, WorkflowError
from flowcabal_tui.domain.items import items_of
from flowcabal_tui.domain.model_calls import ModelRequest
from flowcabal_tui.domain.state import DualState, StateEffect
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.protocol.runs import WorkflowFailed
from tests.compat.result import CaseResult
from tests.dialects.tavern_flows import read_together
from tests.runner.fakes import Bench, FakeModel

HERE = "smarttavern"
FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "upper": lambda item: {"up": str(item.get("t", "")).upper()},
    "none": lambda item: None,
    "say": lambda item: {"messages": [{"role": "user", "content": item.get("user_input", "")}]},
    "select_context": lambda item: {"messages": [{"role": "user", "content": item.get("user_input", "")}]},
}
"""What the recorded functions did; `boom` raised."""


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `smarttavern` folder; files that are not there are passed over."""
    kinds: dict[str, Callable[[dict[str, Any]], tuple[str, str]]] = {
        "node_cases.json": _node_case,
        "executor_cases.json": _executor_case,
        "ir_validation_cases.json": _loading_case,
        "state_cases.json": _state_case,
    }
    return [
        CaseResult(f"{HERE}/{name}", case["id"], *judge(case))
        for name, judge in kinds.items()
        if (path := folder / HERE / name).exists()
        for case in json.loads(path.read_text(encoding="utf-8"))
    ]


@dataclass
class Ran:
    """What became of a flow. `error` is why it could not be read, or did not end.

    `told` are errors and what could not be carried over, `changed` what the reader says it reads in another way.
    """

    items: Any = None
    told: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""


@dataclass
class Models:
    """Answers `R:MODEL:LAST MESSAGE`, and keeps what was asked; the model `boom` is down."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    def model(self, _role: str, name: str | None = None) -> FakeModel:
        name = name or "narrative-llm"
        return FakeModel(lambda request: self._answer(name, request), Endpoint(model=name))

    def _answer(self, name: str, request: ModelRequest) -> str | Exception:
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        self.calls.append({"messages": messages, "model": name})
        return ModelError(ModelFault.NETWORK, "llm down") if name == "boom" else f"R:{name}:{messages[-1]['content']}"


@dataclass
class Library:
    """The other flows and the allowed functions."""

    workflows: Mapping[str, Workflow]

    async def call(self, function: str, item: Mapping[str, Any]) -> Mapping[str, Any]:
        if function not in FUNCTIONS:
            raise RunError(f"code {function}")
        return FUNCTIONS[function](item) or {}

    async def workflow(self, reference: str) -> Workflow:
        if reference not in self.workflows:
            raise WorkflowError(f"no flow {reference}")
        return self.workflows[reference]


async def _ran(conversion: Conversion, others: Mapping[str, Workflow], items: Any, state: DualState) -> Ran:
    models = Models()
    bench = Bench(FakeModel(lambda request: ""))
    bench.ports = replace(bench.ports, models=models, actions=Library(others))
    run_of = await bench.run(conversion.workflow, inputs={"items": items}, scope={"state": state})
    ended = await run_of.execute()
    failures = [f"{event.error} {event.detail}".strip() for event in bench.of(WorkflowFailed)]
    told = [note.message for note in conversion.notes if note.level == "lost"]
    told += [error["message"] for out in run_of.outputs.values() for error in _errors(out.value)]
    last = [run_of.outputs[node] for node in run_of._frame.plan.ends if node in run_of.outputs]
    return Ran(
        items_of(last[-1].value) if last and ended == "done" else None,
        told,
        [note.message for note in conversion.notes if note.level == "changed"],
        state.view(),
        models.calls,
        "" if ended == "done" else failures[0],
    )


def _errors(value: Any) -> list[dict[str, Any]]:
    return value.get("errors", []) if isinstance(value, dict) else []


def _case_state(case: Mapping[str, Any]) -> DualState:
    state = DualState.of(case.get("state") or {})
    if case.get("pending"):
        state.apply(StateEffect("start", keys=tuple(case["pending"])))
    return state


def _flow(case: Mapping[str, Any], documents: list[dict[str, Any]]) -> Ran:
    """Reads the documents, the first of which is run; the others may be called."""
    try:
        flows = read_together(*map(json.dumps, documents))
    except DialectError as error:
        return Ran(error=str(error))
    others = {one.workflow.reference: one.workflow for one in flows}
    return asyncio.run(_ran(flows[0], others, case["items"], _case_state(case)))


def _node_case(case: dict[str, Any]) -> tuple[str, str]:
    node = {"id": "e", "type": case["type"], "params": case["params"]}
    return _judged(case, _flow(case, [{"id": "f", "version": 1, "entry": "e", "nodes": [node]}]))


def _executor_case(case: dict[str, Any]) -> tuple[str, str]:
    return _judged(case, _flow(case, [case["doc"], *case["other_flows"]]))


def _judged(case: Mapping[str, Any], ran: Ran) -> tuple[str, str]:
    expected = case["expected"]
    if "raises" in expected and ran.error:
        return "pass", ""
    if "raises" in expected:
        items = case["items"]
        listed = items is None or (isinstance(items, list) and all(isinstance(item, dict) for item in items))
        return (
            ("fail", f"no error, recorded {expected['raises']}") if listed else ("deliberate", "anything can be items")
        )
    wrong = list(_differences(case, expected, ran))
    if not wrong:
        more = ran.told and not expected["errors"] and "quirk" in case
        return ("deliberate", f"the error is told: {ran.told[0]}") if more else ("pass", "")
    if "quirk" not in case:
        return "fail", "; ".join(wrong)
    if not (ran.error or ran.told or ran.changed):
        return "fail", f"a difference that nobody is told of: {'; '.join(wrong)}"
    for reason, holds in EXCUSES.items():
        if holds(case, wrong, ran):
            return "deliberate", f"{reason}; here {'; '.join(wrong)}"
    return "fail", f"{case['quirk']}; here {'; '.join(wrong)}"


def _nodes(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every node of the flows of a case."""
    documents = [case["doc"], *case["other_flows"]] if "doc" in case else []
    found = [node for document in documents for node in document["nodes"]]
    return found or [{"type": case.get("type", ""), "params": case.get("params", {})}]


def _stops(case: Mapping[str, Any], wrong: list[str], ran: Ran) -> bool:
    """Only what may fail here stops the run: a function, a model, a condition. Nothing else differs."""
    types = {node["type"] for node in _nodes(case)}
    named = {"Code": "code", "LLMChat": "llm", "If": "expression"}
    said = ran.error.lower()
    return len(wrong) == 1 and bool(ran.error) and any(kind in types and word in said for kind, word in named.items())


def _one_key(case: Mapping[str, Any], wrong: list[str], ran: Ran) -> bool:
    """The items differ only by what stands in the field: the one key that the text names."""
    params = _nodes(case)[0].get("params", {})
    key, into = params.get("keys"), params.get("into", "state")
    known = {key: case["state"][key]} if isinstance(key, str) and key in (case.get("state") or {}) else {}
    wanted = [{**item, into: known} for item in case["items"]]
    return isinstance(key, str) and wrong == [f"items {ran.items}"] and ran.items == wanted


def _own_state(case: Mapping[str, Any], wrong: list[str], ran: Ran) -> bool:
    """Only the state differs: it is what it was before, for the flow had its own."""
    private = any(node.get("subflow", {}).get("share_state") is False for node in _nodes(case))
    return private and wrong == [f"state {ran.state}"] and ran.state == (case.get("state") or {})


def _named_alike(case: Mapping[str, Any], wrong: list[str], ran: Ran) -> bool:
    """The items with a partner are as recorded; the others have the names that `output_map` gives."""
    maps = [node["subflow"].get("output_map", {}) for node in _nodes(case) if node["type"] == "Subflow"]
    partners, recorded = len(case["items"]), case["expected"]["items"]
    named = {str(name) for one in maps for name in one.values()} | {str(name) for one in maps for name in one}
    return (
        bool(maps)
        and wrong == [f"items {ran.items}"]
        and ran.items[:partners] == recorded[:partners]
        and len(ran.items) == len(recorded)
        and all(named & set(item) for item in ran.items[partners:])
    )


EXCUSES: dict[str, Callable[[Mapping[str, Any], list[str], Ran], bool]] = {
    "a function, a model or a condition that fails stops its node": _stops,
    "keys given as one text are one key": _one_key,
    "a flow without a shared state has its own": _own_state,
    "items without a partner get the names of output_map": _named_alike,
}
"""Where ours differs on purpose: why, and whether nothing else differs."""


def _differences(case: Mapping[str, Any], expected: Mapping[str, Any], ran: Ran) -> Iterator[str]:
    if ran.error:
        yield f"it does not run: {ran.error}"
        return
    wanted = case.get("recommended_value", expected["items"])
    if ran.items != wanted:
        yield f"items {ran.items}"
    if ran.state != expected["state_after"]:
        yield f"state {ran.state}"
    if ran.calls != expected["llm_calls"]:
        yield f"calls {ran.calls}"
    if expected["errors"] and not ran.told:
        yield "no error is told"


def _loading_case(case: dict[str, Any]) -> tuple[str, str]:
    document, expected = case["doc"], case["expected"]
    try:
        workflow = read(json.dumps(document)).workflow
    except DialectError as error:
        if not expected["ok"]:
            return "pass", ""
        outcome = "deliberate" if "quirk" in case else "fail"
        return outcome, f"refused when it is read: {error.detail}"
    if not expected["ok"]:
        chinese = not json.dumps(document, ensure_ascii=False).isascii()
        return ("deliberate", "ids may be Chinese") if chinese else ("fail", "accepted")
    return ("pass", "") if workflow.reference == expected["ref"] else ("fail", workflow.reference)


def _state_case(case: dict[str, Any]) -> tuple[str, str]:
    state = DualState.of(case["initial"])
    got = [_step(state, *step) for step in case["steps"]]
    wanted = case.get("recommended_value", case["expected"])
    if got == wanted:
        return "pass", ""
    state = DualState.of(case["initial"])
    if [_step(state, *step, drafts=True) for step in case["steps"]] == wanted:
        return "deliberate", f"prompts do not see a draft that was never stable: {got}"
    return ("deliberate" if "quirk" in case else "fail"), f"{got}, recorded {wanted}"


def _step(state: DualState, name: str, *given: Any, drafts: bool = False) -> Any:
    """One step of a state case, as the recorded system calls it; with `drafts` prompts see what was never stable."""
    if drafts and (name == "prompt" or (name == "read" and given[1:] == (True,))):
        seen = {**state.view(), **state.view(prompt=True)}
        return {key: seen[key] for key in (given[0] if given and given[0] is not None else seen) if key in seen}
    match name:
        case "working":
            return state.view()
        case "prompt":
            return state.view(prompt=True)
        case "pending":
            return sorted(state.pending)
        case "read":
            return state.read(given[0], prompt=bool(given[1]) if len(given) > 1 else False)
        case "start":
            state.apply(StateEffect("start", keys=tuple(given[0])))
        case "poke_working":
            state.apply(StateEffect("working", given[0]))
        case "complete":
            state.apply(StateEffect("complete", given[0]))
        case "sync":
            state.apply(StateEffect("write", given[0]))
        case _:
            return f"unknown step {name}"
    return None
