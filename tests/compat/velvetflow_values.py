"""VelvetFlow's recorded cases of values: bindings, parameters, paths and conditions.

Each binding, tree of parameters or condition stands in a document, beside actions that yield what the case's context
holds; the document is read, validated and run as any other. `DECISIONS` says where ours differs, and what it must
give then.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.dialects.velvetflow import check, read
from flowcabal_tui.domain import paths
from flowcabal_tui.domain.errors import BindingError, FlowCabalError
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.protocol.runs import WorkflowFailed
from tests.compat.result import CaseResult
from tests.runner.fakes import Bench, FakeModel

HERE = "velvetflow"
PROBE = "probe"
Case = dict[str, Any]
Json = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What ours gave: a value, or what validation found or the run said."""

    value: Any = None
    error: str = ""
    findings: tuple[Problem, ...] = ()

    def is_as(self, expected: Mapping[str, Any]) -> bool:
        if "raises" in expected:
            return bool(self.error)
        return not self.error and _same(self.value, expected.get("value"))

    def __str__(self) -> str:
        return (self.error or json.dumps(self.value, ensure_ascii=False))[:300]


@dataclass(frozen=True)
class Decision:
    """Where we differ on purpose: whether it is such a case and ours gives exactly what it must, and why."""

    reason: str
    holds: Callable[[Case, Outcome, Context], bool]


@dataclass(frozen=True)
class Context:
    """What the nodes around yield, their schemas, and the loop that some cases stand in."""

    results: Mapping[str, Any]
    schemas: Mapping[str, Json]
    loop: Mapping[str, Any]
    loop_id: str

    def document(self, probe: Json, *, in_loop: bool) -> Json:
        """A document in which `probe` finds all that is around it."""
        around = [one for one in self.schemas if not (in_loop and one == self.loop_id)]
        nodes: list[Json] = [
            {"id": one, "type": "action", "action_id": f"context.{one}", "params": {}} for one in around
        ]
        return {"workflow_name": "case", "nodes": [*nodes, self.looped(probe) if in_loop else probe]}

    def looped(self, probe: Json) -> Json:
        """A loop in which the round of the case is one of as many as it says."""
        item, size = self.loop["item"], self.loop.get("size", self.loop["index"] + 1)
        alias = next((name for name in self.loop if name not in ("index", "item", "size", "accumulator")), "item")
        return {
            "id": self.loop_id,
            "type": "loop",
            "params": {
                "loop_kind": "for_each",
                "source": [item] * size,
                "item_alias": alias,
                "accumulator": self.loop.get("accumulator", {}),
                "body_subgraph": {"nodes": [probe], "exit": PROBE},
            },
        }

    def registry(self) -> dict[str, Action]:
        known = {
            f"context.{name}": Action(action_id=f"context.{name}", description="", arg_schema={}, output_schema=schema)
            for name, schema in self.schemas.items()
        }
        return known | {PROBE: Action(action_id=PROBE, description="", arg_schema={}, output_schema={})}

    def at(self, path: str) -> Any:
        """What a plain path leads to, looked up by nothing but keys and indexes."""
        value: Any = {"result_of": self.results, "loop": self.loop, **self.loop}
        for index, key in re.findall(r"\[(\d+)\]|([^.\[\]]+)", path):
            value = value[int(index)] if index else value[key]
        return value


