"""VelvetFlow's recorded cases of values: bindings, parameters, paths and conditions.

Cases without a `quirk` are read in the dialect and must give what was recorded. Cases with one follow their
recommended value or our own rules, of which `DECISIONS` says where and why they differ.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from flowcabal_tui.domain import bindings, conditions, paths
from flowcabal_tui.domain.errors import BindingError, FlowCabalError
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.schemas import Schema
from tests.compat.result import CaseResult

HERE = "velvetflow"
Case = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What ours gave: a value, or the error that it raised."""

    value: Any = None
    error: FlowCabalError | None = None

    def is_as(self, expected: Mapping[str, Any]) -> bool:
        if "raises" in expected:
            return self.error is not None
        return self.error is None and _same(self.value, expected.get("value"))

    def __str__(self) -> str:
        return str(self.error or json.dumps(self.value, ensure_ascii=False))[:300]


@dataclass(frozen=True)
class Decision:
    """Where we differ on purpose: which cases and outcomes it covers, and why."""

    reason: str
    covers: Callable[[Case, Outcome], bool]


def run(folder: Path) -> list[CaseResult]:
    """The results for `folder`, which holds a `velvetflow` folder; files that are not there are passed over."""
    root = folder / HERE
    context, schemas = {}, {}
    if (root / "binding_cases.json").exists():
        context = _read(root / "binding_cases.json")["context"]
        schemas = _schemas(context["nodes"], _actions(root))
    one_case: Mapping[str, Callable[[Case], CaseResult]] = {
        "binding_cases.json": lambda case: _binding(case, context, schemas),
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


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _cases(document: Any) -> list[Case]:
    cases: list[Case] = document["cases"] if isinstance(document, dict) else document
    return cases


def _same(ours: Any, theirs: Any) -> bool:
    return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def _names(context: Mapping[str, Any], *, in_loop: bool) -> dict[str, Any]:
    names: dict[str, Any] = {"result_of": context["results"]}
    if in_loop:
        loop = context["loop_ctx"]
        names |= {**loop, "loop": loop, context["loop_id"]: loop}
    return names


def _tried(work: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(work())
    except FlowCabalError as error:
        return Outcome(error=error)


def _judged(file: str, case: Case, name: str, outcome: Outcome, expected: Mapping[str, Any]) -> CaseResult:
    quirk = "quirk" in case
    if quirk and "recommended_value" in case:
        expected = {"value": case["recommended_value"]}
    if outcome.is_as(expected):
        return CaseResult(f"{HERE}/{file}", name, "pass", "")
    for decision in DECISIONS if quirk else UNASKED:
        if decision.covers(case, outcome):
            return CaseResult(f"{HERE}/{file}", name, "deliberate", f"{decision.reason}: {outcome}")
    recorded = json.dumps(dict(expected), ensure_ascii=False)[:300]
    return CaseResult(f"{HERE}/{file}", name, "fail", f"ours {outcome}; theirs {recorded}")


def _binding(case: Case, context: Mapping[str, Any], schemas: Mapping[NodeId, Schema | None]) -> CaseResult:
    """Theirs checks a reference against the schemas when it is resolved; so both checks of ours are one here."""
    file, binding = "binding_cases.json", case["binding"]
    names = _names(context, in_loop=case.get("loop", False))

    def work() -> Any:
        for _place, path in bindings.paths_in(binding):
            if finding := bindings.check_path(path, schemas):
                raise BindingError(path, finding.message)
        return bindings.resolve(binding, names, dialect=_dialect(case))

    result = _judged(file, case, case["id"], _tried(work), case["expected"])
    errors = [finding for finding in bindings.check_shape(binding) if finding.severity == "error"]
    flawed = case["static_shape_error"] is not None
    if result.outcome != "fail" and ((flawed and not bindings.check_shape(binding)) or (errors and not flawed)):
        if errors and "quirk" in case:
            return CaseResult(result.file, result.case, "deliberate", f"found before it runs: {errors[0].message}")
        found = [finding.message for finding in bindings.check_shape(binding)]
        return CaseResult(result.file, result.case, "fail", f"shape: {found}; theirs {case['static_shape_error']}")
    return result


def _dialect(case: Case) -> Literal["flowcabal", "velvetflow"]:
    return "flowcabal" if "quirk" in case else "velvetflow"


def _param(case: Case, context: Mapping[str, Any]) -> CaseResult:
    names = _names(context, in_loop=case.get("loop", False))
    outcome = _tried(lambda: bindings.resolve(case["params"], names, dialect=_dialect(case)))
    return _judged("param_cases.json", case, case["id"], outcome, case["expected"])


def _path(case: Case) -> CaseResult:
    functions: Mapping[str, Callable[[Any], Any]] = {
        "parse_field_path": lambda path: list(paths.parse(path).parts),
        "normalize_reference_path": lambda path: paths.unwrap(path) if isinstance(path, str) else path,
        "canonicalize_template_placeholders": lambda text: paths.braced(text) if isinstance(text, str) else text,
    }
    name = f"{case['fn']}({json.dumps(case['in'], ensure_ascii=False)})"
    expected = case if "raises" in case else {"value": case["out"]}
    return _judged(
        "path_cases.json",
        {"expected": expected, **case},
        name,
        _tried(lambda: functions[case["fn"]](case["in"])),
        expected,
    )


def _condition(case: Case, context: Mapping[str, Any]) -> CaseResult:
    """Theirs answers a band by its label, everything else by true or false."""
    names = _names(context, in_loop=case.get("loop", False))
    expected = dict(case["expected"])
    by_label = isinstance(expected.get("result"), str)

    def work() -> Any:
        held = conditions.check(conditions.read(case["params"]), names, dialect=_dialect(case))
        return {"result": held.label if by_label else held.result, "values": held.evaluated_values}

    if "raises" not in expected:
        expected = {"value": {"result": expected["result"], "values": expected["values"]}}
    return _judged("condition_cases.json", case, case["id"], _tried(work), expected)


def _actions(root: Path) -> dict[str, Any]:
    return {
        action["action_id"]: action
        for path in sorted(root.glob("actions/business_actions*.json"))
        for action in _cases(_read(path))
    }


def _schemas(nodes: list[dict[str, Any]], actions: Mapping[str, Any]) -> dict[NodeId, Schema | None]:
    """What each node yields as theirs sees it; an unknown action and a loop without exports cannot be referred to."""
    return dict(_yields(nodes, actions))


def _yields(nodes: list[dict[str, Any]], actions: Mapping[str, Any]) -> Iterator[tuple[NodeId, Schema | None]]:
    for node in nodes:
        name, action = NodeId(node["id"]), actions.get(node.get("action_id", ""))
        exports = node.get("params", {}).get("exports")
        if node["type"] == "loop" and exports is not None:
            yield name, _loop_output(exports)
        elif node["type"] == "action" and action is not None:
            output = _closed(node.get("out_params_schema") or action["output_schema"])
            given = action.get("arg_schema")
            fields = {**output["properties"], "params": _closed(given) if given else {}}
            yield name, {**output, "properties": fields}
        elif node["type"] not in ("loop", "action"):
            yield name, None


def _loop_output(exports: Mapping[str, Any]) -> Schema:
    fields: Schema = {name: {} for name in exports.get("items", {}).get("fields", ())}
    totals: Schema = {one["name"]: {} for one in exports.get("aggregates", ())}
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


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs takes a schema of an object for complete, also one without `properties`."""
    closed = dict(schema)
    if closed.get("type", "object") == "object":
        closed["properties"] = {name: _closed(inner) for name, inner in closed.get("properties", {}).items()}
        closed["additionalProperties"] = False
    if "items" in closed:
        closed["items"] = _closed(closed["items"])
    return closed


def _steps(case: Case) -> list[dict[str, Any]]:
    steps = case.get("binding", {}).get("steps")
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def _params(case: Case) -> dict[str, Any]:
    params: dict[str, Any] = case.get("params", {})
    return params


def _operators(case: Case) -> list[Any]:
    binding = case.get("binding", {})
    named = [binding.get(name) for name in ("op", "filter_op")]
    return named + [step.get(name) for step in _steps(case) for name in ("cmp", "filter_op", "operator")]


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
        read = ((end, _literal(text[at:end])) for end in ends)
        end, value = next(((end, value) for end, value in read if value is not None), (at + 1, None))
        out += text[at] if value is None else json.dumps(value, ensure_ascii=False)
        at = end
    return out


def _literal(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, (list, dict)) else None


def _holds_binding(value: Any) -> bool:
    if isinstance(value, dict):
        return "__from__" in value or any(_holds_binding(inner) for inner in value.values())
    return isinstance(value, list) and any(_holds_binding(inner) for inner in value)


_INDEX = re.compile(r"\[\d+\]")
_COMPARISONS = (None, "", "==", "!=", ">", ">=", "<", "<=", "always")
UNASKED = (
    Decision(
        "a binding that cannot be resolved is an error, never passed on",
        lambda case, ours: isinstance(ours.error, BindingError) and _holds_binding(case["expected"].get("value")),
    ),
    Decision(
        "lists and objects inside a text are written as JSON",
        lambda case, ours: is_python_text(case["expected"].get("value"), ours.value),
    ),
    Decision(
        "an index works after a field that was read of every item",
        lambda case, ours: (
            ours.error is None
            and "不存在的字段" in str(case["expected"].get("message"))
            and bool(_INDEX.search(str(case.get("binding", {}).get("__from__"))))
        ),
    ),
    Decision(
        "{{node.field}} reads the node's result",
        lambda case, ours: ours.error is None and "{{" in json.dumps(case["expected"].get("value")),
    ),
)
DECISIONS = (
    *UNASKED,
    Decision(
        "several paths give a list of their values",
        lambda case, ours: isinstance(case.get("binding", {}).get("__from__"), list) and ours.error is None,
    ),
    Decision(
        "a comparison that does not exist is an error",
        lambda case, ours: ours.error is not None and any(op not in _COMPARISONS for op in _operators(case)),
    ),
    Decision(
        "a format reaches fields, never attributes",
        lambda case, ours: "__" in str(case.get("binding", {}).get("format")) and "{" in str(ours.value),
    ),
    Decision(
        "every step of a pipeline is carried out",
        lambda case, ours: (
            ours.error is None and any(step.get("op") in ("map", "sort", "limit") for step in _steps(case))
        ),
    ),
    Decision(
        "an index works after loop as everywhere",
        lambda case, ours: ours.error is None and str(case.get("binding", {}).get("__from__")).startswith("loop."),
    ),
    Decision(
        "a plain word stays a word; {{item}} is the item",
        lambda case, ours: ours.error is None and _same(ours.value, case.get("params")),
    ),
    Decision(
        "the form of the README, with op for the kind, is understood",
        lambda case, ours: ours.error is None and "op" in _params(case) and "kind" not in _params(case),
    ),
    Decision(
        "multi_band answers the band that holds the value",
        lambda case, ours: ours.error is None and _params(case).get("kind") == "multi_band",
    ),
    Decision(
        "a source that leads nowhere is an error that names what there is",
        lambda case, ours: isinstance(ours.error, BindingError) and "kind" in _params(case),
    ),
)