@dataclass(frozen=True)
class _Actions:
    """Actions that yield what the context holds; the probe yields what it was given."""

    results: Mapping[str, Any]

    def gated(self, action: str) -> bool:
        return False

    async def act(self, action: str, params: Mapping[str, Any], *, approved: bool) -> Any:
        return {} if action == PROBE else self.results[action.removeprefix("context.")]


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `velvetflow` folder; files that are not there are passed over."""
    root = folder / HERE
    context = Context({}, {}, {}, "")
    if (root / "binding_cases.json").exists():
        given = _read(root / "binding_cases.json")["context"]
        schemas = dict(_yields(given["nodes"], _actions(root)))
        context = Context(given["results"], schemas, given["loop_ctx"], given["loop_id"])
    one_case: Mapping[str, Callable[[Case], CaseResult]] = {
        "binding_cases.json": lambda case: _binding(case, context),
        "param_cases.json": lambda case: _param(case, context),
        "path_cases.json": _path,
        "condition_cases.json": lambda case: _condition(case, context),
    }
    return [
        judged(case)
        for name, judged in one_case.items()
        if (root / name).exists()
        for case in _cases(_read(root / name))
    ]


def outcome(probe: Json, context: Context, *, in_loop: bool) -> Outcome:
    """Reads, validates and runs a document around the probe. An input of the run that is asked for is not given."""
    document = context.document({"id": PROBE, **probe}, in_loop=in_loop)
    try:
        found = tuple(
            one for one in check(document, context.registry()) if one.node == PROBE or one.severity == "error"
        )
        if errors := [one for one in found if one.severity == "error"]:
            return Outcome(
                error="; ".join(f"[{one.code}] {one.field}: {one.message}" for one in errors), findings=found
            )
        return replace(asyncio.run(_ran(document, context, in_loop=in_loop)), findings=found)
    except FlowCabalError as error:
        return Outcome(error=str(error))


async def _ran(document: Json, context: Context, *, in_loop: bool) -> Outcome:
    bench = Bench(FakeModel(lambda request: "a text"))
    bench.ports = replace(bench.ports, actions=_Actions(context.results))
    made = await bench.run(read(document).workflow)
    await made.execute()
    if failures := [f"{event.error} {event.detail}" for event in bench.of(WorkflowFailed)]:
        return Outcome(error="\n".join(failures))
    outputs = {str(node): output.value for node, output in made.outputs.items()}
    if in_loop:
        return Outcome(outputs[context.loop_id]["iterations"][context.loop["index"]]["exit_result"])
    return Outcome(outputs[PROBE])


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _cases(document: Any) -> list[Case]:
    cases: list[Case] = document["cases"] if isinstance(document, dict) else document
    return cases


def _same(ours: Any, theirs: Any) -> bool:
    return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def _judged(
    file: str, case: Case, name: str, ours: Outcome, expected: Mapping[str, Any], context: Context
) -> CaseResult:
    if "quirk" in case and "recommended_value" in case:
        expected = {"value": case["recommended_value"]}
    if ours.is_as(expected):
        return CaseResult(f"{HERE}/{file}", name, "pass", "")
    for decision in DECISIONS if "quirk" in case else UNASKED:
        if decision.holds({**case, "expected": expected}, ours, context):
            return CaseResult(f"{HERE}/{file}", name, "deliberate", f"{decision.reason}: {ours}")
    recorded = json.dumps(dict(expected), ensure_ascii=False)[:300]
    return CaseResult(f"{HERE}/{file}", name, "fail", f"ours {ours}; theirs {recorded}")


def _binding(case: Case, context: Context) -> CaseResult:
    """Theirs checks the shape before a run and the path when it is resolved; ours does both before."""
    file = "binding_cases.json"
    probe = {"type": "action", "action_id": PROBE, "params": {"v": case["binding"]}}
    ours = outcome(probe, context, in_loop=case.get("loop", False))
    ours = replace(ours, value=_as_recorded(ours.value["params"]["v"])) if not ours.error else ours
    if case["static_shape_error"] is not None and not ours.findings:
        return CaseResult(f"{HERE}/{file}", case["id"], "fail", f"nothing found; theirs {case['static_shape_error']}")
    return _judged(file, case, case["id"], ours, case["expected"], context)


def _as_recorded(value: Any) -> Any:
    """A whole result without what an action of the context was given, which is nothing."""
    given = isinstance(value, dict) and value.get("params") == {}
    return {key: part for key, part in value.items() if key != "params"} if given else value


def _param(case: Case, context: Context) -> CaseResult:
    probe = {"type": "action", "action_id": PROBE, "params": case["params"]}
    ours = outcome(probe, context, in_loop=case.get("loop", False))
    ours = replace(ours, value=ours.value["params"]) if not ours.error else ours
    return _judged("param_cases.json", case, case["id"], ours, case["expected"], context)


def _path(case: Case) -> CaseResult:
    """The functions with which every path and text of a document is read."""
    functions: Mapping[str, Callable[[Any], Any]] = {
        "parse_field_path": lambda path: list(paths.parse(path).parts),
        "normalize_reference_path": lambda path: paths.unwrap(path) if isinstance(path, str) else path,
        "canonicalize_template_placeholders": lambda text: paths.braced(text) if isinstance(text, str) else text,
    }
    name = f"{case['fn']}({json.dumps(case['in'], ensure_ascii=False)})"
    expected = case if "raises" in case else {"value": case["out"]}
    try:
        ours = Outcome(functions[case["fn"]](case["in"]))
    except BindingError as error:
        ours = Outcome(error=str(error))
    return _judged("path_cases.json", case, name, ours, expected, Context({}, {}, {}, ""))


def _condition(case: Case, context: Context) -> CaseResult:
    """Theirs answers a band by its label, everything else by true or false."""
    expected = dict(case["expected"])
    by_label = isinstance(expected.get("result"), str)
    ours = _held(case["params"], context, in_loop=case.get("loop", False), by_label=by_label)
    if "raises" not in expected:
        expected = {"value": {"result": expected["result"], "values": expected["values"]}}
    return _judged("condition_cases.json", case, case["id"], ours, expected, context)


def _held(params: Json, context: Context, *, in_loop: bool, by_label: bool = False) -> Outcome:
    ours = outcome({"type": "condition", "params": params}, context, in_loop=in_loop)
    if ours.error:
        return ours
    held = ours.value["label" if by_label else "result"]
    return replace(ours, value={"result": held, "values": ours.value.get("evaluated_values")})


def _actions(root: Path) -> dict[str, Any]:
    return {
        action["action_id"]: action
        for path in sorted(root.glob("actions/business_actions*.json"))
        for action in _cases(_read(path))
    }


def _yields(nodes: list[Json], actions: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """What each node yields as theirs sees it; an unknown action and a loop without exports cannot be referred to."""
    for node in nodes:
        action = actions.get(node.get("action_id", ""))
        exports = node.get("params", {}).get("exports")
        if node["type"] == "loop" and exports is not None:
            yield node["id"], _loop_output(exports)
        elif node["type"] == "action" and action is not None:
            output = _closed(node.get("out_params_schema") or action["output_schema"])
            given = action.get("arg_schema")
            fields = {**output["properties"], "params": _closed(given) if given else {}}
            yield node["id"], {**output, "properties": fields}
        elif node["type"] not in ("loop", "action"):
            yield node["id"], {}


def _loop_output(exports: Mapping[str, Any]) -> Json:
    fields: Json = {name: {} for name in exports.get("items", {}).get("fields", ())}
    totals: Json = {one["name"]: {} for one in exports.get("aggregates", ())}
    return {
        "type": "object",
        "properties": {
            "status": {"type": "string"},
            "loop_kind": {"type": "string"},
            "iterations": {"type": "array", "items": _closed({"type": "object"})},
            "accumulator": _closed({"type": "object"}),
            "items": {"type": "array", "items": {"type": "object", "properties": fields}},
            "aggregates": {"type": "object", "properties": totals},
        },
    }


def _closed(schema: Mapping[str, Any]) -> Json:
    """Theirs takes a schema of an object for complete, also one without `properties`."""
    closed = dict(schema)
    if not closed:
        return closed
    if closed.get("type", "object") == "object":
        closed["properties"] = {name: _closed(inner) for name, inner in closed.get("properties", {}).items()}
        closed["additionalProperties"] = False
    if "items" in closed:
        closed["items"] = _closed(closed["items"])
    return closed


def _params(case: Case) -> Json:
    params: Json = case.get("params", {})
    return params


def _source(case: Case) -> Any:
    return case.get("binding", {}).get("__from__")


def is_python_text(recorded: Any, ours: Any) -> bool:
    """The recorded text writes lists and objects as Python does where ours writes JSON."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        return recorded.keys() == ours.keys() and all(
            recorded[key] == ours[key] or is_python_text(recorded[key], ours[key]) for key in recorded
        )
    return isinstance(recorded, str) and isinstance(ours, str) and _with_json(recorded) == ours


def _with_json(text: str) -> str:
    """`text` with every list and object that Python wrote in it as JSON."""
    out, at = "", 0
    while at < len(text):
        ends = [end for end in range(len(text), at + 1, -1) if text[end - 1] in "]}"] if text[at] in "[{" else []
        read_here = ((end, _literal(text[at:end])) for end in ends)
        end, value = next(((end, value) for end, value in read_here if value is not None), (at + 1, None))
        out += text[at] if value is None else json.dumps(value, ensure_ascii=False)
        at = end
    return out


def _literal(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, (list, dict)) else None


def _passed_on(case: Case, ours: Outcome, _context: Context) -> bool:
    """Theirs hands the binding on as it stands; ours names the place of one that leads nowhere."""
    given = {key: value for key, value in _params(case).items() if _same(value, case["expected"]["value"].get(key))}
    return bool(ours.error) and any(f"] {key}" in ours.error for key in given)


def _asked_for(case: Case, ours: Outcome, _context: Context) -> bool:
    """Theirs leaves a name that nobody knows in the text; ours asks the run for it, and says so before."""
    names = re.findall(r"\{\{\s*(\w+)", json.dumps(_params(case)))
    asked = [one.message for one in ours.findings if one.code == "UNDEFINED_REFERENCE"]
    return bool(names) and all(any(name in said for said in asked) for name in names) and "input." in ours.error


def _recorded_false(case: Case) -> bool:
    value = case["expected"].get("value")
    return isinstance(value, dict) and value.get("result") is False


_UNREADABLE = ("[MISSING_REQUIRED_PARAM] kind", "[SYNTAX_ERROR] expression", "[SCHEMA_MISMATCH] pattern")


def _steps(items: list[Any], steps: list[Json]) -> Any:
    """What `sort`, `limit` and `map` make of items, carried out plainly."""
    for step in steps:
        match step["op"]:
            case "sort":
                items = sorted(items, key=lambda item, step=step: item[step["field"]], reverse=bool(step.get("desc")))
            case "limit":
                items = items[: step["value"]]
            case "map":
                items = [item[step["field"]] for item in items]
            case _:
                return None
    return items


def _band(params: Json, value: Any) -> Any:
    return any(band.get("min", value) <= value <= band.get("max", value) for band in params["bands"])


UNASKED = (
    Decision(
        "a binding that leads nowhere is an error, never passed on",
        lambda *one: "params" in one[0] and _passed_on(*one),
    ),
    Decision("a name that nobody defines is an input of the run", _asked_for),
    Decision(
        "lists and objects inside a text are written as JSON",
        lambda case, ours, context: is_python_text(case["expected"].get("value"), ours.value),
    ),
    Decision(
        "an index works after a field that was read of every item",
        lambda case, ours, context: (
            not ours.error
            and "不存在的字段" in str(case["expected"].get("message"))
            and _projected(context, str(_source(case))) == ours.value
        ),
    ),
    Decision(
        "a condition that cannot be read is found, never taken for false",
        lambda case, ours, context: _recorded_false(case) and any(ours.error.startswith(one) for one in _UNREADABLE),
    ),
    Decision(
        "its own validation refuses the shape, although its executor answers",
        lambda case, ours, context: (
            bool(case.get("static_shape_error")) and ours.error.startswith("[SCHEMA_MISMATCH] v")
        ),
    ),
    Decision(
        "its own validation refuses a contains without a field, although its executor answers",
        lambda case, ours, context: (
            _params(case).get("kind") == "contains"
            and "field" not in _params(case)
            and ours.error.startswith("[MISSING_REQUIRED_PARAM] field")
        ),
    ),
)
DECISIONS = (
    *UNASKED,
    Decision(
        "several paths give a list of their values",
        lambda case, ours, context: (
            isinstance(_source(case), list) and _same(ours.value, [context.at(path) for path in _source(case)])
        ),
    ),
    Decision(
        "a comparison that does not exist is an error",
        lambda case, ours, context: "Input should be '=='" in ours.error and "] v" in ours.error,
    ),
    Decision(
        "a format reaches fields, never attributes",
        lambda case, ours, context: (
            "__" in str(case.get("binding", {}).get("format"))
            and ours.value == "\n".join([case["binding"]["format"]] * len(context.at(str(_source(case)))))
        ),
    ),
    Decision(
        "every step of a pipeline is carried out",
        lambda case, ours, context: (
            bool(steps := case.get("binding", {}).get("steps"))
            and not ours.error
            and _same(ours.value, _steps(context.at(str(_source(case))), steps))
        ),
    ),
    Decision(
        "an index works after loop as everywhere",
        lambda case, ours, context: (
            str(_source(case)).startswith("loop.") and _same(ours.value, context.at(str(_source(case))))
        ),
    ),
    Decision(
        "the form of the README, with op for the kind, is understood",
        lambda case, ours, context: (
            "op" in _params(case)
            and "kind" not in _params(case)
            and not ours.error
            and _same(ours.value, _held(_with_kind(_params(case)), context, in_loop=case.get("loop", False)).value)
        ),
    ),
    Decision(
        "multi_band answers the band that holds the value",
        lambda case, ours, context: (
            _params(case).get("kind") == "multi_band"
            and ours.value
            == {"result": _band(_params(case), value := context.at(_params(case)["source"])), "values": [value]}
        ),
    ),
    Decision(
        "a source that leads nowhere is an error that names what there is",
        lambda case, ours, context: (
            "kind" in _params(case) and "] source: " in ours.error and "Available: " in ours.error
        ),
    ),
)


def _with_kind(params: Json) -> Json:
    rest = {key: value for key, value in params.items() if key not in ("op", "value")}
    return {**rest, "kind": params["op"], "threshold": params.get("value"), "value": params.get("value")}


def _projected(context: Context, path: str) -> Any:
    """A path in which a field of a list is read of every item, and then an index."""
    if not (match := re.fullmatch(r"(.+)\.([^.\[\]]+)\[(\d+)\]", path)):
        return None
    try:
        return [item[match[2]] for item in context.at(match[1])][int(match[3])]
    except (KeyError, TypeError, IndexError):
        return None
